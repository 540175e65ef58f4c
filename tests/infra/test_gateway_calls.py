"""The tools as the Gateway calls them, in the environment that the templates give them."""

from __future__ import annotations

import uuid

import pytest

from agents import events
from agents.targets import InProcessTarget
from contracts import registry

PATCH, READ = map(registry.find, ("apply_patch_v1", "read_file_v1"))
ROOT = "/workspace/app"


@pytest.fixture
def bind(resources, monkeypatch):
    """Binds the surfaces as a stage's functions are bound; a change is made to their text."""
    from functions._runtime import settings

    def to(stage, old="", new=""):
        functions = resources(stage, "tools", "AWS::Lambda::Function").values()
        (text,) = {each["Environment"]["Variables"]["TOOLGATE_BINDINGS"] for each in functions}
        assert old in text
        monkeypatch.setenv("TOOLGATE_BINDINGS", text.replace(old, new))
        settings.settings.cache_clear()

    return to


@pytest.fixture
def call(workspaces):
    """Calls a tool through the Gateway, on a workspace of the tenant `default`."""
    workspaces.create(ROOT, {"a.txt": b"one\n"})

    def send(spec, **arguments):
        event = events.build(spec, {"repoRoot": ROOT, **arguments}, "gateway")
        return events.unwrap(InProcessTarget().send(spec, event))

    return send


def write(call):
    entry = {"path": "a.txt", "mode": "replace_full", "content": "two\n"}
    return call(PATCH, idempotencyKey=uuid.uuid4().hex, files=[entry])


def test_callers_may_write_in_dev_and_only_read_in_prod(bind, call, workspaces):
    bind("prod")
    assert call(READ, path="a.txt")["text"] == "one\n"
    refused = write(call)["error"]
    assert (refused["code"], refused["retryable"]) == ("FORBIDDEN", False)
    assert refused["details"]["scope"] == "workspace:write"
    assert workspaces.files(ROOT) == {"a.txt": b"one\n"}
    bind("dev")
    assert write(call)["ok"]
    assert workspaces.files(ROOT) == {"a.txt": b"two\n"}


def test_callers_see_the_workspaces_of_the_tenant_that_they_are_bound_to(bind, call):
    bind("dev", '"default"', '"another"')
    assert call(READ, path="a.txt")["error"]["code"] == "NOT_FOUND"


def test_without_a_binding_no_one_gets_in_by_the_gateway(bind, call):
    bind("dev", '"gateway"', '"retired"')
    refused = call(READ, path="a.txt")["error"]
    assert (refused["code"], refused["details"]["reason"]) == ("FORBIDDEN", "SURFACE_UNBOUND")


def test_arguments_cannot_name_the_caller(bind, call):
    bind("dev")
    refused = call(READ, path="a.txt", _caller="admin")["error"]
    assert (refused["code"], refused["details"]["reason"]) == ("FORBIDDEN", "TOKEN_REFUSED")


@pytest.mark.parametrize("spec", registry.specs(), ids=lambda spec: spec.model_name)
@pytest.mark.parametrize("context", [True, False])
def test_an_empty_event_as_a_new_target_gets_it_is_refused_and_asks_nothing_of_aws(
    spec, context, aws_calls
):
    event = events.build(spec, {}, "gateway")
    if not context:
        event = events.Event({})
    answer = events.unwrap(InProcessTarget().send(spec, event))
    assert answer["error"]["code"] == "VALIDATION"
    assert answer["error"]["details"]["issues"][0]["problem"] == "empty event"
    assert aws_calls == []
