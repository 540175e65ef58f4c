"""Who may open the page: the browser that was given its address, and nothing that it visits else.

another site's page       is of another origin: no cookie goes along, no vote counts without the
                          right Origin and a token that only our page holds
a name that is rebound    is no Host of ours
another port of loopback  shares the host's cookies, so ours belongs to a path that is a secret
who saw the address       finds that its key has been used
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from werkzeug.wrappers import Request, Response

COOKIE = "toolgate-approvals"
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; "
        "base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    # Not no-referrer: with it browsers send votes with an Origin of null.
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}


@dataclass(frozen=True, kw_only=True)
class Secrets:
    """Random texts of one run of the page, made by whoever starts it."""

    place: str
    """The first part of every path."""
    entrance: str
    """Opens the page once."""
    session: str
    """What the cookie holds."""
    signing: bytes
    """Signs the tokens in forms."""


class Guard:
    """The rules of one run, at `host`: `127.0.0.1:8080`."""

    def __init__(self, host: str, secrets: Secrets) -> None:
        self._host, self._secrets = host, secrets
        self._entrance: str | None = secrets.entrance
        self._entering = Lock()

    @property
    def base(self) -> str:
        """What every path begins with."""
        return f"/{self._secrets.place}"

    @property
    def address(self) -> str:
        """The address that opens the page, once."""
        return f"http://{self._host}{self.base}/enter?key={self._secrets.entrance}"

    def is_addressed(self, request: Request) -> bool:
        """Whether the request is to this host and no other name for it."""
        return request.environ.get("HTTP_HOST") == self._host

    def enter(self, key: str, response: Response) -> bool:
        """Trade the key for a cookie; False if it is not the key, or no longer."""
        with self._entering:
            if self._entrance is None or not _same(key, self._entrance):
                return False
            self._entrance = None
        response.set_cookie(
            COOKIE, self._secrets.session, path=self.base, httponly=True, samesite="Strict"
        )
        return True

    def knows(self, request: Request) -> bool:
        """Whether the browser has the cookie."""
        return _same(request.cookies.get(COOKIE, ""), self._secrets.session)

    def token(self, approval_id: str, fingerprint: str) -> str:
        """What a form holds to vote on these arguments of this approval."""
        said = f"{approval_id}\n{fingerprint}".encode()
        return hmac.new(self._secrets.signing, said, hashlib.sha256).hexdigest()

    def may_vote(self, request: Request, approval_id: str) -> bool:
        """Whether a form was sent by our own page, which showed the fingerprint that it holds."""
        if request.headers.get("Origin") != f"http://{self._host}":
            return False
        if request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
            return False
        expected = self.token(approval_id, request.form.get("fingerprint", ""))
        return _same(request.form.get("token", ""), expected)


def _same(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode())
