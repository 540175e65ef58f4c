"""The contract checklist: one line a rule, each with the tools that break it."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from contracts import registry
from contracts.dialects import json_schema, portability
from contracts.instruction import agent_instruction
from contracts.spec import Approval, Effect, SpecError, Status
from toolgate import promises, schema_files
from toolgate.project import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from contracts.spec import ToolSpec

HANDLER_LINES_MAX = 25
VERSION_FILE = re.compile(r"v[1-9][0-9]*\.py\Z")
GOLDEN_READ = ("valid", "violation", "declared code")
GOLDEN_WRITE = ("valid", "violation", "replay", "key conflict", "state conflict")
GOLDEN_GATED = ("violation", "gated")
"""Of a tool that never acts without approval: a golden case names nobody who could ask for one."""
OPEN_OBJECT = "/properties/error/properties/details"
"""`error.details` is the one object that may hold anything."""


@dataclass(frozen=True)
class Line:
    """One rule and what breaks it."""

    title: str
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing breaks it."""
        return not self.problems

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"ok": self.ok, **asdict(self)}


def run(specs: Iterable[ToolSpec], root: Path = ROOT) -> list[Line]:
    """The whole checklist over these specs, with the files of the project at `root`."""
    specs = tuple(specs)
    rules: list[tuple[str, Callable[[ToolSpec, Path], Iterator[str]]]] = [
        ("every mutating tool requires idempotencyKey and schemaVersion", _keys),
        ("no object takes additional properties, error.details aside", _closed),
        ("results are told apart by ok, and failures say retryable", _discriminated),
        ("arguments are validated before any side effect", _validated_first),
        ("names carry the version, and contract and handler share a path", _versioned),
        ("every argument and answer field is described", _described),
        ("what each target is sent holds only what it takes", _portable),
        ("golden cases cover validation, replay and conflict", _golden),
        ("tools that touch production stop at a gate", _gated),
        ("published versions keep their digest", _kept),
    ]
    lines = [
        Line(title, tuple(f"{s.model_name}: {p}" for s in specs for p in rule(s, root)))
        for title, rule in rules
    ]
    emitted = tuple(
        f"{path} is out of date: run toolgate emit" for path in schema_files.stale(specs, root)
    )
    lines.insert(5, Line("committed schemas are what the handlers' contracts emit", emitted))
    lines.append(Line("no published version is gone", tuple(_gone(specs, root))))
    lines.append(Line("the agent's instruction fits Bedrock", tuple(_instruction(specs))))
    lines.append(Line("every handler has a contract", tuple(_orphans(specs, root))))
    return lines


def _keys(spec: ToolSpec, _root: Path) -> Iterator[str]:
    required = set(json_schema.emit(spec)["input"].get("required", []))
    for name in ("idempotencyKey", "schemaVersion"):
        if spec.mutates and name not in required:
            yield f"{name} is not required"


def _closed(spec: ToolSpec, _root: Path) -> Iterator[str]:
    document = json_schema.emit(spec)
    for part in ("input", "output", "error"):
        for pointer, node in _objects(document[part]):
            if node.get("additionalProperties") is not False and pointer != OPEN_OBJECT:
                yield f"{part} {pointer or '/'} takes additional properties"


def _discriminated(spec: ToolSpec, _root: Path) -> Iterator[str]:
    document = json_schema.emit(spec)
    for part, value in (("output", True), ("error", False)):
        schema = document[part]
        if schema["properties"]["ok"].get("const") is not value or "ok" not in schema["required"]:
            yield f"{part} has no constant ok"
    failure = document["error"]["properties"]["error"]
    if "retryable" not in failure["required"] or "code" not in failure["required"]:
        yield "error does not require code and retryable"


def _validated_first(spec: ToolSpec, root: Path) -> Iterator[str]:
    """The pipeline validates; a handler that is not behind it, or does more, may not."""
    path = root / spec.handler_path
    if not path.exists():
        yield f"there is no {spec.handler_path}"
        return
    tree = ast.parse(path.read_text(encoding="utf-8"))
    handlers = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "handler"]
    if len(handlers) != 1:
        yield f"{spec.handler_path} has no function handler"
        return
    (handler,) = handlers
    if [_decorated_by(decorator) for decorator in handler.decorator_list] != ["tool(SPEC)"]:
        yield "handler is not decorated by @tool(SPEC) alone"
    lines = (handler.end_lineno or 0) - handler.lineno + 1
    if lines > HANDLER_LINES_MAX:
        yield f"handler has {lines} lines, not at most {HANDLER_LINES_MAX}"
    if any(isinstance(node, ast.Try | ast.TryStar) for node in ast.walk(handler)):
        yield "handler has a try: raise typed errors instead"
    if _bindings(tree, "handler") != 1:
        yield "handler is bound again: the pipeline would be passed by"
    imported = {
        node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and any(name.name == "SPEC" for name in node.names)
    }
    if imported != {spec.contract_path.removesuffix(".py").replace("/", ".")}:
        yield "handler does not import SPEC from its own contract"


