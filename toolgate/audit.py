"""The permission review of a stage: what each tool may do, who may call it, and what is wrong.

Pure: it judges what a stage's templates allow (`infra.review`) by what the contracts say.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from contracts.spec import Approval, Effect, Scope
from infra.names import pascal
from infra.scopes import SCOPES
from infra.template import named
from toolgate.audit_rules import Finding, Rule, of_templates

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from contracts.spec import ToolSpec
    from infra.review import Function, Review
    from infra.scopes import Grant
    from infra.template import Id

BINDINGS = "TOOLGATE_BINDINGS"
"""The variable that tells a function what callers without a token may do."""
APPROVALS = "TOOLGATE_APPROVALS"
"""The variable that tells a function where people are asked."""
WRITES_ROWS = ("dynamodb:PutItem", "dynamodb:UpdateItem")
READING = ("Get", "BatchGet", "Query", "Scan", "List", "Head", "Describe", "ConditionCheck")
"""What the name of an action that changes nothing begins with."""
SURFACES = {
    "bedrock.amazonaws.com": "bedrock",
    "bedrock-agentcore.amazonaws.com": "gateway",
}
"""The surface that a principal stands for."""


@dataclass(frozen=True, kw_only=True)
class Tool:
    """One tool as the stage would run it."""

    spec: ToolSpec
    function: Function
    gate_problem: str | None
    """Why the stage cannot give the approval that it needs; None: it can, or none is needed."""
    open_to: tuple[str, ...]
    """Surfaces on which a caller without a token may use it, apart from what is gated."""

    @property
    def reached_by(self) -> tuple[str, ...]:
        """The surfaces that may call it, and other principals that may."""
        found = {p for by in self.function.invokers for p in by.principals}
        return tuple(sorted({SURFACES.get(principal, principal) for principal in found}))


@dataclass(frozen=True, kw_only=True)
class Report:
    """One stage's review."""

    tools: tuple[Tool, ...]
    others: tuple[Function, ...]
    """Functions that no contract is for."""
    waiting: tuple[str, ...]
    """Scopes that callers without a token hold, and no tool of this stage needs yet."""
    findings: tuple[Finding, ...]


def audit(review: Review, specs: Sequence[ToolSpec]) -> Report:
    """Judge what the templates allow; `specs` are all contracts, whether deployed or not."""
    by_handler = {f"{spec.handler_module}.handler": spec for spec in specs}
    others = tuple(one for one in review.functions if one.handler not in by_handler)
    tools = tuple(
        Tool(
            spec=spec,
            function=one,
            gate_problem=_gate_problem(spec, one, others),
            open_to=_open_to(spec, one),
        )
        for one in review.functions
        if (spec := by_handler.get(one.handler))
    )
    given = {s for one in review.functions for held in _bindings(one).values() for s in held}
    needed = {str(scope) for tool in tools for scope in tool.spec.scopes}
    names: dict[Id, str] = {}
    for tool in tools:
        function, name = tool.function, tool.spec.model_name
        names[function.id] = name
        if (role := function.role) is not None:
            names[role.id] = f"{names[role.id]}, {name}" if role.id in names else name
    findings = (
        *(finding for tool in tools for finding in _ungated(tool)),
        *_needless(specs, given),
        *(finding for tool in tools for finding in _inert(tool, review)),
        *of_templates(review, names),
    )
    return Report(
        tools=tools, others=others, waiting=tuple(sorted(given - needed)), findings=findings
    )


def _bindings(function: Function) -> dict[str, frozenset[str]]:
    """What callers without a token may do: scopes by surface."""
    found = json.loads(function.environment.get(BINDINGS, "{}"))
    return {surface: frozenset(bound["scopes"]) for surface, bound in sorted(found.items())}


def _open_to(spec: ToolSpec, function: Function) -> tuple[str, ...]:
    if spec.approval is Approval.DUAL:
        return ()  # who asks must be known by name
    return tuple(surface for surface, held in _bindings(function).items() if spec.scopes <= held)


