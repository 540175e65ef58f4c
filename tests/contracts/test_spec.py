"""A SPEC that contradicts the rules cannot be imported; the registry refuses collisions."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

import pytest
from pydantic import Field

from contracts import registry
from contracts.apply_patch.v1 import SPEC, FilePatch
from contracts.apply_patch.v1 import Input as PatchInput
from contracts.errors import CODES, DomainError, ToolError, recovery
from contracts.read_file.v1 import SPEC as READ
from contracts.spec import Approval, Effect, SpecError, Status
from contracts.types import Contract


class NoKey(Contract):
    """A mutating input that forgot its key."""

    schema_version: Literal[1] = Field(description="Version.")


class OptionalKey(NoKey):
    """A mutating input whose key may be left out."""

    idempotency_key: str = Field(default="", description="Key.")


class Reserved(Contract):
    """An argument that would make a direct call look like Bedrock's."""

    api_path: str = Field(description="A path.")


class Floating(Contract):
    """A number that JSON parsers disagree about."""

    ratio: float = Field(description="A ratio.")


class ShoutingError(DomainError):
    """A code that looks like a platform's."""

    code = "SHOUTING"


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"name": "Apply"}, "must match"),
        ({"name": "apply__patch"}, "must match"),
        ({"name": "a" * 40}, "longer than 28"),
        ({"version": "1.0"}, "MAJOR.MINOR.PATCH"),
        ({"version": "0.1.0"}, "first version is 1.0.0"),
        ({"timeout_s": 16}, "1-15"),
        ({"timeout_s": 0}, "1-15"),
        ({"scopes": frozenset()}, "scope"),
        ({"summary": " "}, "say something"),
        ({"effect": Effect.DESTRUCTIVE}, "approval DUAL"),
        ({"sunset": None}, "sunset"),
        ({"status": Status.ACTIVE}, "sunset"),
        ({"input": NoKey}, "requires idempotencyKey"),
        ({"input": OptionalKey}, "requires idempotencyKey"),
        ({"errors": (ShoutingError,)}, "lower_snake"),
    ],
)
def test_a_contradiction_is_refused_at_import(changes, part):
    with pytest.raises(SpecError, match=part):
        replace(SPEC, **changes)


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"input": PatchInput}, "takes no"),
        ({"input": Reserved}, "reserved"),
        ({"input": Floating}, "number"),
        ({"approval": Approval.DUAL}, "no approval"),
        ({"timeout_s": 61}, "1-60"),
    ],
)
def test_a_read_tool_has_rules_of_its_own(changes, part):
    with pytest.raises(SpecError, match=part):
        replace(READ, **changes)


def test_names_follow_from_name_and_version():
    spec = replace(SPEC, name="orders.lookup", version="2.1.0")
    assert (spec.key, spec.model_name, spec.record_prefix, spec.handler_path) == (
        "orders.lookup@2.1.0",
        "orders_lookup_v2",
        "orders.lookup@2",
        "functions/orders_lookup/v2.py",
    )


def test_two_specs_of_one_name_are_refused():
    with pytest.raises(SpecError, match="bump the version"):
        registry.refuse_collisions([SPEC, SPEC])
    dotted = [replace(SPEC, name="a.b"), replace(SPEC, name="a_b")]
    with pytest.raises(SpecError, match="model_name a_b_v1"):
        registry.refuse_collisions(dotted)


@pytest.mark.parametrize("name", ["apply_patch_v1", "apply_patch@1", "apply_patch@1.0.1"])
def test_a_tool_is_found_by_each_of_its_names(name):
    assert registry.find(name) is SPEC


def test_an_unknown_tool_is_answered_with_the_names_there_are():
    with pytest.raises(registry.UnknownToolError, match="apply_patch_v1"):
        registry.find("nothing")


def test_the_newest_active_version_is_the_one_that_agents_get():
    first = replace(SPEC, status=Status.ACTIVE, sunset=None)
    draft = replace(first, version="2.0.0", status=Status.DRAFT)
    assert registry.newest([draft, first]) == (first,)
    active = replace(draft, status=Status.ACTIVE)
    assert registry.newest([first, active]) == (active,)
    assert registry.newest([active, SPEC]) == (active,)


def test_a_bare_name_is_the_newest_published_version():
    assert registry.find("apply_patch").model_name == "apply_patch_v2"


def test_a_deprecated_version_tells_models_when_it_goes():
    assert SPEC.description == f"{SPEC.summary} Goes away after 2027-05-31."
    assert "use apply_patch_v2" in SPEC.description


CODE_TABLE = {
    "VALIDATION": (False, "replan"),
    "FORBIDDEN": (False, "escalate"),
    "FORBIDDEN_PATH": (False, "escalate"),
    "TOO_LARGE": (False, "replan"),
    "NOT_FOUND": (False, "replan"),
    "CONFLICT": (False, "replan"),
    "IDEMPOTENCY_CONFLICT": (False, "replan"),
    "IN_PROGRESS": (True, "retry"),
    "TIMEOUT": (True, "retry"),
    "UNAVAILABLE": (True, "retry"),
    "INTERNAL": (True, "retry"),
    "OUTCOME_UNKNOWN": (False, "escalate"),
    "APPROVAL_PENDING": (True, "escalate"),
    "APPROVAL_DENIED": (False, "replan"),
    "APPROVAL_EXPIRED": (False, "replan"),
}


def test_the_code_table_is_the_pinned_one():
    assert {n: (c.retryable, c.recovery) for n, c in CODES.items()} == CODE_TABLE
    for name, (retryable, what) in CODE_TABLE.items():
        assert recovery(name, retryable=retryable) == what
    assert recovery("order_not_found", retryable=False) == "escalate"
    assert recovery("later_code", retryable=True) == "retry"


def test_every_platform_code_has_its_exception():
    def tree(cls):
        return {cls, *(found for child in cls.__subclasses__() for found in tree(child))}

    classes = {c for c in tree(ToolError) if c.__module__ == "contracts.errors"}
    named = {c.code for c in classes if hasattr(c, "code")}
    assert named == set(CODES)


def test_published_contracts_never_accept_what_looks_like_another_type():
    call = {
        "schemaVersion": True,
        "idempotencyKey": "key-12345678",
        "repoRoot": "/w",
        "files": [{"path": "a", "mode": "replace_full", "content": ""}],
    }
    for wrong in (True, 1.0, "1", 2, None):
        with pytest.raises(ValueError, match="schemaVersion"):
            PatchInput.model_validate({**call, "schemaVersion": wrong})


def test_path_pointers_are_found_through_lists_and_unions():
    class Move(Contract):
        kind: Literal["move"] = Field(description="Kind.")
        to: FilePatch

    class Many(Contract):
        moves: Annotated[list[Move], Field(max_length=2, description="Moves.")]

    from contracts.types import path_rules

    assert [p for p, _ in path_rules(Many)] == ["/moves/*/to/path"]
