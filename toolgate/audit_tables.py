"""A permission review to read: tables, the same for a terminal and for Markdown; or JSON.

In tables, names that CloudFormation has yet to give are those of the templates, without the hash
at their end.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from contracts.spec import Approval
from infra.template import NAMED, Id
from toolgate.audit import SURFACES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from infra.policies import Conditions, Statement
    from infra.review import Function, Invoker, Review
    from toolgate.audit import Report, Tool
    from toolgate.audit_rules import Finding

_HASH = re.compile(r"(?<=.)[0-9A-F]{8}\Z")
_MARKUP, _ESCAPED = re.compile(r"([|*<\[$`])"), r"\\\1"
"""What Markdown would not show as it is."""
_OURS = re.compile(r"arn:\$\{AWS::Partition\}:([a-z0-9-]+):\$\{AWS::Region\}:\$\{AWS::AccountId\}:")
_KNOWN_WHEN_DEPLOYED = {
    "${AWS::Partition}": "PARTITION",
    "${AWS::Region}": "REGION",
    "${AWS::AccountId}": "ACCOUNT",
}
_OPERATORS = {
    "StringEquals": "=",
    "ArnEquals": "=",
    "StringLike": "like",
    "ArnLike": "like",
    "ForAllValues:StringLike": "all like",
}
LEGEND = (
    "ACCOUNT, REGION, PARTITION and the `…` of an ARN: those that the stage is deployed to. "
    "Whom else the account's own policies let call or assume, no template of this stage says."
)


@dataclass(frozen=True, kw_only=True)
class Section:
    """One table: what it is of, its columns, and its rows; rows of a group share their first."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def sections(report: Report, review: Review) -> list[Section]:
    """The tables, in the order to read them in; those without a row are left out."""
    names = {tool.function.id: tool.spec.model_name for tool in report.tools}
    names |= {one.id: one.handler.removesuffix(".handler") for one in report.others}
    functions = (*(tool.function for tool in report.tools), *report.others)
    all_ = [
        Section(
            title="Tools",
            columns=("tool", "effect", "approval", "scopes", "called by", "without a token"),
            rows=tuple(map(_tool, report.tools)),
        ),
        Section(
            title="What their roles may do",
            columns=("tool", "actions", "on", "only if"),
            rows=tuple(
                (tool.spec.model_name, *row)
                for tool in report.tools
                for row in _abilities(_statements(tool.function))
            ),
        ),
        Section(
            title="Who may call them",
            columns=("who", "by", "only if", "functions"),
            rows=tuple(_callers(functions, names)),
        ),
        Section(
            title="Functions that are not a tool",
            columns=("function", "actions", "on", "only if"),
            rows=tuple(
                (names[one.id], *row)
                for one in report.others
                for row in _abilities(_statements(one))
            ),
        ),
        Section(
            title="Who may assume the other roles",
            columns=("role", "who", "action", "only if"),
            rows=tuple(
                (place(role.id), listed(said.principals), _actions(said), when(said.conditions))
                for role in review.idle_roles()
                for said in role.trust
            ),
        ),
        Section(
            title="What the other roles may do",
            columns=("role", "actions", "on", "only if"),
            rows=tuple(
                (place(role.id), *row)
                for role in review.idle_roles()
                for row in _abilities(role.statements)
            ),
        ),
    ]
    return [one for one in all_ if one.rows]


def markdown(report: Report, review: Review, stage: str) -> str:
    """The tables as a page of Markdown, what is wrong first."""
    lines = [f"# Permissions of stage {stage}", ""]
    wrong = Section(
        title="Findings",
        columns=("rule", "tool", "where", "problem", "what to do"),
        rows=tuple(map(_finding, report.findings)),
    )
    for section in (*([wrong] if wrong.rows else []), *sections(report, review)):
        lines += [f"## {section.title}", ""]
        lines.append(_line(section.columns))
        lines.append("|" + "---|" * len(section.columns))
        lines += [_line(row) for row in section.rows]
        lines.append("")
    for note in notes(report):
        lines += [note, ""]
    return "\n".join(lines)


def notes(report: Report) -> list[str]:
    """What is to be known and wrong in no way."""
    waiting = (
        "Callers without a token hold scopes that no tool of this stage needs yet: "
        f"{', '.join(report.waiting)}. Whatever tool is deployed with these is open to them."
    )
    return [LEGEND, *([waiting] if report.waiting else [])]


