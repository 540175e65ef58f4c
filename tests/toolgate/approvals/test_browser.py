"""The page in a real browser: two people decide, and hostile text does nothing at all."""

from __future__ import annotations

from contextlib import contextmanager
from threading import Thread
from urllib.parse import urlsplit

import pytest
from werkzeug.serving import make_server
from werkzeug.wrappers import Response

from tests.people import Person
from tests.toolgate.approvals import chromium
from tests.toolgate.approvals.hostile import HOSTILE, MARK
from tests.toolgate.approvals.scene import BEFORE, WORKFLOW, client_of
from toolgate.approvals.serving import started
from toolgate.approvals.visible import visible
from toolgate.local.layout import Layout

pytestmark = pytest.mark.long

WAIT_MS = 15_000
NARROW = {"width": 320, "height": 640}
WIDE = {"width": 1200, "height": 900}
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
FORM = """<!doctype html><title>evil</title><form method="post" action="{action}">
<input name="fingerprint" value="{fingerprint}"><input name="token" value="{token}">
</form><script>document.forms[0].submit()</script>"""


@pytest.fixture(scope="module")
def browser():
    """A headless Chromium, installed if it is not yet."""
    from playwright.sync_api import sync_playwright

    path, environment = chromium.chromium(Layout())
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(
            executable_path=path, args=chromium.ARGUMENTS, env=environment
        )
        yield made
        made.close()


@contextmanager
def running(server):
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join(timeout=10)
        server.server_close()
        assert not thread.is_alive()


class Visit:
    """One person at the page, and all that their browser did."""

    def __init__(self, browser, address, **options):
        self.context = browser.new_context(viewport=WIDE, **options)
        self.context.set_default_timeout(WAIT_MS)
        self.page = self.context.new_page()
        self.dialogs, self.hosts = [], set()
        self.page.on("dialog", self._dialog)
        self.page.on("request", lambda request: self.hosts.add(urlsplit(request.url).netloc))
        self.page.goto(address)

    def _dialog(self, dialog):
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def open(self, approval_id):
        self.page.get_by_role("link", name="Toolgate approvals").click()
        self.page.locator(f"a[href$='{approval_id}']").click()

    def text(self):
        return self.page.locator("main").inner_text()


@pytest.fixture
def at_page(browser):
    """Opens the page in a person's name: (the visit, its server's guard)."""
    open_ones = []

    @contextmanager
    def opened(name, **options):
        server, guard = started(client_of(name)[0], 0)
        with running(server):
            visit = Visit(browser, guard.address, **options)
            open_ones.append(visit)
            yield visit, guard
            visit.context.close()

    return opened


def hostile_patch(scene):
    text = "\n".join(HOSTILE)
    added = "".join(f"+{hostile}\n" for hostile in HOSTILE)
    return scene.patch(
        {"mode": "replace_full", "path": WORKFLOW, "content": text},
        {"mode": "move", "path": "README.md", "newPath": f"x<script>alert('{MARK}')<b>"},
        {
            "mode": "unified_diff",
            "path": "<i>.txt",
            "content": f"--- /dev/null\n+++ b/<i>.txt\n@@ -0,0 +1,{len(HOSTILE)} @@\n{added}",
        },
    )


def test_two_people_read_and_decide(scene, at_page):
    approved = scene.replace(BEFORE.replace("step 7: run", "step 7: run --fast"))
    denied = scene.release()
    with at_page("alice") as (visit, _):
        assert "Waiting for you 2" in visit.text().replace("\n", " ")
        visit.open(approved)
        diff = visit.page.locator("pre").first.inner_text()
        assert "-step 7: run\n+step 7: run --fast" in diff
        visit.page.get_by_role("button", name="Approve as alice").click()
        assert visit.page.get_by_role("status").inner_text() == "Your approval counts."
        assert visit.page.get_by_role("button", name="Approve as alice").count() == 0
        visit.open(denied)
        assert "checkout-api" in visit.text()
        visit.page.get_by_role("button", name="Deny").click()
        assert visit.page.get_by_label("Why not").evaluate("e => !e.validity.valid")
        visit.page.get_by_label("Why not").fill("freeze until <b>monday</b>")
        visit.page.get_by_role("button", name="Deny").click()
        assert "You denied it." in visit.page.get_by_role("status").inner_text()
        assert "freeze until <b>monday</b>" in visit.text()
        visit.page.get_by_role("link", name="Audit of this approval").click()
        assert "The audit is whole." in visit.text()
        assert visit.hosts == {urlsplit(visit.page.url).netloc}
    with at_page("bob") as (visit, _):
        visit.open(approved)
        assert "Yours is the last vote that is needed." in visit.text()
        visit.page.get_by_role("button", name="Approve as bob").click()
        assert "Your approval counts." in visit.page.get_by_role("status").inner_text()
    carol = Person("carol")
    assert carol.show(approved)["state"] == "approved"
    assert carol.show(denied)["state"] == "denied"


