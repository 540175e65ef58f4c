"""The page that people decide on: a WSGI application for one person, on loopback alone.

It asks the stage's API with that person's credentials, so it can do what they can and no more. It
has no script and loads nothing from anywhere else.
"""

from __future__ import annotations

from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from werkzeug.exceptions import HTTPException, NotFound, RequestEntityTooLarge
from werkzeug.routing import Map, Rule
from werkzeug.wrappers import Request, Response

from functions._runtime.approvals.chain import problems, unpublished
from toolgate.approvals import words
from toolgate.approvals.client import REASON_MAX, checked_reason
from toolgate.approvals.errors import ApprovalConflictError, ApprovalsError
from toolgate.approvals.folding import leaves, parts
from toolgate.approvals.guard import HEADERS
from toolgate.approvals.review import has_voted, may_deny, review, why_no_yes
from toolgate.approvals.visible import visible
from toolgate.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from toolgate.approvals.client import ApprovalsClient
    from toolgate.approvals.guard import Guard

HERE = Path(__file__).parent
FORM_MAX_BYTES = 16_384
STATUS = {"NOT_FOUND": 404, "FORBIDDEN": 403, "CONFLICT": 409, "VALIDATION": 400}
SAID = {
    "approved": "Your approval counts.",
    "denied": "You denied it. The agent is told why.",
    "already": "You had decided that already; nothing was changed.",
}
_ROUTES = (
    ("/enter", "GET", "enter"),
    ("/style.css", "GET", "style"),
    ("/approvals", "GET", "list"),
    ("/approvals/<id_>", "GET", "show"),
    ("/approvals/<id_>/parts/<int:number>", "GET", "part"),
    ("/approvals/<id_>/audit", "GET", "audit"),
    ("/approvals/<id_>/approve", "POST", "approve"),
    ("/approvals/<id_>/deny", "POST", "deny"),
)
_OPEN = frozenset({"enter", "style"})
"""What needs no cookie: it tells nothing."""


class _Visit(Request):
    """A request, of which no more is read than a form of ours holds."""

    max_content_length = FORM_MAX_BYTES
    max_form_memory_size = FORM_MAX_BYTES
    max_form_parts = 10


