"""Graphs that call, fail and resume, on handlers that run in process on moto.

LangGraph is an extra (`requirements-extras.txt`), so all of these are long.
"""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import pytest

from agents import langgraph
from agents.langgraph import document, key_of
from agents.targets import InProcessTarget
from contracts import registry
from tests.agents.graphs import (
    CALL,
    CHANGE,
    CONFIG,
    FLOW,
    ORDER,
    ORDERS,
    PATCH,
    ROOT,
    THREAD,
    WRITE,
    Counting,
    ProcessDiedError,
    Scripted,
    call,
    each_way,
    failed,
    graph_of,
    run,
    saver,
    scripted,
    succeeded,
)
from tests.people import ALICE, BOB, Agent, clear_bucket, clear_pages, make_keys
from toolgate.project import ROOT as PROJECT


@pytest.fixture
def protected(workspaces, monkeypatch):
    """Arguments that write a protected file, in a stage whose callers sign."""
    make_keys(monkeypatch)
    clear_bucket()
    clear_pages()
    workspaces.create(ROOT, {FLOW: b"on: push\n"})
    return {"repoRoot": ROOT, "path": FLOW, "content": "on: tag\n", "overwrite": True}


@pytest.mark.long
@each_way
@pytest.mark.parametrize("name", ["orders_lookup", "orders_lookup_v1"])
def test_a_graph_looks_orders_up_and_is_told_of_errors_as_data(workspaces, name, way):
    workspaces.put_order(ORDER)
    target = Counting()
    asked = ["ORD-1234", "bad-id", "ORD-9999"]
    turns = [[call(name, {"order_id": one}, f"call_{one}")] for one in asked]
    graph = graph_of(langgraph.make_tools([ORDERS], target), *turns)
    found, bad, missing = run(graph, way, config={})
    assert succeeded(found) == {"ok": True, "schemaVersion": 1, **ORDER}
    assert [one.tool_call_id for one in (found, bad, missing)] == [f"call_{one}" for one in asked]
    assert {one.name for one in (found, bad, missing)} == {name}
    error = failed(bad)
    assert (error["code"], error["retryable"]) == ("VALIDATION", False)
    assert [one["path"] for one in error["detail"]["issues"]] == ["/order_id"]
    assert "bad-id" not in bad.content
    error = failed(missing)
    assert (error["code"], error["retryable"]) == ("order_not_found", False)
    assert [sent["order_id"] for sent in target.sent] == asked


@pytest.mark.long
@each_way
def test_a_change_resumed_from_its_checkpoint_keeps_its_key_and_is_done_once(workspaces, way):
    workspaces.create(ROOT, {"a.txt": b"one\n"})
    memory, target = saver(), Counting(dies_after=[1])
    tools = langgraph.make_tools([PATCH], target)
    turn = [call("apply_patch_v2", CHANGE)]
    with pytest.raises(ProcessDiedError):
        run(graph_of(tools, turn, saver=memory), way)
    assert workspaces.commits(ROOT) == 2
    (message,) = run(graph_of(tools, turn, saver=memory), way, given=None)
    assert succeeded(message)["skippedAsDuplicate"] is True
    assert workspaces.commits(ROOT) == 2
    assert [sent["idempotencyKey"] for sent in target.sent] == [key_of(THREAD, CALL)] * 2
    assert target.sent[0] == target.sent[1]


@pytest.mark.long
def test_the_same_call_in_another_thread_or_another_call_is_another_change(workspaces):
    workspaces.create(ROOT, {"a.txt": b"one\n"})
    memory, target = saver(), Counting()
    turns = [[call("apply_patch", CHANGE, "call_1")], [call("apply_patch", CHANGE, "call_2")]]
    graph = graph_of(langgraph.make_tools([PATCH], target), *turns, saver=memory)
    for thread in ("one", "two"):
        run(graph, "sync", config={"configurable": {"thread_id": thread}})
    assert len({sent["idempotencyKey"] for sent in target.sent}) == 4


