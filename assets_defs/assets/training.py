"""The group `training`: from downloaded packages to the encoder that ships, where STRATA_TRAINING names a folder.

No partitions, no schedule: a run of the job `train_encoder` makes everything anew, and no run of a repository needs it.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import dagster as dg
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition

from assets_defs.metadata import plain
from pipelines import training

GROUP, JOB = "training", "train_encoder"
PAIRS, VOCABULARY, INITIALISATION = "training_pairs", "training_vocabulary", "training_initialisation"
TRAINED, EXPORTED, EVALUATION = "trained_encoder", "exported_encoder", "encoder_evaluation"


class Seed(dg.Config):
    """What decides every random choice."""

    seed: int = training.SEED


class Learning(Seed):
    """How long is learned."""

    steps: int = training.STEPS


def training_assets(folder: training.TrainingFolder | None) -> Sequence[dg.AssetsDefinition]:
    """Return the assets of a training folder; none where there is no folder."""
    if folder is None:
        return []

    @_asset(PAIRS, [], {"parquet"})
    def pairs(context: dg.AssetExecutionContext) -> dg.MaterializeResult[Any]:
        """Definitions with their documentation, from every package that the manifest names."""
        return _told(training.harvest_packages(folder, context.log.info, os.cpu_count() or 1))

    @_asset(VOCABULARY, [PAIRS], {"numpy"})
    def vocabulary() -> dg.MaterializeResult[Any]:
        """Words that packages share, and all pairs in them; some packages are kept for the evaluation."""
        return _told(training.make_corpus(folder))

    @_asset(INITIALISATION, [VOCABULARY], {"numpy"})
    def initialisation(config: Seed) -> dg.MaterializeResult[Any]:
        """Latent semantic analysis of the pairs: the table that training starts from."""
        return _told(training.initialise(folder, config.seed))

    @_asset(TRAINED, [INITIALISATION], {"numpy"})
    def trained(context: dg.AssetExecutionContext, config: Learning) -> dg.MaterializeResult[Any]:
        """Table, weights and biases after all steps."""
        return _told(training.learn(folder, context.log.info, config.steps, config.seed))

    @_asset(EXPORTED, [TRAINED], {"onnx"})
    def exported() -> dg.MaterializeResult[Any]:
        """Files that ship: the model of one byte a number, its vocabulary, and where they came from."""
        return _told(training.export(folder))

    @_asset(EVALUATION, [EXPORTED], {"json"})
    def evaluation() -> dg.MaterializeResult[Any]:
        """How well the exported encoder finds the definitions of packages that training has not seen."""
        return _told(training.evaluate(folder))

    return [pairs, vocabulary, initialisation, trained, exported, evaluation]


def training_jobs(folder: training.TrainingFolder | None) -> Sequence[UnresolvedAssetJobDefinition]:
    """Return the job that trains; none where there is no folder."""
    what = "Trains the bundled encoder from downloaded packages, exports and measures it."
    return [dg.define_asset_job(JOB, dg.AssetSelection.groups(GROUP), description=what)] if folder else []


def _asset(name: str, above: Sequence[str], kinds: set[str]) -> Callable[[Callable[..., Any]], dg.AssetsDefinition]:
    return dg.asset(name=name, deps=list(above), group_name=GROUP, kinds=kinds)


def _told(report: Mapping[str, Any]) -> dg.MaterializeResult[Any]:
    return dg.MaterializeResult(metadata={name.replace("_", " "): plain(value) for name, value in report.items()})
