"""eval_runs: is it better than before."""

from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg

from assets_defs.materialize import materialize_repositories, repository_asset
from assets_defs.partitions import Partitions
from pipelines.artifacts import Target
from pipelines.evaluation import build_evaluation
from pipelines.formats import BINARY_CODES, EVAL_RUNS, EVAL_TABLE, LEXICAL_SEGMENTS, SEARCH_ROWS
from pipelines.records import SearchMode
from pipelines.report import StageReport
from resources.workspace import Workspace


def eval_runs(partitions: Partitions) -> dg.AssetsDefinition:
    """Return the asset of the metrics."""

    @repository_asset(
        partitions,
        EVAL_RUNS,
        "evaluation",
        {"parquet"},
        buckets_of=[LEXICAL_SEGMENTS.name],
        wholes=[SEARCH_ROWS.name, BINARY_CODES.name],
        schema=EVAL_TABLE,
    )
    def build(context: dg.AssetExecutionContext, workspace: dg.ResourceParam[Workspace]) -> dg.MaterializeResult[Any]:
        """Metrics per case kind and search mode, measured on the generation before it is published."""

        def make(repo: str, target: Target) -> StageReport:
            report = build_evaluation(
                workspace.store,
                target,
                workspace.draft(repo),
                workspace.encoder(repo),
                workspace.settings(repo).evaluation,
                workspace.judgments(repo),
                workspace.progress,
            )
            report.extra |= _figures(workspace.store.open(report.ref).table("metrics.parquet").to_pylist())
            return report

        return materialize_repositories(context, workspace, make)

    return build


def _figures(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return all metrics as one table, and those of hybrid search one by one, so that the UI plots them over time."""
    hybrid = [row for row in rows if row["mode"] == SearchMode.HYBRID]
    plotted = {f"ndcg at 10, {row['fixture']}, {row['case_kind']}": round(row["ndcg_at_10"], 4) for row in hybrid}
    return {"metrics": list(rows), **plotted}


def evaluation_assets(partitions: Partitions) -> Sequence[dg.AssetsDefinition]:
    """Return the assets of this stage."""
    return [eval_runs(partitions)]
