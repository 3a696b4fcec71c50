// Where Go's type checker finds the definitions of called names. In: the folder as argument. Out: JSON, one a call:
// [path, line, column, answer]; an answer is [[path, line]] inside the folder, "outside", or null where types are missing.
package main

import (
	"encoding/json"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"
)

type loader struct {
	root, module string
	set          *token.FileSet
	standard     types.Importer
	known        map[string]*types.Package
	info         *types.Info
}

func (l *loader) Import(path string) (*types.Package, error) {
	if found, ok := l.known[path]; ok {
		return found, nil
	}
	if path == l.module || strings.HasPrefix(path, l.module+"/") {
		folder := filepath.Join(l.root, strings.TrimPrefix(path, l.module))
		l.check(folder, path, false)
		return l.known[path], nil
	}
	if !strings.Contains(strings.Split(path, "/")[0], ".") {
		if found, err := l.standard.Import(path); err == nil {
			l.known[path] = found
			return found, nil
		}
	}
	name := filepath.Base(path)
	empty := types.NewPackage(path, strings.TrimPrefix(name, "go-"))
	empty.MarkComplete()
	l.known[path] = empty
	return empty, nil
}

func (l *loader) check(folder, path string, tests bool) {
	found, _ := parser.ParseDir(l.set, folder, func(info os.FileInfo) bool {
		return tests || !strings.HasSuffix(info.Name(), "_test.go")
	}, 0)
	if l.known[path] == nil {
		l.known[path] = types.NewPackage(path, filepath.Base(path))
	}
	for name, parsed := range found {
		var files []*ast.File
		for _, file := range parsed.Files {
			files = append(files, file)
		}
		own := path
		if strings.HasSuffix(name, "_test") {
			own += "_test"
		}
		config := types.Config{Importer: l, Error: func(error) {}, FakeImportC: true}
		checked, _ := config.Check(own, l.set, files, l.info)
		if own == path && name != "main" || len(found) == 1 {
			l.known[path] = checked
		}
	}
}

func (l *loader) place(at token.Pos) (string, int, int) {
	position := l.set.Position(at)
	path, err := filepath.Rel(l.root, position.Filename)
	if err != nil || strings.HasPrefix(path, "..") {
		return "", 0, 0
	}
	return filepath.ToSlash(path), position.Line, position.Column - 1
}

func main() {
	root, _ := filepath.Abs(os.Args[1])
	set := token.NewFileSet()
	text, _ := os.ReadFile(filepath.Join(root, "go.mod"))
	module := ""
	for _, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(line, "module ") {
			module = strings.TrimSpace(strings.TrimPrefix(line, "module "))
		}
	}
	standard := importer.ForCompiler(set, "source", nil)
	var rows []interface{}
	filepath.Walk(root, func(folder string, info os.FileInfo, err error) error {
		if err != nil || !info.IsDir() || strings.HasPrefix(info.Name(), ".") && folder != root {
			return nil
		}
		relative, _ := filepath.Rel(root, folder)
		path := module
		if relative != "." {
			path += "/" + filepath.ToSlash(relative)
		}
		// each folder is checked with its tests by a loader of its own, so that its packages do not meet themselves
		l := &loader{root, module, set, standard, map[string]*types.Package{}, &types.Info{
			Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}}
		mine, _ := parser.ParseDir(set, folder, nil, 0)
		if len(mine) == 0 {
			return nil
		}
		l.check(folder, path, true)
		rows = append(rows, l.calls(folder)...)
		return nil
	})
	json.NewEncoder(os.Stdout).Encode(rows)
}

func (l *loader) calls(folder string) []interface{} {
	var rows []interface{}
	for name, object := range l.info.Uses {
		path, line, column := l.place(name.Pos())
		if filepath.Dir(filepath.Join(l.root, path)) != folder {
			continue
		}
		var answer interface{}
		switch found := object.(type) {
		case *types.Func: // what looks like the call of a type is a conversion
			if object.Pkg() == nil {
				answer = "outside"
			} else if where, row, _ := l.place(found.Pos()); where != "" {
				answer = []interface{}{[]interface{}{where, row}}
			} else {
				answer = "outside"
			}
		case *types.Builtin:
			answer = "outside"
		}
		rows = append(rows, []interface{}{path, line, column, answer})
	}
	return rows
}
