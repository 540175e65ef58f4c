"""Contracts with what the tools do not have yet: unions, nulls, many arguments, long words."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from contracts.spec import Effect, Scope, ToolSpec
from contracts.types import WHOLE, Answer, Contract, IdempotencyKey

LONG = "This explains at length what is better explained in a few words. " * 9


class Write(Contract):
    """The whole file."""

    kind: Literal["write"] = Field(description="write: the whole file.")
    path: str = Field(min_length=1, max_length=20, description="Which file.")
    text: str = Field(max_length=10, description="The text.")


class Move(Contract):
    """Another name."""

    kind: Literal["move"] = Field(description="move: another name.")
    path: str = Field(min_length=1, max_length=20, description="Which file.")
    to: str = Field(max_length=20, description="The new name.")
    size: Annotated[int | None, Field(default=None, ge=0, le=9, description="A size.")]


class Drop(Contract):
    """No file."""

    kind: Literal["drop", "forget"] = Field(description="drop or forget: no file.")
    path: str = Field(min_length=1, max_length=20, description="What to drop.")
    size: Annotated[int | None, Field(default=None, ge=0, le=9, description="A size.")]


Change = Annotated[Write | Move | Drop, Field(discriminator="kind")]


class Changes(Contract):
    """Changes of a mutating tool, one alone and several."""

    schema_version: Annotated[Literal[1], WHOLE] = Field(description="Version.")
    idempotency_key: IdempotencyKey
    first: Annotated[Change, Field(description="One change.")]
    more: Annotated[list[Change], Field(max_length=3, description="More changes.")]


class Many(Contract):
    """More arguments than a function takes."""

    one: str = Field(max_length=9, description=f"One. {LONG}")
    two: int = Field(ge=1, le=9, default=3, description="Two.")
    three: bool = Field(default=False, description="Three.")
    four: Annotated[str | None, Field(default=None, max_length=9, description="Four.")]
    five: list[Annotated[str, Field(max_length=5)]] = Field(max_length=3, description="Five.")
    six: Literal["a", "b"] = Field(description="Six.")


class Wordy(Contract):
    """Arguments that need too many words."""

    text: str = Field(min_length=2, max_length=9, description=f"A text. {LONG}")
    items: Annotated[list[Change], Field(max_length=3, description=f"Some changes. {LONG}")]


class Found(Answer):
    """An answer that may hold null."""

    next_cursor: Annotated[
        str | None, Field(default=None, max_length=99, description="For the next page.")
    ]
    places: Annotated[list[Place], Field(max_length=9, description="The places.")]


class Place(Answer):
    """One place."""

    name: str = Field(max_length=9, description="Its name.")
    height: Annotated[int | None, Field(default=None, description="Its height, if known.")]


Found.model_rebuild()


def tool(name: str, contract: type[Contract], effect: Effect = Effect.READ) -> ToolSpec:
    """A tool with such an input."""
    return ToolSpec(
        name=name,
        version="1.0.0",
        summary="Do a thing.",
        owner="tests",
        input=contract,
        output=Found,
        effect=effect,
        scopes=frozenset({Scope.WORKSPACE_READ}),
        timeout_s=10,
    )


CHANGES = tool("demo.changes", Changes, Effect.WRITE)
MANY = tool("demo.many", Many)
WORDY = tool("demo.wordy", Wordy)
EXAMPLES = (CHANGES, MANY, WORDY)
