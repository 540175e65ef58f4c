"""What a call answers: success or failure, told apart by `ok`.

    {"ok": true,  "schemaVersion": 1, ...the tool's output..., "skippedAsDuplicate": false}
    {"ok": false, "schemaVersion": 1, "error": {"code", "retryable", "message", "details"?}}

`skippedAsDuplicate` is there on mutating tools only; it is true when the answer was given before
and nothing was done this time. The functions here are the only place where results are built.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, Field, create_model

from contracts.errors import DETAILS_MAX_BYTES, MESSAGE_MAX, ToolError
from contracts.types import Contract

if TYPE_CHECKING:
    from contracts.spec import ToolSpec
    from contracts.types import Answer

Result = dict[str, Any]
"""A success or a failure as JSON-ready data."""


@cache
def success_model(spec: ToolSpec) -> type[BaseModel]:
    """The model of a success: the tool's output inside the envelope."""
    fields: dict[str, Any] = {
        "ok": (Literal[True], Field(description="True: the call did what it was asked.")),
        "schema_version": _schema_version(spec),
    }
    if spec.mutates:
        fields["skipped_as_duplicate"] = (
            bool,
            Field(
                alias="skippedAsDuplicate",
                description="True if this very call was answered before and nothing was done now.",
            ),
        )
    return create_model(f"{spec.model_name}_success", __base__=spec.output, **fields)


@cache
def failure_model(spec: ToolSpec) -> type[BaseModel]:
    """The model of a failure: every platform code and the tool's own."""
    codes: Any = Literal[*spec.codes]
    error = create_model(
        f"{spec.model_name}_error",
        __base__=Contract,
        code=(codes, Field(description="What went wrong, as a stable code.")),
        retryable=(bool, Field(description="Whether the identical call may succeed later.")),
        message=(str, Field(max_length=MESSAGE_MAX, description="What went wrong, in words.")),
        details=(
            dict[str, Any],
            Field(default_factory=dict, description="What a caller can act on; open, <= 8 kB."),
        ),
    )
    return create_model(
        f"{spec.model_name}_failure",
        __base__=Contract,
        ok=(Literal[False], Field(description="False: the call did nothing, see error.")),
        schema_version=_schema_version(spec),
        error=(error, Field(description="Why, and what to do about it.")),
    )


def _schema_version(spec: ToolSpec) -> Any:
    only: Any = Literal[spec.major]
    return (
        only,
        Field(alias="schemaVersion", description=f"Version of this contract: {spec.major}."),
    )


def success(spec: ToolSpec, output: Answer) -> Result:
    """The result of a call that worked. Raises pydantic.ValidationError if it breaks its contract.

    The output is validated again from its wire form: a model built by hand may hold anything.
    """
    body = {
        "ok": True,
        "schemaVersion": spec.major,
        # What is wrong with it is found right below; a warning would put its values into the log.
        **output.model_dump(mode="json", by_alias=True, warnings=False),
    }
    if spec.mutates:
        body["skippedAsDuplicate"] = False
    success_model(spec).model_validate_json(json.dumps(body, ensure_ascii=False, allow_nan=False))
    return body


def failure(spec: ToolSpec, error: ToolError) -> Result:
    """The result of a call that failed with a typed error; over-long details are left out."""
    body: dict[str, Any] = {
        "code": error.code,
        "retryable": error.is_retryable(),
        "message": error.message,
    }
    if error.details:
        size = len(json.dumps(error.details, ensure_ascii=False).encode("utf-8", "replace"))
        body["details"] = error.details if size <= DETAILS_MAX_BYTES else {"omitted": size}
    return {"ok": False, "schemaVersion": spec.major, "error": body}


def as_duplicate(result: Result) -> Result:
    """A stored result as its replay: a success says it was skipped, a failure that it is old."""
    if result.get("ok"):
        return {**result, "skippedAsDuplicate": True}
    return _with_details(result, replayed=True)


def with_key_spent(result: Result, *, spent: bool) -> Result:
    """A failure of a mutating tool, saying whether its idempotency key is used up."""
    return _with_details(result, keySpent=spent)


def _with_details(result: Result, **more: Any) -> Result:
    error = result["error"]
    return {**result, "error": {**error, "details": {**error.get("details", {}), **more}}}


def project(result: Result) -> Result:
    """The `isError` form of a result, for MCP and LangGraph; `detail` holds the details."""
    if result["ok"]:
        return {"isError": False, "result": result}
    error = result["error"]
    return {
        "isError": True,
        "error": {
            "code": error["code"],
            "message": error["message"],
            "detail": error.get("details", {}),
            "retryable": error["retryable"],
        },
    }
