"""What diffusion does to relevance: the same questions with it and without, and how sure the difference is.

    python -m tests.bench.diffusion_effect STORE [--judged FOLDER --checkouts FOLDER] [--sentences REPOSITORY ...]
                                           [--asked 400] [--json RESULT]

Two kinds of question, each in mode hybrid, as users ask, and in mode semantic, where vectors alone decide:

    judged      NAME.json of a folder of public annotations, each asked of the folder NAME of the checkouts. A target is
                a path, or {path, start_line, end_line}, and counts 1. Measured: NDCG@10.
    sentences   the first sentence of a function's documentation, which is to find the function. The documentation of
                those asked for is blanked beforehand, all other is left: what nobody documented must be found by its
                code, and may be found by what it calls. Measured: MRR@10.

A repository is indexed once by the ordinary stages; each way of diffusion then mixes its vectors anew, so all else is
equal. The difference has a 95% interval by paired bootstrap over questions. Nothing was chosen on these questions: the
ways are the defaults of [diffusion], with callees alone and both ways.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pipelines.embedding import make_encoder
from pipelines.evaluation.known_items import known_names, known_sentences
from pipelines.formats import CHUNKS
from pipelines.records import CALLABLE_KINDS, Encoder, Hit, SearchMode
from pipelines.retrieval import Generation, Query, Searcher, open_generation
from pipelines.settings import Settings, override
from pipelines.store import ArtifactStore
from resources.bundled import encoder_folder
from tests.bench.measure import circumstances
from tests.serving.builds import build, document_of

CUT = 10
MODES = (SearchMode.HYBRID, SearchMode.SEMANTIC)
PLAIN = override(override(Settings(), "evaluation", known_items=0), "index", workers=1)
WAYS: Mapping[str, Settings] = {
    "callees": override(PLAIN, "diffusion", enabled=True),
    "both_ways": override(PLAIN, "diffusion", enabled=True, bidirectional=True),
}
RESAMPLES, SEED = 10_000, 7
#: What may stand around a line of documentation, besides white space.
_MARKS = "/*#\"'!;%-<>{}| \t"

#: The way without diffusion.
OFF = "off"
#: The measure of every question, by kind and mode, then way.
Found = defaultdict[tuple[str, str], dict[str, list[float]]]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and how its answer is measured."""

    kind: str
    text: str
    targets: Sequence[Mapping[str, Any]] = ()  # of a judged question
    chunk: str = ""  # of a sentence

    def measure(self, hits: Sequence[Hit]) -> float:
        """Return NDCG@10, or the reciprocal rank within 10."""
        if self.chunk:
            return next((1 / hit.rank for hit in hits if hit.chunk_id == self.chunk), 0.0)
        ranks = [next((hit.rank for hit in hits if _hits(hit, target)), None) for target in self.targets]
        gained = sum(1 / math.log2(rank + 1) for rank in ranks if rank is not None)
        return gained / sum(1 / math.log2(rank + 1) for rank in range(1, min(CUT, len(ranks)) + 1))


def _hits(hit: Hit, target: Mapping[str, Any]) -> bool:
    one, other = hit.path, target["path"]
    if not (one == other or one.endswith(f"/{other}") or other.endswith(f"/{one}")):
        return False
    return "start_line" not in target or (hit.start_line <= target["end_line"] and hit.end_line >= target["start_line"])


def judged(path: Path) -> list[Asked]:
    """Read the public questions about one repository."""
    return [
        Asked("judged", item["query"], [{"path": target} if isinstance(target, str) else target for target in targets])
        for item in json.loads(path.read_bytes())
        for targets in [item["relevant"] + item["secondary"]]
    ]


def sentences(store: ArtifactStore, generation: Generation, limit: int) -> list[Asked]:
    """Draw documented functions and ask for each by the first sentence of its documentation."""
    rows = generation.rows
    callables = {
        rows.ids[row].tobytes().hex()
        for row in np.flatnonzero(rows.labels["kind"].where(lambda kind: kind in CALLABLE_KINDS)).tolist()
    }
    cases = known_sentences(store, generation, known_names(generation, generation.count))
    counts = Counter(case.query.casefold() for case in cases)
    fit = [case for case in cases if case.id in callables and counts[case.query.casefold()] == 1]
    return [Asked("sentences", case.query, chunk=case.id) for case in fit[:limit]]


def blanked(store: ArtifactStore, generation: Generation, root: Path, asked: Iterable[Asked], copy: Path) -> None:
    """Copy a folder without the documentation of the definitions that are asked for; lines keep their numbers."""
    wanted = {item.chunk for item in asked}
    spans: defaultdict[str, list[tuple[int, int, set[str]]]] = defaultdict(list)
    columns = ["chunk_id", "path", "start_line", "end_line", "doc"]
    for ref in generation.document.buckets(CHUNKS.name):
        for row in store.open(ref).table("chunks.parquet", columns=columns).to_pylist():
            if row["chunk_id"].hex() in wanted:
                told = {line.strip(_MARKS) for line in row["doc"].split("\n")} - {""}
                spans[row["path"]].append((row["start_line"] - 1, row["end_line"], told))
    shutil.copytree(root, copy, ignore=shutil.ignore_patterns(".git"), symlinks=True)
    for path, found in spans.items():
        lines = (copy / path).read_text("utf-8", "surrogateescape").split("\n")
        for start, end, told in found:
            lines[start:end] = [_without(line, told) for line in lines[start:end]]
        (copy / path).write_text("\n".join(lines), "utf-8", "surrogateescape", newline="\n")


