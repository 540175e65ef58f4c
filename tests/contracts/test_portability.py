"""The lint judges documents: each thing that a target would refuse or ignore is named, with it."""

from __future__ import annotations

import json
from typing import Annotated, Literal

import pytest
from pydantic import Field, StringConstraints

from contracts import publishing, registry
from contracts.dialects import DIALECTS, bedrock, converse, emitted, gateway, portability
from contracts.dialects.targets import TARGETS, UnportableError
from contracts.types import Contract
from tests.contracts.examples import EXAMPLES, tool
from toolgate import contract_commands
from toolgate.errors import CommandError

WHOLE = "(json-schema, mcp, converse, langchain)"
"""The targets that are sent patterns."""


def problems(spec):
    return list(portability.problems(spec))


@pytest.mark.parametrize("spec", [*registry.specs(), *EXAMPLES], ids=lambda spec: spec.model_name)
def test_every_tool_is_portable(spec):
    assert problems(spec) == []


def test_every_exception_is_a_tool_that_needs_it(monkeypatch):
    names = list(portability.BESIDE_A_LENGTH)
    monkeypatch.setattr(portability, "BESIDE_A_LENGTH", {})
    for name in names:
        found = problems(registry.find(name))
        assert found
        assert all("has a pattern beside a length" in problem for problem in found)


def with_pattern(pattern, **bounds):
    class Odd(Contract):
        """Takes a text of a form."""

        text: Annotated[str, Field(pattern=pattern, description="A text.", **bounds)]

    return tool("demo.odd", Odd)


@pytest.mark.parametrize(
    ("pattern", "bounds", "says"),
    [
        (r"^[a-z]{1,9}$", {"max_length": 9}, "has a pattern beside a length"),
        (r"^[a-z]{1,9}$", {"min_length": 1}, "has a pattern beside a length"),
        (r"^[a-z]+$", {}, "has a pattern without an end"),
        (r"^[a-z]{2,}$", {}, "has a pattern without an end"),
        (r"^a.*$", {}, "has a pattern without an end"),
        (r"^\d{4}$", {}, "has a pattern that uses a class that engines read differently"),
        (r"^\w{4}$", {}, "has a pattern that uses a class that engines read differently"),
        (r"^[\d-]{4}$", {}, "has a pattern that uses a class that engines read differently"),
        (r"[a-z]{1,9}", {}, "has a pattern that is not anchored by ^ and $"),
        (r"^(?i)[a-z]{1,9}$", {}, "has a pattern that uses flags or a named group"),
        (r"^(?P<a>[a-z])$", {}, "has a pattern that uses flags or a named group"),
    ],
)
def test_a_pattern_that_is_read_differently_somewhere_is_named(pattern, bounds, says):
    (problem,) = problems(with_pattern(pattern, **bounds))
    assert problem.startswith(f"input /text {says}")
    assert problem.endswith(WHOLE)


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        (r"^(?=a)[a-z]{1,9}$", "looks around"),
        (r"^(?!a)[a-z]{1,9}$", "looks around"),
        (r"^(?<!a)[a-z]{1,9}$", "looks around"),
        (r"^([a-z])\1$", "refers back to a group"),
    ],
)
def test_a_pattern_that_pydantic_itself_refuses_is_named_too(monkeypatch, pattern, says):
    spec = with_pattern(r"^a$")
    document = json.loads(json.dumps(converse.emit(spec)))
    document["toolSpec"]["inputSchema"]["json"]["properties"]["text"]["pattern"] = pattern
    monkeypatch.setattr(converse, "emit", lambda _spec: document)
    assert problems(spec) == [f"input /text has a pattern that {says} (converse)"]


@pytest.mark.parametrize(
    "pattern",
    [r"^[a-z*+.]{1,9}$", r"^\+[0-9]{1,9}$", r"^(?:a|b)$", r"^[a\]+]{1,2}$", r"^a\{1,\}$"],
)
def test_a_pattern_that_everyone_reads_alike_is_fine(pattern):
    assert problems(with_pattern(pattern)) == []


def test_a_name_that_langchain_takes_for_itself_is_named():
    class Odd(Contract):
        """Takes a state."""

        state: bool = Field(description="A state.")

    assert problems(tool("demo.odd", Odd)) == [
        "input /state has a name that is reserved (langchain)"
    ]
    assert {"config", "run_manager", "callbacks", "runtime", "store"} <= TARGETS[
        "langchain"
    ].reserved


