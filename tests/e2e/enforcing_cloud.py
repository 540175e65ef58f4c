"""A local cloud of its own that enforces IAM, its users' and roles' credentials, and probes.

It listens with TLS on loopback, since policies demand it, and keeps its data in a folder that goes
with the test. What is installed, the emulator and the CDK CLI, is the checkout's own; cryptography,
for the certificate, comes with moto.
"""

from __future__ import annotations

import datetime as dt
import io
import ipaddress
import json
import os
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials
from botocore.httpsession import URLLib3Session
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from toolgate.local import cloud, deploy, emulator, install
from toolgate.local.environment import ACCOUNT, LocalCloud
from toolgate.local.layout import Layout
from toolgate.local.run import tail

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAM = Path(__file__).with_name("enforcing_emulator.py")
START_S = 60
CALL_S = 60
PROBE = """
import os
import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

ONCE = Config(retries={"total_max_attempts": 1})


def handler(event, context):
    if event["service"] == "environment":
        names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
        return [os.environ[name] for name in names]
    try:
        client = boto3.client(event["service"], config=ONCE)
        getattr(client, event["operation"])(**event["arguments"])
    except ClientError as error:
        return error.response["Error"]["Code"]
    return "done"
"""
"""Tries one call with the credentials that Lambda gave it, and says what came of it."""


@dataclass(frozen=True)
class ApartLayout(Layout):
    """A local cloud in another folder, made of what the checkout has installed."""

    apart: Path = Path()

    @property
    def home(self) -> Path:
        """The folder of this cloud alone."""
        return self.apart

    @property
    def emulator_venv(self) -> Path:
        """The checkout's."""
        return Layout(self.root).emulator_venv

    @property
    def cdk(self) -> Path:
        """The checkout's."""
        return Layout(self.root).cdk

    @property
    def certificate(self) -> Path:
        """What its clients trust."""
        return self.apart / "certificate.pem"

    @property
    def key(self) -> Path:
        """The certificate's private key."""
        return self.apart / "key.pem"


@dataclass(frozen=True)
class EnforcingCloud(LocalCloud):
    """The cloud, to its root user; `client` and `http` take anybody else's credentials."""

    layout: ApartLayout

    @property
    def endpoint(self) -> str:
        """The URL of every service."""
        return f"https://{emulator.HOST}:{self.port}"

    @property
    def environ(self) -> dict[str, str]:
        """As of every local cloud, and its certificate."""
        trusted = str(self.layout.certificate)
        return super().environ | {"AWS_CA_BUNDLE": trusted, "NODE_EXTRA_CA_CERTS": trusted}

    def client(self, service: str, who: Credentials | None = None) -> Any:
        """A boto3 client, the root user's if nobody is named. It never repeats a request."""
        root = Credentials(*self.credentials.values())
        return boto3.client(
            service,
            endpoint_url=self.endpoint,
            region_name=self.region,
            aws_access_key_id=(who or root).access_key,
            aws_secret_access_key=(who or root).secret_key,
            aws_session_token=(who or root).token,
            verify=str(self.layout.certificate),
            config=Config(
                read_timeout=CALL_S, retries={"total_max_attempts": 1}, max_pool_connections=4,
                proxies={},
            ),
        )  # fmt: skip

    def http(
        self, who: Credentials | None, method: str, api: str, path: str, body: Any = None
    ) -> tuple[int, Any]:
        """(status, body) of a call of an HTTP API, signed by `who`, or not signed."""
        request = AWSRequest(
            method=method,
            url=f"{self.endpoint}/_aws/execute-api/{api}/$default{path}",
            data=json.dumps(body) if body is not None else None,
            headers={"content-type": "application/json"} if body is not None else {},
        )
        if who is not None:
            SigV4Auth(who, "execute-api", self.region).add_auth(request)
        session = URLLib3Session(verify=str(self.layout.certificate), proxies={})
        answer = session.send(request.prepare())
        session.close()
        return answer.status_code, json.loads(answer.content)

    def user(self, name: str, *statements: dict[str, Any]) -> Credentials:
        """A new IAM user with an access key, who may do what the statements say."""
        iam = self.client("iam")
        iam.create_user(UserName=name)
        if statements:
            policy = {"Version": "2012-10-17", "Statement": list(statements)}
            iam.put_user_policy(UserName=name, PolicyName="own", PolicyDocument=json.dumps(policy))
        made = iam.create_access_key(UserName=name)["AccessKey"]
        return Credentials(made["AccessKeyId"], made["SecretAccessKey"])

    def role(self, name: str, *statements: dict[str, Any]) -> str:
        """ARN of a new role that all of the account may assume, and that may do as said."""
        iam = self.client("iam")
        trust = {"Effect": "Allow", "Principal": {"AWS": ACCOUNT}, "Action": "sts:AssumeRole"}
        made = iam.create_role(
            RoleName=name,
            AssumeRolePolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [trust]}),
        )
        policy = {"Version": "2012-10-17", "Statement": list(statements)}
        iam.put_role_policy(RoleName=name, PolicyName="own", PolicyDocument=json.dumps(policy))
        return str(made["Role"]["Arn"])

    def session(self, who: Credentials, role: str, name: str, **more: str) -> Credentials:
        """A session of a role. Raises ClientError if `who` may not assume it so."""
        made = self.client("sts", who).assume_role(RoleArn=role, RoleSessionName=name, **more)
        given = made["Credentials"]
        return Credentials(given["AccessKeyId"], given["SecretAccessKey"], given["SessionToken"])

    def probe(self, function: str) -> Probe:
        """Other code than the function's own, under the function's own role."""
        lambda_ = self.client("lambda")
        role = lambda_.get_function_configuration(FunctionName=function)["Role"]
        name = f"probe-{role.rpartition('/')[2]}"[:64]
        lambda_.create_function(
            FunctionName=name,
            Role=role,
            Runtime=f"python{install.python_minor()}",
            Handler="probe.handler",
            Code={"ZipFile": _zipped("probe.py", PROBE)},
            Timeout=30,
        )
        return Probe(lambda_, name)


