"""An AgentCore Gateway that serves the tools by MCP: one Lambda target a tool.

Callers sign their requests with AWS credentials. Who they are to the tools, a tenant and scopes,
is bound by the stage, in the functions' environment, and not by what a request says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aws_cdk import Aws, CfnOutput, Stack
from aws_cdk import aws_bedrockagentcore as agentcore
from aws_cdk import aws_iam as iam

from contracts.dialects.gateway import emit, target_name
from contracts.instruction import gateway_instruction
from infra.names import pascal
from infra.quotas import check_gateway

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from constructs import Construct

    from contracts.spec import ToolSpec
    from infra.stage import Stage
    from infra.tool_function import ToolFunction

PRINCIPAL = "bedrock-agentcore.amazonaws.com"
MCP_VERSIONS = ("2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26")
"""All that the Gateway speaks. A client that names no version means the oldest."""
DESCRIPTION_MAX = 200
AT_ONCE = 4
"""Targets that CloudFormation makes at the same time; a gateway takes five operations at once."""


class GatewayStack(Stack):
    """The gateway, its role, and a target for each of the tools that are `given`.

    The gateway calls tools as its role, in the account that they are in, so the role's own policy
    is all that Lambda asks for: no function has to admit the gateway in a policy of its own.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        given: Sequence[ToolSpec],
        *,
        tools: Mapping[str, ToolFunction],
        stage: Stage,
        **kwargs: Any,
    ) -> None:
        super().__init__(scope, id_, **kwargs)
        documents = {spec.model_name: emit(spec) for spec in given}
        check_gateway(given, documents)
        executors = {name: tools[name].executor.function_arn for name in documents}
        name = f"toolgate-{stage.name}"
        gateway = agentcore.CfnGateway(
            self,
            "Gateway",
            name=name,
            description="Works on workspaces through Toolgate's tools.",
            role_arn=self._role(name, list(executors.values())).role_arn,
            # Without an authorizer that decides, anyone who knows the address could call.
            authorizer_type="AWS_IAM",
            protocol_type="MCP",
            protocol_configuration=agentcore.CfnGateway.GatewayProtocolConfigurationProperty(
                mcp=agentcore.CfnGateway.MCPGatewayConfigurationProperty(
                    supported_versions=list(MCP_VERSIONS), instructions=gateway_instruction()
                )
            ),
        )
        targets: list[agentcore.CfnGatewayTarget] = []
        for spec in given:
            target = agentcore.CfnGatewayTarget(
                self,
                f"{pascal(spec.model_name)}Target",
                gateway_identifier=gateway.attr_gateway_identifier,
                name=target_name(spec),
                description=spec.summary[:DESCRIPTION_MAX],
                target_configuration=_configuration(
                    executors[spec.model_name], documents[spec.model_name]
                ),
                credential_provider_configurations=[
                    agentcore.CfnGatewayTarget.CredentialProviderConfigurationProperty(
                        credential_provider_type="GATEWAY_IAM_ROLE"
                    )
                ],
            )
            if len(targets) >= AT_ONCE:
                target.node.add_dependency(targets[-AT_ONCE])
            targets.append(target)
        CfnOutput(self, "GatewayId", value=gateway.attr_gateway_identifier)
        CfnOutput(self, "GatewayArn", value=gateway.attr_gateway_arn)
        CfnOutput(self, "GatewayUrl", value=gateway.attr_gateway_url)

    def _role(self, gateway_name: str, executors: list[str]) -> iam.Role:
        """The gateway's role; inline, because making a target tries it at once."""
        # The gateway's own ARN would close a circle: it is made with this role. Its id is its name
        # and ten characters.
        gateways = f"arn:{Aws.PARTITION}:bedrock-agentcore:{Aws.REGION}:{Aws.ACCOUNT_ID}:gateway"
        return iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal(
                PRINCIPAL,
                conditions={
                    "StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID},
                    "ArnLike": {"aws:SourceArn": f"{gateways}/{gateway_name}-*"},
                },
            ),
            inline_policies={
                "gateway": iam.PolicyDocument(
                    statements=[
                        iam.PolicyStatement(actions=["lambda:InvokeFunction"], resources=executors)
                    ]
                )
            },
        )


def _configuration(
    executor: str, document: Mapping[str, Any]
) -> agentcore.CfnGatewayTarget.TargetConfigurationProperty:
    """A target that calls one Lambda, which has one tool."""
    tool = agentcore.CfnGatewayTarget.ToolDefinitionProperty(
        name=document["name"],
        description=document["description"],
        input_schema=_schema(document["inputSchema"]),
        output_schema=_schema(document["outputSchema"]),
    )
    return agentcore.CfnGatewayTarget.TargetConfigurationProperty(
        mcp=agentcore.CfnGatewayTarget.McpTargetConfigurationProperty(
            lambda_=agentcore.CfnGatewayTarget.McpLambdaTargetConfigurationProperty(
                lambda_arn=executor,
                tool_schema=agentcore.CfnGatewayTarget.ToolSchemaProperty(inline_payload=[tool]),
            )
        )
    )


def _schema(schema: Mapping[str, Any]) -> agentcore.CfnGatewayTarget.SchemaDefinitionProperty:
    """A schema as CloudFormation spells it; a keyword that it does not know is a TypeError."""
    known = dict(schema)
    if "properties" in known:
        known["properties"] = {name: _schema(each) for name, each in known["properties"].items()}
    if "items" in known:
        known["items"] = _schema(known["items"])
    return agentcore.CfnGatewayTarget.SchemaDefinitionProperty(**known)
