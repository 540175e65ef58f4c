"""What a stage's templates allow: every function and role, who may call or assume it, and why.

`review` is pure and reads templates alone, so it says what would be deployed and not what was
meant. It subtracts nothing: a Deny is kept beside what is allowed, and a condition is written out.
"""

from __future__ import annotations

import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from infra.errors import ReviewError
from infra.node import cdk_is_missing, use_node
from infra.policies import Kind, fits, held
from infra.policies import policies as policies_of
from infra.template import Id, Reader, named

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from infra.options import Options
    from infra.policies import Conditions, Policy, Statement
    from infra.template import Templates

INVOKES = ("lambda:InvokeFunction", "lambda:InvokeFunctionUrl")
EVENTS = "lambda.amazonaws.com"
"""Who calls a function with what a queue or a stream holds."""
UNBUILT: Mapping[str, object] = {"aws:cdk:bundling-stacks": []}
"""Context in which no layer is built: what it holds is no permission."""

_POINTERS = ("AWS::Lambda::Alias", "AWS::Lambda::Version")
_OPEN = {
    "AWS::Lambda::Url": "AuthType",
    "AWS::ApiGatewayV2::Route": "AuthorizationType",
    "AWS::ApiGateway::Method": "AuthorizationType",
    "AWS::BedrockAgentCore::Gateway": "AuthorizerType",
}
"""Ways in, and the property that says who is let in: without it, or with NONE, anyone."""


@dataclass(frozen=True, kw_only=True)
class Role:
    """One role: who may assume it, and what it may do then."""

    id: Id
    trust: tuple[Statement, ...]
    statements: tuple[Statement, ...]
    managed: tuple[str, ...]
    """Policies that it holds and no template writes out."""


@dataclass(frozen=True, kw_only=True)
class Invoker:
    """Who may call a function, because of what, and on which conditions."""

    by: Id
    principals: tuple[str, ...]
    is_role: bool
    """Whether a role's own policy says so; else the function's does."""
    conditions: Conditions


@dataclass(frozen=True, kw_only=True)
class Permission:
    """One entry of a function's own policy."""

    id: Id
    function: Id | None
    principal: str
    action: str
    source_arn: str | None
    source_account: str | None

    @property
    def conditions(self) -> Conditions:
        """As the policy of the function says them."""
        found: dict[str, dict[str, tuple[str, ...]]] = {}
        if self.source_account is not None:
            found["StringEquals"] = {"aws:SourceAccount": (self.source_account,)}
        if self.source_arn is not None:
            found["ArnLike"] = {"aws:SourceArn": (self.source_arn,)}
        return found


@dataclass(frozen=True, kw_only=True)
class Function:
    """One Lambda function. `handler` says what code it runs."""

    id: Id
    handler: str
    role: Role | None
    """None: a role that no template makes, so nothing is known of it."""
    environment: Mapping[str, str]
    invokers: tuple[Invoker, ...]


@dataclass(frozen=True, kw_only=True)
class Review:
    """All that the templates allow."""

    functions: tuple[Function, ...]
    roles: tuple[Role, ...]
    policies: tuple[Policy, ...]
    permissions: tuple[Permission, ...]
    named: Mapping[str, Id]
    """Resources by the output that names them, such as `WorkspaceTable`."""
    open_doors: tuple[Id, ...]
    """Addresses that ask nobody who they are."""

    def idle_roles(self) -> tuple[Role, ...]:
        """Roles that no function has."""
        used = {function.role.id for function in self.functions if function.role}
        return tuple(role for role in self.roles if role.id not in used)


def synthesise(options: Options) -> dict[str, Mapping[str, Any]]:
    """The templates of a stage by stack name, from this checkout, without building its layer.

    Raises SetupError if node or aws_cdk is missing, and InfraError for what a synth refuses.
    """
    use_node()
    try:
        # aws_cdk starts a node process when it is imported, so not before one was found.
        import aws_cdk as cdk  # noqa: PLC0415

        from infra.application import CONTEXT, build  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise cdk_is_missing(error) from None
    with tempfile.TemporaryDirectory(prefix="toolgate-") as place:
        app = cdk.App(
            context={**CONTEXT, **UNBUILT},
            outdir=str(Path(place, "out")),
            analytics_reporting=False,
        )
        staging = Path(place, "staging")
        staging.mkdir()
        build(app, options, staging=staging)
        return {stack.stack_name: stack.template for stack in app.synth().stacks}