def _without(line: str, told: set[str]) -> str:
    core = line.strip(_MARKS + "\r")
    return line.replace(core, "") if core in told else line


def ask(store: ArtifactStore, root: Path, repo: str, encoder: Encoder, asked: Sequence[Asked], found: Found) -> None:
    """Index a folder each way, and add what every question measures."""
    for way, settings in ({OFF: PLAIN} | dict(WAYS)).items():
        plan = build(root, store, settings, repo, encoder=encoder)
        with open_generation(store, repo, document_of(plan)) as generation:
            searcher = Searcher([generation], encoder)
            for mode in MODES:
                for item in asked:
                    hits = searcher.search(Query(item.text, limit=CUT, mode=mode)).hits
                    found[item.kind, str(mode)].setdefault(way, []).append(item.measure(hits))


def ask_sentences(store: ArtifactStore, root: Path, encoder: Encoder, limit: int, scratch: Path, found: Found) -> int:
    """Draw sentences from a repository and ask them of its copy; return how many."""
    repo = root.name.lower()
    plan = build(root, store, PLAIN, repo, encoder=encoder)
    with open_generation(store, repo, document_of(plan)) as generation:
        asked = sentences(store, generation, limit)
        blanked(store, generation, root, asked, scratch / root.name)
    ask(store, scratch / root.name, repo, encoder, asked, found)
    shutil.rmtree(scratch / root.name)
    return len(asked)


def summary(found: Found) -> dict[str, Any]:
    """Return for each kind and mode the means, and the difference that each way makes."""
    result: dict[str, Any] = {}
    for (kind, mode), ways in found.items():
        off = np.array(ways[OFF])
        told: dict[str, Any] = {"questions": len(off), OFF: round(float(off.mean()), 4)}
        for way in WAYS:
            apart = np.array(ways[way]) - off
            drawn = np.random.default_rng(SEED).integers(0, len(apart), (RESAMPLES, len(apart)), dtype=np.int32)
            low, high = np.quantile(apart[drawn].mean(axis=1), (0.025, 0.975))
            told[way] = {
                "mean": round(float(np.mean(ways[way])), 4),
                "difference": round(float(apart.mean()), 4),
                "interval": [round(float(low), 4), round(float(high), 4)],
                "better": int((apart > 0).sum()),
                "worse": int((apart < 0).sum()),
            }
        result.setdefault(kind, {})[mode] = told
    return result


def lines(figures: Mapping[str, Any]) -> str:
    """Return the figures as a table."""
    rows = [f"{'kind':10} {'mode':9} {'asked':>5}  {'off':>6}  {'way':10} {'on':>6}  difference, 95% interval"]
    for kind, modes in figures.items():
        for mode, told in modes.items():
            for way in WAYS:
                on = told[way]
                low, high = on["interval"]
                apart = f"{on['difference']:+.4f}  {low:+.4f} to {high:+.4f}"
                rows.append(
                    f"{kind:10} {mode:9} {told['questions']:5}  {told[OFF]:6.4f}  {way:10} {on['mean']:6.4f}  {apart}"
                )
    return "\n".join(rows) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path, help="a folder for the indexes, which a later run takes up again")
    parser.add_argument("--judged", type=Path, help="folder of NAME.json")
    parser.add_argument("--checkouts", type=Path, help="folder of the repositories that are judged")
    parser.add_argument("--sentences", type=Path, nargs="*", default=[], help="repositories to draw sentences from")
    parser.add_argument("--asked", type=int, default=400, help="sentences of one repository at most")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    store = ArtifactStore(options.store / "store")
    encoder = make_encoder(PLAIN.embedder, encoder_folder())
    found: Found = defaultdict(dict)
    repositories: dict[str, dict[str, int]] = defaultdict(dict)

    def tell(kind: str, name: str, count: int) -> None:
        repositories[kind][name] = count
        sys.stderr.write(f"{kind} {name}: {count}\n")

    for path in sorted(options.judged.glob("*.json")) if options.judged else ():
        asked = judged(path)
        ask(store, options.checkouts / path.stem, path.stem.lower(), encoder, asked, found)
        tell("judged", path.stem, len(asked))
    for root in options.sentences:
        scratch = options.store / "blanked"
        tell("sentences", root.name, ask_sentences(store, root, encoder, options.asked, scratch, found))
    figures = summary(found)
    sys.stdout.write(lines(figures))
    if options.json:
        result = {
            "method": (__doc__ or "").strip(),
            **circumstances(),
            "encoder": {"name": encoder.name, "digest": encoder.digest},
            "repositories": repositories,
            "figures": figures,
        }
        options.json.write_text(json.dumps(result, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
