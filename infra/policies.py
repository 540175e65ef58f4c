"""The policies of templates, whatever resource they stand in, with their values as text."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from infra.errors import ReviewError
from infra.template import Id, named

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from infra.template import Reader

    Conditions = Mapping[str, Mapping[str, tuple[str, ...]]]
    """By operator, then by key: the values of which one must fit."""

_ATTACHED = ("AWS::IAM::Policy", "AWS::IAM::ManagedPolicy", "AWS::IAM::RolePolicy")
HOLDERS = ("AWS::IAM::Role", "AWS::IAM::User", "AWS::IAM::Group")


class Kind(StrEnum):
    """What a policy is about."""

    IDENTITY = "identity"
    TRUST = "trust"
    RESOURCE = "resource"


@dataclass(frozen=True, kw_only=True)
class Statement:
    """One statement of a policy, its values as text."""

    allows: bool
    actions: tuple[str, ...]
    all_actions_but: tuple[str, ...]
    resources: tuple[str, ...]
    all_resources_but: tuple[str, ...]
    principals: tuple[str, ...]
    all_principals_but: tuple[str, ...]
    conditions: Conditions

    def permits(self, action: str) -> bool:
        """Whether it allows an action on something."""
        if self.all_actions_but:
            return self.allows and not fits(action, self.all_actions_but)
        return self.allows and fits(action, self.actions)

    def reaches(self, resource: Id) -> bool:
        """Whether it is about a resource of the templates, or about everything."""
        if self.all_resources_but:
            return all(resource not in named(text) for text in self.all_resources_but)
        return any(text == "*" or resource in named(text) for text in self.resources)


@dataclass(frozen=True, kw_only=True)
class Policy:
    """One policy document, where it stands, and the roles, users or groups that hold it."""

    id: Id
    kind: Kind
    statements: tuple[Statement, ...]
    holders: tuple[Id, ...] = ()


def policies(reader: Reader) -> Iterator[Policy]:
    """Every policy document of every resource, whatever kind it is of."""
    for id_, kind, properties in reader.resources():
        holders: tuple[Id, ...] = ()
        if kind in HOLDERS:
            holders = (id_,)
        elif kind in _ATTACHED:
            asked = [properties.get(name) for name in ("Roles", "Users", "Groups", "RoleName")]
            texts = [text for each in asked for text in reader.texts(each, id_.stack)]
            holders = tuple(dict.fromkeys(one for text in texts for one in named(text)))
            if kind == "AWS::IAM::ManagedPolicy":
                holders += tuple(_that_take(reader, id_))
        for place, document in _documents(properties):
            if place == "AssumeRolePolicyDocument":
                about = Kind.TRUST
            else:
                about = Kind.IDENTITY if kind in {*HOLDERS, *_ATTACHED} else Kind.RESOURCE
            found = document["Statement"]
            statements = tuple(
                _statement(reader, one, id_.stack)
                for one in (found if isinstance(found, list) else [found])
            )
            yield Policy(id=id_, kind=about, statements=statements, holders=holders)


def _documents(node: Any, place: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every policy document below some properties, with the property that it stands in."""
    if isinstance(node, list):
        for child in node:
            yield from _documents(child, place)
    elif isinstance(node, dict):
        if "Statement" in node:
            yield place, node
            return
        for name, child in node.items():
            yield from _documents(child, name)


def _statement(reader: Reader, given: Mapping[str, Any], stack: str) -> Statement:
    conditions = given.get("Condition", {}) if "Effect" in given else None
    if conditions is None or not all(isinstance(keys, dict) for keys in conditions.values()):
        raise ReviewError(f"{stack} holds a statement that only a deployment knows")

    def texts(name: str) -> tuple[str, ...]:
        return reader.texts(given.get(name), stack)

    def principals(name: str) -> tuple[str, ...]:
        found = given.get(name, [])
        kinds = found.values() if isinstance(found, dict) else [found]
        return tuple(text for each in kinds for text in reader.texts(each, stack))

    return Statement(
        allows=given["Effect"] == "Allow",
        actions=texts("Action"),
        all_actions_but=texts("NotAction"),
        resources=texts("Resource"),
        all_resources_but=texts("NotResource"),
        principals=principals("Principal"),
        all_principals_but=principals("NotPrincipal"),
        conditions={
            operator: {key: reader.texts(value, stack) for key, value in sorted(keys.items())}
            for operator, keys in sorted(conditions.items())
        },
    )


def held(found: Sequence[Policy], role: Id, kind: Kind) -> tuple[Statement, ...]:
    """The statements of a role's policies of a kind."""
    mine = (policy for policy in found if policy.kind is kind and role in policy.holders)
    return tuple(statement for policy in mine for statement in policy.statements)


def _that_take(reader: Reader, policy: Id) -> Iterator[Id]:
    """Who names a managed policy of the templates among its own."""
    for id_, _, properties in reader.resources(*HOLDERS):
        for text in reader.texts(properties.get("ManagedPolicyArns"), id_.stack):
            if policy in named(text):
                yield id_


def fits(action: str, patterns: Sequence[str]) -> bool:
    """Whether IAM would find the action in a list; it does not look at case."""
    return any(fnmatchcase(action.lower(), pattern.lower()) for pattern in patterns)
