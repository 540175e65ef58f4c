"""The rules of a permission review that templates alone decide: no wildcards, no open doors."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from infra.policies import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from infra.policies import Policy, Statement
    from infra.review import Permission, Review
    from infra.template import Id

    Names = Mapping[Id, str]
    """Tools by what is theirs: their function and their role."""

XRAY = frozenset({"xray:PutTelemetryRecords", "xray:PutTraceSegments"})
"""Actions that have no resource which a policy could name."""
_KNOWN_WHEN_DEPLOYED = re.compile(r"\$\{[^{}]*\}")
_SAYS_NOTHING = re.compile(r"(?P<kind>[A-Za-z-]+[:/])?[*?:/]*\*[*?:/]*\Z")


class Rule(StrEnum):
    """What a stage must keep to."""

    NO_GATE = "destructive-without-gate"
    GATE_MISSING = "gate-missing"
    UNUSED_SCOPE = "unused-scope"
    WILDCARD_ACTION = "wildcard-action"
    WILDCARD_RESOURCE = "wildcard-resource"
    OPEN_PERMISSION = "permission-without-source"
    ANYONE = "wildcard-principal"
    UNWRITTEN = "unwritten-policy"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that is wrong: which rule, of which tool, where, and what to do about it."""

    rule: Rule
    tool: str | None
    """Its model name; None: what is wrong belongs to no one tool."""
    where: str
    """The contract's file, or the resource as `stack/LogicalId`."""
    problem: str
    fix: str


def of_templates(review: Review, names: Names) -> Iterator[Finding]:
    """What these rules find, policies first."""
    for policy in review.policies:
        yield from _of_policy(policy, names)
    for role in review.roles:
        for arn in role.managed:
            yield Finding(
                rule=Rule.UNWRITTEN,
                tool=names.get(role.id),
                where=str(role.id),
                problem=f"it holds {arn}, and no template says what that allows",
                fix="write its actions out in a policy of the role's own",
            )
    for function in review.functions:
        if function.role is None:
            yield Finding(
                rule=Rule.UNWRITTEN,
                tool=names.get(function.id),
                where=str(function.id),
                problem="no template makes its role, so none says what it may do",
                fix="give it a role of this stage's own",
            )
    for permission in review.permissions:
        yield from _of_permission(permission, names)
    for id_ in review.open_doors:
        yield _anyone(None, str(id_), "it asks nobody who they are")


def _of_policy(policy: Policy, names: Names) -> Iterator[Finding]:
    tools = sorted({names[holder] for holder in policy.holders if holder in names})
    tool, where = ", ".join(tools) or None, str(policy.id)
    for statement in policy.statements:
        if not statement.allows:
            continue
        for problem in _actions(statement):
            yield Finding(
                rule=Rule.WILDCARD_ACTION,
                tool=tool,
                where=where,
                problem=problem,
                fix="name each action that is needed",
            )
        for problem in _resources(statement) if policy.kind is Kind.IDENTITY else ():
            yield Finding(
                rule=Rule.WILDCARD_RESOURCE,
                tool=tool,
                where=where,
                problem=problem,
                fix="name the resource, by its ARN",
            )
        if "*" in statement.principals or statement.all_principals_but:
            yield _anyone(tool, where, f"it lets anyone {', '.join(statement.actions)}")


def _actions(statement: Statement) -> Iterator[str]:
    for action in statement.actions:
        if _is_pattern(action):
            yield f"it allows {action}"
    if statement.all_actions_but:
        yield f"it allows every action but {', '.join(statement.all_actions_but)}"


def _resources(statement: Statement) -> Iterator[str]:
    actions = ", ".join(statement.actions)
    if statement.all_resources_but:
        yield f"it allows {actions} on everything but {', '.join(statement.all_resources_but)}"
    if statement.actions and XRAY.issuperset(statement.actions):
        return
    for resource in statement.resources:
        if _is_everything(resource):
            yield f"it allows {actions} on {resource}"


def _is_pattern(action: str) -> bool:
    return "*" in action or "?" in action


def _is_everything(resource: str) -> bool:
    """Whether a resource is `*`, or an ARN that names no more than a kind of resources."""
    parts = _KNOWN_WHEN_DEPLOYED.sub("known", resource).split(":", 5)
    found = _SAYS_NOTHING.match(parts[-1])
    if found is None or (len(parts) < 6 and found["kind"]):
        return False
    # In S3, what stands before a slash is a bucket.
    return not (found["kind"] and parts[2] == "s3")


def _of_permission(permission: Permission, names: Names) -> Iterator[Finding]:
    tool = names.get(permission.function) if permission.function else None
    where = str(permission.id)
    if permission.principal == "*":
        yield _anyone(tool, where, f"it lets anyone {permission.action}")
    elif lacking := _lacking(permission):
        yield Finding(
            rule=Rule.OPEN_PERMISSION,
            tool=tool,
            where=where,
            problem=f"it lets {permission.principal} call without {' and '.join(lacking)}: on "
            "behalf of strangers, too",
            fix=f"give it the {' and '.join(lacking)} of the one caller that is meant",
        )
    if _is_pattern(permission.action):
        yield Finding(
            rule=Rule.WILDCARD_ACTION,
            tool=tool,
            where=where,
            problem=f"it allows {permission.action}",
            fix="allow lambda:InvokeFunction alone",
        )


def _lacking(permission: Permission) -> list[str]:
    """What a service's permission leaves open; an account or a role is itself who is let in."""
    if not permission.principal.endswith((".amazonaws.com", ".amazon.com")):
        return []
    given = {"SourceArn": permission.source_arn, "SourceAccount": permission.source_account}
    return [name for name, value in given.items() if value is None or not value.strip("*")]


def _anyone(tool: str | None, where: str, problem: str) -> Finding:
    return Finding(
        rule=Rule.ANYONE,
        tool=tool,
        where=where,
        problem=problem,
        fix="name who is meant, and have their identity verified",
    )
