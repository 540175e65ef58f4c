"""Feedback on bad arguments: exact places, small, and never what was sent."""

from __future__ import annotations

import json
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, ValidationError

from contracts import registry
from contracts.issues import ISSUES_MAX, issues, select
from contracts.types import Contract

SECRET = "s3cr3t-value"


class Write(Contract):
    """The whole file."""

    kind: Literal["write"] = Field(description="write: the whole file.")
    text: str = Field(max_length=10, description="The text.")


class Move(Contract):
    """Another name."""

    kind: Literal["move"] = Field(description="move: another name.")
    to: str = Field(max_length=10, description="The new name.")


class Options(Contract):
    """How."""

    depth: int = Field(ge=1, le=9, description="How deep.")


Change = Annotated[Write | Move, Field(discriminator="kind")]


class Request(Contract):
    """Choices in every place that a contract may have them."""

    first: Annotated[Change, Field(description="One change.")]
    changes: Annotated[list[Change], Field(max_length=40, description="Changes.")]
    last: Annotated[Change | None, Field(default=None, description="One more.")]
    note: Annotated[str | None, Field(default=None, max_length=9, description="A remark.")]
    options: Annotated[Options | None, Field(default=None, description="How.")]
    tags: Annotated[
        list[Annotated[str, Field(max_length=4)]] | None,
        Field(default=None, max_length=3, description="Tags."),
    ]


WRITE = {"kind": "write", "text": "x"}
GOOD = {"first": WRITE, "changes": []}
PATCH = registry.find("apply_patch_v1")
PATCH_GOOD = {
    "schemaVersion": 1,
    "idempotencyKey": "key-12345678",
    "repoRoot": "/workspace/app",
    "files": [{"path": "a.txt", "mode": "replace_full", "content": ""}],
}


def found_in(model, schema, arguments):
    with pytest.raises(ValidationError) as caught:
        model.model_validate(arguments)
    return issues(caught.value, schema)


def found(**changes):
    return found_in(Request, Request.model_json_schema(by_alias=True), {**GOOD, **changes})


def patch_found(**changes):
    return found_in(PATCH.input, PATCH.input_schema, {**PATCH_GOOD, **changes})


def at(document, pointer):
    """What stands at a JSON pointer (RFC 6901)."""
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        document = document[int(name)] if isinstance(document, list) else document[name]
    return document


def test_a_pointer_leads_through_a_branch_of_a_union_without_naming_it():
    assert found(changes=[WRITE, {"kind": "move", "to": "x" * 11}]) == [
        {"path": "/changes/1/to", "problem": "too long", "expected": {
            "type": "string", "maxLength": 10,
        }},
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"first": {"kind": "write", "text": 1}}, "/first/text"),
        ({"changes": [{"kind": "write", "text": 1}]}, "/changes/0/text"),
        ({"last": {"kind": "write", "text": 1}}, "/last/text"),
    ],
)
def test_a_bad_field_is_found_wherever_its_union_stands(changes, path):
    assert found(**changes) == [
        {"path": path, "problem": "not a string", "expected": {"type": "string", "maxLength": 10}}
    ]


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"first": {"kind": SECRET}}, "/first/kind"),
        ({"changes": [WRITE, {"kind": SECRET}]}, "/changes/1/kind"),
        ({"last": {"kind": SECRET}}, "/last/kind"),
    ],
)
def test_an_unknown_variant_is_answered_with_the_ones_there_are(changes, path):
    expected = {"enum": ["move", "write"]}
    assert found(**changes) == [{"path": path, "problem": "unknown variant", "expected": expected}]


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"first": {"text": "x"}}, "/first/kind"),
        ({"changes": [{"text": "x"}]}, "/changes/0/kind"),
        ({"last": {"text": "x"}}, "/last/kind"),
    ],
)
def test_a_missing_variant_is_required_by_name(changes, path):
    expected = {"enum": ["move", "write"]}
    assert found(**changes) == [{"path": path, "problem": "required", "expected": expected}]


def test_a_field_of_another_branch_is_answered_with_the_fields_of_this_one():
    assert found(first={**WRITE, "to": "y"}) == [
        {"path": "/first/to", "problem": "unknown field", "expected": {"fields": ["kind", "text"]}}
    ]


