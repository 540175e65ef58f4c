"""What a release is made of, what it answers, and what is refused before an approval is used."""

from __future__ import annotations

import io
import json
import uuid
import zipfile
from hashlib import sha256

import pytest

from functions._runtime import aws, settings
from functions._runtime.commit import RecordedEffect
from functions._runtime.workspace import Edit, FileWrite
from functions._runtime.workspace.objects import EXECUTABLE, FILE, SUBMODULE, SYMLINK
from functions.release_publish import contents
from tests.conftest import IDEMPOTENCY_TABLE
from tests.functions.release.stages import FILES, Stage
from tests.functions.workspace.cloud import Done, TableEffect, workspace
from tests.people import ALICE, code, pages

BYTES = sum(len(data) for _, data in FILES.values())


def test_a_release_holds_every_file_and_its_manifest_says_all_a_pipeline_needs(stage):
    approval_id = stage.agreed()
    answer = stage.call()
    release = answer["releaseId"]
    artifact, manifest = (
        f"staging/{release}/{stage.revision}.zip",
        f"releases/{release}/manifest.json",
    )
    data = stage.read(artifact)
    assert answer == {
        "ok": True,
        "schemaVersion": 1,
        "releaseId": release,
        "manifestKey": manifest,
        "artifactKey": artifact,
        "sha256": sha256(data).hexdigest(),
        "byteCount": len(data),
        "revision": stage.revision,
        "skippedAsDuplicate": False,
    }
    assert stage.listed() == [manifest, artifact]
    archive = zipfile.ZipFile(io.BytesIO(data))
    found = {
        i.filename.encode(): (i.external_attr >> 16, archive.read(i)) for i in archive.filelist
    }
    bits = {FILE: 0o100644, EXECUTABLE: 0o100755, SYMLINK: 0o120777}
    assert found == {path: (bits[mode], text) for path, (mode, text) in FILES.items()}
    assert json.loads(stage.read(manifest)) == {
        "manifestVersion": 1,
        "releaseId": release,
        "tenant": "default",
        "name": "checkout-api",
        "version": "1.4.0",
        "repoRoot": stage.root,
        "revision": stage.revision,
        "artifact": {
            "bucket": stage.bucket,
            "key": artifact,
            "format": "zip",
            "sha256": answer["sha256"],
            "byteCount": answer["byteCount"],
        },
        "approval": {"id": approval_id, "requester": "dana", "approvers": ["alice", "bob"]},
    }


def test_a_releases_id_is_its_calls_record_without_what_a_key_must_not_hold(stage):
    stage.agreed()
    release = stage.call()["releaseId"]
    (record,) = aws.dynamodb().scan(TableName=IDEMPOTENCY_TABLE)["Items"]
    assert record["id"]["S"] == f"release.publish@{release.replace('-', '#')}"
    assert release.startswith("1-")
    assert len(release) == 66


def test_a_replay_answers_the_same_release_and_asks_for_no_approval(stage):
    stage.agreed()
    first = stage.call()
    assert stage.call() == {**first, "skippedAsDuplicate": True}
    assert stage.moments.used == 1
    assert len(pages()) == 1
    assert set(stage.writes().values()) == {1}


def test_two_releases_of_one_revision_have_the_same_zip_and_are_two(stage):
    other = uuid.uuid4().hex
    stage.agreed()
    stage.agreed(idempotencyKey=other)
    first, second = stage.call(), stage.call(idempotencyKey=other)
    assert first["releaseId"] != second["releaseId"]
    assert first["sha256"] == second["sha256"]
    assert stage.read(first["artifactKey"]) == stage.read(second["artifactKey"])


def test_a_release_is_of_its_revision_whatever_the_workspace_has_become(stage):
    effect = TableEffect(stage.workspaces.stores)
    later = workspace(stage.workspaces.stores, repo_root=stage.root, effect=effect)
    stage.agreed()
    later.change(lambda _: Edit([FileWrite("app.py", b"later")], lambda _: Done(), "later"))
    answer = stage.call()
    archive = zipfile.ZipFile(io.BytesIO(stage.read(answer["artifactKey"])))
    assert archive.read("app.py") == FILES[b"app.py"][1]


def test_nothing_is_stored_before_people_have_agreed(stage):
    answer = stage.call()
    assert code(answer) == "APPROVAL_PENDING"
    assert answer["error"]["details"]["keySpent"] is False
    assert stage.listed() == []


