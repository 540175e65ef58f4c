"""How requests reach the approvals API: signed with a person's AWS credentials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote, urlencode, urlsplit

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError
from botocore.httpsession import URLLib3Session
from botocore.utils import get_environ_proxies

from toolgate.approvals.errors import ApprovalsUnavailableError

if TYPE_CHECKING:
    from collections.abc import Mapping

SERVICE = "execute-api"
CONNECT_S, READ_S = 5, 30
TRIES = 2
"""Of a question; a vote is sent once, since it may count although no answer comes."""
LOOPBACK = frozenset({"127.0.0.1", "localhost"})


class Transport(Protocol):
    """Carries one request to the API."""

    def send(
        self, method: str, path: str, query: Mapping[str, str], body: bytes | None
    ) -> tuple[int, bytes]:
        """The status and the body of the answer. Raises ApprovalsUnavailableError without one."""
        ...


class SignedTransport:
    """The API at `url`, asked with credentials that may be renewed meanwhile."""

    def __init__(self, url: str, credentials: Any, region: str) -> None:
        self._url, self._credentials, self._region = url.rstrip("/"), credentials, region
        local = urlsplit(url).hostname in LOOPBACK
        proxies = {} if local else get_environ_proxies(url)
        self._session = URLLib3Session(timeout=(CONNECT_S, READ_S), proxies=proxies)

    def send(
        self, method: str, path: str, query: Mapping[str, str], body: bytes | None
    ) -> tuple[int, bytes]:
        """As Transport says."""
        tries = TRIES if method == "GET" else 1
        for left in reversed(range(tries)):
            try:
                answer = self._session.send(self._signed(method, path, query, body))
            except HTTPClientError as error:
                if not left:
                    raise _unanswered(method, error) from None
            except (BotoCoreError, ClientError) as error:
                raise ApprovalsUnavailableError(
                    "UNAVAILABLE", f"your AWS credentials cannot be used: {error}"
                ) from None
            else:
                return answer.status_code, answer.content
        raise AssertionError("the last try ends the loop")

    def _signed(self, method: str, path: str, query: Mapping[str, str], body: bytes | None) -> Any:
        url = self._url + quote(path, safe="/")
        if query:
            url += f"?{urlencode(query, quote_via=quote, safe='')}"
        headers = {"Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        request = AWSRequest(method=method, url=url, data=body, headers=headers)
        credentials = self._credentials.get_frozen_credentials()
        SigV4Auth(credentials, SERVICE, self._region).add_auth(request)
        return request.prepare()


def _unanswered(method: str, error: HTTPClientError) -> ApprovalsUnavailableError:
    said = f"the approvals API did not answer: {error}"
    if method != "GET":
        said += "; your vote may count all the same, so look before you repeat it"
    return ApprovalsUnavailableError("UNAVAILABLE", said)
