"""Small contracts for tests of everything that is derived from one."""

from __future__ import annotations

from typing import Annotated, Literal

import pytest
from pydantic import Field

from contracts.spec import Effect, Scope, ToolSpec
from contracts.types import WHOLE, Answer, Contract, IdempotencyKey


class ReadInput(Contract):
    """What to read."""

    name: str = Field(min_length=1, max_length=40, description="A name.")


class WriteInput(ReadInput):
    """What to write."""

    schema_version: Annotated[Literal[1], WHOLE] = Field(description="Version.")
    idempotency_key: IdempotencyKey


class Output(Answer):
    """What came of it."""

    count: int = Field(ge=0, le=9, description="A count.")


READ = {
    "name": "demo.read",
    "version": "1.0.0",
    "summary": "Read a thing.",
    "owner": "tests",
    "input": ReadInput,
    "output": Output,
    "effect": Effect.READ,
    "scopes": frozenset({Scope.WORKSPACE_READ}),
    "timeout_s": 10,
}
WRITE = {
    **READ,
    "name": "demo.write",
    "input": WriteInput,
    "effect": Effect.WRITE,
    "scopes": frozenset({Scope.WORKSPACE_WRITE}),
}


@pytest.fixture
def make_read():
    """A fresh spec of a read tool, with changes."""
    return lambda **changes: ToolSpec(**{**READ, **changes})


@pytest.fixture
def make_write():
    """A fresh spec of a mutating tool, with changes."""
    return lambda **changes: ToolSpec(**{**WRITE, **changes})
