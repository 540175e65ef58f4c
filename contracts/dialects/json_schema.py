"""JSON Schema 2020-12: the contract whole, and the form that digests are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contracts.dialects.inline import inline
from contracts.results import failure_model, success_model

if TYPE_CHECKING:
    from contracts.spec import ToolSpec

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def emit(spec: ToolSpec) -> dict[str, Any]:
    """`{name, version, description, input, output, error}`, each of the three a whole schema."""
    return {
        "name": spec.model_name,
        "version": spec.version,
        "description": spec.description,
        "input": {"$schema": DRAFT, **inline(spec.input_schema)},
        "output": {"$schema": DRAFT, **inline(_written(success_model(spec)))},
        "error": {"$schema": DRAFT, **inline(_written(failure_model(spec)))},
    }


def _written(model: Any) -> dict[str, Any]:
    schema: dict[str, Any] = model.model_json_schema(by_alias=True, mode="serialization")
    return schema


def schemas(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The schemas in a document: `input`, `output` and `error`."""
    return {part: document[part] for part in ("input", "output", "error")}


def tool_name(spec: ToolSpec) -> str:
    """The tool's own name; nothing is composed."""
    return spec.model_name