def test_a_composed_name_that_is_too_long_is_named_where_it_is_composed():
    spec = tool("demo.odd", EXAMPLES[1].input)
    object.__setattr__(spec, "name", "a" * 30)
    long = f"POST__{'a' * 30}_v1__{'a' * 30}_v1"
    assert problems(spec) == [
        f"{long} is not 1-64 letters, digits, _ and - (bedrock)",
        f"{long.removeprefix('POST__')} is not 1-64 letters, digits, _ and - (bedrock-function)",
        f"{'a' * 30}-v1___{'a' * 30}_v1 is not 1-64 letters, digits, _ and - (gateway)",
    ]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"oneOf": [{"type": "object"}]}, "input is not one object"),
        ({"type": "array"}, "input is not one object"),
        ({"uniqueItems": True}, "input / uses uniqueItems"),
        ({"properties": {"a": {"type": ["string", "null"]}}}, "input /a has several types"),
        ({"properties": {"a": {"description": "A."}}}, "input /a has no type"),
        ({"properties": {"a": {"type": "null"}}}, "input /a has type null"),
        (
            {"properties": {"a": {"type": "array", "items": {"type": "string", "const": "a"}}}},
            "input /a/* uses const",
        ),
    ],
)
def test_what_an_emitter_should_not_have_emitted_is_named(monkeypatch, change, says):
    document = gateway.emit(EXAMPLES[1])
    changed = {**document, "inputSchema": {**document["inputSchema"], **change}}
    monkeypatch.setattr(gateway, "emit", lambda _spec: changed)
    assert f"{says} (gateway)" in problems(EXAMPLES[1])


class Left(Contract):
    """The left one."""

    side: Literal["left"] = Field(description="left.")
    size: int = Field(ge=0, le=9, description="A size.")


class Right(Contract):
    """The right one, whose size is another."""

    side: Literal["right"] = Field(description="right.")
    size: int = Field(ge=0, le=8, description="A size.")


class Sides(Contract):
    """One of two that share a name."""

    one: Annotated[Left | Right, Field(discriminator="side", description="A side.")]


class Either(Contract):
    """One of two that nothing tells apart."""

    one: Annotated[Left | str, Field(description="Anything.")]


class Null(Contract):
    """Must be told, and may be nothing."""

    one: Annotated[
        Annotated[str, StringConstraints(max_length=9)] | None, Field(description="A text.")
    ]


class Deep(Contract):
    """Too much for a function's few words."""

    items: list[
        Literal[*(f"value-{number}" for number in range(60))]  # type: ignore[valid-type]
    ] = Field(max_length=9, description="Items.")


@pytest.mark.parametrize(
    ("contract", "says"),
    [
        (Sides, "size differs between the variants of side (gateway)"),
        (Either, f"/one is a union without a discriminator ({', '.join(list(DIALECTS)[1:])})"),
        (
            Null,
            "/one must be given and may be null: default it (bedrock, bedrock-function, gateway)",
        ),
        (Deep, "/items cannot be described in 500 characters (bedrock-function)"),
    ],
)
def test_what_cannot_be_told_is_refused_by_name_and_the_rest_is_emitted(contract, says):
    spec = tool("demo.odd", contract)
    assert problems(spec) == [says]
    document = json.loads(publishing.documents([spec])["contracts/schemas/demo_odd_v1.json"])
    refused = [name for name in DIALECTS if "refused" in document[name]]
    assert refused == says[says.index("(") + 1 : -1].split(", ")


def test_showing_a_document_that_cannot_be_is_one_sentence(monkeypatch):
    spec = tool("demo.odd", Sides)
    monkeypatch.setattr(contract_commands.registry, "find", lambda _name: spec)
    with pytest.raises(CommandError, match="demo_odd_v1 has no gateway document: size differs"):
        contract_commands.show("demo_odd", "gateway")
    with pytest.raises(UnportableError):
        gateway.emit(spec)


def test_what_is_refused_is_lost_altogether():
    index = json.loads(publishing.documents([tool("demo.odd", Sides)])[publishing.INDEX])
    assert {"pointer": "/one", "keyword": "oneOf"} in index["demo_odd_v1"]["gateway"]
    assert emitted(tool("demo.odd", Sides), "gateway") == {
        "refused": "size differs between the variants of side"
    }
    assert bedrock.emit(tool("demo.odd", Sides))
