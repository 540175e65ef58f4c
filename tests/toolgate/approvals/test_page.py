"""The page by its HTTP: who gets in, what counts as a vote, and that nothing escapes."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from werkzeug.test import Client

from tests.people import Person, edit_row, rows
from tests.toolgate.approvals.hostile import HOSTILE
from tests.toolgate.approvals.scene import WORKFLOW, client_of
from toolgate.approvals.guard import Guard, Secrets
from toolgate.approvals.page import ApprovalsPage
from toolgate.approvals.visible import visible

HOST = "127.0.0.1:8123"
ORIGIN = f"http://{HOST}"
NOW_S = 1_796_000_000
SECRETS = Secrets(place="place", entrance="key", session="session", signing=b"s" * 32)
BASE = "/place/approvals"


class Page(HTMLParser):
    """A page as a browser would read it: elements, attributes, and the text outside of markup."""

    VOID = frozenset({"meta", "link", "input"})

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.text, self.stack = [], [], "", []
        self.feed(html)
        assert self.stack == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.stack.append(tag)

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag

    def handle_data(self, data):
        self.text += data


class Visitor:
    """A browser that has been let in, in somebody's name."""

    def __init__(self, name="alice"):
        api, self.desk = client_of(name)
        self.page = ApprovalsPage(api, Guard(HOST, SECRETS), lambda: NOW_S)
        self.http = Client(self.page)
        self.opened = self.raw("GET", "/place/enter?key=key")

    def raw(self, method, path, headers=None, *, host=HOST, data=None):
        given = {"Host": host, **(headers or {})}
        return self.http.open(
            path, method=method, base_url=f"http://{host}", headers=given, data=data
        )

    def get(self, path=""):
        return self.raw("GET", f"{BASE}{path}")

    def form(self, approval_id):
        """What the approval's own form would send."""
        html = self.get(f"/{approval_id}").text
        return {
            name: re.search(rf'name="{name}" value="([^"]+)"', html)[1]
            for name in ("fingerprint", "token")
        }

    def post(self, approval_id, decision, headers=None, **fields):
        data = {**self.form(approval_id), **fields}
        data = {name: value for name, value in data.items() if value is not None}
        headers = {"Origin": ORIGIN} if headers is None else headers
        return self.raw("POST", f"{BASE}/{approval_id}/{decision}", headers, data=data)


@pytest.fixture
def alice(scene):
    return Visitor()


def test_the_key_lets_one_browser_in_once(alice):
    assert alice.opened.status_code == 303
    assert alice.opened.headers["Location"] == BASE
    cookie = alice.opened.headers["Set-Cookie"]
    assert {"HttpOnly", "SameSite=Strict", "Path=/place"} <= set(cookie.split("; "))
    assert alice.get().status_code == 200
    again = Client(alice.page).get("/place/enter?key=key", base_url=ORIGIN)
    assert again.status_code == 403
    assert "Set-Cookie" not in again.headers


def test_a_wrong_key_opens_nothing_and_spends_nothing(scene):
    api, _ = client_of("alice")
    page = ApprovalsPage(api, Guard(HOST, SECRETS), lambda: NOW_S)
    for key in ("", "ke", "keys", "kéy"):
        answer = Client(page).get("/place/enter", query_string={"key": key}, base_url=ORIGIN)
        assert answer.status_code == 403
    assert Client(page).get("/place/enter?key=key", base_url=ORIGIN).status_code == 303


def test_without_the_cookie_nothing_is_told(alice, scene):
    approval_id = scene.replace("x\n")
    stranger = Client(alice.page)
    for path in ("", f"/{approval_id}", f"/{approval_id}/audit", f"/{approval_id}/parts/0"):
        answer = stranger.get(f"{BASE}{path}", base_url=ORIGIN)
        assert answer.status_code == 403
        assert approval_id not in answer.text
    data = alice.form(approval_id)
    voted = stranger.post(
        f"{BASE}/{approval_id}/approve", base_url=ORIGIN, headers={"Origin": ORIGIN}, data=data
    )
    assert voted.status_code == 403
    assert alice.desk.votes == []


def test_another_name_for_this_machine_is_answered_with_nothing(alice):
    others = ("localhost:8123", "evil.invalid:8123", "127.0.0.1", "127.0.0.1:8124", "[::1]:8123")
    for host in others:
        answer = alice.raw("GET", BASE, host=host)
        assert answer.status_code == 421, host
        assert "Toolgate" not in answer.text


