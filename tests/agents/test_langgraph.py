"""The tools in LangGraph: what is sent for a model's call, and graphs that call, fail and resume.

Handlers run in process on moto. What needs LangGraph (`requirements-extras.txt`) is long.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from botocore.exceptions import ClientError, NoCredentialsError
from jsonschema import Draft202012Validator

from agents import langgraph
from agents.events import AnswerError
from agents.langgraph import Calls, MissingExtraError, completed, document, key_of, offered
from agents.mcp_calls import TokenError
from agents.retries import Means, Policy
from agents.targets import InProcessTarget, InvocationError
from contracts import registry
from contracts.dialects import emitted, langchain
from contracts.errors import InvalidArgumentsError
from tests.people import ALICE, BOB, Agent, clear_bucket, clear_pages, make_keys

PATCH, WRITE = registry.find("apply_patch_v2"), registry.find("write_file_v1")
ORDERS, READ = registry.find("orders_lookup_v1"), registry.find("read_file_v1")
ROOT = "/workspace/graph"
ROOT_OF_PROJECT = Path(__file__).parents[2]
FLOW = ".github/workflows/ci.yml"
ORDER = {"order_id": "ORD-1234", "status": "paid", "items_count": 3, "total_amount": 129.95}
CHANGE = {
    "repoRoot": ROOT,
    "files": [{"path": "a.txt", "mode": "replace_full", "content": "two\n"}],
}
THREAD, CALL = "thread-1", "call_1"
THREE = Policy(attempts_max=3)
each_way = pytest.mark.parametrize("way", ["sync", "async"])


def means(waits=None):
    """Time that stands still, and waits that are written down."""
    noted = waits if waits is not None else []
    return Means(elapsed_ms=lambda: 0, sleep_ms=noted.append, uniform=lambda low, _: low)


class Scripted:
    """A target that answers, or raises, one thing after the other, and keeps what it was sent."""

    def __init__(self, *answers):
        self.answers, self.sent = list(answers), []

    def send(self, spec, event):
        self.sent.append(event.payload)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


class Counting(InProcessTarget):
    """The handlers; keeps what they were sent, and dies after the calls it is told to."""

    def __init__(self, *, dies_after=()):
        self.sent, self.dies_after = [], list(dies_after)

    def send(self, spec, event):
        self.sent.append(event.payload)
        answer = super().send(spec, event)
        if len(self.sent) in self.dies_after:
            raise ProcessDiedError
        return answer


class ProcessDiedError(BaseException):
    """The harness's own process is gone: nothing handles that."""


def failing(code, *, retryable, **details):
    error = {"code": code, "retryable": retryable, "message": "m", "details": details}
    return {"ok": False, "schemaVersion": 2, "error": error}


