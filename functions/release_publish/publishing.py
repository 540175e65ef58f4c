"""How a revision becomes a release exactly once, though S3 is in no transaction.

    1. stage     the zip, at a key that nothing watches; it may be there from an earlier attempt
    2. consume   the approval, for this operation alone: the point of no return
    3. publish   the manifest, never replacing one; its bytes follow from request and approval only
    4. complete  the call's record

Whatever fails after 2 is worth a retry, and whoever takes the call over gets the same approval
from `Effect.consume` again, finds the zip, writes the same manifest or finds it, and completes.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING

from contracts.errors import ConflictError, UnavailableError
from contracts.release_publish.v1 import Input, Output
from functions._runtime import aws
from functions._runtime.effect import PreconditionFailedError
from functions.release_publish.archive import pack
from functions.release_publish.contents import contents, listed
from functions.release_publish.manifest import (
    Artifact,
    artifact_key,
    manifest,
    manifest_key,
    release_id,
)
from functions.release_publish.releases import Releases

if TYPE_CHECKING:
    from functions._runtime.call import Call
    from functions._runtime.effect import Approved, Effect


def refuse_unreleasable(request: Input, call: Call) -> None:
    """Refuse a revision whose directories tell already that it cannot be a release.

    Raises what reading the workspace raises, and as `contents` says but for what only files tell.
    """
    listed(call.workspace(request.repo_root).at(request.revision))


def publish(request: Input, call: Call) -> Output:
    """Publish the release and record the call's answer, which it returns.

    Raises what reading the workspace raises, as `contents` says and as `Effect.consume` does; after
    that only UnavailableError, or InternalError if the release exists and is another one.
    """
    if call.effect is None:
        raise RuntimeError("a release is published inside a claimed call only")
    release = release_id(call.effect.operation)
    releases = Releases(aws.s3(), call.settings.releases_bucket)
    _refuse_another(releases, manifest_key(release), call.effect.approve())
    artifact = _staged(releases, artifact_key(release, request.revision), request, call)
    output = Output(
        release_id=release,
        manifest_key=manifest_key(release),
        artifact_key=artifact.key,
        sha256=artifact.sha256,
        byte_count=artifact.byte_count,
        revision=request.revision,
    )
    # From here to the end the clock is not asked: what is begun now has to be finished.
    call.deadline.check()
    approved = call.effect.consume()
    releases.keep(
        output.manifest_key, manifest(release, call.caller.tenant, request, artifact, approved)
    )
    _complete(call.effect, output)
    return output


def _refuse_another(releases: Releases, key: str, approved: Approved) -> None:
    """Raise ConflictError where this key has made a release before, by another approval.

    A key is free again after a day, the release that it made is for good; and what cannot be
    published shall not use an approval up.
    """
    found = releases.find(key)
    if found is not None and json.loads(found)["approval"]["id"] != approved.approval_id:
        raise ConflictError(
            "this idempotencyKey has made another release: take a new one", code="ALREADY_RELEASED"
        )


def _staged(releases: Releases, key: str, request: Input, call: Call) -> Artifact:
    """The zip in its place. What is staged under a revision's name is that revision's, for good."""
    call.deadline.check()
    data = releases.find(key)
    if data is None:
        snapshot = call.workspace(request.repo_root).at(request.revision)
        data = pack(contents(snapshot))
        call.deadline.check()
        releases.keep(key, data)
    return Artifact(releases.bucket, key, sha256(data).hexdigest(), len(data))


def _complete(effect: Effect, output: Output) -> None:
    try:
        effect.commit([], output)
    except PreconditionFailedError as error:
        raise UnavailableError(
            "the release is published and not recorded yet; repeat the identical call"
        ) from error
