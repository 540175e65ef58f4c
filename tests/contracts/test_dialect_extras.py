"""The MCP and LangChain documents in the hands of their own SDKs (`requirements-extras.txt`)."""

from __future__ import annotations

import pytest

from contracts import registry
from contracts.dialects import langchain, mcp
from tests.contracts.examples import EXAMPLES

SPECS = (*registry.specs(), *EXAMPLES)
each_spec = pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.model_name)
pytestmark = pytest.mark.long


@each_spec
def test_the_mcp_sdk_reads_the_tool_and_writes_it_unchanged(spec):
    import mcp_types

    document = mcp.emit(spec)
    tool = mcp_types.Tool.model_validate(document)
    assert tool.model_dump(mode="json", by_alias=True, exclude_none=True) == document
    assert tool.annotations.read_only_hint is not spec.mutates
    assert tool.meta == {"toolgate/version": spec.key}


@each_spec
def test_the_mcp_sdk_finds_nothing_to_warn_of_in_the_name(spec):
    from mcp.shared.tool_name_validation import validate_tool_name

    checked = validate_tool_name(spec.model_name)
    assert checked.is_valid
    assert not checked.warnings


@each_spec
def test_a_langchain_tool_shows_the_model_the_schema_as_it_was_emitted(spec):
    from langchain_core.tools import BaseTool
    from langchain_core.utils.function_calling import convert_to_openai_tool

    class Tool(BaseTool):
        def _run(self, /, **arguments):
            return arguments

    document = langchain.emit(spec)
    shown = convert_to_openai_tool(Tool(**document))["function"]
    assert (shown["name"], shown["description"]) == (spec.model_name, spec.description)
    told = {key: v for key, v in document["args_schema"].items() if key != "description"}
    assert shown["parameters"] == told


def test_a_langchain_tool_hands_every_argument_on_under_its_own_name():
    from langchain_core.tools import BaseTool

    class Tool(BaseTool):
        def _run(self, /, **arguments):
            return arguments

    file = {"path": "a.txt", "mode": "replace_full", "content": "x"}
    arguments = {"repoRoot": "/w", "files": [file], "dryRun": True}
    tool = Tool(**langchain.emit(registry.find("apply_patch_v1")))
    assert tool.invoke(arguments) == arguments
