"""All definitions, in explicit lists: the one entry of `dagster dev`, `dagster asset` and the runs of `strata index`.

Importing this module reads nothing; Dagster calls `defs`, which finds the deployment.
"""

from __future__ import annotations

from pathlib import Path

import dagster as dg

from assets_defs.assets.chunking import chunking_assets
from assets_defs.assets.diffusion import diffusion_assets
from assets_defs.assets.discover import discover_assets
from assets_defs.assets.embedding import embedding_assets
from assets_defs.assets.evaluation import evaluation_assets
from assets_defs.assets.quantization import quantization_assets
from assets_defs.assets.serving import serving_assets
from assets_defs.assets.training import training_assets, training_jobs
from assets_defs.beta import beta_features
from assets_defs.checks.artifacts import artifact_checks
from assets_defs.jobs import build_jobs
from assets_defs.partitions import make_partitions
from assets_defs.schedules import build_schedules
from assets_defs.sensors import build_sensors
from pipelines.training import TrainingFolder
from resources.bundled import encoder_folder
from resources.dagster_workspace import WorkspaceResource
from resources.deployment import Deployment, deployment_of_code
from resources.environment import Environment


@dg.definitions
def defs() -> dg.Definitions:
    """Return the definitions of the deployment that the environment names, or that this code lies in."""
    environment = Environment.read()
    return build_definitions(deployment_of_code(environment), environment.training)


def build_definitions(deployment: Deployment, training: Path | None = None) -> dg.Definitions:
    """Return the definitions of a deployment.

    :param training: a folder to train an encoder in; without one the assets and the job of training are not there.
    """
    resource = WorkspaceResource.of(deployment)
    folder = TrainingFolder(training, encoder_folder()) if training else None
    with beta_features():
        partitions = make_partitions(deployment.settings.index.buckets)
        jobs = [*build_jobs(), *training_jobs(folder)]
        return dg.Definitions(
            assets=[
                *discover_assets(partitions),
                *chunking_assets(partitions),
                *embedding_assets(partitions),
                *diffusion_assets(partitions),
                *quantization_assets(partitions),
                *serving_assets(partitions),
                *evaluation_assets(partitions),
                *training_assets(folder),
            ],
            asset_checks=artifact_checks(partitions),
            jobs=jobs,
            schedules=build_schedules(resource),
            sensors=build_sensors(partitions, resource, jobs),
            resources={"workspace": resource},
            # a step of its own process costs more than most buckets take; the parsers and the model use the cores
            executor=dg.in_process_executor,
        )
