"""What was promised: the digest of a published version, and the documents that are committed.

A published version's schema never changes. Its digest covers what callers depend on: input,
output, codes with their `retryable`, effect and approval. Descriptions, owner, status and timeout
may change.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from contracts.dialects import DIALECTS, json_schema
from contracts.fingerprint import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable

    from contracts.spec import ToolSpec

DIGESTS = "contracts/schemas/digests.json"
"""Digest and reviewer of every published version, by key."""


def promise(spec: ToolSpec) -> dict[str, Any]:
    """What a digest is made of."""
    document = json_schema.emit(spec)
    return {
        "input": _bare(document["input"]),
        "output": _bare(document["output"]),
        "codes": dict(spec.codes),
        "effect": spec.effect.value,
        "approval": spec.approval.value,
    }


def digest(spec: ToolSpec) -> str:
    """`sha256:` and the hash of the promise."""
    text = canonical(promise(spec))
    return f"sha256:{hashlib.sha256(text.encode('utf-8')).hexdigest()}"


def documents(specs: Iterable[ToolSpec]) -> dict[str, str]:
    """Every emitted file: its path in the project, and its text."""
    return {
        f"contracts/schemas/{spec.model_name}.json": dump(
            {"tool": spec.key, **{name: emit(spec) for name, emit in DIALECTS.items()}}
        )
        for spec in specs
    }


def dump(document: Any) -> str:
    """JSON as it is committed: two blanks, unicode as it is, a final newline."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _bare(node: Any, *, names: bool = False) -> Any:
    """A schema without its descriptions; `names` says that the keys are property names."""
    if isinstance(node, list):
        return [_bare(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: _bare(value, names=key == "properties" and not names)
        for key, value in node.items()
        if names or key != "description"
    }