@dataclass(frozen=True)
class Probe:
    """Code that runs under some function's role and does what it is told."""

    client: Any
    name: str

    def __call__(self, service: str, operation: str, **arguments: Any) -> str:
        """`done`, or the code of the error that AWS answered."""
        return str(self._told(service=service, operation=operation, arguments=arguments))

    def credentials(self) -> Credentials:
        """What the role's code holds."""
        return Credentials(*self._told(service="environment"))

    def _told(self, **event: Any) -> Any:
        answer = self.client.invoke(FunctionName=self.name, Payload=json.dumps(event).encode())
        returned = answer["Payload"].read()
        assert "FunctionError" not in answer, returned
        return json.loads(returned)


@contextmanager
def enforcing(folder: Path) -> Iterator[EnforcingCloud]:
    """The cloud, up and deployed, until the block ends."""
    cloud.prepare()
    layout = ApartLayout(apart=folder)
    for each in (layout.scratch, layout.tables, layout.objects):
        each.mkdir(parents=True)
    _certify(layout)
    made = EnforcingCloud(_free_port(), layout)
    settings = emulator.settings(layout, made.port, os.environ) | made.credentials | {
        "AUTH": "true",
        "USE_SSL": "1",
        "MINISTACK_SSL_CERT": str(layout.certificate),
        "MINISTACK_SSL_KEY": str(layout.key),
    }  # fmt: skip
    argv = [str(layout.emulator_python), "-P", str(PROGRAM)]
    with (
        layout.emulator_log.open("wb") as log,
        subprocess.Popen(
            argv, env=settings, stdout=log, stderr=log, start_new_session=True
        ) as child,
    ):
        try:
            _wait(made, child)
            deploy.bootstrap(made)
            deploy.deploy(made, "")
            yield made
        finally:
            # Nothing of it is to be saved, so it need not be asked.
            child.kill()
            child.wait()
            emulator.sweep(layout)


def _wait(made: EnforcingCloud, child: subprocess.Popen[bytes]) -> None:
    trusted = ssl.create_default_context(cafile=str(made.layout.certificate))
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=trusted)
    )
    deadline = time.monotonic() + START_S
    while child.poll() is None and time.monotonic() < deadline:
        try:
            with opener.open(f"{made.endpoint}/_ministack/ready", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    raise RuntimeError(f"the emulator is not ready:\n{tail(made.layout.emulator_log)}")


def _certify(layout: ApartLayout) -> None:
    """A certificate of this cloud's own, for loopback and one day."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, emulator.HOST)])
    address = x509.IPAddress(ipaddress.ip_address(emulator.HOST))
    begins = dt.datetime.now(dt.UTC) - dt.timedelta(minutes=5)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begins)
        .not_valid_after(begins + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    layout.certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    layout.key.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )


def _free_port() -> int:
    with socket.create_server((emulator.HOST, 0)) as probe:
        return int(probe.getsockname()[1])


def _zipped(name: str, text: str) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr(name, text)
    return held.getvalue()
