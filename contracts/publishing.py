"""What was promised: the digest of a published version, and the documents that are committed.

A published version's schema never changes. Its digest covers what callers depend on: input,
output, codes with their `retryable`, effect and approval. Scopes and the arguments that are checked
as paths stand in no schema; they are kept beside the digest and stay as well. Descriptions, owner,
status and timeout may change.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from contracts import actions
from contracts.dialects import DIALECTS, emitted, json_schema
from contracts.dialects.lost import lost
from contracts.fingerprint import canonical
from contracts.schema_nodes import bare

if TYPE_CHECKING:
    from collections.abc import Iterable

    from contracts.spec import ToolSpec

DIGESTS = "contracts/schemas/digests.json"
"""Digest, scopes, path arguments and reviewer of every published version, by `name@major`."""
ACTION = "contracts/schemas/agent_action.json"
"""What a model may answer with where it has no tools, in every form."""
INDEX = "contracts/schemas/index.json"
"""What each target is not told of each tool's arguments, by model name and dialect."""


def promise(spec: ToolSpec) -> dict[str, Any]:
    """What a digest is made of."""
    document = json_schema.emit(spec)
    return {
        "input": bare(document["input"]),
        "output": bare(document["output"]),
        "codes": dict(spec.codes),
        "effect": spec.effect.value,
        "approval": spec.approval.value,
    }


def digest(spec: ToolSpec) -> str:
    """`sha256:` and the hash of the promise."""
    return digest_of(promise(spec))


def digest_of(promised: dict[str, Any]) -> str:
    """The digest of a promise that was made before."""
    text = canonical(promised)
    return f"sha256:{hashlib.sha256(text.encode('utf-8')).hexdigest()}"


def beside(spec: ToolSpec) -> dict[str, list[str]]:
    """What is promised and no schema says: `{scopes, paths}`, `paths` as JSON pointers."""
    return {
        "scopes": sorted(spec.scopes),
        "paths": sorted(pointer for pointer, _ in spec.path_rules),
    }


def documents(specs: Iterable[ToolSpec]) -> dict[str, str]:
    """Every emitted file: its path in the project, and its text."""
    specs = tuple(specs)
    found = {
        f"contracts/schemas/{spec.model_name}.json": dump(
            {"tool": spec.key, **{name: emitted(spec, name) for name in DIALECTS}}
        )
        for spec in specs
    }
    found[INDEX] = dump(
        {spec.model_name: {name: lost(spec, name) for name in DIALECTS} for spec in specs}
    )
    found[ACTION] = dump(actions.document())
    return found


def dump(document: Any) -> str:
    """JSON as it is committed: two blanks, unicode as it is, a final newline."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
