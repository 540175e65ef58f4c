"""A stage on moto with a workspace, an agent that asks for things, and people at their desks.

People reach the real handler of the API; only API Gateway between them is played, which routes a
request and says who has signed it.
"""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass, field

from contracts import registry
from functions._approvals import handler as api
from tests.people import Agent, pending, session_arn
from toolgate.approvals.client import ApprovalsClient

ROOT = "/w/app"
WORKFLOW = ".github/workflows/ci.yml"
BEFORE = "".join(f"step {n}: run\n" for n in range(1, 41))


@dataclass
class Desk:
    """A Transport to the handler in this process, in one person's name; it keeps what was sent."""

    name: str
    sent: list = field(default_factory=list)

    def send(self, method, path, query, body):
        self.sent.append((method, path, dict(query), body))
        _, _, approval_id, *rest = [*path.split("/"), ""]
        route = "/approvals" + ("/{id}" if approval_id else "")
        route += f"/{rest[0]}" if rest and rest[0] else ""
        answer = api.handler(
            {
                "version": "2.0",
                "routeKey": f"{method} {route}",
                "pathParameters": {"id": approval_id} if approval_id else {},
                "queryStringParameters": dict(query),
                "body": None if body is None else body.decode(),
                "requestContext": {"authorizer": {"iam": {"userArn": session_arn(self.name)}}},
            },
            None,
        )
        return answer["statusCode"], answer["body"].encode()

    @property
    def votes(self):
        return [json.loads(body) for method, _, _, body in self.sent if method == "POST"]


def client_of(name):
    """(a client in this person's name, its desk)."""
    desk = Desk(name)
    return ApprovalsClient(desk), desk


@dataclass
class Scene:
    """What agents ask for, on the workspace /w/app; every call has a key of its own."""

    workspaces: object
    agent: Agent = field(default_factory=Agent)

    @property
    def revision(self):
        return self.workspaces.snapshot(ROOT).revision

    def call(self, model_name, arguments):
        spec = registry.find(model_name)
        given = {
            "schemaVersion": spec.major,
            "idempotencyKey": uuid.uuid4().hex,
            "repoRoot": ROOT,
            **arguments,
        }
        return self.agent.call(spec, given)

    def patch(self, *files):
        """Ask for changes of files that are protected; the approval's id."""
        arguments = {"files": list(files), "expectedRevision": self.revision}
        return pending(self.call("apply_patch_v2", arguments))

    def replace(self, content, path=WORKFLOW):
        return self.patch({"mode": "replace_full", "path": path, "content": content})

    def diff(self, content, path=WORKFLOW):
        return self.patch({"mode": "unified_diff", "path": path, "content": content})

    def release(self, name="checkout-api", version="1.4.0"):
        arguments = {"revision": self.revision, "name": name, "version": version}
        return pending(self.call("release_publish_v1", arguments))