def test_a_denied_release_leaves_nothing(stage):
    ALICE.deny(stage.call()["error"]["details"]["approvalId"], "freeze")
    assert code(stage.call()) == "APPROVAL_DENIED"
    assert stage.listed() == []


def test_a_key_that_made_a_release_makes_no_other_and_uses_no_approval_up(stage):
    stage.agreed()
    release = stage.call()["releaseId"]
    aws.dynamodb().delete_item(
        TableName=IDEMPOTENCY_TABLE,
        Key={"id": {"S": f"release.publish@{release.replace('-', '#')}"}},
    )
    approval_id = stage.agreed(version="1.4.1")
    before = stage.writes()
    answer = stage.call(version="1.4.1")
    assert code(answer) == "CONFLICT"
    assert answer["error"]["details"] == {"code": "ALREADY_RELEASED", "keySpent": True}
    assert stage.writes() == before
    assert ALICE.show(approval_id)["state"] == "approved"


@pytest.mark.parametrize(
    ("files", "details"),
    [
        ({}, {"code": "EMPTY"}),
        ({b"sub": (SUBMODULE, b"")}, {"code": "SUBMODULE", "path": "sub"}),
        ({b"d/up": (SYMLINK, b"../../x")}, {"code": "LINK_LEAVES", "path": "d/up"}),
        ({b"a\xff": (FILE, b"")}, {"code": "UNSAFE_NAME", "path": "a\\xff"}),
        ({b"a\\b": (FILE, b"")}, {"code": "UNSAFE_NAME", "path": "a\\b"}),
        ({b"d/a\nb": (FILE, b"")}, {"code": "UNSAFE_NAME", "path": "d/a\nb"}),
        ({b"d/A": (FILE, b""), b"d/a": (FILE, b"")}, {"code": "UNSAFE_NAME", "path": "d/a"}),
        ({b"D/x": (FILE, b""), b"d/y": (FILE, b"")}, {"code": "UNSAFE_NAME", "path": "d/y"}),
    ],
)
def test_a_tree_that_cannot_be_unpacked_everywhere_is_a_conflict(stage, files, details):
    found = Stage(stage.workspaces, stage.bucket, files)
    if details["code"] == "LINK_LEAVES":
        # Where a link leads is known once it is read; people have agreed by then.
        found.agreed()
    answer = found.call()
    assert code(answer) == "CONFLICT"
    assert answer["error"]["details"] == {**details, "keySpent": True}
    assert bool(pages()) is (details["code"] == "LINK_LEAVES")
    assert (found.moments.used, found.listed()) == (0, [])


@pytest.mark.parametrize(
    ("limit", "value", "actual"),
    [("FILES_MAX", len(FILES) - 1, len(FILES)), ("BYTES_MAX", BYTES - 1, BYTES)],
)
def test_a_tree_that_is_too_large_names_the_limit_and_uses_no_approval_up(
    stage, monkeypatch, limit, value, actual
):
    monkeypatch.setattr(contents, limit, value)
    if limit == "BYTES_MAX":
        stage.agreed()
    answer = stage.call()
    assert code(answer) == "TOO_LARGE"
    assert answer["error"]["details"] == {"limit": value, "actual": actual, "keySpent": True}
    assert (stage.moments.used, stage.listed()) == (0, [])


@pytest.mark.parametrize("limit", ["FILES_MAX", "BYTES_MAX"])
def test_a_tree_exactly_at_the_limit_is_released(stage, monkeypatch, limit):
    exact = {"FILES_MAX": len(FILES), "BYTES_MAX": BYTES}
    monkeypatch.setattr(contents, limit, exact[limit])
    stage.agreed()
    assert stage.call()["ok"] is True


def test_a_revision_that_the_workspace_never_had_is_not_found(stage):
    never = f"1-{'0' * 64}"
    assert code(stage.call(revision=never)) == "NOT_FOUND"
    assert pages() == []


def test_the_handler_itself_takes_no_approval_for_granted(stage, monkeypatch):
    """Were the pipeline's own gate left out by mistake, the effect would stop by itself."""
    monkeypatch.setattr(RecordedEffect, "approve", lambda _self: None)
    assert code(stage.call()) == "APPROVAL_PENDING"
    assert not stage.listed("releases/")


def test_a_stage_without_approvals_releases_nothing(stage, monkeypatch):
    monkeypatch.delenv("TOOLGATE_APPROVALS")
    settings.forget()
    answer = stage.call()
    assert code(answer) == "FORBIDDEN"
    assert answer["error"]["details"] == {"reason": "NO_APPROVALS", "keySpent": False}