def _gate_problem(spec: ToolSpec, function: Function, others: Iterable[Function]) -> str | None:
    if spec.approval is Approval.NONE:
        return None
    told = function.environment.get(APPROVALS)
    tables = named(str(json.loads(told).get("table", ""))) if told else ()
    if not tables:
        return "the stage keeps no approvals for it"
    if not _writes_rows(function, tables[0]):
        return "its role cannot ask: it may write no rows of approvals"
    if not any(one.invokers and _writes_rows(one, tables[0]) for one in others):
        return "nobody can decide: no function that people reach may write rows of approvals"
    return None


def _writes_rows(function: Function, table: Id) -> bool:
    statements = function.role.statements if function.role else ()
    return any(s.permits(action) and s.reaches(table) for s in statements for action in WRITES_ROWS)


def _ungated(tool: Tool) -> Iterator[Finding]:
    spec = tool.spec
    if spec.effect is Effect.DESTRUCTIVE and spec.approval is not Approval.DUAL:
        yield Finding(
            rule=Rule.NO_GATE,
            tool=spec.model_name,
            where=spec.contract_path,
            problem=f"it is destructive and its approval is {spec.approval.value}",
            fix="give its SPEC approval DUAL",
        )
    if tool.gate_problem:
        yield Finding(
            rule=Rule.GATE_MISSING,
            tool=spec.model_name,
            where=str(tool.function.id),
            problem=f"its approval is {spec.approval.value}, and {tool.gate_problem}",
            fix="deploy the approvals with this stage, or do not deploy the tool there",
        )


def _needless(specs: Iterable[ToolSpec], given: set[str]) -> Iterator[Finding]:
    """Scopes that no tool needs, whether they are declared or given away."""
    used = {str(scope) for spec in specs for scope in spec.scopes}
    declared = {str(scope) for scope in Scope}
    for scope in sorted((declared | given) - used):
        held = "; callers without a token hold it" if scope in given else ""
        yield Finding(
            rule=Rule.UNUSED_SCOPE,
            tool=None,
            where="contracts/spec.py" if scope in declared else "infra/stage.py",
            problem=f"no contract needs scope {scope}{held}",
            fix="take it out of Scope, of infra/scopes.py and of the stages' bindings",
        )


def _inert(tool: Tool, review: Review) -> Iterator[Finding]:
    """Scopes of a tool that bring its role no action that its effect needs."""
    spec = tool.spec
    brought = {str(s): _brought(SCOPES.get(s, ()), tool.function, review) for s in spec.scopes}
    for scope, lacking in sorted(_useless(brought, mutates=spec.mutates).items()):
        yield Finding(
            rule=Rule.UNUSED_SCOPE,
            tool=spec.model_name,
            where=spec.contract_path,
            problem=f"its effect is {spec.effect.value}, and scope {scope} brings its role "
            f"{lacking}",
            fix="take the scope out of its SPEC, or say in infra/scopes.py what it brings",
        )


def _useless(brought: Mapping[str, set[str]], *, mutates: bool) -> dict[str, str]:
    """The scopes, of the actions that each brings, that bring too little; and what they lack."""
    if not mutates:
        return {s: "no action that reads" for s, found in brought.items() if not _reading(found)}
    empty = {scope: "no action at all" for scope, found in brought.items() if not found}
    if empty or any(found - _reading(found) for found in brought.values()):
        return empty
    return dict.fromkeys(brought, "no action that changes anything")


def _reading(actions: set[str]) -> set[str]:
    return {action for action in actions if action.partition(":")[2].startswith(READING)}


def _brought(grants: Sequence[Grant], function: Function, review: Review) -> set[str]:
    """The actions of a scope that the function's role really holds, on the scope's own stores."""
    found: set[str] = set()
    for grant in grants:
        # The state stack has an output for each store.
        store = review.named.get(pascal(grant.store.value))
        if store is None or function.role is None:
            continue
        for statement in function.role.statements:
            if statement.reaches(store):
                found |= {action for action in grant.actions if statement.permits(action)}
    return found
