"""What each target's schemas may hold: keywords, types and names, with where that is documented.

Emitters and the portability lint read this table; a keyword that a target does not take is said in
words. A target that changes is changed here, with the page and the day it was read.

    what a target takes     type     const,     anyOf    oneOf      bounds,    default
                            and      enum                nested     pattern
                            shape
    json-schema             yes      yes        yes      yes        yes        yes
    bedrock                 yes      words      words    JSON text  words      words
    bedrock-function        scalars  words      words    JSON text  words      words
    gateway                 yes      words      words    flattened  words      words
    mcp                     yes      yes        yes      yes        yes        yes
    converse                yes      yes        yes      yes        yes        yes
    langchain               yes      yes        yes      yes        yes        yes
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

VERSION = "schemaVersion"
"""The argument that the tool's name already carries."""
KEY = "idempotencyKey"
"""The argument that a harness makes where it, and not the model, counts the calls."""

TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")
"""What Bedrock's models accept as the name of a tool, composed names included."""

SHAPE = frozenset({"type", "description", "properties", "required", "items"})
BOUNDS = frozenset(
    {"minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern"}
)
WHOLE = SHAPE | BOUNDS | {"additionalProperties", "anyOf", "oneOf", "enum", "const", "default"}
TYPES = frozenset({"string", "integer", "number", "boolean", "array", "object"})


class UnportableError(ValueError):
    """A contract holds what a target cannot be told, not even in words."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """One target: the keywords and types it takes, the arguments it is not told of, its source."""

    keywords: frozenset[str]
    types: frozenset[str]
    source: str
    read_on: date
    supplied: frozenset[str] = frozenset()
    """Arguments that the surface fills in; the document does not have them."""
    reserved: frozenset[str] = frozenset()
    """Names that the target takes out of the arguments for itself."""


TARGETS: Mapping[str, Target] = {
    "json-schema": Target(
        keywords=WHOLE | {"$schema"},
        types=TYPES | {"null"},
        source="https://json-schema.org/draft/2020-12/json-schema-validation",
        read_on=date(2026, 11, 30),
    ),
    "bedrock": Target(
        keywords=SHAPE,
        types=TYPES,
        supplied=frozenset({VERSION}),
        source="https://docs.aws.amazon.com/bedrock/latest/userguide/agents-api-schema.html",
        read_on=date(2026, 11, 30),
    ),
    "bedrock-function": Target(
        keywords=SHAPE,
        types=TYPES - {"object"},
        supplied=frozenset({VERSION}),
        source="https://docs.aws.amazon.com/bedrock/latest/APIReference/API_agent_ParameterDetail.html",
        read_on=date(2026, 11, 30),
    ),
    "gateway": Target(
        keywords=SHAPE,
        types=TYPES,
        supplied=frozenset({VERSION}),
        source="https://docs.aws.amazon.com/bedrock-agentcore-control/latest/APIReference/API_SchemaDefinition.html",
        read_on=date(2026, 11, 30),
    ),
    "mcp": Target(
        keywords=WHOLE,
        types=TYPES | {"null"},
        supplied=frozenset({VERSION}),
        source="https://modelcontextprotocol.io/specification/2026-07-28/server/tools",
        read_on=date(2026, 11, 30),
    ),
    "converse": Target(
        keywords=WHOLE,
        types=TYPES | {"null"},
        supplied=frozenset({VERSION}),
        source="https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolSpecification.html",
        read_on=date(2026, 11, 30),
    ),
    "langchain": Target(
        keywords=WHOLE,
        types=TYPES | {"null"},
        supplied=frozenset({VERSION, KEY}),
        reserved=frozenset(
            {
                "config", "run_manager", "callbacks", "runtime", "state", "store", "tool_call_id",
                "self",
            }
        ),
        source="https://docs.langchain.com/oss/python/langchain/tools",
        read_on=date(2026, 11, 30),
    ),
}  # fmt: skip
"""The targets by the name that `--dialect` takes."""
