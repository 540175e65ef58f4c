"""One function of a Bedrock action group that is described by function details.

    {"name", "description", "parameters": {name: {"type", "description", "required"}}}

A parameter is a scalar; a nested value is a string that holds JSON text, and more parameters than
Bedrock allows become one string `arguments` that holds them all. Descriptions are short there:
where the full one does not fit, the bounds go before the explanations, and the form stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.dialects.arguments import arguments, description
from contracts.dialects.bedrock import is_nested, must_confirm
from contracts.dialects.flatten import flattened
from contracts.dialects.targets import TARGETS, UnportableError
from contracts.dialects.words import bounds, described, form, shape
from contracts.schema_nodes import bare, present

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contracts.spec import ToolSpec

TARGET = TARGETS["bedrock-function"]
PARAMETERS_MAX = 5
"""Parameters that a function may have."""
PARAMETER_TEXT_MAX = 500
FUNCTION_TEXT_MAX = 1_200
TOGETHER = "arguments"
"""The one parameter of a function that would have too many."""


def emit(spec: ToolSpec) -> dict[str, Any]:
    """The function, as `functionSchema.functions` of CreateAgentActionGroup takes it.

    Raises UnportableError if not even the bare form of an argument fits its description.
    """
    schema = arguments(spec, TARGET)
    if len(schema["properties"]) > PARAMETERS_MAX:
        whole = {**schema, "description": "All arguments of the call."}
        schema = {"properties": {TOGETHER: whole}, "required": [TOGETHER]}
    parameters, left_out = {}, []
    for name, declared in schema["properties"].items():
        field, _ = present(declared)
        texts = _texts(field)
        text = _first_that_fits(name, texts)
        if text != texts[0]:
            left_out.append([f"{name}: {fuller}" for fuller in texts[: texts.index(text)]])
        parameters[name] = {
            "type": "string" if is_nested(field) else field["type"],
            "description": text,
            "required": name in schema["required"],
        }
    function: dict[str, Any] = {
        "name": spec.model_name,
        "description": _told(description(spec, TARGET), left_out),
        "parameters": parameters,
    }
    if must_confirm(spec):
        function["requireConfirmation"] = "ENABLED"
    return function


def schemas(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The schema in a document: `input`, its parameters as the object that they are."""
    parameters = document["parameters"].items()
    return {
        "input": {
            "type": "object",
            "properties": {
                name: {key: value for key, value in field.items() if key != "required"}
                for name, field in parameters
            },
            "required": [name for name, field in parameters if field["required"]],
        }
    }


def tool_name(spec: ToolSpec) -> str:
    """The name that Bedrock composes for the model: action group and function."""
    return f"{spec.model_name}__{spec.model_name}"


def _texts(field: dict[str, Any]) -> list[str]:
    """A parameter's description, from the fullest to the barest."""
    said = str(field.get("description", "")).strip()
    first = said.split(". ", 1)[0].rstrip(".") + "."
    if not is_nested(field):
        return [described(field), described({**field, "description": first}), bounds(field)]
    barest = shape(bare(field))
    shapes = [shape(field), *_merged(field), barest]
    pairs = [*((said, one) for one in shapes), (first, barest), (first, form(field))]
    return [f"{text} Send JSON text: {kind}".strip() for text, kind in pairs]


def _merged(field: dict[str, Any]) -> list[str]:
    """Unions as one object with every branch's fields: the same explanations in fewer words."""
    try:
        return [shape(flattened(field))]
    except UnportableError:
        return []


def _first_that_fits(name: str, texts: Sequence[str]) -> str:
    for text in texts:
        if text and len(text) <= PARAMETER_TEXT_MAX:
            return text
    # Half a form would be a wrong form.
    raise UnportableError(f"/{name} cannot be described in {PARAMETER_TEXT_MAX} characters")


def _told(text: str, left_out: Sequence[Sequence[str]]) -> str:
    """The function's description, with what parameters had no room for as far as it fits.

    `left_out`: for each such parameter its texts, from the fullest on.
    """
    if len(text) > FUNCTION_TEXT_MAX:
        raise UnportableError(f"the summary is longer than {FUNCTION_TEXT_MAX} characters")
    for texts in left_out:
        room = FUNCTION_TEXT_MAX - len(text) - 1
        text = " ".join([text, *[one for one in texts if len(one) <= room][:1]])
    return text
