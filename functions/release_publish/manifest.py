"""What a pipeline needs to know of a release, as bytes that every attempt of a call makes alike.

staging/{release}/{revision}.zip    the artifact; no rule matches it
releases/{release}/manifest.json    the manifest; that it appears is what starts the pipeline
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contracts.release_publish.v1 import Input
    from functions._runtime.effect import Approved


@dataclass(frozen=True)
class Artifact:
    """Where the zip is, and what it must be."""

    bucket: str
    key: str
    sha256: str
    byte_count: int


def release_id(operation: str) -> str:
    """The release of one call, by the id of its record: `release.publish@1#ab…` gives `1-ab…`."""
    _, _, rest = operation.partition("@")
    return rest.replace("#", "-")


def artifact_key(release: str, revision: str) -> str:
    """Where the zip of a revision is staged."""
    return f"staging/{release}/{revision}.zip"


def manifest_key(release: str) -> str:
    """Where the manifest is published."""
    return f"releases/{release}/manifest.json"


def manifest(
    release: str, tenant: str, request: Input, artifact: Artifact, approved: Approved
) -> bytes:
    """The manifest: sorted JSON that names nothing of the attempt that writes it."""
    content: dict[str, Any] = {
        "manifestVersion": 1,
        "releaseId": release,
        "tenant": tenant,
        "name": request.name,
        "version": request.version,
        "repoRoot": request.repo_root,
        "revision": request.revision,
        "artifact": {
            "bucket": artifact.bucket,
            "key": artifact.key,
            "format": "zip",
            "sha256": artifact.sha256,
            "byteCount": artifact.byte_count,
        },
        "approval": {
            "id": approved.approval_id,
            "requester": approved.requester,
            "approvers": sorted(approved.approvers),
        },
    }
    return (json.dumps(content, sort_keys=True, separators=(",", ":")) + "\n").encode()
