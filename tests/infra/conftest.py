"""One copy of the tree and one synth a stage for the whole session: a synth takes seconds."""

from __future__ import annotations

import copy
import json
import shutil
from functools import cache
from pathlib import Path

import pytest

from infra.node import use_node
from infra.options import SURFACES, Options

PROJECT = Path(__file__).parents[2]
ADMITTED = "arn:aws:bedrock:eu-central-1:123456789012:agent/ABCDEFGHIJ"
"""An agent that exists already; dev admits it, prod admits none."""


@pytest.fixture(scope="session")
def tree(tmp_path_factory):
    """What the templates of the session are made of."""
    copy = tmp_path_factory.mktemp("tree")
    for folder in ("contracts", "functions"):
        shutil.copytree(PROJECT / folder, copy / folder)
    return copy


@pytest.fixture(scope="session")
def new_app(tmp_path_factory):
    """Gives a CDK app that builds no layer, as the CDK asks for when it only lists stacks."""
    use_node()
    import aws_cdk as cdk

    from infra.application import CONTEXT

    def make():
        return cdk.App(
            context={**CONTEXT, "aws:cdk:bundling-stacks": []},
            outdir=str(tmp_path_factory.mktemp("out")),
            analytics_reporting=False,
        )

    return make


@pytest.fixture(scope="session")
def templates(new_app, tree, tmp_path_factory):
    """Gives a stage's templates by the end of the stack's name: tools, bedrock-agent, gateway…"""
    from infra.application import build

    @cache
    def of(stage):
        arns = (ADMITTED,) if stage == "dev" else ()
        app = new_app()
        staging = tmp_path_factory.mktemp("staging")
        options = Options(stage=stage, surfaces=SURFACES, agent_arns=arns)
        build(app, options, staging=staging, root=tree)
        prefix = f"toolgate-{stage}-"
        return {
            stack.stack_name.removeprefix(prefix): json.loads(
                Path(stack.template_full_path).read_text()
            )
            for stack in app.synth().stacks
        }

    return of


@pytest.fixture(scope="session")
def resources(templates):
    """Gives the resources of a type in a stack: their properties by logical id.

    A copy each time: what a test takes out of one must still be there for the next.
    """

    def of(stage, stack, kind):
        return {
            name: copy.deepcopy(found.get("Properties", {}))
            for name, found in templates(stage)[stack]["Resources"].items()
            if found["Type"] == kind
        }

    return of


@pytest.fixture(scope="session")
def deployed():
    """Gives the specs that a stage runs."""
    from contracts import registry
    from infra.stage import find_stage

    return lambda stage: find_stage(stage).deployed(registry.specs())
