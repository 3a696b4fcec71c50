"""Section A of the reported faults: bytes and encodings. Each test builds the input and states what is right."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pipelines.settings import override
from pipelines.store import ArtifactStore
from resources.environment import variables_for_child
from tests.assets_defs.builders import CODE, git
from tests.cases.builders import Built, Counting, index, make_case, valid_vectors
from tests.serving.builds import SETTINGS, build, publish

Capture = pytest.CaptureFixture[str]


def function(name: str, text: str) -> str:
    return f'def {name}():\n    """{text}"""\n    return 1\n\n\n'


def test_a_cut_never_falls_into_a_character(tmp_path: Path, capsys: Capture) -> None:
    """1"""
    wide = "".join(function(f"box_{before}", "x" * before + "\u2500" * 50) for before in range(96, 103))
    wide += "".join(function(f"emoji_{before}", "y" * before + "\U0001f642" * 50) for before in range(96, 103))
    # around the longest chunk, 3,000 characters, and the longest part of a text that a line of its own may be
    long = "".join(function(f"long_{before}", "z" * before + "\U0001f642" * 3_100) for before in range(2_997, 3_001))
    case = index(make_case(tmp_path, {"b.py": wide, "long.py": long}))
    assert case.reasons() == {"strata.toml": None, "b.py": None, "long.py": None}
    for path in ("b.py", "long.py"):
        shown = "".join(
            row["text"] for row in sorted(case.chunks, key=lambda row: row["start_byte"]) if row["path"] == path
        )
        assert "\ufffd" not in shown
        for letter in "\u2500\U0001f642":
            assert shown.count(letter) == (wide if path == "b.py" else long).count(letter)
    for before in range(96, 103):
        for kind in ("box", "emoji"):
            hit = case.hits(capsys, f"{kind}_{before}")[0]
            assert (hit["symbol"], "\ufffd" in hit["excerpt"]) == (f"{kind}_{before}", False)


@pytest.mark.parametrize("before", [0, 8_192 - len("def before(): pass\nx='"), 70_000], ids=["near", "8193rd", "far"])
def test_a_nul_makes_a_file_binary_as_a_whole_wherever_it_stands(tmp_path: Path, capsys: Capture, before: int) -> None:
    """2"""
    filler = "#" * (before - 1) + "\n" if before else ""
    content = f"def before(): pass\n{filler}x='\0'\ndef after_nul(): return 1\n".encode()
    case = index(make_case(tmp_path, {"n.py": content, "ok.py": "def good(): return 2\n"}))
    row = case.files["n.py"]
    assert (row["skip_reason"], row["skip_detail"]) == ("binary", f"NUL at byte {content.index(0)}")
    assert "n.py" not in {row["path"] for row in case.chunks}
    assert [hit["path"] for hit in case.hits(capsys, "after_nul")] != ["n.py"]


def test_the_place_of_a_nul_is_one_of_the_file_in_every_encoding(tmp_path: Path) -> None:
    """2"""
    text = "# caf\u00e9 \U0001f642\nx = '\0'\n"
    contents = {
        "bom.py": b"\xef\xbb\xbf" + text.encode(),
        "u16.py": b"\xff\xfe" + text.encode("utf-16-le"),
        "latin.py": "# caf\u00e9\nx = '\0'\n".encode("latin-1"),
    }
    case = index(make_case(tmp_path, contents))
    for path, place in {"bom.py": contents["bom.py"].index(0), "latin.py": contents["latin.py"].index(0)}.items():
        assert case.files[path]["skip_detail"] == f"NUL at byte {place}"
    place = 2 + 2 * text.encode("utf-16-le").decode("utf-16-le").index("\0") + 2  # the emoji takes two units
    assert case.files["u16.py"]["skip_detail"] == f"NUL at byte {place}"


def test_utf_16_is_read_by_its_mark_and_refused_without(tmp_path: Path, capsys: Capture) -> None:
    """3"""
    text = "def utf16_fn():\n    return 1\n"
    case = index(
        make_case(
            tmp_path,
            {
                "u16le.py": b"\xff\xfe" + text.encode("utf-16-le"),
                "u16be.py": b"\xfe\xff" + text.encode("utf-16-be"),
                "bare.py": text.encode("utf-16-le"),
            },
        )
    )
    assert {path: case.files[path]["encoding"] for path in ("u16le.py", "u16be.py", "bare.py")} == {
        "u16le.py": "utf-16-le",
        "u16be.py": "utf-16-be",
        "bare.py": "",
    }
    assert (case.files["bare.py"]["skip_reason"], case.files["bare.py"]["skip_detail"]) == ("binary", "NUL at byte 1")
    hits = case.hits(capsys, "utf16_fn")
    assert {(hit["path"], hit["start_line"], hit["end_line"]) for hit in hits[:2]} == {
        ("u16le.py", 1, 2),
        ("u16be.py", 1, 2),
    }
    assert (
        slices(case, "u16le.py", "utf16_fn")
        == slices(case, "u16be.py", "utf16_fn")
        == ["def utf16_fn():\n    return 1"]
    )


def test_bytes_that_are_no_utf_8_cost_no_file(tmp_path: Path, capsys: Capture) -> None:
    """4"""
    case = index(make_case(tmp_path, {"l1.py": b"# caf\xe9\ndef latin_fn():\n    return '\xff'\n"}))
    assert case.files["l1.py"]["encoding"] == "latin-1"
    hit = case.hits(capsys, "latin_fn")[0]
    assert (hit["path"], hit["start_line"], hit["end_line"]) == ("l1.py", 1, 3)
    assert slices(case, "l1.py", "latin_fn") == ["def latin_fn():\n    return '\u00ff'"]
    counted = [
        case.store.open(bucket.targets["symbols"].ref).counts["encodings"] for bucket in case.plan.buckets.values()
    ]
    assert sum(item.get("latin-1", 0) for item in counted) == 1


def code_chunks(case: Built) -> int:
    """Count the chunks of code; strata.toml, data, has no vector, and neither has what holds no word."""
    return len([row for row in case.chunks if row["path"].endswith(".py")])


def slices(case: Built, path: str, name: str) -> list[str]:
    """Return what the byte offsets of a file's symbols of a name cut out of the file, as text."""
    data, encoding = (case.root / path).read_bytes(), case.files[path]["encoding"]
    return [
        data[row["start_byte"] : row["end_byte"]].decode(encoding)
        for row in case.symbols
        if (row["path"], row["name"]) == (path, name)
    ]