def test_hostile_text_is_read_and_does_nothing(scene, at_page):
    approval_id = hostile_patch(scene)
    with at_page("alice") as (visit, _):
        for where in (None, approval_id):
            if where:
                visit.open(where)
            assert visit.page.locator("script, img, svg, iframe, main style").count() == 0
        for summary in visit.page.locator("summary").all():
            summary.click()
        shown = visit.page.locator("main").evaluate("e => e.textContent")
        for hostile in HOSTILE:
            assert visible(hostile) in shown
        assert visit.page.locator("form").count() == 2
        assert visit.page.title().endswith("· Toolgate")
        assert visit.page.locator("pre").first.is_visible()
        assert visit.dialogs == []
        assert visit.hosts == {urlsplit(visit.page.url).netloc}


def test_a_page_elsewhere_on_this_machine_cannot_vote(scene, at_page):
    """It is given all that it could steal, and the browser sends the cookie along."""
    approval_id = scene.replace("x\n")
    seen = client_of("alice")[0].arguments(approval_id).fingerprint
    with at_page("alice") as (visit, guard):
        host = urlsplit(guard.address).netloc
        action = f"http://{host}{guard.base}/approvals/{approval_id}/approve"
        token = guard.token(approval_id, seen)
        html = FORM.format(action=action, fingerprint=seen, token=token)
        evil = make_server("127.0.0.1", 0, Response(html, mimetype="text/html"), threaded=True)
        with running(evil):
            evil_origin = f"http://127.0.0.1:{evil.server_port}"
            with visit.page.expect_request(action) as sent:
                visit.page.goto(evil_origin)
            visit.page.wait_for_url(action)
        headers = sent.value.all_headers()
        assert headers["origin"] == evil_origin
        assert "toolgate-approvals=" in headers["cookie"]
        assert "That was not done" in visit.text()
        assert Person("alice").show(approval_id)["votes"] == []


def test_the_address_lets_nobody_in_twice(scene, at_page, browser):
    with at_page("alice") as (_, guard):
        other = Visit(browser, guard.address)
        assert "This address has been used." in other.text()
        other.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_pages_are_accessible_and_fit_a_narrow_window(scene, at_page, scheme):
    approval_id = hostile_patch(scene)
    long_one = scene.replace("x" * 400_000 + "\n" * 21_000, "CODEOWNERS")
    Person("bob").approve(approval_id)
    axe = chromium.axe(Layout())
    with at_page("alice", color_scheme=scheme) as (visit, guard):
        base = f"{guard.base}/approvals"
        host = urlsplit(guard.address).netloc
        for path in ("", f"/{approval_id}", f"/{approval_id}/audit", f"/{long_one}/parts/1"):
            for size in (WIDE, NARROW):
                visit.page.set_viewport_size(size)
                visit.page.goto(f"http://{host}{base}{path}")
                width = visit.page.evaluate("document.documentElement.scrollWidth")
                assert width <= size["width"], path
                if path.endswith("/parts/1"):
                    continue
                visit.page.evaluate(axe)
                found = visit.page.evaluate(
                    "rules => axe.run({runOnly: {type: 'tag', values: rules}})", RULES
                )
                wrong = [
                    (one["id"], one["nodes"][0]["html"], one["nodes"][0]["failureSummary"])
                    for one in found["violations"]
                ]
                assert wrong == [], path
                assert len(found["passes"]) > 15


def test_the_focus_is_seen(scene, at_page):
    scene.replace("x\n")
    with at_page("alice") as (visit, _):
        for _ in range(3):
            visit.page.keyboard.press("Tab")
            outline = visit.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert outline == "solid"
