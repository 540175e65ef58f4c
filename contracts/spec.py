"""ToolSpec: everything about a tool that is the same in every stage and true without AWS."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any

from contracts.errors import CODES, ToolError
from contracts.types import Contract, SafePath, path_rules

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = re.compile(r"[a-z][a-z0-9]*([._][a-z0-9]+)*\Z")
VERSION = re.compile(r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\Z")
DOMAIN_CODE = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*\Z")

MODEL_NAME_MAX = 28
"""POST + `__` + 28 + `__` + 28 = 64, the longest tool name that Bedrock composes."""

MUTATING_TIMEOUT_MAX_S = 15
"""A killed worker holds its lease for as long as the function may run."""

RESERVED_ARGUMENTS = frozenset(
    {"messageVersion", "actionGroup", "apiPath", "function", "arguments", "_caller"}
)
"""Names that tell one event dialect from another; an argument of that name would be misread."""

JSON_NATIVE = frozenset({"string", "integer", "boolean", "array", "object", "null"})
"""Types that mean the same as a Python value and as JSON text; the fingerprint relies on it."""


class Effect(StrEnum):
    """What a call does to the world."""

    READ = "read"
    WRITE = "write"
    DESTRUCTIVE = "destructive"


class Approval(StrEnum):
    """When people must agree before the effect happens."""

    NONE = "none"
    DUAL = "dual"
    WHEN_PROTECTED = "when_protected"


class Scope(StrEnum):
    """What a caller must have been granted; `infra/scopes.py` turns each into IAM actions."""

    WORKSPACE_READ = "workspace:read"
    WORKSPACE_WRITE = "workspace:write"
    ORDERS_READ = "orders:read"
    RELEASE_PUBLISH = "release:publish"


class Status(StrEnum):
    """Where a version stands: only a published one is a promise."""

    DRAFT = "draft"
    ACTIVE = "active"
    DEPRECATED = "deprecated"


class SpecError(ValueError):
    """A SPEC contradicts the rules for contracts; raised when its module is imported."""


@dataclass(frozen=True, kw_only=True)
class ToolSpec:
    """One version of one tool. Frozen; contradictions raise SpecError at import."""

    name: str
    version: str
    summary: str
    owner: str
    input: type[Contract]
    output: type[Contract]
    errors: tuple[type[ToolError], ...] = ()
    effect: Effect
    approval: Approval = Approval.NONE
    scopes: frozenset[Scope]
    timeout_s: int
    status: Status = Status.DRAFT
    sunset: date | None = None

    def __post_init__(self) -> None:
        """Refuse what no surface could carry."""
        for problem in self._problems():
            raise SpecError(f"{self.name}@{self.version}: {problem}")

    @property
    def major(self) -> int:
        """The version that callers see: `schemaVersion`, and the `N` of `v<N>.py`."""
        return int(self.version.split(".", 1)[0])

    @property
    def key(self) -> str:
        """`name@1.0.0`."""
        return f"{self.name}@{self.version}"

    @property
    def folder(self) -> str:
        """The tool's folder under `contracts/` and `functions/`."""
        return self.name.replace(".", "_")

    @property
    def model_name(self) -> str:
        """`name_v1`: the tool's one name on every surface that a model sees."""
        return f"{self.folder}_v{self.major}"

    @property
    def record_prefix(self) -> str:
        """`name@1`: what an idempotency key belongs to."""
        return f"{self.name}@{self.major}"

    @property
    def contract_path(self) -> str:
        """Where the contract lives, relative to the project."""
        return f"contracts/{self.folder}/v{self.major}.py"

    @property
    def handler_path(self) -> str:
        """Where the handler lives, relative to the project."""
        return f"functions/{self.folder}/v{self.major}.py"

    @property
    def handler_module(self) -> str:
        """The handler's module; its function is called `handler`."""
        return f"functions.{self.folder}.v{self.major}"

    @property
    def description(self) -> str:
        """What a model is told of the tool: the summary, and when a deprecated version goes."""
        return f"{self.summary} Goes away after {self.sunset}." if self.sunset else self.summary

    @property
    def mutates(self) -> bool:
        """Whether a call may change anything."""
        return self.effect is not Effect.READ

    @property
    def codes(self) -> Mapping[str, bool]:
        """Every code this tool may answer with, and whether it is retryable."""
        own = {error.code: error.is_retryable() for error in self.errors}
        return {code.name: code.retryable for code in CODES.values()} | own

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        """JSON Schema 2020-12 of the arguments, as Pydantic writes it."""
        return self.input.model_json_schema(by_alias=True, mode="validation")

    @cached_property
    def path_rules(self) -> tuple[tuple[str, SafePath], ...]:
        """JSON pointers (`*` for any item) of the arguments that name files, and their rule."""
        # The variants of a union name the same places.
        return tuple(dict.fromkeys(path_rules(self.input)))

    def _problems(self) -> list[str]:
        return [*self._name_problems(), *self._promise_problems(), *self._input_problems()]

    def _name_problems(self) -> list[str]:
        problems = []
        if not NAME.match(self.name):
            problems.append(f"name {self.name!r} must match {NAME.pattern}")
        if not VERSION.match(self.version):
            return [*problems, f"version {self.version!r} is not MAJOR.MINOR.PATCH"]
        if self.major < 1:
            problems.append("the first version is 1.0.0; status tells a draft")
        if len(self.model_name) > MODEL_NAME_MAX:
            problems.append(f"{self.model_name} is longer than {MODEL_NAME_MAX} characters")
        if "__" in self.model_name:
            problems.append(f"{self.model_name} holds '__', which separates names on Bedrock")
        if not self.summary.strip() or not self.owner.strip():
            problems.append("summary and owner must say something")
        return problems

    def _promise_problems(self) -> list[str]:
        problems = []
        if self.mutates and not 1 <= self.timeout_s <= MUTATING_TIMEOUT_MAX_S:
            problems.append(f"timeout_s of a mutating tool is 1-{MUTATING_TIMEOUT_MAX_S} s")
        if not self.mutates and not 1 <= self.timeout_s <= 60:
            problems.append("timeout_s is 1-60 s")
        if not self.scopes:
            problems.append("a tool needs at least one scope")
        if not self.mutates and self.approval is not Approval.NONE:
            problems.append("a read tool needs no approval")
        if self.effect is Effect.DESTRUCTIVE and self.approval is not Approval.DUAL:
            problems.append("a destructive tool needs approval DUAL")
        if (self.status is Status.DEPRECATED) != (self.sunset is not None):
            problems.append("a deprecated version names its sunset, and only that one")
        problems += [
            f"own code {error.code!r} must be lower_snake"
            for error in self.errors
            if not DOMAIN_CODE.match(error.code)
        ]
        return problems

    def _input_problems(self) -> list[str]:
        fields = {info.alias or name: info for name, info in self.input.model_fields.items()}
        problems = [f"argument {n!r} is reserved" for n in sorted(RESERVED_ARGUMENTS & set(fields))]
        keys = {"idempotencyKey", "schemaVersion"}
        if self.mutates and (lacking := keys - {n for n, f in fields.items() if f.is_required()}):
            problems.append(f"a mutating tool requires {', '.join(sorted(lacking))}")
        if not self.mutates and (needless := keys & set(fields)):
            problems.append(f"a read tool takes no {', '.join(sorted(needless))}")
        for pointer, kind in _types(self.input_schema):
            if kind not in JSON_NATIVE:
                problems.append(f"{pointer}: {kind} is not a type that every surface can carry")
        return problems


def _types(node: Any, pointer: str = "") -> list[tuple[str, str]]:
    """Every `type` in a schema, with where it stands; a `format` counts as a type of its own."""
    found: list[tuple[str, str]] = []
    if isinstance(node, dict):
        if isinstance(node.get("type"), str):
            found.append((pointer or "/", str(node.get("format", node["type"]))))
        for name, child in node.items():
            found += _types(child, f"{pointer}/{name}")
    elif isinstance(node, list):
        for index, child in enumerate(node):
            found += _types(child, f"{pointer}/{index}")
    return found
