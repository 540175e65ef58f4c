"""Canonical JSON, the fingerprint of a call, and the id of its record: what "the same" means.

The recipe never changes: stored keys and approvals depend on it. For the values contracts allow
(no floats, no integer beyond 2**53, ASCII field names) canonical JSON equals RFC 8785.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contracts.spec import ToolSpec
    from contracts.types import Contract

RECIPE = "1"
NOT_ARGUMENTS = frozenset({"idempotency_key", "schema_version", "dry_run"})
"""Fields that say how to call, not what to do."""


def record_id(spec: ToolSpec, tenant: str, key: str) -> str:
    """The id of a call's idempotency record: one for all surfaces and callers of a tenant."""
    digest = hashlib.sha256(json.dumps([tenant, key]).encode("utf-8")).hexdigest()
    return f"{spec.record_prefix}#{digest}"


def canonical(value: Any) -> str:
    """JSON with sorted keys, no blanks and no escapes that JSON does not need."""
    return json.dumps(
        value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False
    )


def arguments(request: Contract) -> dict[str, Any]:
    """What a validated call asks for, by wire names; defaults left out.

    A default that a later release adds must not turn an old key into a conflict.
    """
    present = NOT_ARGUMENTS & set(type(request).model_fields)
    return request.model_dump(
        mode="json", by_alias=True, exclude_defaults=True, exclude=set(present)
    )


def statement(spec: ToolSpec, request: Contract) -> str:
    """What a call says, as canonical JSON: the tool, its major version and the arguments."""
    return canonical({"tool": spec.name, "major": spec.major, "args": arguments(request)})


def fingerprint(spec: ToolSpec, request: Contract) -> str:
    """The fingerprint of what a call says."""
    return fingerprint_of(statement(spec, request))


def fingerprint_of(text: str) -> str:
    """`1:` and the SHA-256 (hex) of a statement."""
    return f"{RECIPE}:{hashlib.sha256(text.encode('utf-8')).hexdigest()}"
