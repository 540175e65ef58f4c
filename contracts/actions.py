"""AgentAction: what a model may answer with where it has no tools, one action in one JSON object.

    {"action": "read_file", "path": "README.md", "firstLine": 1}
    {"action": "write_file", "path": "NOTES.md", "content": "…", "overwrite": true}
    {"action": "search", "query": "TODO"}

A strict union on `action`: an unknown action or field, or a value out of bounds, is an error. The
fields are the tools' own, without what a harness knows and a model must not choose: the workspace,
the key, the version. `to_call` puts those back.

Not every target takes a union at the root; `document` gives the schema in the forms they do take:

    union    the union itself, JSON Schema 2020-12
    object   {"action": {…}}: an object with the union inside, for structured output and MCP
    flat     one object with the fields of every action, for targets without unions
    plain    the same without any constraint but in words, for Bedrock and the Gateway
    tools    one object an action, without `action`: for targets where a model calls tools by name
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import ConfigDict, Field, TypeAdapter

from contracts.dialects.flatten import flatten
from contracts.dialects.inline import inline
from contracts.dialects.json_schema import DRAFT
from contracts.dialects.narrow import narrow
from contracts.dialects.targets import TARGETS
from contracts.read_file import v1 as read_file
from contracts.search import v1 as search
from contracts.spec import SpecError
from contracts.types import Contract, Cursor, Revision
from contracts.write_file import v1 as write_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from contracts.spec import ToolSpec

TAG = "action"


PATH = "Path of a file in the workspace, parts joined by /; 1-1024 characters."
"""What a path is to a model that is not told of repoRoot."""


def _as_in(model: type[Contract], name: str, description: str | None = None) -> Any:
    """A field as the tool's contract has it: bounds, path rule and default, and description."""
    if name not in model.model_fields:
        raise SpecError(f"contracts/actions.py has {name}, which {model.__module__} lacks")
    field = copy(model.model_fields[name])
    field.description = description or field.description
    return field


class ReadFile(Contract):
    """Read the text of one file, or a range of its lines."""

    action: Literal["read_file"] = Field(description="read_file: read a file.")
    path: str = _as_in(read_file.Input, "path", PATH)
    first_line: int = _as_in(read_file.Input, "first_line")
    first_column: int = _as_in(read_file.Input, "first_column")
    max_lines: int = _as_in(read_file.Input, "max_lines")
    revision: Revision | None = _as_in(read_file.Input, "revision")


class WriteFile(Contract):
    """Write one file, whole."""

    action: Literal["write_file"] = Field(description="write_file: write a file, whole.")
    path: str = _as_in(write_file.Input, "path", PATH)
    content: str = _as_in(write_file.Input, "content")
    overwrite: bool = _as_in(write_file.Input, "overwrite")


class Search(Contract):
    """Find the lines that a text or a pattern fits."""

    action: Literal["search"] = Field(description="search: find lines.")
    query: str = _as_in(search.Input, "query")
    mode: Literal["literal", "regex"] = _as_in(search.Input, "mode")
    glob: str = _as_in(search.Input, "glob")
    case_sensitive: bool = _as_in(search.Input, "case_sensitive")
    limit: int = _as_in(search.Input, "limit")
    cursor: Cursor | None = _as_in(search.Input, "cursor")
    revision: Revision | None = _as_in(search.Input, "revision")


AgentAction = Annotated[ReadFile | WriteFile | Search, Field(discriminator=TAG)]
"""One action of an agent."""

ADAPTER: TypeAdapter[ReadFile | WriteFile | Search] = TypeAdapter(
    AgentAction, config=ConfigDict(hide_input_in_errors=True)
)
"""The union as Pydantic reads it; its errors quote nothing of what was sent."""

TOOLS: Mapping[str, ToolSpec] = {
    "read_file": read_file.SPEC,
    "write_file": write_file.SPEC,
    "search": search.SPEC,
}
"""The tool behind each action."""


@dataclass(frozen=True)
class ToolCall:
    """A call of a tool: its model name, and its arguments as they go over the wire."""

    tool: str
    arguments: dict[str, Any]


def parse(value: Any) -> ReadFile | WriteFile | Search:
    """The action that parsed JSON holds, by itself or as `{"action": {…}}`.

    Raises pydantic's ValidationError.
    """
    if isinstance(value, dict) and value.keys() == {TAG} and isinstance(value[TAG], dict):
        value = value[TAG]
    return ADAPTER.validate_python(value)


def to_call(action: ReadFile | WriteFile | Search, repo_root: str, key: str) -> ToolCall:
    """The action as a call in the workspace `repo_root`.

    `key` is the idempotency key of this action, 8-128 characters: the same one whenever the same
    action is sent again. Actions that change nothing take none.
    """
    spec = TOOLS[action.action]
    arguments = action.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude={TAG})
    arguments["repoRoot"] = repo_root
    if spec.mutates:
        arguments |= {"idempotencyKey": key, "schemaVersion": spec.major}
    return ToolCall(spec.model_name, arguments)


def document() -> dict[str, Any]:
    """`{union, object, flat, plain, tools: {action: schema}}`: every form, each a whole schema."""
    union = inline(ADAPTER.json_schema(by_alias=True))
    described = {"description": "What to do next: one action.", **union}
    wrapper = {
        "type": "object",
        "properties": {TAG: described},
        "required": [TAG],
        "additionalProperties": False,
    }
    flat = {**flatten(described), "additionalProperties": False}
    return {
        "union": {"$schema": DRAFT, **described},
        "object": {"$schema": DRAFT, **wrapper},
        "flat": {"$schema": DRAFT, **flat},
        "plain": narrow(described, TARGETS["gateway"]),
        "tools": {
            name: {"$schema": DRAFT, **_without_tag(branch)}
            for name, branch in zip(TOOLS, union["oneOf"], strict=True)
        },
    }


def _without_tag(branch: dict[str, Any]) -> dict[str, Any]:
    fields = {name: field for name, field in branch["properties"].items() if name != TAG}
    required = [name for name in branch["required"] if name != TAG]
    return {**branch, "properties": fields, "required": required}
