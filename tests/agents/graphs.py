"""Graphs of LangGraph on a scripted model, and targets that keep what they were sent."""

from __future__ import annotations

import asyncio
import json

import pytest

from agents.targets import InProcessTarget
from contracts import registry

PATCH, WRITE = registry.find("apply_patch_v2"), registry.find("write_file_v1")
ORDERS, READ = registry.find("orders_lookup_v1"), registry.find("read_file_v1")
ROOT = "/workspace/graph"
FLOW = ".github/workflows/ci.yml"
ORDER = {"order_id": "ORD-1234", "status": "paid", "items_count": 3, "total_amount": 129.95}
CHANGE = {
    "repoRoot": ROOT,
    "files": [{"path": "a.txt", "mode": "replace_full", "content": "two\n"}],
}
THREAD, CALL = "thread-1", "call_1"
each_way = pytest.mark.parametrize("way", ["sync", "async"])


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
