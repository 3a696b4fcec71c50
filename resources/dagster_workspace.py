"""The workspace as a Dagster resource: each run opens its own, so that all its assets see one listing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import dagster as dg
from pydantic import Field

from resources.deployment import Deployment, deployment_of_code
from resources.environment import Environment
from resources.workspace import Workspace


class WorkspaceResource(dg.ConfigurableResource[Workspace]):
    """Opens the workspace of a deployment. Both fields show in the UI where a run reads and writes."""

    store: str = Field(
        default="", description="Folder of the artifact store; empty: as STRATA_HOME and strata.toml say"
    )
    config: str = Field(default="", description="The strata.toml that governs; empty: as STRATA_CONFIG says")

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Iterator[Workspace]:
        """Open a workspace for one run and end its worker processes afterwards."""
        with Workspace(self.deployment()) as workspace:
            yield workspace

    def deployment(self) -> Deployment:
        """Return the deployment that the fields and the environment name."""
        environment = Environment.read()
        return deployment_of_code(
            replace(
                environment,
                home=Path(self.store) if self.store else environment.home,
                config=Path(self.config) if self.config else environment.config,
            )
        )

    @classmethod
    def of(cls, deployment: Deployment) -> WorkspaceResource:
        """Return the resource for a deployment."""
        return cls(store=str(deployment.store_root), config=str(deployment.config or ""))
