"""A Bedrock agent that has the tools: one action group a tool, its schema from the contract.

Bedrock Agents is closed to accounts that did not use it before 2026-07-30; there, give the ARNs
of no agent and deploy the other stacks only.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from aws_cdk import Aws, CfnOutput, Stack
from aws_cdk import aws_bedrock as bedrock
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_

from contracts.dialects.bedrock import emit
from contracts.instruction import agent_instruction
from infra.names import pascal
from infra.options import AGENT_ARN
from infra.quotas import check_agent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from constructs import Construct

    from contracts.spec import ToolSpec
    from infra.stage import Stage
    from infra.tool_function import ToolFunction

PRINCIPAL = "bedrock.amazonaws.com"
PROFILE_PREFIXES = ("us.", "us-gov.", "eu.", "apac.", "au.", "ca.", "jp.", "global.")
"""What the id of a cross-region inference profile begins with, before that of its model."""
ALIAS = "live"
IDLE_SESSION_S = 1_800
DESCRIPTION_MAX = 200


class BedrockAgentStack(Stack):
    """The agent, its alias, and the permission for it to call each tool.

    `given` are the tools that the agent has; `tools` are all that are deployed, which the agents
    named by `agent_arns` may call.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        given: Sequence[ToolSpec],
        *,
        tools: Mapping[str, ToolFunction],
        stage: Stage,
        model: str,
        agent_arns: Sequence[str] = (),
        **kwargs: Any,
    ) -> None:
        super().__init__(scope, id_, **kwargs)
        check_agent(given)
        executors = {name: tool.executor.function_arn for name, tool in tools.items()}
        instruction = agent_instruction(given)
        payloads = {spec.model_name: _payload(spec) for spec in given}
        agent = bedrock.CfnAgent(
            self,
            "Agent",
            agent_name=f"toolgate-{stage.name}",
            description="Works on workspaces through Toolgate's tools.",
            agent_resource_role_arn=self._role(model, [executors[n] for n in payloads]).role_arn,
            foundation_model=model,
            instruction=instruction,
            action_groups=[
                bedrock.CfnAgent.AgentActionGroupProperty(
                    action_group_name=spec.model_name,
                    description=spec.summary[:DESCRIPTION_MAX],
                    action_group_state="ENABLED",
                    action_group_executor=bedrock.CfnAgent.ActionGroupExecutorProperty(
                        lambda_=executors[spec.model_name]
                    ),
                    api_schema=bedrock.CfnAgent.APISchemaProperty(
                        payload=payloads[spec.model_name]
                    ),
                    skip_resource_in_use_check_on_delete=True,
                )
                for spec in given
            ],
            # Without it the agent keeps answering with what it was prepared with before.
            auto_prepare=True,
            idle_session_ttl_in_seconds=IDLE_SESSION_S,
            skip_resource_in_use_check_on_delete=True,
        )
        # An alias gets a new version of the agent only when the alias itself changes. Its name
        # must stay, for a new name is a new id; so the description says what the agent is made of.
        made_of = [model, instruction, IDLE_SESSION_S]
        made_of += [[name, text, executors[name]] for name, text in payloads.items()]
        alias = bedrock.CfnAgentAlias(
            self,
            "Alias",
            agent_alias_name=ALIAS,
            agent_id=agent.attr_agent_id,
            description=f"sha256:{self._digest(made_of)}",
        )
        for name in payloads:
            self._permission(f"{pascal(name)}Permission", executors[name], agent.attr_agent_arn)
        for arn in agent_arns:
            for name, executor in executors.items():
                self._admit(arn, name, executor)
        CfnOutput(self, "AgentId", value=agent.attr_agent_id)
        CfnOutput(self, "AgentAliasId", value=alias.attr_agent_alias_id)

    def _role(self, model: str, executors: Sequence[str]) -> iam.Role:
        """The agent's role; inline, because a policy of its own may come too late."""
        return iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal(
                PRINCIPAL,
                conditions={
                    "StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID},
                    # The agent's own ARN would close a circle: it is made with this role.
                    "ArnLike": {"aws:SourceArn": self._bedrock_arn("agent/*")},
                },
            ),
            inline_policies={
                "agent": iam.PolicyDocument(
                    statements=[
                        *self._model_statements(model),
                        iam.PolicyStatement(
                            actions=["lambda:InvokeFunction"], resources=list(executors)
                        ),
                    ]
                )
            },
        )

    def _model_statements(self, model: str) -> list[iam.PolicyStatement]:
        invoke = ["bedrock:InvokeModel", "bedrock:InvokeModelWithResponseStream"]
        prefix = next((p for p in PROFILE_PREFIXES if model.startswith(p)), None)
        if prefix is None:
            own = f"arn:{Aws.PARTITION}:bedrock:{Aws.REGION}::foundation-model/{model}"
            return [iam.PolicyStatement(actions=invoke, resources=[own])]
        # A profile sends calls to its model in several regions.
        base = f"arn:{Aws.PARTITION}:bedrock:*::foundation-model/{model.removeprefix(prefix)}"
        profile = self._bedrock_arn(f"inference-profile/{model}")
        return [
            iam.PolicyStatement(actions=invoke, resources=[profile, base]),
            iam.PolicyStatement(actions=["bedrock:GetInferenceProfile"], resources=[profile]),
            iam.PolicyStatement(actions=["bedrock:GetFoundationModel"], resources=[base]),
        ]

    def _bedrock_arn(self, resource: str) -> str:
        return f"arn:{Aws.PARTITION}:bedrock:{Aws.REGION}:{Aws.ACCOUNT_ID}:{resource}"

    def _admit(self, agent_arn: str, name: str, executor: str) -> None:
        """Let an agent that exists already call a tool."""
        parts = AGENT_ARN.match(agent_arn)
        account = parts["account"] if parts else Aws.ACCOUNT_ID
        short = hashlib.sha256(agent_arn.encode("utf-8")).hexdigest()[:8]
        self._permission(f"{pascal(name)}PermissionOf{short}", executor, agent_arn, account)

    def _permission(
        self, id_: str, executor: str, agent_arn: str, account: str = Aws.ACCOUNT_ID
    ) -> None:
        lambda_.CfnPermission(
            self,
            id_,
            action="lambda:InvokeFunction",
            function_name=executor,
            principal=PRINCIPAL,
            source_account=account,
            source_arn=agent_arn,
        )

    def _digest(self, made_of: Any) -> str:
        text = json.dumps(self.resolve(made_of), sort_keys=True)
        return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _payload(spec: ToolSpec) -> str:
    """The schema as Bedrock takes it: a string, in ASCII, for templates lose other characters."""
    return json.dumps(emit(spec), ensure_ascii=True, separators=(",", ":"))