def test_a_byte_order_mark_is_no_text(tmp_path: Path, capsys: Capture) -> None:
    """5"""
    files = {"m.py": "\ufeffdef marked():\n    return 1\n", ".gitignore": "\ufeffsecret.py\n", "secret.py": "s = 1\n"}
    case = index(make_case(tmp_path, {path: text.encode() for path, text in files.items()}))
    assert set(case.files) == {"strata.toml", "m.py", ".gitignore"}
    (chunk,) = (row for row in case.chunks if row["path"] == "m.py")
    assert (chunk["text"], chunk["signature"]) == ("def marked():\n    return 1", "def marked()")
    assert case.hits(capsys, "marked")[0]["start_line"] == 1
    assert slices(case, "m.py", "marked") == ["def marked():\n    return 1"]


def test_lines_end_with_lf_alone(tmp_path: Path, capsys: Capture) -> None:
    """7: docs/cli.md and docs/operations.md say so, since git and every link to a line count that way."""
    text = "def a():\r    return 1\r\rdef b():\r    return 2\r"
    case = index(make_case(tmp_path, {"cr.py": text.encode()}))
    assert case.files["cr.py"]["lines"] == 1
    for hit in case.hits(capsys, "b")[:1]:
        assert (hit["path"], hit["start_line"], hit["end_line"]) == ("cr.py", 1, 1)
    assert slices(case, "cr.py", "b") == ["def b():\r    return 2"]


