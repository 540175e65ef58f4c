"""One tool in the cloud: its role, its log group, its function and, in prod, its alias."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aws_cdk import Duration, RemovalPolicy, Tags
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from contracts.spec import Approval
from infra.scopes import WHOLE, Grant, grants

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contracts.spec import ToolSpec
    from infra.stage import Stage
    from infra.state import Stores

RUNTIMES = {
    "3.11": lambda_.Runtime.PYTHON_3_11,
    "3.12": lambda_.Runtime.PYTHON_3_12,
    "3.13": lambda_.Runtime.PYTHON_3_13,
    "3.14": lambda_.Runtime.PYTHON_3_14,
}
ARCHITECTURES = {
    "arm64": lambda_.Architecture.ARM_64,
    "x86_64": lambda_.Architecture.X86_64,
}
RETENTION = {
    14: logs.RetentionDays.TWO_WEEKS,
    30: logs.RetentionDays.ONE_MONTH,
    90: logs.RetentionDays.THREE_MONTHS,
    365: logs.RetentionDays.ONE_YEAR,
}


@dataclass(frozen=True, kw_only=True)
class Platform:
    """What all functions of a stage share."""

    python: str
    arch: str
    layer: lambda_.ILayerVersion


class ToolFunction(Construct):
    """The Lambda of one version of one tool.

    Its policies are written out, action by action: no grant helper and no managed policy decides
    what a tool may do.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        spec: ToolSpec,
        *,
        code: lambda_.Code,
        platform: Platform,
        stage: Stage,
        stores: Stores,
    ) -> None:
        super().__init__(scope, id_)
        self.spec = spec
        statements = [_statement(grant, stores) for grant in grants(spec)]
        role, log_group = role_and_logs(self, "tool", statements, stage)
        self.function = lambda_.Function(
            self,
            "Function",
            description=f"{spec.key}: {spec.summary}"[:256],
            code=code,
            handler=f"{spec.handler_module}.handler",
            runtime=RUNTIMES[platform.python],
            architecture=ARCHITECTURES[platform.arch],
            layers=[platform.layer],
            role=role.without_policy_updates(),
            log_group=log_group,
            timeout=Duration.seconds(spec.timeout_s),
            memory_size=stage.memory_mb,
            # Old versions stay where data does, so that the alias can be moved back.
            current_version_options=lambda_.VersionOptions(removal_policy=removal(stage)),
            tracing=lambda_.Tracing.ACTIVE if stage.tracing else lambda_.Tracing.DISABLED,
            environment={
                **stores.environment(),
                **_approvals(spec, stage, stores),
                "TOOLGATE_STAGE": stage.name,
                "TOOLGATE_BINDINGS": stage.bindings_json(),
                "POWERTOOLS_SERVICE_NAME": "toolgate",
                "POWERTOOLS_METRICS_NAMESPACE": "Toolgate",
                "POWERTOOLS_LOG_LEVEL": stage.log_level,
            },
        )
        self.executor: lambda_.IFunction = self.function
        if stage.alias is not None:
            self.executor = lambda_.Alias(
                self, "Alias", alias_name=stage.alias, version=self.function.current_version
            )
        Tags.of(self).add("toolgate:tool", spec.key)
        Tags.of(self).add("toolgate:owner", spec.owner)


def role_and_logs(
    scope: Construct, policy: str, statements: Sequence[iam.PolicyStatement], stage: Stage
) -> tuple[iam.Role, logs.LogGroup]:
    """A function's role, which may do what `statements` say and write its own log; and the log."""
    log_group = logs.LogGroup(
        scope,
        "Logs",
        retention=RETENTION[stage.log_retention_days],
        removal_policy=removal(stage),
    )
    allowed = [
        *statements,
        iam.PolicyStatement(
            actions=["logs:CreateLogStream", "logs:PutLogEvents"],
            resources=[log_group.log_group_arn],
        ),
    ]
    if stage.tracing:
        # X-Ray has no resources that a policy could name.
        tracing = ["xray:PutTelemetryRecords", "xray:PutTraceSegments"]
        allowed.append(iam.PolicyStatement(actions=tracing, resources=["*"]))
    role = iam.Role(
        scope,
        "Role",
        assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
        inline_policies={policy: iam.PolicyDocument(statements=allowed)},
    )
    return role, log_group


def removal(stage: Stage) -> RemovalPolicy:
    """What becomes of a log group or an old version when its stack goes."""
    return RemovalPolicy.RETAIN if stage.keeps_data else RemovalPolicy.DESTROY


def _approvals(spec: ToolSpec, stage: Stage, stores: Stores) -> dict[str, str]:
    """Where a tool that people must agree to asks them, as its function reads it."""
    if spec.approval is Approval.NONE:
        return {}
    told = {
        "table": stores.approvals_table.table_name,
        "bucket": stores.approvals_bucket.bucket_name,
        "topic": stores.approvals_topic.topic_arn,
        "need": stage.approvals.need,
        "approveWithinS": stage.approvals.approve_within_s,
        "executeWithinS": stage.approvals.execute_within_s,
    }
    return {"TOOLGATE_APPROVALS": json.dumps(told, separators=(",", ":"))}


def _statement(grant: Grant, stores: Stores) -> iam.PolicyStatement:
    arn = stores.arn(grant.store)
    if grant.store.holds_objects:
        return iam.PolicyStatement(actions=list(grant.actions), resources=[f"{arn}/{grant.part}"])
    if grant.part == WHOLE:
        return iam.PolicyStatement(actions=list(grant.actions), resources=[arn])
    return iam.PolicyStatement(
        actions=list(grant.actions),
        resources=[arn],
        conditions={"ForAllValues:StringLike": {"dynamodb:LeadingKeys": [grant.part]}},
    )
