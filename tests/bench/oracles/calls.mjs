// Where TypeScript finds the definitions of called names. In: the folder, the path of the typescript package.
// Out: JSON, one a call: [path, line, column, answer]; an answer is [[path, line], ..], "outside", or null.
import { createRequire } from "node:module";
import fs from "node:fs";
import path from "node:path";

const [root, library] = process.argv.slice(2).map((item) => path.resolve(item));
const ts = createRequire(import.meta.url)(library);
const skipped = new Set(["node_modules", ".git", "dist"]);

function* walk(folder) {
  for (const item of fs.readdirSync(folder, { withFileTypes: true })) {
    const full = path.join(folder, item.name);
    if (item.isDirectory() && !skipped.has(item.name)) yield* walk(full);
    else if (item.isFile()) yield full;
  }
}

const files = [...walk(root)];
const paths = {};
for (const file of files.filter((item) => path.basename(item) === "package.json")) {
  const { name } = JSON.parse(fs.readFileSync(file, "utf8"));
  const folder = path.relative(root, path.dirname(file));
  if (name && folder) {
    paths[name] = [`${folder}/src/index.ts`, `${folder}/src`, `${folder}/index.ts`];
    paths[`${name}/*`] = [`${folder}/src/*`, `${folder}/*`];
  }
}
const program = ts.createProgram(
  files.filter((item) => /\.(tsx?|mts|cts|jsx?|mjs)$/.test(item)),
  {
    allowJs: true, noEmit: true, skipLibCheck: true, strict: true, baseUrl: root, paths, jsx: ts.JsxEmit.ReactJSX,
    target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler,
    allowImportingTsExtensions: true, customConditions: ["@zod/source"],
  },
);
const checker = program.getTypeChecker();
const rows = [];

function place(node) {
  const source = node.getSourceFile();
  const relative = path.relative(root, source.fileName);
  if (relative.startsWith("..") || relative.includes("node_modules")) return null;
  const named = ts.getNameOfDeclaration(node) ?? node;
  return [relative, source.getLineAndCharacterOfPosition(named.getStart(source)).line + 1];
}

function isFunction(node) {
  if (ts.isFunctionLike(node) || ts.isClassLike(node)) return true;
  const value = node.initializer;
  return value !== undefined && (ts.isArrowFunction(value) || ts.isFunctionExpression(value) || ts.isClassExpression(value));
}

function answer(name, call) {
  let symbol = checker.getSymbolAtLocation(name);
  if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
  let declarations = (symbol?.declarations ?? []).filter(isFunction);
  if (!declarations.length) {
    const made = checker.getResolvedSignature(call)?.declaration;
    const own = symbol?.declarations?.length ? made : made;
    declarations = own && own.kind !== ts.SyntaxKind.JSDocSignature ? [own] : [];
    // a property or parameter of a function type: its declaration is no definition
    if (declarations.length && symbol?.declarations?.some((item) => !isFunction(item)) && !isNamed(own)) {
      return symbol.declarations.some((item) => place(item)) ? null : "outside";
    }
  }
  if (!declarations.length) return null;
  const places = declarations.map(place);
  const inside = places.filter((item) => item !== null);
  return inside.length ? inside : "outside";
}

function isNamed(node) {
  return ts.getNameOfDeclaration(node) !== undefined || (node.parent && ts.isVariableDeclaration(node.parent));
}

function visit(node, source) {
  if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
    let name = node.expression;
    while (ts.isNonNullExpression(name) || ts.isParenthesizedExpression(name)) name = name.expression;
    if (ts.isPropertyAccessExpression(name)) name = name.name;
    if (ts.isIdentifier(name) || ts.isPrivateIdentifier(name) || name.kind === ts.SyntaxKind.SuperKeyword) {
      const start = name.getStart(source);
      const { line } = source.getLineAndCharacterOfPosition(start);
      const bytes = Buffer.byteLength(source.text.slice(source.getLineStarts()[line], start));
      rows.push([path.relative(root, source.fileName), line + 1, bytes, answer(name, node)]);
    }
  }
  ts.forEachChild(node, (child) => visit(child, source));
}

for (const source of program.getSourceFiles()) {
  if (place(source) !== null && !source.isDeclarationFile) visit(source, source);
}
process.stdout.write(JSON.stringify(rows));