def test_a_value_that_may_be_null_is_judged_by_what_else_it_may_be():
    assert found(note="x" * 10) == [
        {"path": "/note", "problem": "too long", "expected": {"type": "string", "maxLength": 9}}
    ]
    assert found(options={"depth": 0}) == [
        {
            "path": "/options/depth",
            "problem": "too small",
            "expected": {"type": "integer", "minimum": 1, "maximum": 9},
        }
    ]
    assert found(options={}) == [
        {
            "path": "/options/depth",
            "problem": "required",
            "expected": {"type": "integer", "minimum": 1, "maximum": 9},
        }
    ]
    assert [one["path"] for one in found(tags=["ok", "too long"])] == ["/tags/1"]


def test_an_array_is_counted_and_its_items_are_pointed_at():
    assert patch_found(files=[]) == [
        {
            "path": "/files",
            "problem": "too few items",
            "expected": {"type": "array", "minItems": 1, "maxItems": 40},
        }
    ]
    assert [one["path"] for one in patch_found(files=[PATCH_GOOD["files"][0], 7])] == ["/files/1"]


def test_what_was_sent_is_never_repeated():
    bad = {"path": SECRET, "mode": SECRET, "content": SECRET, "more": SECRET}
    text = json.dumps(patch_found(idempotencyKey=[SECRET], repoRoot=SECRET, files=[bad]))
    assert SECRET not in text


@pytest.mark.parametrize(
    "changes",
    [
        {"files": "x" * 500_000},
        {"repoRoot": "/" + "x" * 500_000},
        {"idempotencyKey": {"x" * 500_000: "x" * 500_000}},
        {"x" * 500_000: 1},
        {"files": [{"x" * 500_000: 1}]},
        {"files": [{**PATCH_GOOD["files"][0], "content": "x" * 500_001}]},
        {"files": [{"bad": "x" * 1_000}] * 500},
    ],
)
def test_half_a_megabyte_of_mistakes_is_answered_in_a_few_kilobytes(changes):
    answered = patch_found(**changes)
    assert len(json.dumps(answered)) < 8_000
    assert len(answered) <= ISSUES_MAX


def test_a_hundred_mistakes_are_answered_by_the_first_twenty():
    answered = found(changes=[{"kind": "write", "text": 1}] * 40)
    assert ISSUES_MAX == 20
    assert [one["path"] for one in answered] == [f"/changes/{n}/text" for n in range(20)]


@pytest.mark.parametrize("name", ["a/b", "a b", "x" * 65, "naïve", "<script>", ""])
def test_an_unknown_name_is_named_only_if_it_is_plain(name):
    (one,) = patch_found(**{name: 1})
    assert one == {
        "path": "",
        "problem": "unknown field",
        "expected": {"fields": sorted(PATCH.input_schema["properties"])},
    }


def test_a_plain_unknown_name_is_pointed_at():
    (one,) = patch_found(idempotency_key="k")
    assert one["path"] == "/idempotency_key"
    assert "idempotencyKey" in one["expected"]["fields"]


def test_a_lone_surrogate_is_an_issue_and_no_crash():
    file = {"path": "a.txt", "mode": "replace_full", "content": "\ud800"}
    (one,) = patch_found(files=[file])
    assert (one["path"], one["problem"]) == (
        "/files/0/content",
        "not valid text: it holds a lone surrogate",
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["write", "move"]) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["kind", "text", "to", "path", "mode", "content", "a/b~c"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


FIELDS = ("first", "changes", "last", "note", "options", "tags", "other")


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(FIELDS, JSON)))
def test_every_pointer_leads_to_something_that_was_sent_or_is_missing(arguments):
    try:
        Request.model_validate(arguments)
    except ValidationError as error:
        answered = issues(error, Request.model_json_schema(by_alias=True))
    else:
        return
    assert answered
    for one in answered:
        if one["problem"] == "required" or one["problem"] == "unknown variant":
            parent, _, name = one["path"].rpartition("/")
            there = at(arguments, parent)
            assert isinstance(there, dict)
            assert one["problem"] == "unknown variant" or name not in there
        else:
            at(arguments, one["path"])


def test_a_pattern_pointer_selects_each_item_by_its_exact_pointer():
    files = {"files": [{"path": "a"}, {"mode": "m"}, {"path": "b"}]}
    assert list(select(files, "/files/*/path")) == [("/files/0/path", "a"), ("/files/2/path", "b")]
    assert list(select({"files": "no list"}, "/files/*/path")) == []
    assert list(select([], "/files/*/path")) == []