def test_every_answer_forbids_scripts_frames_and_guesses(alice, scene):
    approval_id = scene.replace("x\n")
    for path in ("", f"/{approval_id}", f"/{approval_id}/audit", "/apr_none", "/../../x"):
        headers = alice.get(path).headers
        policy = headers["Content-Security-Policy"]
        assert policy == (
            "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; "
            "base-uri 'none'"
        )
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cache-Control"] == "no-store"
        assert headers["Referrer-Policy"] == "same-origin"
    assert alice.raw("GET", "/place/style.css").headers["Content-Type"].startswith("text/css")


def test_a_vote_counts_once_however_often_it_is_sent(alice, scene):
    approval_id = scene.replace("x\n")
    fields = alice.form(approval_id)
    first = alice.post(approval_id, "approve")
    assert first.status_code == 303
    assert first.headers["Location"].endswith(f"/{approval_id}?said=approved")
    again = alice.raw("POST", f"{BASE}/{approval_id}/approve", {"Origin": ORIGIN}, data=fields)
    assert again.headers["Location"].endswith("?said=already")
    html = alice.get(f"/{approval_id}?said=already").text
    assert "nothing was changed" in html
    assert "You have approved this; others decide now." in html
    assert "Approve as" not in html
    assert Person("bob").show(approval_id)["have"] == 1


def test_a_refusal_is_final_and_its_reason_is_shown(alice, scene):
    approval_id = scene.replace("x\n")
    fields = alice.form(approval_id)
    done = alice.post(approval_id, "deny", reason="not\r\nbefore <b>monday</b>")
    assert done.headers["Location"].endswith("?said=denied")
    assert alice.desk.votes[-1]["reason"] == "not\nbefore <b>monday</b>"
    html = alice.get(f"/{approval_id}?said=denied").text
    assert "not⟨LF⟩before &lt;b&gt;monday&lt;/b&gt;" in html
    assert "Nothing to approve any more: it is denied." in html
    assert "<form" not in html
    bob = Visitor("bob")
    late = bob.raw("POST", f"{BASE}/{approval_id}/approve", {"Origin": ORIGIN}, data=fields)
    assert late.status_code == 409
    assert "CONFLICT" in late.text


def test_who_asked_is_told_why_there_is_no_button(scene):
    approval_id = scene.replace("x\n")
    dana = Visitor("dana")
    html = dana.get(f"/{approval_id}").text
    assert "You asked for this yourself, so others decide." in html
    assert "<form" not in html


def test_who_approved_may_still_refuse(alice, scene):
    approval_id = scene.replace("x\n")
    alice.post(approval_id, "approve")
    Person("bob").approve(approval_id)
    html = alice.get(f"/{approval_id}").text
    assert "it is approved; not carried out yet" in html
    assert ">Deny</button>" in html
    assert alice.post(approval_id, "deny", reason="wait").status_code == 303
    assert Person("bob").show(approval_id)["state"] == "denied"


ELSEWHERE = (
    ({}, {}),
    ({"Origin": "null"}, {}),
    ({"Origin": "http://evil.invalid"}, {}),
    ({"Origin": "http://127.0.0.1:9999"}, {}),
    ({"Origin": "http://localhost:8123"}, {}),
    ({"Origin": ORIGIN, "Sec-Fetch-Site": "cross-site"}, {}),
    ({"Origin": ORIGIN, "Sec-Fetch-Site": "same-site"}, {}),
    (None, {"token": None}),
    (None, {"token": "0" * 64}),
    (None, {"fingerprint": None}),
    (None, {"fingerprint": f"1:{'0' * 64}"}),
)
"""Headers and fields of votes that our own page would not send."""


def test_a_vote_from_anywhere_else_does_not_count(alice, scene):
    approval_id = scene.replace("x\n")
    for headers, fields in ELSEWHERE:
        answer = alice.post(approval_id, "approve", headers, **fields)
        assert answer.status_code == 403, (headers, fields)
    assert alice.desk.votes == []
    assert alice.post(approval_id, "approve").status_code == 303


def test_the_token_of_one_approval_is_no_token_for_another(alice, scene):
    shown, other = scene.replace("x\n"), scene.replace("y\n")
    fields = alice.form(shown)
    path = f"{BASE}/{other}/approve"
    assert alice.raw("POST", path, {"Origin": ORIGIN}, data=fields).status_code == 403
    assert alice.desk.votes == []


def test_a_reason_is_needed_and_bounded(alice, scene):
    approval_id = scene.replace("x\n")
    for reason, status in (("", 400), ("   ", 400), ("x" * 501, 400), ("x" * 20_000, 413)):
        answer = alice.post(approval_id, "deny", reason=reason)
        assert answer.status_code == status, reason[:9]
    assert alice.desk.votes == []


