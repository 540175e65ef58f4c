"""Where people decide: an HTTP API that only the approver role may call, and the role.

A person assumes the role under their own name and under no other: its trust policy says so. The
API's Lambda takes the name from there. It writes what people decide and cannot act for a tool.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aws_cdk import Aws, CfnOutput, Duration, Stack
from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_

from infra.dependencies import dependencies
from infra.packaging import approvals_files, stage_files
from infra.scopes import ARGUMENTS, DECISIONS, EVENTS, HEADS, OBJECTS, REQUESTS, ROWS
from infra.state import OPEN
from infra.tool_function import ARCHITECTURES, RUNTIMES, Platform, role_and_logs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from constructs import Construct

    from infra.options import Options
    from infra.stage import Stage
    from infra.state import Stores

HANDLER = "functions._approvals.handler.handler"
TIMEOUT_S = 15
ROUTES = (
    "GET /approvals",
    "GET /approvals/{id}",
    "GET /approvals/{id}/arguments",
    "GET /approvals/{id}/before",
    "GET /approvals/{id}/revision",
    "GET /approvals/{id}/audit",
    "POST /approvals/{id}/votes",
)
"""As the handler knows them."""
OWN_IDENTITY = {"sts:SourceIdentity": "${aws:username}"}
OWN_NAME = {"sts:RoleSessionName": "${aws:username}", **OWN_IDENTITY}
"""Who assumes the role does so by the name that IAM knows them by."""
REQUESTS_PER_SECOND = 50
SESSION_HOURS = 1


class ApprovalsStack(Stack):
    """The API, its function and the approver role."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        stage: Stage,
        options: Options,
        stores: Stores,
        root: Path,
        staging: Path,
        warn: Callable[[str], object],
        **kwargs: Any,
    ) -> None:
        super().__init__(scope, id_, **kwargs)
        api = apigateway.CfnApi(
            self,
            "Api",
            name=f"toolgate-{stage.name}-approvals",
            description="Where people decide on what tools ask for",
            protocol_type="HTTP",
        )
        approver = self._approver(api)
        platform = Platform(
            python=options.python,
            arch=options.arch,
            layer=dependencies(self, options, root, staging, warn),
        )
        code = stage_files(root, approvals_files(root), staging / "approvals")
        function = self._function(stage, platform, stores, approver=approver, code=code)
        self._serve(api, function)
        CfnOutput(self, "ApprovalsApiId", value=api.attr_api_id)
        CfnOutput(self, "ApprovalsUrl", value=api.attr_api_endpoint)
        CfnOutput(self, "ApproverRoleArn", value=approver.role_arn)

    def _approver(self, api: apigateway.CfnApi) -> iam.Role:
        """The one role whose sessions decide, each named like the user who assumed it.

        A principal without a user name (another role, a federated one) fits no condition, and so
        cannot assume it: it could take any name.
        """
        role = iam.Role(
            self,
            "Approver",
            description="People who decide on what tools ask for",
            assumed_by=iam.AccountPrincipal(Aws.ACCOUNT_ID).with_conditions(
                {"StringEquals": OWN_NAME}
            ),
            max_session_duration=Duration.hours(SESSION_HOURS),
            inline_policies={
                "approver": iam.PolicyDocument(
                    statements=[
                        iam.PolicyStatement(
                            actions=["execute-api:Invoke"],
                            resources=[_resource(api, route) for route in ROUTES],
                        )
                    ]
                )
            },
        )
        trust = role.assume_role_policy
        if trust is None:
            raise TypeError("the role is not one of this stack's own")
        # Of this action AWS lists one key: a condition on the session's name might fit nobody.
        trust.add_statements(
            iam.PolicyStatement(
                principals=[iam.AccountPrincipal(Aws.ACCOUNT_ID)],
                actions=["sts:SetSourceIdentity"],
                conditions={"StringEquals": OWN_IDENTITY},
            )
        )
        return role

    def _function(
        self,
        stage: Stage,
        platform: Platform,
        stores: Stores,
        *,
        approver: iam.Role,
        code: Path,
    ) -> lambda_.Function:
        role, log_group = role_and_logs(self, "approvals", _statements(stores), stage)
        return lambda_.Function(
            self,
            "Function",
            description="Toolgate: what people decide on, and their decisions",
            code=lambda_.Code.from_asset(str(code)),
            handler=HANDLER,
            runtime=RUNTIMES[platform.python],
            architecture=ARCHITECTURES[platform.arch],
            layers=[platform.layer],
            role=role.without_policy_updates(),
            log_group=log_group,
            timeout=Duration.seconds(TIMEOUT_S),
            memory_size=stage.memory_mb,
            tracing=lambda_.Tracing.ACTIVE if stage.tracing else lambda_.Tracing.DISABLED,
            environment={
                "APPROVALS_TABLE": stores.approvals_table.table_name,
                "APPROVALS_BUCKET": stores.approvals_bucket.bucket_name,
                "APPROVALS_NEED": str(stage.approvals.need),
                "APPROVER_ROLE": approver.role_arn,
                "WORKSPACE_TABLE": stores.workspace_table.table_name,
                "WORKSPACE_BUCKET": stores.workspace_bucket.bucket_name,
                "POWERTOOLS_SERVICE_NAME": "toolgate",
                "POWERTOOLS_METRICS_NAMESPACE": "Toolgate",
                "POWERTOOLS_LOG_LEVEL": stage.log_level,
            },
        )

    def _serve(self, api: apigateway.CfnApi, function: lambda_.Function) -> None:
        """Each route needs IAM's word on who calls, and may then invoke the function."""
        integration = apigateway.CfnIntegration(
            self,
            "Integration",
            api_id=api.attr_api_id,
            integration_type="AWS_PROXY",
            integration_uri=function.function_arn,
            payload_format_version="2.0",
        )
        for place, route in enumerate(ROUTES, start=1):
            apigateway.CfnRoute(
                self,
                f"Route{place}",
                api_id=api.attr_api_id,
                route_key=route,
                authorization_type="AWS_IAM",
                target=f"integrations/{integration.ref}",
            )
        apigateway.CfnStage(
            self,
            "Stage",
            api_id=api.attr_api_id,
            stage_name="$default",
            auto_deploy=True,
            default_route_settings=apigateway.CfnStage.RouteSettingsProperty(
                throttling_rate_limit=REQUESTS_PER_SECOND,
                throttling_burst_limit=REQUESTS_PER_SECOND,
            ),
        )
        lambda_.CfnPermission(
            self,
            "Invoke",
            action="lambda:InvokeFunction",
            function_name=function.function_arn,
            principal="apigateway.amazonaws.com",
            source_account=Aws.ACCOUNT_ID,
            source_arn=f"{_execute_api(api)}/*/*",
        )


