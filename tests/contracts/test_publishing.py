"""What a digest is made of: everything that callers depend on, and nothing else."""

from __future__ import annotations

import json
from datetime import date
from typing import Annotated, Literal

import pytest
from pydantic import Field

from contracts import publishing, registry
from contracts.dialects import DIALECTS
from contracts.dialects.lost import lost
from contracts.errors import DomainError
from contracts.publishing import digest
from contracts.spec import Approval, Effect, Status
from contracts.types import WHOLE, Answer, Contract, IdempotencyKey
from toolgate import schema_files


class LostError(DomainError):
    """A thing is lost."""

    code = "thing_lost"


class LostForNowError(DomainError):
    """A thing is lost and may be found."""

    code = "thing_lost"
    retryable = True


class Base(Contract):
    """What every input here has."""

    schema_version: Annotated[Literal[1], WHOLE] = Field(description="Version.")
    idempotency_key: IdempotencyKey


def one_field(annotation, /, *, required=True, description="A field.", doc="An input.", **bounds):
    """An input with one field of its own, `field`."""
    default = {} if required else {"default": bounds.pop("default")}

    class Input(Base):
        field: annotation = Field(description=description, **default, **bounds)

    Input.__doc__ = doc
    return Input


def output_of(maximum, *, extra=False):
    class Output(Answer):
        count: int = Field(ge=0, le=maximum, description="A count.")

    class More(Output):
        more: str = Field(max_length=9, description="More.")

    return More if extra else Output


TEXT = one_field(str, max_length=40)


@pytest.fixture
def make(make_write):
    """A mutating spec whose input has one text of at most 40 characters."""
    return lambda **changes: make_write(**{"input": TEXT, "output": output_of(9), **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {"summary": "Something else."},
        {"owner": "someone else"},
        {"timeout_s": 5},
        {"status": Status.ACTIVE},
        {"status": Status.DEPRECATED, "sunset": date(2030, 1, 1)},
        {"version": "1.0.1"},
        {"input": one_field(str, max_length=40, description="In other words.")},
        {"input": one_field(str, max_length=40, doc="In other words.")},
    ],
    ids=" ".join,
)
def test_what_callers_do_not_depend_on_leaves_the_digest(make, changes):
    assert digest(make(**changes)) == digest(make())


@pytest.mark.parametrize(
    "changes",
    [
        {"input": one_field(str, max_length=41)},
        {"input": one_field(str, max_length=40, min_length=1)},
        {"input": one_field(str, max_length=40, pattern="^a")},
        {"input": one_field(str)},
        {"input": one_field(str, max_length=40, required=False, default="")},
        {"input": one_field(str | None, max_length=40)},
        {"input": one_field(int)},
        {"input": one_field(Literal["a", "b"])},
        {"input": Base},
        {"output": output_of(10)},
        {"output": output_of(9, extra=True)},
        {"errors": (LostError,)},
        {"effect": Effect.DESTRUCTIVE, "approval": Approval.DUAL},
        {"approval": Approval.DUAL},
        {"approval": Approval.WHEN_PROTECTED},
    ],
    ids=" ".join,
)
def test_what_callers_depend_on_moves_the_digest(make, changes):
    assert digest(make(**changes)) != digest(make())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (one_field(Literal["a", "b"]), one_field(Literal["a", "b", "c"])),
        (one_field(int, ge=1, le=9), one_field(int, ge=1, le=10)),
        (
            one_field(bool, required=False, default=False),
            one_field(bool, required=False, default=True),
        ),
        (one_field(list[str], max_length=3), one_field(list[str], max_length=4)),
    ],
)
def test_a_value_a_bound_or_a_default_more_moves_the_digest(make, one, other):
    assert digest(make(input=one)) != digest(make(input=other))


def test_whether_a_code_is_retryable_moves_the_digest(make):
    assert digest(make(errors=(LostError,))) != digest(make(errors=(LostForNowError,)))


def test_a_field_that_is_called_description_is_no_description(make):
    def named(bound):
        class Input(Base):
            description: str = Field(max_length=bound, description="A text.")

        return Input

    properties = publishing.promise(make(input=named(5)))["input"]["properties"]
    assert properties["description"] == {"type": "string", "maxLength": 5}
    assert digest(make(input=named(5))) != digest(make(input=named(6)))


def test_every_published_digest_is_the_one_that_its_contract_has():
    published = schema_files.digests()
    assert published["apply_patch@1"]["readBy"] == "brief"
    for prefix, entry in published.items():
        spec = registry.find(prefix)
        assert entry["digest"] == digest(spec)
        assert entry["version"].split(".")[0] == str(spec.major)
        assert spec.status is not Status.DRAFT


def test_the_digest_of_apply_patch_v1_never_changes():
    assert digest(registry.find("apply_patch_v1")) == (
        "sha256:1fe6bcc7873dbcce1ff89b93634e8641706d5ae2222b48b4c66805e8c243987a"
    )


def test_committed_schemas_are_what_the_contracts_emit():
    assert schema_files.stale(registry.specs()) == []


def test_the_index_lists_for_each_tool_and_target_what_is_lost():
    specs = registry.specs()
    index = json.loads(publishing.documents(specs)[publishing.INDEX])
    assert list(index) == [spec.model_name for spec in specs]
    for spec in specs:
        assert index[spec.model_name] == {name: lost(spec, name) for name in DIALECTS}
    assert {"pointer": "/dryRun", "keyword": "default"} in index["apply_patch_v1"]["gateway"]


def test_an_index_that_was_edited_is_out_of_date(tmp_path):
    specs = registry.specs()
    schema_files.write(specs, tmp_path)
    assert schema_files.stale(specs, tmp_path) == []
    (tmp_path / publishing.INDEX).write_text("{}\n")
    assert schema_files.stale(specs, tmp_path) == [publishing.INDEX]
