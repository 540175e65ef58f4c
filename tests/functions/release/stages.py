"""release.publish on a workspace and a bucket of releases of its own, with people who agree."""

from __future__ import annotations

import uuid
from unittest import mock

from contracts.release_publish.v1 import SPEC
from functions._approvals import handler as desk
from functions._runtime import aws, call, tool
from functions._runtime.approvals.gate import Gate
from functions._runtime.workspace.objects import EXECUTABLE, FILE, SYMLINK
from tests.functions.release.trees import stored
from tests.people import ALICE, BOB, Agent, code

FILES = {
    b"app.py": (FILE, b"print('hello')\r\n"),
    b"bin/run": (EXECUTABLE, b"#!/bin/sh\n"),
    b"bin/data": (FILE, bytes(range(256))),
    b"empty": (FILE, b""),
    "caf\u00e9/[slug].tsx".encode(): (FILE, b"x"),
    b"latest": (SYMLINK, b"bin/run"),
}


class Moments:
    """Acts around the use of the approval: `act` right before it, `then` right after."""

    def __init__(self, act=lambda: None, then=lambda: None):
        self.used = 0
        self._act, self._then = act, then

    def around(self, consume):
        """The gate's own `consume`, with both acts."""

        def consumed(gate, fence):
            self.used += 1
            self._act()
            approved = consume(gate, fence)
            self._then()
            return approved

        return mock.patch.object(Gate, "consume", consumed)


class Context:
    """A Lambda context with a time left that can be changed."""

    client_context = None

    def __init__(self, left_ms=15_000):
        self.left_ms = left_ms

    def get_remaining_time_in_millis(self):
        return self.left_ms


class Stage:
    """One workspace, and one call on it that can be made again and again, also much later."""

    def __init__(self, workspaces, bucket, files=FILES):
        self.workspaces, self.bucket = workspaces, bucket
        self.root, self.key = f"/release/{uuid.uuid4().hex}", uuid.uuid4().hex
        self.revision = stored(workspaces, self.root, files)
        self.moments = Moments()
        self.forward_ms = 0

    def arguments(self, **changes):
        return {
            "schemaVersion": 1,
            "idempotencyKey": self.key,
            "repoRoot": self.root,
            "revision": self.revision,
            "name": "checkout-api",
            "version": "1.4.0",
            **changes,
        }

    def call(self, context=None, agent=None, **changes):
        """Make the call as a fresh Lambda process would, after whatever time was waited."""

        def later_ms(real=tool.now_ms):
            return real() + self.forward_ms

        call.forget()
        with (
            self.moments.around(Gate.consume),
            mock.patch.object(tool, "now_ms", later_ms),
            mock.patch.object(desk, "now", later_ms),
        ):
            return (agent or Agent()).call(SPEC, self.arguments(**changes), context=context)

    def agreed(self, **changes):
        """Have the call asked for, and two people agree to it; gives the approval's id."""
        answer = self.call(**changes)
        assert code(answer) == "APPROVAL_PENDING", answer
        approval_id = answer["error"]["details"]["approvalId"]
        ALICE.approve(approval_id)
        BOB.approve(approval_id)
        return approval_id

    def listed(self, prefix=""):
        found = aws.s3().list_objects_v2(Bucket=self.bucket, Prefix=prefix).get("Contents", [])
        return [one["Key"] for one in found]

    def read(self, key):
        return aws.s3().get_object(Bucket=self.bucket, Key=key)["Body"].read()

    def writes(self):
        """How often each key was written."""
        found = aws.s3().list_object_versions(Bucket=self.bucket).get("Versions", [])
        keys = [one["Key"] for one in found]
        return {key: keys.count(key) for key in keys}