@pytest.mark.long
@each_way
def test_a_call_that_waits_for_people_is_resumed_from_before_it_and_done_once(
    workspaces, protected, way
):
    target, agent = Counting(), Agent()
    tools = langgraph.make_tools([WRITE], target, token=agent.token)
    graph = graph_of(tools, [call("write_file_v1", protected)], saver=saver())
    (message,) = run(graph, way)
    error = failed(message)
    assert error["code"] == "APPROVAL_PENDING"
    assert len(target.sent) == 1
    for person in (ALICE, BOB):
        person.approve(error["detail"]["approvalId"])
    before = next(one for one in graph.get_state_history(CONFIG) if one.next == ("tools",))
    for duplicate in (False, True):
        (message,) = run(graph, way, given=None, config=before.config)
        assert succeeded(message)["skippedAsDuplicate"] is duplicate
    assert workspaces.files(ROOT) == {FLOW: b"on: tag\n"}
    assert workspaces.commits(ROOT) == 2
    assert {sent["idempotencyKey"] for sent in target.sent} == {key_of(THREAD, CALL)}


@pytest.mark.long
@each_way
def test_the_graph_of_the_docs_runs_as_it_stands_and_resumes_what_people_agreed_to(
    workspaces, protected, way
):
    page = (PROJECT / "docs" / "langgraph.md").read_text("utf-8")
    build, resume = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names = {
        "target": InProcessTarget(),
        "sign": Agent().token,
        "model": scripted([call("write_file_v1", protected)]),
        "checkpointer": saver(),
        "config": CONFIG,
    }
    exec(build, names)
    (message,) = run(names["graph"], way)
    for person in (ALICE, BOB):
        person.approve(failed(message)["detail"]["approvalId"])
    exec(resume, names)
    assert workspaces.files(ROOT) == {FLOW: b"on: tag\n"}
    assert workspaces.commits(ROOT) == 2


@pytest.mark.long
@each_way
def test_every_argument_arrives_under_its_own_name(way):
    names = (
        "config", "run_manager", "callbacks", "self", "args", "kwargs", "state", "store",
        "runtime", "tool_call_id", "input", "type", "name", "id",
    )  # fmt: skip
    arguments = dict.fromkeys(names, "x")
    target = Scripted({"ok": True, "schemaVersion": 1})
    tools = langgraph.make_tools([ORDERS], target, names="versioned")
    run(graph_of(tools, [call("orders_lookup_v1", arguments)]), way)
    assert target.sent == [arguments]


@pytest.mark.long
@pytest.mark.parametrize("spec", registry.specs(), ids=lambda spec: spec.model_name)
def test_a_bound_model_is_shown_the_documents_as_they_are(spec):
    from langchain_core.utils.function_calling import convert_to_openai_tool

    for tool in langgraph.make_tools([spec], InProcessTarget()):
        shown = convert_to_openai_tool(tool)["function"]
        expected = document(tool.name, spec)
        told = {name: v for name, v in expected["args_schema"].items() if name != "description"}
        assert shown == {
            "name": tool.name,
            "description": expected["description"],
            "parameters": told,
        }


@pytest.mark.long
def test_a_change_in_a_graph_without_a_thread_is_refused_as_data():
    target = Scripted()
    graph = graph_of(langgraph.make_tools([PATCH], target), [call("apply_patch", CHANGE)])
    (message,) = run(graph, "sync", config={})
    error = failed(message)
    assert (error["code"], target.sent) == ("VALIDATION", [])
    assert "thread_id" in error["message"]


@pytest.mark.long
def test_outside_a_graph_a_tool_answers_a_call_alike_and_arguments_with_text(workspaces):
    workspaces.put_order(ORDER)
    tool = langgraph.make_tools([ORDERS], InProcessTarget(), names="bare")[0]
    message = tool.invoke(call("orders_lookup", {"order_id": "ORD-1234"}))
    assert succeeded(message)["status"] == "paid"
    assert tool.invoke({"order_id": "ORD-1234"}) == message.content
    assert json.loads(tool.invoke("ORD-1234"))["error"]["code"] == "VALIDATION"


@pytest.mark.long
def test_calls_that_are_no_json_are_answered_with_an_error():
    from langchain_core.messages import AIMessage

    invalid = {"name": "apply_patch", "args": '{"repoRoot": ', "id": "call_9", "error": "broken"}
    message = AIMessage("", invalid_tool_calls=[{**invalid, "type": "invalid_tool_call"}])
    (answer,) = langgraph.answer_unreadable(message)
    said = json.loads(answer.content)
    assert (answer.tool_call_id, answer.status) == ("call_9", "error")
    assert (said["isError"], said["error"]["code"]) == (True, "VALIDATION")
    assert langgraph.answer_unreadable(SimpleNamespace(invalid_tool_calls=[])) == []
