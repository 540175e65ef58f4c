"""Calls of mutating tools on a fresh workspace, and what must be true once they are done."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import Any

from contracts import registry

BEFORE = {
    "a.txt": b"one\ntwo\nthree\n",
    "src/deep/b.txt": b"b\n",
    "src/deep/c.txt": b"c\n",
    "old.txt": b"old\n",
}
DIFF = "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n"
DELETE = "--- a/old.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n"


@dataclass(frozen=True)
class Scenario:
    """One call. `after`: the files it must come to; `commits`: how many rows of history it adds.

    `rival` are files that somebody else changes, in a commit of their own, right before the
    transaction: the head has moved by then.
    """

    name: str
    tool: str
    call: dict[str, Any]
    after: dict[str, bytes]
    commits: int
    code: str | None = None
    rival: dict[str, bytes] = field(default_factory=dict)
    gated: bool = False
    """People must agree, and do as soon as they are asked; or deny, where `code` says so."""
    at: str | None = None
    """The argument that names the revision which the call is about."""

    @property
    def releases(self) -> int:
        """How many manifests it comes to."""
        return int(self.tool == "release_publish_v1" and self.code is None)

    def arguments(self, root: str, revision: str) -> dict[str, Any]:
        """The call's arguments, with a fresh key."""
        return {
            "schemaVersion": registry.find(self.tool).major,
            "idempotencyKey": uuid.uuid4().hex,
            "repoRoot": root,
            **({self.at: revision} if self.at else {}),
            **self.call,
        }


def _entry(path: str, content: str, mode: str = "unified_diff") -> dict[str, str]:
    return {"path": path, "mode": mode, "content": content}


SCENARIOS = [
    Scenario(
        "a diff of one file",
        "apply_patch_v1",
        {"files": [_entry("a.txt", DIFF)]},
        {**BEFORE, "a.txt": b"one\nTWO\nthree\n"},
        commits=1,
    ),
    Scenario(
        "create, replace and delete",
        "apply_patch_v1",
        {
            "files": [
                _entry("new/d.txt", "d\n", "replace_full"),
                _entry("src/deep/b.txt", "B\n", "replace_full"),
                _entry("old.txt", DELETE),
            ]
        },
        {
            "a.txt": BEFORE["a.txt"],
            "new/d.txt": b"d\n",
            "src/deep/b.txt": b"B\n",
            "src/deep/c.txt": b"c\n",
        },
        commits=1,
    ),
    Scenario(
        "a change that changes nothing",
        "apply_patch_v1",
        {"files": [_entry("a.txt", "one\ntwo\nthree\n", "replace_full")]},
        BEFORE,
        commits=0,
    ),
    Scenario(
        "a diff that does not fit",
        "apply_patch_v1",
        {"files": [_entry("a.txt", DIFF.replace("two", "2"))]},
        BEFORE,
        commits=0,
        code="CONFLICT",
    ),
    Scenario(
        "a diff onto a head that moves",
        "apply_patch_v1",
        {"files": [_entry("a.txt", DIFF)]},
        {**BEFORE, "a.txt": b"one\nTWO\nthree\n", "src/deep/b.txt": b"rival\n"},
        commits=2,
        rival={"src/deep/b.txt": b"rival\n"},
    ),
    Scenario(
        "a diff that a moved head overtakes",
        "apply_patch_v1",
        {"files": [_entry("a.txt", DIFF)]},
        {**BEFORE, "a.txt": b"rival\n"},
        commits=1,
        code="CONFLICT",
        rival={"a.txt": b"rival\n"},
    ),
    Scenario(
        "change, create, delete and move",
        "apply_patch_v2",
        {
            "files": [
                _entry("a.txt", DIFF),
                _entry("new/d.txt", "d\n", "replace_full"),
                {"path": "old.txt", "mode": "delete"},
                {"path": "src/deep/b.txt", "mode": "move", "newPath": "lib/b.txt"},
            ]
        },
        {
            "a.txt": b"one\nTWO\nthree\n",
            "new/d.txt": b"d\n",
            "lib/b.txt": BEFORE["src/deep/b.txt"],
            "src/deep/c.txt": BEFORE["src/deep/c.txt"],
        },
        commits=1,
    ),
    Scenario(
        "a move onto a head that moves",
        "apply_patch_v2",
        {"files": [{"path": "old.txt", "mode": "move", "newPath": "new.txt"}]},
        {
            "a.txt": BEFORE["a.txt"],
            "new.txt": b"rival\n",
            "src/deep/b.txt": BEFORE["src/deep/b.txt"],
            "src/deep/c.txt": BEFORE["src/deep/c.txt"],
        },
        commits=2,
        rival={"old.txt": b"rival\n"},
    ),
    Scenario(
        "a new file",
        "write_file_v1",
        {"path": "new/d.txt", "content": "d\n"},
        {**BEFORE, "new/d.txt": b"d\n"},
        commits=1,
    ),
    Scenario(
        "a new file that a rival writes first",
        "write_file_v1",
        {"path": "new/d.txt", "content": "d\n"},
        {**BEFORE, "new/d.txt": b"rival\n"},
        commits=1,
        code="CONFLICT",
        rival={"new/d.txt": b"rival\n"},
    ),
    Scenario(
        "a protected file",
        "write_file_v1",
        {"path": "CODEOWNERS", "content": "* @ada\n"},
        {**BEFORE, "CODEOWNERS": b"* @ada\n"},
        commits=1,
        gated=True,
    ),
    Scenario(
        "a protected file onto a head that moves",
        "apply_patch_v2",
        {"files": [_entry("CODEOWNERS", "* @ada\n", "replace_full")]},
        {**BEFORE, "a.txt": b"rival\n"},
        commits=1,
        code="CONFLICT",
        rival={"a.txt": b"rival\n"},
        gated=True,
        at="expectedRevision",
    ),
    Scenario(
        "a protected file that somebody denies",
        "apply_patch_v2",
        {"files": [_entry("CODEOWNERS", "* @ada\n", "replace_full")]},
        BEFORE,
        commits=0,
        code="APPROVAL_DENIED",
        gated=True,
        at="expectedRevision",
    ),
    Scenario(
        "a release",
        "release_publish_v1",
        {"name": "app", "version": "1.0.0"},
        BEFORE,
        commits=0,
        gated=True,
        at="revision",
    ),
]
