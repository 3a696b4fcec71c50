"""How reports look in the Dagster UI: plain values, small tables, bars over the partitions of a run. Computes nothing.

Dagster shows the metadata of a run over a range with each of its partitions, so what is told of the run as a whole
stands under one label of its own, and everything else is the partition's.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg
import pyarrow as pa

from pipelines.artifacts import WHOLE, ArtifactRef
from pipelines.formats import SYMBOLS
from pipelines.report import StageReport

#: What a stage reuses as one; where nothing is said it is rows.
_UNITS = {SYMBOLS.name: "files"}
#: Counts that are shown under another label.
_TOLD = frozenset({"rows", "skipped"})
_BAR, _GAP, _HEIGHT, _LABEL = 22, 4, 60, 12
_INK = "#5b7db1"


def report_metadata(report: StageReport, counts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata of one artifact: what was done, then its counts, also where nothing had to be done."""
    unit = _UNITS.get(report.ref.asset, "rows")
    facts = {name: value for name, value in counts.items() if name not in _TOLD} | report.extra
    metadata: dict[str, Any] = {
        "fingerprint": report.ref.fingerprint,
        "dagster/row_count": counts.get(report.ref.asset, report.rows),
        f"{unit} reused": report.reused,
        f"{unit} computed": report.computed,
        "built": report.built,
        "bytes": report.bytes,
        "seconds": round(report.seconds, 4),
        **{name.replace("_", " "): plain(value) for name, value in facts.items() if not _empty(value)},
    }
    skipped = +report.skipped or Counter(counts.get("skipped", {}))
    if +skipped:
        metadata["skipped"] = plain(+skipped)
    return metadata


def range_metadata(reports: Sequence[StageReport]) -> dict[str, Any]:
    """Return the metadata of a run over many artifacts of one asset: sums, and how the rows are spread."""
    unit = _UNITS.get(reports[0].ref.asset, "rows")
    sums = {
        "artifacts": len(reports),
        "artifacts built": sum(report.built for report in reports),
        f"{unit} reused": sum(report.reused for report in reports),
        f"{unit} computed": sum(report.computed for report in reports),
        **{f"skipped: {name}": count for name, count in sorted(_skipped(reports).items())},
        "bytes": sum(report.bytes for report in reports),
        "seconds": round(sum(report.seconds for report in reports), 2),
    }
    spread = bars([(_place(report.ref), report.rows) for report in reports])
    return {"whole run": dg.MetadataValue.md(f"{_pairs(sums)}\n\n{unit} of each partition:\n\n{spread}")}


def _place(ref: ArtifactRef) -> str:
    return ref.repo if ref.bucket == WHOLE else ref.bucket


def _skipped(reports: Sequence[StageReport]) -> Counter[str]:
    return sum((report.skipped for report in reports), Counter[str]())


def _empty(value: Any) -> bool:
    """Tell whether a fact is a collection without anything in it; a count of 0 is a fact."""
    if isinstance(value, Mapping):
        return not any(value.values())
    return isinstance(value, (list, tuple)) and not value


def plain(value: Any) -> Any:
    """Return a fact as a metadata value: mappings and lists as Markdown, which the UI shows in place."""
    if isinstance(value, Mapping):
        return dg.MetadataValue.md(_pairs(value))
    if isinstance(value, (list, tuple)):
        if all(isinstance(item, Mapping) for item in value):
            return dg.MetadataValue.md(markdown_table(tuple(value[0]), [tuple(item.values()) for item in value]))
        return dg.MetadataValue.md("\n".join(f"- `{item}`" for item in value))
    return value


def _pairs(values: Mapping[str, Any]) -> str:
    return markdown_table(("", ""), list(values.items()))


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines)


def _cell(value: Any) -> str:
    text = f"{value:.3f}" if isinstance(value, float) else str(value)
    return text.replace("_", " ").replace("|", "\\|")


def bars(values: Sequence[tuple[str, float]]) -> str:
    """Return a labelled bar for each value, the highest at full height, as a picture inside Markdown."""
    top = max([value for _, value in values], default=0.0) or 1.0
    shapes = []
    for place, (name, value) in enumerate(values):
        height = max(1.0, _HEIGHT * value / top)
        left, middle = place * (_BAR + _GAP), place * (_BAR + _GAP) + _BAR / 2
        shapes.append(
            f'<rect x="{left}" y="{_HEIGHT - height:.1f}" width="{_BAR}" height="{height:.1f}" fill="{_INK}"/>'
            f'<text x="{middle}" y="{_HEIGHT + _LABEL - 2}" font-size="9" text-anchor="middle">{name}</text>'
        )
    width, height = max(1, len(values)) * (_BAR + _GAP), _HEIGHT + _LABEL
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height:g}">{"".join(shapes)}</svg>'
    return f"![bars](data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()})"


def column_schema(schema: pa.Schema) -> dg.TableSchema:
    """Return an Arrow schema as Dagster shows it."""
    columns = [
        dg.TableColumn(field.name, str(field.type), constraints=dg.TableColumnConstraints(nullable=field.nullable))
        for field in schema
    ]
    return dg.TableSchema(columns=columns)