def document(report: Report, review: Review, stage: str) -> dict[str, Any]:
    """All of it, for JSON; resources are `${stack/LogicalId.Attribute}`."""
    return {
        "stage": stage,
        "ok": not report.findings,
        "tools": [
            {
                "tool": tool.spec.model_name,
                "version": tool.spec.version,
                "effect": tool.spec.effect.value,
                "approval": tool.spec.approval.value,
                "gated": None if tool.spec.approval is Approval.NONE else not tool.gate_problem,
                "scopes": sorted(tool.spec.scopes),
                "withoutToken": list(tool.open_to),
                **_function(tool.function),
            }
            for tool in report.tools
        ],
        "notTools": [{"handler": one.handler, **_function(one)} for one in report.others],
        "otherRoles": [
            {
                "role": str(role.id),
                "assumedBy": [_said(statement) for statement in role.trust],
                "allowed": [_said(statement) for statement in role.statements],
            }
            for role in review.idle_roles()
        ],
        "waitingScopes": list(report.waiting),
        "findings": [
            {
                "rule": one.rule.value,
                "tool": one.tool,
                "where": one.where,
                "problem": one.problem,
                "fix": one.fix,
            }
            for one in report.findings
        ],
    }


def short(text: str) -> str:
    """A value of a template as a person reads it."""
    text = _OURS.sub(r"\1:…:", text)
    for long, brief in _KNOWN_WHEN_DEPLOYED.items():
        text = text.replace(long, brief)
    return NAMED.sub(lambda found: _HASH.sub("", found[2]), text)


def place(id_: Id) -> str:
    """A resource as a person reads it: its stack's own name, and its name there."""
    return f"{id_.stack.split('-', 2)[-1]} {_HASH.sub('', id_.name)}"


def listed(texts: Iterable[str]) -> str:
    """Several values."""
    return ", ".join(map(short, texts))


def when(conditions: Conditions) -> str:
    """Conditions: all of them must hold."""
    return "; ".join(
        f"{key} {_OPERATORS.get(operator, operator)} {listed(values)}"
        for operator, keys in conditions.items()
        for key, values in keys.items()
    )


def _tool(tool: Tool) -> tuple[str, ...]:
    spec = tool.spec
    return (
        spec.model_name,
        spec.effect.value,
        f"{spec.approval.value}, no gate" if tool.gate_problem else spec.approval.value,
        ", ".join(sorted(spec.scopes)),
        ", ".join(tool.reached_by) or "nobody here",
        ", ".join(tool.open_to) or "nowhere",
    )


def _statements(function: Function) -> tuple[Statement, ...]:
    return function.role.statements if function.role else ()


def _abilities(statements: Iterable[Statement]) -> Iterator[tuple[str, ...]]:
    for said in statements:
        but = listed(said.all_resources_but)
        on = f"everything but {but}" if but else listed(said.resources)
        yield _actions(said), on, when(said.conditions)


def _actions(said: Statement) -> str:
    but = said.all_actions_but
    actions = f"everything but {', '.join(but)}" if but else ", ".join(said.actions)
    return actions if said.allows else f"never {actions}"


def _callers(functions: Iterable[Function], names: Mapping[Id, str]) -> Iterator[tuple[str, ...]]:
    """Who may call, with all that they may call."""
    called: dict[tuple[str, ...], list[str]] = {}
    for function in functions:
        for by in function.invokers:
            called.setdefault(_caller(by), []).append(names[function.id])
    for who, theirs in sorted(called.items()):
        yield *who, ", ".join(dict.fromkeys(theirs))


def _caller(by: Invoker) -> tuple[str, ...]:
    if by.is_role:
        return listed(by.principals), f"role {place(by.by)}", when(by.conditions)
    return listed(by.principals), "permission", when(by.conditions)


def _finding(finding: Finding) -> tuple[str, ...]:
    return finding.rule.value, finding.tool or "", finding.where, finding.problem, finding.fix


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(_MARKUP.sub(_ESCAPED, cell) for cell in cells)} |"


def _function(function: Function) -> dict[str, Any]:
    return {
        "function": str(function.id),
        "role": str(function.role.id) if function.role else None,
        "allowed": [_said(statement) for statement in _statements(function)],
        "invokers": [
            {
                "principals": list(by.principals),
                "surfaces": [SURFACES[p] for p in by.principals if p in SURFACES],
                "by": "role" if by.is_role else "permission",
                "where": str(by.by),
                "conditions": _plain(by.conditions),
            }
            for by in function.invokers
        ],
    }


def _said(statement: Statement) -> dict[str, Any]:
    texts = {
        "actions": statement.actions,
        "allActionsBut": statement.all_actions_but,
        "resources": statement.resources,
        "allResourcesBut": statement.all_resources_but,
        "principals": statement.principals,
        "allPrincipalsBut": statement.all_principals_but,
    }
    return {
        "effect": "Allow" if statement.allows else "Deny",
        **{name: list(values) for name, values in texts.items() if values},
        "conditions": _plain(statement.conditions),
    }


def _plain(conditions: Conditions) -> dict[str, dict[str, list[str]]]:
    return {
        op: {key: list(texts) for key, texts in keys.items()} for op, keys in conditions.items()
    }
