"""The local cloud, up for the session; the deployed Lambdas are what is tested here."""

from __future__ import annotations

import pytest

from agents.targets import LambdaTarget
from contracts import registry
from functions._runtime.workspace import Stores
from tests.workspaces import StoredWorkspaces
from toolgate.deployed import output_key
from toolgate.local import cloud


@pytest.fixture(scope="session")
def local_cloud():
    """The local cloud, started and deployed if it is not."""
    return cloud.up()


@pytest.fixture(scope="session")
def local_target(local_cloud):
    """The deployed Lambdas."""
    outputs = local_cloud.outputs()
    names = {spec.model_name: outputs[output_key(spec)] for spec in registry.specs()}
    return LambdaTarget(names, client=local_cloud.client("lambda"))


@pytest.fixture(scope="session")
def local_workspaces(local_cloud):
    """Workspaces on the local cloud."""
    outputs = local_cloud.outputs()
    stores = Stores(
        local_cloud.client("dynamodb"),
        local_cloud.client("s3"),
        outputs["WorkspaceTable"],
        outputs["WorkspaceBucket"],
    )
    return StoredWorkspaces(stores, outputs["OrdersTable"])
