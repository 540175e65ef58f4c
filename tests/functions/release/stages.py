"""release.publish behind an open gate, on a workspace and a bucket of releases of its own.

The pipeline, the stores and the effect are the real ones; only the approval is a stand-in.
"""

from __future__ import annotations

import uuid
from dataclasses import replace
from unittest import mock

from contracts.release_publish.v1 import SPEC
from contracts.spec import Approval, Effect
from functions._runtime import aws, call, tool
from functions._runtime.workspace.objects import EXECUTABLE, FILE, SYMLINK
from functions.release_publish.manifest import Approved
from functions.release_publish.publishing import publish
from tests.functions.release.trees import stored

UNGATED = replace(SPEC, effect=Effect.WRITE, approval=Approval.NONE)
APPROVED = Approved("apr-1", "ada", ("grace", "edsger"))
FILES = {
    b"app.py": (FILE, b"print('hello')\r\n"),
    b"bin/run": (EXECUTABLE, b"#!/bin/sh\n"),
    b"bin/data": (FILE, bytes(range(256))),
    b"empty": (FILE, b""),
    "caf\u00e9/[slug].tsx".encode(): (FILE, b"x"),
    b"latest": (SYMLINK, b"bin/run"),
}


class Gate:
    """An approval that is there. `act` runs right before it is used up, `then` right after."""

    def __init__(self, act=lambda: None, then=lambda: None):
        self.asked = 0
        self._act, self._then = act, then

    def consume(self):
        self.asked += 1
        self._act()
        self._then()
        return APPROVED


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
        self.gate = Gate()
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

    def call(self, context=None, **changes):
        """Make the call as a fresh Lambda process would, after whatever time was waited."""

        @tool.tool(UNGATED)
        def handler(request, call):
            return publish(request, call, self.gate.consume)

        def later_ms(real=tool.now_ms):
            return real() + self.forward_ms

        call.forget()
        with mock.patch.object(tool, "now_ms", later_ms):
            return handler(self.arguments(**changes), context)

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


def code(answer):
    return answer["error"]["code"]
