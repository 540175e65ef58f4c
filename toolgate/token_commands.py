"""`toolgate token issue | rotate`: sign a caller token with the stage's key, and change the key."""

from __future__ import annotations

import getpass
import json
import re
import secrets
import time
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from botocore.exceptions import BotoCoreError, ClientError
from pydantic import ValidationError

from agents.session import IssueError, aws_subject, issue, read_keys
from contracts.caller import CURRENT, PREVIOUS, KeysError
from contracts.spec import Scope
from toolgate.deployed import client_and_outputs
from toolgate.errors import CommandError

if TYPE_CHECKING:
    from toolgate.deployed import Where

app = typer.Typer(help="Sign caller tokens, and change the key.", no_args_is_help=True)

OUTPUT = "CallerKeys"
KEY_BYTES = 48
_LIFE = re.compile(r"([1-9][0-9]{0,3})([sm])\Z")

Target = Annotated[str, typer.Option("--target", help="local or aws.")]
StageName = Annotated[str, typer.Option("--stage", help="The stage on aws.")]


@app.command("issue")
def issue_token(
    scopes: Annotated[
        list[str], typer.Option("--scope", help="What it may do; once for each scope.")
    ],
    *,
    tenant: Annotated[str, typer.Option("--tenant", help="Whose data it is.")] = "default",
    session: Annotated[
        str | None, typer.Option("--session", help="The Bedrock session it is for.")
    ] = None,
    agent: Annotated[
        str | None, typer.Option("--agent", help="Who acts for you: it may not approve either.")
    ] = None,
    life: Annotated[str, typer.Option("--ttl", help="How long: 90s, 15m; at most 60m.")] = "15m",
    target: Target = "local",
    stage: StageName = "dev",
) -> None:
    """Print a token for yourself: its subject is who you are to AWS, or to this machine."""
    scopes = checked_scopes(scopes)
    client, secret = keys_secret(target, stage)
    try:
        token = issue(
            tenant=tenant,
            subject=who_asks(target),
            scopes=scopes,
            stage=signing_stage(target, stage),
            keys=read_keys(client, secret),
            now_s=int(time.time()),
            life_s=_seconds(life),
            session_id=session,
            agent=agent,
        )
    except ValidationError as error:
        fields = ", ".join(str(one["loc"][0]) for one in error.errors())
        raise CommandError(f"no token can say that: {fields}") from None
    except (IssueError, KeysError) as error:
        raise CommandError(str(error)) from None
    except (BotoCoreError, ClientError) as error:
        raise CommandError(f"the keys of {target} cannot be read: {error}") from None
    typer.echo(token)


@app.command()
def rotate(target: Target = "local", stage: StageName = "dev") -> None:
    """Make a new key that signs from now on; the one before it still counts, older ones do not.

    Twice in a row makes every token that was signed before worthless.
    """
    client, secret = keys_secret(target, stage)
    try:
        signing = read_keys(client, secret)[-1]
        held = {CURRENT: secrets.token_urlsafe(KEY_BYTES), PREVIOUS: signing}
        client.put_secret_value(SecretId=secret, SecretString=json.dumps(held))
    except KeysError as error:
        raise CommandError(str(error)) from None
    except (BotoCoreError, ClientError) as error:
        raise CommandError(f"the keys of {target} cannot be changed: {error}") from None
    typer.echo("A new key signs; tokens of the key before it are good until they expire.")


def checked_scopes(scopes: list[str]) -> list[str]:
    """The scopes. Raises CommandError for one that no contract knows."""
    if unknown := sorted(set(scopes) - {str(scope) for scope in Scope}):
        raise CommandError(f"{unknown[0]} is no scope; there are {', '.join(Scope)}")
    return scopes


def keys_secret(target: str, stage: str) -> tuple[Any, str]:
    """A client of Secrets Manager, and the stage's secret. Raises CommandError."""
    if target not in {"local", "aws"}:
        raise CommandError("--target takes local or aws")
    client, outputs = client_and_outputs(cast("Where", target), stage, "secretsmanager")
    if OUTPUT not in outputs:
        raise CommandError(f"stage {stage} has no keys yet: deploy it first")
    return client, outputs[OUTPUT]


def signing_stage(target: str, stage: str) -> str:
    """The stage that a token is for: the local cloud is dev."""
    return "dev" if target == "local" else stage


def who_asks(target: str) -> str:
    """Who asks, by AWS's word or the machine's; never by an option. Raises IssueError."""
    if target == "local":
        return getpass.getuser().casefold()
    import boto3

    return aws_subject(boto3.client("sts").get_caller_identity()["Arn"])


def _seconds(text: str) -> int:
    found = _LIFE.match(text)
    if found is None:
        raise CommandError("--ttl takes a number of seconds or minutes, such as 90s or 15m")
    return int(found[1]) * (60 if found[2] == "m" else 1)
