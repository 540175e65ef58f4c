"""Success and failure as every surface gets them: one shape, bounded, and checked."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from contracts import registry, results
from contracts.dialects import json_schema
from contracts.errors import (
    CODES,
    ConflictError,
    DomainError,
    InProgressError,
    NotFoundError,
    ToolError,
    UnavailableError,
    recovery,
)
from contracts.results import failure_model, success_model
from tests.contracts.conftest import Output

PATCH = registry.find("apply_patch_v1")
READ = registry.find("read_file_v1")


class LostError(DomainError):
    """A thing is lost."""

    code = "thing_lost"


class BusyError(DomainError):
    """A thing is busy."""

    code = "thing_busy"
    retryable = True


def exceptions(kind=ToolError):
    """Every exception of the platform; tests define some of their own."""
    for one in kind.__subclasses__():
        if one.__module__ == "contracts.errors":
            yield from exceptions(one)
            if one is not DomainError:
                yield one


def instance(kind):
    return kind("why", **({"limit": 1, "actual": 2} if kind.code == "TOO_LARGE" else {}))


def test_a_success_of_a_read_tool_says_its_version_and_nothing_of_duplicates(make_read):
    assert results.success(make_read(), Output(count=1)) == {
        "ok": True,
        "schemaVersion": 1,
        "count": 1,
    }


def test_a_success_of_a_mutating_tool_says_that_it_was_done_now(make_write):
    first = results.success(make_write(), Output(count=1))
    assert first["skippedAsDuplicate"] is False
    again = results.as_duplicate(first)
    assert again == {**first, "skippedAsDuplicate": True}
    assert first["skippedAsDuplicate"] is False


def test_schema_version_is_the_major_version(make_read):
    spec = make_read(version="3.1.4")
    assert results.success(spec, Output(count=1))["schemaVersion"] == 3
    assert results.failure(spec, NotFoundError("why"))["schemaVersion"] == 3


@pytest.mark.parametrize("count", [10, -1, "1", 1.5, None])
def test_an_output_that_was_built_around_its_contract_is_refused(make_read, count):
    with pytest.raises(ValidationError):
        results.success(make_read(), Output.model_construct(count=count))


def test_an_output_with_text_that_json_cannot_carry_is_refused():
    output = PATCH.output.model_construct(applied=["\ud800"])
    with pytest.raises((ValidationError, ValueError)):
        results.success(PATCH, output)


@pytest.mark.parametrize("spec", registry.specs(), ids=lambda spec: spec.model_name)
@pytest.mark.parametrize("kind", sorted(set(exceptions()), key=lambda kind: kind.code))
def test_every_typed_error_is_a_failure_that_fits_every_tools_schema(spec, kind):
    result = results.with_key_spent(results.failure(spec, instance(kind)), spent=True)
    assert result["error"]["code"] == kind.code
    assert result["error"]["retryable"] is CODES[kind.code].retryable
    Draft202012Validator(json_schema.emit(spec)["error"]).validate(result)
    failure_model(spec).model_validate(result)
    with pytest.raises(ValidationError):
        success_model(spec).model_validate(result)


def test_a_tools_own_codes_fit_its_schema_and_no_other_tools(make_read):
    own = make_read(errors=(LostError, BusyError))
    for kind, retryable in ((LostError, False), (BusyError, True)):
        result = results.failure(own, kind("why"))
        assert result["error"]["retryable"] is retryable
        Draft202012Validator(json_schema.emit(own)["error"]).validate(result)
        assert not Draft202012Validator(json_schema.emit(READ)["error"]).is_valid(result)


def test_a_code_that_nobody_knows_is_judged_by_retryable():
    assert recovery("thing_busy", retryable=True) == "retry"
    assert recovery("thing_lost", retryable=False) == "escalate"
    assert recovery("CONFLICT", retryable=True) == "replan"
    assert recovery("APPROVAL_PENDING", retryable=True) == "escalate"


def test_a_failure_without_details_has_none():
    error = results.failure(READ, NotFoundError("why"))["error"]
    assert error == {"code": "NOT_FOUND", "retryable": False, "message": "why"}


def test_a_message_is_cut_at_500_characters():
    error = results.failure(READ, NotFoundError("x" * 501))["error"]
    assert error["message"] == "x" * 500


@pytest.mark.parametrize(
    ("text", "kept"), [("x" * 7_987, True), ("x" * 7_988, False), ("é" * 4_000, False)]
)
def test_details_over_8_kb_are_left_out_and_their_size_is_said(text, kept):
    """8000 bytes as JSON in UTF-8; the name and its quotes take thirteen of them."""
    details = results.failure(READ, ConflictError("why", about=text))["error"]["details"]
    if kept:
        assert details == {"about": text}
    else:
        assert set(details) == {"omitted"}
        assert details["omitted"] > 8_000


def test_details_that_are_left_out_still_say_whether_the_key_is_spent():
    large = results.failure(PATCH, ConflictError("why", about="x" * 9_000))
    result = results.as_duplicate(results.with_key_spent(large, spent=True))
    assert result["error"]["details"] == {"omitted": 9_013, "keySpent": True, "replayed": True}


@pytest.mark.parametrize("spent", [True, False])
def test_key_spent_stands_beside_the_other_details(spent):
    failure = results.failure(PATCH, InProgressError("why", retryAfterMs=250))
    result = results.with_key_spent(failure, spent=spent)
    assert result["error"]["details"] == {"retryAfterMs": 250, "keySpent": spent}
    assert failure["error"]["details"] == {"retryAfterMs": 250}


def test_a_replayed_failure_says_that_it_is_old_and_stays_what_it_was():
    first = results.with_key_spent(results.failure(PATCH, ConflictError("why", n=1)), spent=True)
    again = results.as_duplicate(first)
    assert again["error"]["details"] == {"n": 1, "keySpent": True, "replayed": True}
    assert {**again["error"], "details": None} == {**first["error"], "details": None}
    assert "skippedAsDuplicate" not in again


def test_a_success_is_projected_whole():
    result = {"ok": True, "schemaVersion": 1, "count": 1}
    assert results.project(result) == {"isError": False, "result": result}


def test_a_failure_is_projected_with_its_details_as_detail():
    failure = results.failure(PATCH, UnavailableError("busy", retryAfterMs=300))
    assert results.project(failure) == {
        "isError": True,
        "error": {
            "code": "UNAVAILABLE",
            "message": "busy",
            "detail": {"retryAfterMs": 300},
            "retryable": True,
        },
    }
    assert (
        results.project(results.failure(PATCH, UnavailableError("busy")))["error"]["detail"] == {}
    )


def test_a_result_is_json_and_the_same_after_a_round_trip(make_write):
    for result in (
        results.success(make_write(), Output(count=9)),
        results.failure(PATCH, ConflictError("é 😀", about=["\n", None, 1, {"a": False}])),
    ):
        assert json.loads(json.dumps(result, allow_nan=False)) == result