def test_a_checkout_with_other_line_ends_redoes_nothing(tmp_path: Path) -> None:
    """9: files are told apart by their blobs."""
    root = make_case(tmp_path, {f"f{number}.py": f"def f{number}():\n    return {number}\n" for number in range(50)})
    store = ArtifactStore(tmp_path / "store")
    first = build(root, store)
    git(root, "config", "core.autocrlf", "true")
    for path in root.glob("f*.py"):
        path.unlink()
    git(root, "checkout", ".")
    assert b"\r\n" in (root / "f1.py").read_bytes()
    counting = Counting()
    again = build(root, store, progress=counting)
    assert counting.work.total() == 0
    assert again.generation == first.generation


def test_a_reader_sees_no_cr_and_offsets_count_it(tmp_path: Path, capsys: Capture) -> None:
    """9"""
    mixed = "def one():\r\n    return 1\r\n\n\ndef two():\n    return 2\r\n"
    case = index(make_case(tmp_path, {"mixed.py": mixed}))
    assert [row["text"] for row in case.chunks if row["path"] == "mixed.py"]
    assert not [row for row in case.chunks if "\r" in row["text"] + row["signature"] + row["doc"]]
    assert slices(case, "mixed.py", "one") == ["def one():\r\n    return 1"]
    hit = case.hits(capsys, "two")[0]
    assert (hit["start_line"], hit["end_line"], "\r" in hit["excerpt"]) == (5, 6, False)


SIZES = (32_767, 32_769, 262_145, 524_287, 524_289, 1_048_577, 4 << 20, (4 << 20) + 1)


def test_one_limit_decides_for_every_stage(tmp_path: Path, capsys: Capture) -> None:
    """10"""
    files = {}
    for size in SIZES:
        tail = f"def tail_{size}(): pass\n"
        line = "# " + "word " * 15 + "\n"
        count, rest = divmod(size - len(tail), len(line))
        files[f"s{size}.py"] = line * count + "\n" * rest + tail
        assert len(files[f"s{size}.py"]) == size
    case = index(make_case(tmp_path, files))
    *fitting, over = (f"s{size}.py" for size in SIZES)
    assert {path for path, reason in case.reasons().items() if reason} == {over}
    row = case.files[over]
    limit = SETTINGS.index.max_file_bytes
    assert (row["skip_reason"], row["skip_detail"], row["size"]) == (
        "too_large",
        f"{limit + 1} bytes, limit {limit}",
        limit + 1,
    )
    assert (
        {row["path"] for row in case.symbols} == {row["path"] for row in case.chunks} - {"strata.toml"} == set(fitting)
    )
    assert valid_vectors(case.store, case.plan) == code_chunks(case)
    for size, path in zip(SIZES, fitting, strict=False):
        for mode in ("symbol", "lexical", "hybrid"):
            assert case.hits(capsys, f"tail_{size}", "--mode", mode)[0]["path"] == path


def test_the_file_that_defines_a_word_is_found_among_many_that_use_it(tmp_path: Path, capsys: Capture) -> None:
    """11"""
    users = {
        f"user_{number:02}.py": f"def user_{number}():\n    return widgetX({number})\n# {'pad ' * 35}\n"
        for number in range(12)
    }
    calls = "".join(f"def step_{number}(value):\n    return widgetX(value) + {number}\n\n\n" for number in range(40))
    big = "def widgetX(value):\n    return value\n\n\n" + calls
    big += "".join(f"def other_{number}(value):\n    return value * {number}\n\n\n" for number in range(5_000))
    assert len(big) > 230_000
    case = index(make_case(tmp_path, {**users, "zz_big.py": big}))
    for mode in ("hybrid", "lexical"):
        hits = case.hits(capsys, "widgetX", "--limit", "10", "--mode", mode)
        assert ("zz_big.py", "widgetX") in [(hit["path"], hit["symbol"]) for hit in hits[:3]]