def review(templates: Templates) -> Review:
    """What these templates allow. Raises ReviewError if they do not say it."""
    reader = Reader(templates)
    policies = tuple(policies_of(reader))
    roles = {
        id_: Role(
            id=id_,
            trust=held(policies, id_, Kind.TRUST),
            statements=held(policies, id_, Kind.IDENTITY),
            managed=tuple(_unwritten(reader, id_, properties)),
        )
        for id_, _, properties in reader.resources("AWS::IAM::Role")
    }
    behind = _behind(reader)
    permissions = tuple(_permissions(reader, behind))
    invoked = list(_invokers(reader, behind, permissions, roles.values()))
    functions = tuple(
        _function(reader, id_, properties, roles, [by for to, by in invoked if to == id_])
        for id_, _, properties in reader.resources("AWS::Lambda::Function")
    )
    return Review(
        functions=functions,
        roles=tuple(roles.values()),
        policies=policies,
        permissions=permissions,
        named=dict(reader.outputs()),
        open_doors=tuple(
            id_
            for id_, kind, properties in reader.resources(*_OPEN)
            if properties.get(_OPEN[kind], "NONE") == "NONE"
        ),
    )


def _unwritten(reader: Reader, role: Id, properties: Mapping[str, Any]) -> Iterator[str]:
    for text in reader.texts(properties.get("ManagedPolicyArns"), role.stack):
        if not named(text):
            yield text


def _behind(reader: Reader) -> dict[Id, Id]:
    """The function that an alias, a version or the function itself stands for."""
    found = {id_: id_ for id_, _, _ in reader.resources("AWS::Lambda::Function")}
    for id_, _, properties in reader.resources(*_POINTERS):
        if ids := named(reader.text(properties["FunctionName"], id_.stack)):
            found[id_] = ids[0]
    return found


def _permissions(reader: Reader, behind: Mapping[Id, Id]) -> Iterator[Permission]:
    for id_, _, properties in reader.resources("AWS::Lambda::Permission"):
        said = {
            name: reader.text(properties[name], id_.stack)
            for name in ("FunctionName", "Principal", "Action", "SourceArn", "SourceAccount")
            if name in properties
        }
        functions = [behind[one] for one in named(said["FunctionName"]) if one in behind]
        yield Permission(
            id=id_,
            function=functions[0] if functions else None,
            principal=said["Principal"],
            action=said["Action"],
            source_arn=said.get("SourceArn"),
            source_account=said.get("SourceAccount"),
        )


def _invokers(
    reader: Reader,
    behind: Mapping[Id, Id],
    permissions: Iterable[Permission],
    roles: Iterable[Role],
) -> Iterator[tuple[Id, Invoker]]:
    """Who may call which function: by its own policy, by a role's, or as a source of events."""
    for one in permissions:
        if one.function and any(fits(action, (one.action,)) for action in INVOKES):
            yield (
                one.function,
                Invoker(
                    by=one.id,
                    principals=(one.principal,),
                    is_role=False,
                    conditions=one.conditions,
                ),
            )
    for role in roles:
        trusted = [statement for statement in role.trust if statement.allows]
        principals = tuple(dict.fromkeys(p for each in trusted for p in each.principals))
        for function in sorted(set(behind.values())):
            names = [one for one, of in behind.items() if of == function]
            for statement in role.statements:
                if not any(statement.permits(action) for action in INVOKES):
                    continue
                if any(statement.reaches(one) for one in names) or _all_functions(statement):
                    invoker = Invoker(
                        by=role.id,
                        principals=principals,
                        is_role=True,
                        conditions=statement.conditions,
                    )
                    yield function, invoker
    for id_, _, properties in reader.resources("AWS::Lambda::EventSourceMapping"):
        source = reader.text(properties.get("EventSourceArn", "self-managed"), id_.stack)
        for target in named(reader.text(properties["FunctionName"], id_.stack)):
            if target in behind:
                when = {"ArnEquals": {"EventSourceArn": (source,)}}
                by = Invoker(by=id_, principals=(EVENTS,), is_role=False, conditions=when)
                yield behind[target], by


def _all_functions(statement: Statement) -> bool:
    """Whether a statement names functions by a pattern: it may mean any, so it counts for all."""
    return any(
        ":lambda:" in text and "*" in text and not named(text) for text in statement.resources
    )


def _function(
    reader: Reader,
    id_: Id,
    properties: Mapping[str, Any],
    roles: Mapping[Id, Role],
    invokers: Sequence[Invoker],
) -> Function:
    found = [roles.get(one) for one in named(reader.text(properties["Role"], id_.stack))]
    variables = properties.get("Environment", {}).get("Variables", {})
    return Function(
        id=id_,
        handler=reader.text(properties.get("Handler", "an image"), id_.stack),
        role=found[0] if found else None,
        environment=dict(_readable(reader, variables, id_.stack)),
        invokers=tuple(invokers),
    )


def _readable(
    reader: Reader, variables: Mapping[str, Any], stack: str
) -> Iterator[tuple[str, str]]:
    """The variables that the templates say; one that they do not say counts as not there."""
    for name, value in variables.items():
        with suppress(ReviewError):
            yield name, reader.text(value, stack)
