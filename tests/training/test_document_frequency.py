from __future__ import annotations

import json
from pathlib import Path

from pipelines.embedding import make_encoder
from pipelines.settings import EmbedderSettings
from pipelines.training.document_frequency import main
from tests.training.builders import make_debian_binary, make_debian_source, make_npm, make_wheel

ROOT = Path(__file__).parents[2]
CODE = "def parsing(tree):\n    return tree.inode\n"


def make_packages(folder: Path) -> None:
    for index in range(4):
        make_wheel(folder, f"pkg{index}", {"a.py": CODE, "vendor/b.py": "foreignword", "c.min.py": "foreignword"})
    make_npm(folder, "@x/tool", {"a.js": "let tree"})
    make_debian_source(folder, "lib", {"a.c": "int inode;"})
    make_debian_binary(folder, "librust-x-dev", {"./usr/share/cargo/a.rs": "fn tree() {}"})


def test_the_table_holds_what_several_packages_share_and_an_encoder_reads_it(tmp_path: Path) -> None:
    packages, out = tmp_path / "packages", tmp_path / "out"
    packages.mkdir()
    out.mkdir()
    make_packages(packages)
    (out / "held-out.txt").write_text("# none\n")
    assert main([str(packages), str(out)]) == 0
    manifest = json.loads((out / "vocab-idf.json").read_text())
    assert manifest["documents"] == {"c": 1, "javascript": 1, "python": 4, "rust": 1}
    assert manifest["tokens"] == 5  # def, parse, tree, return, inode: each in four packages at least
    before = (out / "vocab-idf.tsv.gz").read_bytes()
    assert main([str(packages), str(out)]) == 0
    assert (out / "vocab-idf.tsv.gz").read_bytes() == before
    assert make_encoder(EmbedderSettings(name="vocab"), out).encode_query("parse").any()
