"""Who you are to the approvals API: a session of the stage's approver role, in your own name.

On AWS your name is what AWS says it is, and the role's trust lets nobody take another. On the local
cloud whoever holds the laptop holds the account, so anybody is anybody: there, names are for trying
out how two people decide.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from botocore.credentials import DeferredRefreshableCredentials
from botocore.exceptions import BotoCoreError, ClientError

from toolgate.approvals.transport import SignedTransport
from toolgate.deployed import client_and_outputs
from toolgate.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Mapping

SESSION_S = 3600
_NAME = re.compile(r"[\w+=,.@-]{2,64}\Z", re.ASCII)
_SESSION = re.compile(r"arn:[^:]+:sts::(?P<account>\d+):assumed-role/(?P<role>[^/]+)/(?P<name>.+)")
_USER = re.compile(r"arn:[^:]+:iam::\d+:user/(?:.+/)?(?P<name>[^/]+)")
_ROLE = re.compile(r"arn:[^:]+:iam::(?P<account>\d+):role/(?:.+/)?(?P<role>[^/]+)")


@dataclass(frozen=True)
class Api:
    """Where a stage's approvals are decided: the stack's outputs."""

    url: str
    api_id: str
    role_arn: str


def transport_of(target: str, stage: str, name: str | None) -> SignedTransport:
    """A transport in a person's name; `name` is for the local cloud, and only there.

    Raises CommandError, LocalCloudError.
    """
    if target not in {"local", "aws"}:
        raise CommandError("--target takes local or aws")
    if target == "local":
        return _local(_named(name))
    if name is not None:
        raise CommandError("--as is for the local cloud: on aws, AWS says who you are")
    return _aws(stage)


def needs_role(arn: str, role_arn: str) -> str | None:
    """The name to take the role in; None if the caller is a session of it already.

    Raises CommandError for a caller whose name AWS does not vouch for.
    """
    session, role = _SESSION.fullmatch(arn), _ROLE.fullmatch(role_arn)
    if session and role:
        if (session["account"], session["role"]) == (role["account"], role["role"]):
            return None
        raise CommandError(
            f"you are a session of the role {session['role']}, which AWS could not vouch for as a "
            f"person: sign in as an IAM user, or to the role {role['role']} itself"
        )
    user = _USER.fullmatch(arn)
    if user is None:
        raise CommandError(f"{arn} is no person: sign in as an IAM user who may approve")
    return user["name"]


def read_api(outputs: Mapping[str, str], stage: str) -> Api:
    """The API by the outputs of the stage's stack. Raises CommandError."""
    try:
        return Api(outputs["ApprovalsUrl"], outputs["ApprovalsApiId"], outputs["ApproverRoleArn"])
    except KeyError:
        raise CommandError(f"stage {stage} has no approvals yet: deploy it first") from None


def _named(name: str | None) -> str:
    if name is None:
        raise CommandError(
            "say who you are: --as NAME. On the local cloud anybody is anybody; on aws, AWS says it"
        )
    if not _NAME.match(name):
        raise CommandError("a name is 2-64 of the characters A-Z a-z 0-9 _ + = , . @ -")
    return name


def _local(name: str) -> SignedTransport:
    from toolgate.local import cloud

    sts, outputs = client_and_outputs("local", "dev", "sts")
    api, local = read_api(outputs, "dev"), cloud.attached()
    credentials = _assumed(sts, api.role_arn, name)
    url = f"{local.endpoint}/_aws/execute-api/{api.api_id}/$default"
    return SignedTransport(url, credentials, local.region)


def _aws(stage: str) -> SignedTransport:
    import boto3

    sts, outputs = client_and_outputs("aws", stage, "sts")
    api = read_api(outputs, stage)
    try:
        name = needs_role(sts.get_caller_identity()["Arn"], api.role_arn)
    except (BotoCoreError, ClientError) as error:
        raise CommandError(f"AWS does not say who you are: {error}") from None
    own = boto3.Session().get_credentials() if name is None else _assumed(sts, api.role_arn, name)
    return SignedTransport(api.url, own, sts.meta.region_name)


def _assumed(sts: Any, role_arn: str, name: str) -> DeferredRefreshableCredentials:
    """The role in a person's name; taken now, so that a refusal is said now, and renewed later."""

    def take() -> dict[str, str]:
        given = sts.assume_role(
            RoleArn=role_arn,
            RoleSessionName=name,
            SourceIdentity=name,
            DurationSeconds=SESSION_S,
        )["Credentials"]
        return {
            "access_key": given["AccessKeyId"],
            "secret_key": given["SecretAccessKey"],
            "token": given["SessionToken"],
            "expiry_time": given["Expiration"].isoformat(),
        }

    credentials = DeferredRefreshableCredentials(refresh_using=take, method="approver-role")
    try:
        credentials.get_frozen_credentials()
    except (BotoCoreError, ClientError) as error:
        raise CommandError(f"you cannot become an approver as {name}: {error}") from None
    return credentials
