"""The whole tool on moto: the pages of one revision, while the workspace moves on."""

from __future__ import annotations

import uuid

from agents import events
from agents.targets import InProcessTarget
from contracts import registry


def call(name, **arguments):
    spec = registry.find(name)
    return events.unwrap(InProcessTarget().send(spec, events.build(spec, arguments, "direct")))


def test_a_file_is_read_to_its_end_in_its_revision(workspaces):
    root, data = f"/read/{uuid.uuid4().hex}", b"caf\xe9 " * 8_001 + b"\r\nlast"
    workspaces.create(root, {"a": data})
    text, more = "", {}
    while True:
        page = call("read_file_v1", repoRoot=root, path="a", **more)
        assert page["ok"], page
        text += page["text"]
        if not page["truncated"]:
            break
        changed = call(
            "apply_patch_v1",
            schemaVersion=1,
            idempotencyKey=uuid.uuid4().hex,
            repoRoot=root,
            files=[{"path": "a", "mode": "replace_full", "content": uuid.uuid4().hex}],
        )
        assert changed["ok"], changed
        more = {
            "revision": page["revision"],
            "firstLine": page["nextLine"],
            "firstColumn": page["nextColumn"],
        }
    assert text.encode("latin-1") == data
    assert (page["nextLine"], page["nextColumn"], page["lineCount"]) == (3, 1, 2)
    assert workspaces.commits(root) == 3