def refusal(status):
    answer = {"Error": {"Code": "E"}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(answer, "Invoke")


BUSY = failing("UNAVAILABLE", retryable=True, keySpent=False)
RUNNING = failing("IN_PROGRESS", retryable=True, keySpent=False, retryAfterMs=250)
PENDING = failing("APPROVAL_PENDING", retryable=True, keySpent=False)
DONE = {"ok": True, "schemaVersion": 2, "skippedAsDuplicate": True}
GONE = InvocationError("killed")


def ended(spec, *answers, **more):
    """(code or OK, how often it was sent) of one call to a target that answers so."""
    target = Scripted(*answers)
    arguments = CHANGE if spec.mutates else {"repoRoot": ROOT, "path": "a.txt"}
    calls = Calls(target, policy=THREE, means=means(), **more)
    result = calls.result(spec, arguments, THREAD, CALL)
    if not result["ok"] and result not in answers:
        Draft202012Validator(emitted(spec, "json-schema")["error"]).validate(result)
    assert all(one == target.sent[0] for one in target.sent)
    return ("OK" if result["ok"] else result["error"]["code"]), len(target.sent)


def test_a_tool_goes_by_its_versioned_name_and_the_newest_by_its_bare_name_too():
    both = dict(offered(registry.specs()))
    assert {spec.model_name for spec in registry.specs()} < set(both)
    for spec in registry.newest(registry.specs()):
        assert both[spec.folder] is both[spec.model_name] is spec
    assert both["apply_patch_v1"] is registry.find("apply_patch_v1")
    assert [name for name, _ in offered([ORDERS], "versioned")] == ["orders_lookup_v1"]
    assert [name for name, _ in offered([ORDERS], "bare")] == ["orders_lookup"]


@pytest.mark.parametrize("spec", registry.specs(), ids=lambda spec: spec.model_name)
def test_a_model_is_shown_the_emitted_schema_without_what_the_harness_supplies(spec):
    shown = document(spec.folder, spec)
    assert shown == {**langchain.emit(spec), "name": spec.folder}
    told = shown["args_schema"]["properties"]
    assert set(spec.input_schema["properties"]) - set(told) == (
        {"idempotencyKey", "schemaVersion"} if spec.mutates else set()
    )


def test_a_key_is_that_of_the_thread_and_the_call_and_of_nothing_else():
    # Stored with what was done: another way to make it would do it twice. The digest is that of
    # `printf '["thread-1", "call_1"]' | sha256sum`.
    assert key_of(THREAD, CALL) == (
        "lg-aee9b7b1c60005da694f79a07afa2941793bcdd72d490d287b39a7796436c8e8"
    )
    keys = {key_of(*pair) for pair in [("a", "bc"), ("ab", "c"), ("a", "b"), ("\ud800", "é")]}
    assert len(keys) == 4


def test_a_change_is_sent_with_key_and_version_and_a_read_with_neither():
    sent = completed(PATCH, CHANGE, THREAD, CALL)
    assert sent == {**CHANGE, "idempotencyKey": key_of(THREAD, CALL), "schemaVersion": 2}
    assert completed(ORDERS, {"order_id": "x"}, None, None) == {"order_id": "x"}


@pytest.mark.parametrize(
    ("arguments", "thread", "call", "path"),
    [
        ({**CHANGE, "idempotencyKey": "of-the-model"}, THREAD, CALL, "/idempotencyKey"),
        ({**CHANGE, "schemaVersion": 2}, THREAD, CALL, "/schemaVersion"),
        ({**CHANGE, "_caller": "a-token"}, THREAD, CALL, "/_caller"),
        ({**CHANGE, "messageVersion": "1.0"}, THREAD, CALL, "/messageVersion"),
        ("text", THREAD, CALL, ""),
        (CHANGE, None, CALL, "/idempotencyKey"),
        (CHANGE, "", CALL, "/idempotencyKey"),
        (CHANGE, THREAD, None, "/idempotencyKey"),
    ],
)
def test_what_no_model_may_say_and_what_makes_no_key_is_refused_unsent(
    arguments, thread, call, path
):
    with pytest.raises(InvalidArgumentsError) as refused:
        completed(PATCH, arguments, thread, call)
    assert [one["path"] for one in refused.value.details["issues"]] == [path]
    target = Scripted()
    result = Calls(target).result(PATCH, arguments, thread, call)
    assert (result["error"]["code"], target.sent) == ("VALIDATION", [])
    assert result["error"]["details"]["keySpent"] is False
    assert "of-the-model" not in json.dumps(result)


@pytest.mark.parametrize(
    ("answers", "outcome"),
    [
        ([DONE], ("OK", 1)),
        ([BUSY, DONE], ("OK", 2)),
        ([GONE, DONE], ("OK", 2)),
        ([AnswerError("no result"), RUNNING, DONE], ("OK", 3)),
        ([refusal(429), refusal(503), DONE], ("OK", 3)),
        ([PENDING], ("APPROVAL_PENDING", 1)),
        ([failing("CONFLICT", retryable=False, keySpent=True)], ("CONFLICT", 1)),
        ([failing("order_not_found", retryable=False)], ("order_not_found", 1)),
        ([refusal(403)], ("FORBIDDEN", 1)),
        ([BUSY, BUSY, BUSY], ("UNAVAILABLE", 3)),
        ([refusal(429)] * 3, ("UNAVAILABLE", 3)),
    ],
)
def test_what_may_help_is_repeated_identically_and_nothing_else(answers, outcome):
    assert ended(PATCH, *answers) == outcome


@pytest.mark.parametrize(
    "answers",
    [
        [GONE, GONE, GONE],
        [GONE, BUSY, BUSY],
        [RUNNING, BUSY, BUSY],
        [NoCredentialsError(), GONE, refusal(500)],
        [GONE, failing("FORBIDDEN", retryable=False, keySpent=False)],
    ],
)
def test_a_change_that_may_have_happened_is_not_offered_for_another_try(answers):
    assert ended(PATCH, *answers) == ("OUTCOME_UNKNOWN", len(answers))


@pytest.mark.parametrize(
    "settled",
    [PENDING, failing("CONFLICT", retryable=False, keySpent=True), DONE],
)
def test_an_answer_of_who_holds_the_key_ends_the_doubt(settled):
    code = "OK" if settled["ok"] else settled["error"]["code"]
    assert ended(PATCH, GONE, settled) == (code, 2)


def test_a_read_that_nobody_answers_may_be_asked_again():
    assert ended(READ, GONE, GONE, GONE) == ("UNAVAILABLE", 3)


def test_every_attempt_is_made_with_a_token_of_its_own_and_none_without_one():
    made = iter(["token-1", "token-2"])
    target = Scripted(BUSY, DONE)
    calls = Calls(target, token=lambda: next(made), means=means())
    assert calls.result(PATCH, CHANGE, THREAD, CALL) == DONE
    assert [sent["_caller"] for sent in target.sent] == ["token-1", "token-2"]

    def no_token():
        raise TokenError("the file is gone")

    target = Scripted()
    calls = Calls(target, token=no_token, policy=THREE, means=means())
    error = calls.result(PATCH, CHANGE, THREAD, CALL)["error"]
    assert (error["code"], error["details"], target.sent) == (
        "UNAVAILABLE",
        {"keySpent": False},
        [],
    )


def test_without_langchain_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "langchain_core", None)
    with pytest.raises(MissingExtraError, match="pip install 'langgraph"):
        langgraph.make_tools([ORDERS], InProcessTarget())