def test_files_without_text_have_no_vector_and_no_second_run(tmp_path: Path) -> None:
    """12"""
    files = {".keep": "", "ws.py": "\n \t\n", "__init__.py": "", "c.md": "<!-- -->\n", "good.py": "def good(): pass\n"}
    root = make_case(tmp_path, files)
    case = index(root)
    assert case.reasons() == {
        "strata.toml": None,
        ".keep": "unsupported",
        "ws.py": "empty",
        "__init__.py": "empty",
        "c.md": None,
        "good.py": None,
    }
    assert all(row["text"].strip() for row in case.chunks)
    assert valid_vectors(case.store, case.plan) == code_chunks(case)
    counting = Counting()
    publish(case.store, build(root, case.store, SETTINGS, "parcels", progress=counting))
    assert counting.work.total() == 0


def test_one_line_without_an_end_is_bounded_in_memory_and_length(tmp_path: Path) -> None:
    """13: the whole run in 4 GB of address space, its parser process included."""
    root = make_case(
        tmp_path,
        {
            "app.min.js": "a=function(){return 1};" * 350_000,
            "app.js": "a=function(){return 1};" * 350_000,
            "app.mjs": "a=function(){return 1};" * 150_000,
            "i.md": "# Icon\n\n```yaml\nicon: data:image/svg+xml;base64," + "QUJD" * 3_000 + "\n```\n",
            "ok.py": "def fine(): pass\n",
        },
    )
    command = 'ulimit -v 4194304; exec "$0" -m assets_defs.command index --json .'
    done = subprocess.run(
        ["sh", "-c", command, sys.executable],
        cwd=root,
        env=variables_for_child(
            {"PYTHONPATH": str(CODE), "STRATA_HOME": None, "STRATA_CONFIG": None, "DAGSTER_HOME": None}
        ),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["files"]["skipped"] == {"generated": 2, "too_large": 1}
    store = ArtifactStore(root / ".strata")
    refs = [ref for ref in store.heads("parcels") if ref.asset == "chunks"]
    texts = [text for ref in refs for text in store.open(ref).table("chunks.parquet")["text"].to_pylist()]
    assert max(map(len, texts)) <= SETTINGS.chunking.max_chars
    segments = [store.open(ref) for ref in store.heads("parcels") if ref.asset == "lexical_segments"]
    assert sum(len(segment.array("terms.npy")) for segment in segments) < 100


WORDS = ("HEADWORD", "MIDWORD", "TAILWORD")


def long_function(comment: str) -> str:
    lines = [f"    # {comment} {number}\n    total += {number}\n" for number in range(600)]
    for place, word in zip((0, 300, -1), WORDS, strict=True):
        lines[place] += f"    {word} = total\n"
    return "def long_one(total):\n" + "".join(lines)


@pytest.mark.parametrize("comment", ["add the next number", "\u4e0b\u4e00\u4e2a\u6570\u5b57\u52a0\u4e0a\u53bb"])
@pytest.mark.parametrize("embedder", ["hash", "vocab"])
def test_no_part_of_a_long_function_is_lost(tmp_path: Path, capsys: Capture, comment: str, embedder: str) -> None:
    """14: neither encoder has a limit; what a transformer cuts off is counted, see tests/embedding."""
    root = make_case(tmp_path, {"long.py": long_function(comment), "short.py": "def other(): return 1\n"})
    dimensions = 64 if embedder == "hash" else 256
    config = (root / "strata.toml").read_text().replace('"hash"', f'"{embedder}"').replace("64", str(dimensions))
    (root / "strata.toml").write_text(config)
    case = index(root, override(SETTINGS, "embedder", name=embedder, dimensions=dimensions))
    parts = sorted((row for row in case.chunks if row["path"] == "long.py"), key=lambda row: row["part"])
    assert len(parts) > 5
    assert max(len(row["text"]) for row in parts) <= SETTINGS.chunking.max_chars
    assert valid_vectors(case.store, case.plan) == code_chunks(case)
    holding = {word: {row["chunk_id"].hex() for row in parts if word in row["text"]} for word in WORDS}
    for word in WORDS:
        assert case.hits(capsys, word, "--mode", "lexical")[0]["chunk_id"] in holding[word]
        found = {hit["chunk_id"] for hit in case.hits(capsys, word, "--mode", "semantic", "--limit", "20")}
        assert found & holding[word]