def _execute_api(api: apigateway.CfnApi) -> str:
    return f"arn:{Aws.PARTITION}:execute-api:{Aws.REGION}:{Aws.ACCOUNT_ID}:{api.attr_api_id}"


def _resource(api: apigateway.CfnApi, route: str) -> str:
    """A route as IAM names it; `*` stands for the one part that is an approval's id."""
    method, path = route.split(" ")
    return f"{_execute_api(api)}/$default/{method}{path.replace('{id}', '*')}"


def _statements(stores: Stores) -> list[iam.PolicyStatement]:
    """What the humans' side may do: read what is asked, and write what people decide."""
    table, bucket = stores.approvals_table.table_arn, stores.approvals_bucket.bucket_arn
    return [
        _rows(table, REQUESTS, "dynamodb:ConditionCheckItem", "dynamodb:GetItem"),
        _rows(
            table,
            DECISIONS,
            "dynamodb:BatchGetItem",
            "dynamodb:GetItem",
            "dynamodb:PutItem",
            "dynamodb:Query",
        ),
        _rows(table, EVENTS, "dynamodb:PutItem", "dynamodb:Query"),
        iam.PolicyStatement(actions=["dynamodb:Query"], resources=[f"{table}/index/{OPEN}"]),
        iam.PolicyStatement(
            actions=["s3:GetObject"], resources=[f"{bucket}/{ARGUMENTS}", f"{bucket}/{HEADS}"]
        ),
        iam.PolicyStatement(actions=["s3:PutObject"], resources=[f"{bucket}/{HEADS}"]),
        iam.PolicyStatement(
            actions=["s3:ListBucket"],
            resources=[bucket],
            conditions={"StringLike": {"s3:prefix": [HEADS]}},
        ),
        _rows(
            stores.workspace_table.table_arn,
            ROWS,
            "dynamodb:BatchGetItem",
            "dynamodb:GetItem",
            "dynamodb:Query",
        ),
        iam.PolicyStatement(
            actions=["s3:GetObject"], resources=[f"{stores.workspace_bucket.bucket_arn}/{OBJECTS}"]
        ),
    ]


def _rows(table: str, part: str, *actions: str) -> iam.PolicyStatement:
    return iam.PolicyStatement(
        actions=list(actions),
        resources=[table],
        conditions={"ForAllValues:StringLike": {"dynamodb:LeadingKeys": [part]}},
    )