def _decorated_by(decorator: ast.expr) -> str:
    """A decorator with its first argument; keywords are the tool's own matter."""
    if not isinstance(decorator, ast.Call):
        return ast.unparse(decorator)
    return f"{ast.unparse(decorator.func)}({', '.join(map(ast.unparse, decorator.args))})"


def _bindings(tree: ast.Module, name: str) -> int:
    """How often a module binds a name, in whatever way."""
    count = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            count += node.id == name
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            count += node.name == name
        elif isinstance(node, ast.alias):
            count += (node.asname or node.name) == name
    return count


def _versioned(spec: ToolSpec, root: Path) -> Iterator[str]:
    if not spec.model_name.endswith(f"_v{spec.major}"):
        yield "the name does not end in its version"
    for path in (spec.contract_path, spec.handler_path):
        if not (root / path).exists():
            yield f"there is no {path}"


def _described(spec: ToolSpec, _root: Path) -> Iterator[str]:
    document = json_schema.emit(spec)
    for part in ("input", "output", "error"):
        for pointer, node in _objects(document[part]):
            for name, field in node.get("properties", {}).items():
                if not str(field.get("description", "")).strip():
                    yield f"{part} {pointer}/{name} has no description"


def _portable(spec: ToolSpec, _root: Path) -> Iterator[str]:
    yield from portability.problems(spec)


def _golden(spec: ToolSpec, root: Path) -> Iterator[str]:
    path = root / "tests" / "golden" / f"{spec.model_name}.json"
    if not path.exists():
        yield f"there is no tests/golden/{path.name}"
        return
    cases = json.loads(path.read_text(encoding="utf-8"))["cases"]
    kinds = {case["kind"] for case in cases}
    for kind in _golden_kinds(spec):
        if kind not in kinds:
            yield f"tests/golden/{path.name} has no case of kind {kind!r}"
    for case in cases:
        if case["kind"] == "gated" and not _refused_at_gate(case["expect"]):
            yield f"the gated case {case['name']!r} expects something else than the gate's refusal"
    answered = {case["expect"].get("error", {}).get("code") for case in cases}
    for error in spec.errors:
        if error.code not in answered:
            yield f"no golden case answers {error.code}"


def _golden_kinds(spec: ToolSpec) -> tuple[str, ...]:
    """The kinds of cases that a tool must have."""
    if spec.approval is Approval.DUAL:
        return GOLDEN_GATED
    return GOLDEN_WRITE if spec.mutates else GOLDEN_READ


def _refused_at_gate(expect: dict[str, Any]) -> bool:
    """Whether a case expects that nothing happened and that its key is not spent."""
    error = expect.get("error", {})
    refusal = {"reason": "SUBJECT_REQUIRED", "keySpent": False}
    return error.get("code") == "FORBIDDEN" and refusal.items() <= error.get("details", {}).items()


def _gated(spec: ToolSpec, _root: Path) -> Iterator[str]:
    if spec.effect is Effect.DESTRUCTIVE and spec.approval is not Approval.DUAL:
        yield "is destructive and has no dual approval"


def _kept(spec: ToolSpec, root: Path) -> Iterator[str]:
    published = schema_files.digests(root).get(spec.record_prefix)
    if published is None:
        if spec.status is not Status.DRAFT:
            yield "is not a draft and was never published: run toolgate publish"
        return
    if spec.status is Status.DRAFT:
        yield "is published and calls itself a draft"
    yield from promises.broken(spec, published, root)


def _orphans(specs: tuple[ToolSpec, ...], root: Path) -> Iterator[str]:
    """What no deployment would find; a folder with an underscore is not a tool."""
    known = {spec.handler_path for spec in specs}
    for path in sorted((root / "functions").glob("[!_]*/v*.py")):
        handler = path.relative_to(root).as_posix()
        if VERSION_FILE.match(path.name) and handler not in known:
            contract = handler.replace("functions/", "contracts/", 1)
            yield f"{handler} is the handler of no contract: write {contract}, or delete it"
    for side in ("contracts", "functions"):
        for path in sorted((root / side).glob("[!_]*/[vV][0-9]*")):
            if not VERSION_FILE.match(path.name):
                yield f"{path.relative_to(root).as_posix()} is no version: call it v<N>.py"


def _gone(specs: tuple[ToolSpec, ...], root: Path) -> Iterator[str]:
    there = {spec.record_prefix for spec in specs}
    for prefix in schema_files.digests(root):
        if prefix not in there:
            yield f"{prefix} was published and has no contract: bring it back"


def _instruction(specs: tuple[ToolSpec, ...]) -> Iterator[str]:
    try:
        agent_instruction(registry.newest(specs))
    except SpecError as error:
        yield str(error)


def _objects(node: Any, pointer: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object schema in a schema, with its pointer."""
    if isinstance(node, list):
        for index, child in enumerate(node):
            yield from _objects(child, f"{pointer}/{index}")
    elif isinstance(node, dict):
        if node.get("type") == "object":
            yield pointer, node
        for key, child in node.items():
            yield from _objects(child, f"{pointer}/{key}")