def call(name, arguments, call_id=CALL):
    return {"name": name, "args": arguments, "id": call_id, "type": "tool_call"}


def scripted(*turns):
    """A model that says `turns`, each a list of calls, then "done"; no network.

    What it has said is read off the messages, so that a resumed graph goes on where it was.
    """
    from langchain_core.language_models.chat_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langchain_core.utils.function_calling import convert_to_openai_tool

    class Model(BaseChatModel):
        shown: list = []  # noqa: RUF012  (a field of pydantic's)

        @property
        def _llm_type(self):
            return "scripted"

        def bind_tools(self, tools, **_):
            self.shown = [convert_to_openai_tool(tool)["function"] for tool in tools]
            return self

        def _generate(self, messages, stop=None, run_manager=None, **_):
            said = sum(isinstance(message, AIMessage) for message in messages)
            calls = turns[said] if said < len(turns) else []
            known = {one["name"] for one in self.shown}
            assert {one["name"] for one in calls} <= known
            answer = AIMessage("" if calls else "done", tool_calls=calls)
            return ChatResult(generations=[ChatGeneration(message=answer)])

    return Model()


def graph_of(tools, *turns, saver=None):
    """An agent's graph on a scripted model."""
    from langgraph.graph import START, MessagesState, StateGraph
    from langgraph.prebuilt import ToolNode, tools_condition

    model = scripted(*turns).bind_tools(tools)
    builder = StateGraph(MessagesState)
    builder.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    builder.add_node("tools", ToolNode(tools))
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", tools_condition)
    builder.add_edge("tools", "model")
    return builder.compile(checkpointer=saver)


GO = {"messages": [("user", "go")]}
CONFIG = {"configurable": {"thread_id": THREAD}}


def run(graph, way, given=GO, config=CONFIG):
    """The tool messages that a run ends with."""
    if way == "sync":
        state = graph.invoke(given, config)
    else:
        state = asyncio.run(graph.ainvoke(given, config))
    assert state["messages"][-1].content == "done"
    return [message for message in state["messages"] if message.type == "tool"]


def failed(message):
    """The error of a tool message that is one, as text and as artifact."""
    said = json.loads(message.content)
    assert (message.status, said["isError"], set(said)) == ("error", True, {"isError", "error"})
    assert set(said["error"]) == {"code", "message", "detail", "retryable"}
    assert message.artifact["error"]["code"] == said["error"]["code"]
    return said["error"]


def succeeded(message):
    """The result of a tool message that holds one, as text and as artifact."""
    said = json.loads(message.content)
    assert (message.status, said) == ("success", {"isError": False, "result": message.artifact})
    return message.artifact


def saver():
    from langgraph.checkpoint.memory import InMemorySaver

    return InMemorySaver()


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
    workspaces, monkeypatch, way
):
    make_keys(monkeypatch)
    clear_bucket()
    clear_pages()
    workspaces.create(ROOT, {FLOW: b"on: push\n"})
    arguments = {"repoRoot": ROOT, "path": FLOW, "content": "on: tag\n", "overwrite": True}
    target, agent = Counting(), Agent()
    tools = langgraph.make_tools([WRITE], target, token=agent.token)
    graph = graph_of(tools, [call("write_file_v1", arguments)], saver=saver())
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
    workspaces, monkeypatch, way
):
    make_keys(monkeypatch)
    clear_bucket()
    clear_pages()
    workspaces.create(ROOT, {FLOW: b"on: push\n"})
    arguments = {"repoRoot": ROOT, "path": FLOW, "content": "on: tag\n", "overwrite": True}
    page = (ROOT_OF_PROJECT / "docs" / "langgraph.md").read_text("utf-8")
    build, resume = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names = {
        "target": InProcessTarget(),
        "sign": Agent().token,
        "model": scripted([call("write_file_v1", arguments)]),
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
