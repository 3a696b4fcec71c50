"""How reports look in the Dagster UI: plain values, a table of what was skipped, a small plot. Computes nothing."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg
import pyarrow as pa

from pipelines.report import StageReport

_BAR, _GAP, _HEIGHT = 14, 4, 60
_INK = "#5b7db1"


def report_metadata(reports: Sequence[StageReport], fingerprint: str) -> dict[str, Any]:
    """Return the metadata of a materialisation: sums over its reports, what was skipped, rows per bucket."""
    skipped = sum((report.skipped for report in reports), Counter[str]())
    metadata: dict[str, Any] = {
        "fingerprint": fingerprint,
        "dagster/row_count": sum(report.rows for report in reports),
        "reused": sum(report.reused for report in reports),
        "computed": sum(report.computed for report in reports),
        "built": sum(report.built for report in reports),
        "bytes": sum(report.bytes for report in reports),
        "seconds": round(sum(report.seconds for report in reports), 4),
        **_extra(reports),
    }
    if skipped:
        metadata["skipped"] = dg.MetadataValue.md(markdown_table(("reason", "count"), sorted(skipped.items())))
    if len(reports) > 1:
        metadata["rows per bucket"] = bars({report.ref.bucket: report.rows for report in reports})
    return metadata


def _extra(reports: Sequence[StageReport]) -> dict[str, Any]:
    """Sum the stages' own figures where they are counts; show others where there is one report."""
    if len(reports) == 1:
        return {name: plain(value) for name, value in reports[0].extra.items()}
    totals: Counter[str] = Counter()
    for report in reports:
        totals.update({name: value for name, value in report.extra.items() if type(value) is int})
    return dict(totals)


def plain(value: Any) -> Any:
    """Return a figure as a metadata value."""
    if isinstance(value, Mapping):
        return dg.MetadataValue.json(dict(value))
    if isinstance(value, (list, tuple)):
        return dg.MetadataValue.json(list(value))
    return value


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(str(cell) for cell in line)} |" for line in lines)


def bars(values: Mapping[str, float]) -> dg.MarkdownMetadataValue:
    """Return a bar for each value, the highest at full height, as a picture inside Markdown."""
    top = max([*values.values(), 1e-12])
    shapes = []
    for place, (name, value) in enumerate(values.items()):
        height = max(1.0, _HEIGHT * value / top)
        shapes.append(
            f'<rect x="{place * (_BAR + _GAP)}" y="{_HEIGHT - height:.1f}" width="{_BAR}" height="{height:.1f}" '
            f'fill="{_INK}"><title>{name}: {value:g}</title></rect>'
        )
    width = max(1, len(values)) * (_BAR + _GAP)
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{_HEIGHT}">{"".join(shapes)}</svg>'
    return dg.MetadataValue.md(f"![bars](data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()})")


def column_schema(schema: pa.Schema) -> dg.TableSchema:
    """Return an Arrow schema as Dagster shows it."""
    columns = [
        dg.TableColumn(field.name, str(field.type), constraints=dg.TableColumnConstraints(nullable=field.nullable))
        for field in schema
    ]
    return dg.TableSchema(columns=columns)