def test_a_vote_is_never_cast_by_a_link(alice, scene):
    approval_id = scene.replace("x\n")
    assert alice.get(f"/{approval_id}/approve").status_code == 405
    assert alice.desk.votes == []


def test_hostile_text_is_letters_on_every_page(alice, scene):
    text = "\n".join(HOSTILE)
    added = "".join(f"+{hostile}\n" for hostile in HOSTILE)
    diff = f"--- /dev/null\n+++ b/<i>.txt\n@@ -0,0 +1,{len(HOSTILE)} @@\n{added}"
    files = [
        {"mode": "replace_full", "path": WORKFLOW, "content": text},
        {"mode": "move", "path": "README.md", "newPath": "x<script>alert('reached')<b>"},
        {"mode": "unified_diff", "path": "<i>.txt", "content": diff},
    ]
    approval_id = scene.patch(*files)
    alice.post(approval_id, "deny", reason=text[:500])
    for path in ("", f"/{approval_id}", f"/{approval_id}/audit", f"/{approval_id}/parts/1"):
        page = Page(alice.get(path).text)
        assert not {"script", "img", "svg", "iframe", "style", "i", "b"} & set(page.tags)
        assert not [name for name, _ in page.attributes if name.startswith("on")]
        links = [value for name, value in page.attributes if name in {"href", "src", "action"}]
        assert all(link.startswith(("/place/", "#main")) for link in links), links
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e]", page.text)
    shown = Page(alice.get(f"/{approval_id}").text).text
    for hostile in HOSTILE:
        assert visible(hostile) in shown


def test_a_long_text_is_folded_and_counted_and_all_there(alice, scene):
    text = "".join(f"line {n}\n" for n in range(1000))
    html = alice.get(f"/{scene.replace(text, 'CODEOWNERS')}").text
    assert "Show the other 800 lines" in html
    assert all(f"+line {n}<" in html for n in range(1000))


def test_what_is_too_long_for_one_page_is_on_others(alice, scene):
    approval_id = scene.replace("\n" * 20_500, "CODEOWNERS")
    html = alice.get(f"/{approval_id}").text
    assert len(html) < 100_000
    (link,) = re.findall(rf'href="({BASE}/{approval_id}/parts/1)">Read all 20,500 lines', html)
    seen, following = 0, link
    while following:
        html = alice.raw("GET", following).text
        seen += html.count('<span class="added">')
        found = re.search(r'rel="next" href="([^"]+)"', html)
        following = found and found[1]
    assert seen == 20_500
    for wrong in ("/9", "/1?leaf=2", "/x"):
        assert alice.get(f"/{approval_id}/parts{wrong}").status_code == 404


def test_failures_of_the_api_are_words_with_their_code(alice):
    answer = alice.get(f"/apr_{'0' * 32}")
    assert answer.status_code == 404
    assert "NOT_FOUND" in answer.text
    alice.desk.send = lambda *_: (503, b"busy")
    answer = alice.get()
    assert answer.status_code == 502
    assert "UNAVAILABLE" in answer.text


def test_the_list_says_whose_turn_it_is(alice, scene):
    mine, denied = scene.replace("x\n"), scene.release()
    Person("bob").deny(denied)
    page = Page(alice.get().text)
    assert re.search(r"Waiting for you\s+1.*Decided\s+1", page.text, re.DOTALL)
    assert f"{BASE}/{mine}" in dict(page.attributes).values() or mine in alice.get().text
    assert "checkout-api 1.4.0 · /w/app" in page.text


def test_the_audit_has_a_verdict(alice, scene):
    approval_id = scene.replace("x\n")
    alice.post(approval_id, "approve")
    assert "The audit is whole." in alice.get(f"/{approval_id}/audit").text
    last = rows("AUD", approval_id)[-1]
    key = {name: last[name] for name in ("pk", "sk")}
    edit_row(key, event={"S": last["event"]["S"].replace("alice", "mallory")})
    text = alice.get(f"/{approval_id}/audit").text
    assert "tampered with" in text
    assert "event 2 was edited" in text
    for broken in (
        '"x"',
        "{}",
        '{"n": "\\u202e", "atMs": 1e99, "data": [7]}',
        '{"atMs": 99999999999999999}',
    ):
        edit_row(key, event={"S": broken})
        answer = alice.get(f"/{approval_id}/audit")
        assert answer.status_code == 200
        assert "event 2 cannot be read" in answer.text