class ApprovalsPage:
    """One person's page. `now_s` is the clock, in seconds since the epoch."""

    def __init__(self, client: ApprovalsClient, guard: Guard, now_s: Callable[[], float]) -> None:
        self._client, self._guard, self._now_s = client, guard, now_s
        self._urls = Map(
            [
                Rule(f"{guard.base}{path}", methods=[method], endpoint=name)
                for path, method, name in _ROUTES
            ]
        )
        self._templates = _templates(guard.base)

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Answer one request, as WSGI has it."""
        response = self._answer(_Visit(environ))
        response.headers.update(HEADERS)
        return response(environ, start_response)

    def _answer(self, request: Request) -> Response:
        if not self._guard.is_addressed(request):
            return Response("This is no name of this page.", HTTPStatus.MISDIRECTED_REQUEST)
        try:
            name, arguments = self._urls.bind_to_environ(request.environ).match()
            if name not in _OPEN and not self._guard.knows(request):
                return self._refused("Open the address that toolgate approvals page printed.")
            found: Response = getattr(self, f"_{name}")(request, **arguments)
        except ApprovalsError as error:
            return self._failed(error, STATUS.get(error.code, 502))
        except CommandError as error:
            return self._failed(error, 400)
        except RequestEntityTooLarge as error:
            return self._failed(error, 413)
        except HTTPException as error:
            return self._failed("There is no such page.", error.code or 404)
        return found

    def _enter(self, request: Request) -> Response:
        response = _redirect(f"{self._guard.base}/approvals")
        if not self._guard.enter(request.args.get("key", ""), response):
            return self._refused("This address has been used. Start the page again for a new one.")
        return response

    def _style(self, _: Request) -> Response:
        return Response((HERE / "templates" / "style.css").read_bytes(), mimetype="text/css")

    def _list(self, _: Request) -> Response:
        listing = self._client.list()
        found = listing["approvals"]
        yours = [one for one in found if one["mayVote"]]
        others = [one for one in found if not one["mayVote"] and _is_open(one)]
        groups = [
            ("Waiting for you", yours),
            ("Waiting for others", others),
            ("Decided", [one for one in found if not one["mayVote"] and not _is_open(one)]),
        ]
        more = listing["more"]
        return self._rendered("list.html", me=listing["me"], groups=groups, more=more)

    def _show(self, request: Request, id_: str) -> Response:
        seen = review(self._client, id_)
        voted = has_voted(seen.approval, seen.me)
        return self._rendered(
            "approval.html",
            me=seen.me,
            approval=seen.approval,
            parts=parts(seen.blocks),
            why_no_yes=why_no_yes(seen.approval, seen.me, voted=voted),
            may_deny=may_deny(seen.approval, seen.me, voted=voted),
            token=self._guard.token(id_, seen.statement.fingerprint),
            said=SAID.get(request.args.get("said", "")),
            reason_max=REASON_MAX,
        )

    def _part(self, request: Request, id_: str, number: int) -> Response:
        seen = review(self._client, id_)
        if number >= len(seen.blocks):
            raise NotFound
        block = seen.blocks[number]
        found = leaves(block)
        asked = request.args.get("leaf", "0")
        place = (
            int(asked) if asked.isascii() and asked.isdigit() and len(asked) < len("10000") else 0
        )
        if place >= len(found):
            raise NotFound
        return self._rendered(
            "part.html",
            me=seen.me,
            approval=seen.approval,
            block=block,
            number=number,
            leaf=found[place],
        )

    def _audit(self, _: Request, id_: str) -> Response:
        shown = self._client.show(id_)
        found = self._client.audit(id_)
        wrong = problems(id_, found["events"], found["heads"])
        return self._rendered(
            "audit.html",
            me=shown["me"],
            approval=shown["approval"],
            events=words.events(found["events"]),
            problems=wrong,
            unpublished=[] if wrong else unpublished(found["events"], found["heads"]),
        )

    def _approve(self, request: Request, id_: str) -> Response:
        return self._vote(request, id_, "approve", None)

    def _deny(self, request: Request, id_: str) -> Response:
        given = request.form.get("reason", "").replace("\r\n", "\n")
        return self._vote(request, id_, "deny", given)

    def _vote(self, request: Request, id_: str, decision: str, given: str | None) -> Response:
        if not self._guard.may_vote(request, id_):
            return self._refused("This vote does not come from the page that showed it. Go back.")
        fingerprint = request.form["fingerprint"]
        said = "approved" if decision == "approve" else "denied"
        try:
            if decision == "approve":
                self._client.approve(id_, fingerprint)
            else:
                reason = checked_reason(given, required=True) or ""
                self._client.deny(id_, fingerprint, reason)
        except ApprovalConflictError:
            shown = self._client.show(id_)
            mine = [v["decision"] for v in shown["approval"]["votes"] if v["by"] == shown["me"]]
            if mine != [decision]:
                raise
            said = "already"
        return _redirect(f"{self._guard.base}/approvals/{id_}?said={said}")

    def _refused(self, why: str) -> Response:
        return self._failed(why, HTTPStatus.FORBIDDEN)

    def _failed(self, error: object, status: int) -> Response:
        code = error.code if isinstance(error, ApprovalsError) else None
        text = error.message if isinstance(error, ApprovalsError) else str(error)
        text = "That is more than a form of this page holds." if status == 413 else text
        return self._rendered("failure.html", status=status, code=code, text=text, me=None)

    def _rendered(self, template: str, status: int = 200, **values: Any) -> Response:
        text = self._templates.get_template(template).render(now_s=self._now_s(), **values)
        return Response(text, status, mimetype="text/html")


def _templates(base: str) -> Environment:
    """Every value that a template shows is made visible and then escaped, whoever wrote it."""
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalized,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(base=base, words=words)
    made.filters["grouped"] = lambda number: f"{number:,}"
    return made


def _finalized(value: Any) -> Any:
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _is_open(one: Any) -> bool:
    return one["state"] in {"pending", "approved"}


def _redirect(to: str) -> Response:
    return Response(status=HTTPStatus.SEE_OTHER, headers={"Location": to})
