"""What a caller token grants, and that nothing but a good one grants anything."""

from __future__ import annotations

import base64
import json
import uuid

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as chance
from hypothesis import strategies as st
from itsdangerous import Signer

from agents import events
from agents.session import issue
from contracts.results import Result
from functions._runtime import aws, keys, settings, tool
from tests.functions.counter import SPEC, args, count, make
from tests.functions.test_pipeline import Context

OLD, KEY, NEW = (letter * 40 for letter in "onk")
NOW_S = 1_800_000_000
WRITE = ["workspace:write"]


@pytest.fixture
def secret(aws_cloud, monkeypatch):
    """The stage's secret with KEY in it, and a clock that stands still; gives `put(**keys)`."""
    arn = aws.secrets().create_secret(
        Name=f"keys-{uuid.uuid4().hex}", SecretString=json.dumps({"current": KEY})
    )["ARN"]
    monkeypatch.setenv("CALLER_KEYS_SECRET", arn)
    settings.settings.cache_clear()
    at(monkeypatch, NOW_S)

    def put(text=None, **held):
        aws.secrets().put_secret_value(SecretId=arn, SecretString=text or json.dumps(held))

    return put


@pytest.fixture
def asked(secret):
    """The names of the operations that are asked of Secrets Manager."""
    seen = []

    def record(model, **_):
        seen.append(model.name)

    aws.secrets().meta.events.register("before-call.secrets-manager", record)
    yield seen
    aws.secrets().meta.events.unregister("before-call.secrets-manager", record)


def at(monkeypatch, now_s):
    monkeypatch.setattr(tool, "now_ms", lambda: int(now_s * 1000))


def token(**changes):
    claims = {
        "tenant": "default",
        "subject": "ada",
        "scopes": WRITE,
        "stage": "test",
        "keys": [KEY],
        "now_s": NOW_S,
    }
    return issue(**{**claims, **changes})


def call(presented, surface="direct", session="s-1", handler=None, **changes) -> Result:
    event = events.build(
        SPEC, args(**changes), surface, events.Session(id=session), token=presented
    )
    context = Context()
    context.client_context = type("C", (), event.client_context) if event.client_context else None
    return events.unwrap((handler or make())(event.payload, context))


def reason(answer):
    assert answer["error"]["code"] == "FORBIDDEN"
    assert answer["error"]["details"]["keySpent"] is False
    assert count() == 0
    return answer["error"]["details"]["reason"]


def resigned(good, **changes):
    """The token with other claims and the old signature."""
    body, signature = good.split(".")
    claims = json.loads(base64.urlsafe_b64decode(body + "==="))
    text = json.dumps({**claims, **changes}).encode()
    return f"{base64.urlsafe_b64encode(text).decode().rstrip('=')}.{signature}"


@pytest.mark.parametrize("surface", ["direct", "gateway"])
def test_a_good_token_is_the_caller_where_the_binding_grants_nothing(secret, monkeypatch, surface):
    monkeypatch.setenv("TOOLGATE_BINDINGS", "{}")
    settings.settings.cache_clear()
    assert call(token(), surface)["count"] == 1


@pytest.mark.parametrize("surface", ["bedrock", "bedrock-function"])
def test_on_bedrock_a_token_is_good_in_its_own_session_only(secret, surface):
    mine = token(session_id="s-1")
    assert reason(call(mine, surface, "s-2")) == "TOKEN_SESSION"
    assert reason(call(token(), surface)) == "TOKEN_SESSION"
    assert call(mine, surface)["count"] == 1


def test_on_bedrock_an_event_without_a_session_takes_no_token(secret):
    event = events.build(SPEC, args(), "bedrock", token=token()).payload
    del event["sessionId"]
    assert reason(events.unwrap(make()(event, Context()))) == "TOKEN_SESSION"


def test_a_token_of_a_session_is_good_on_bedrock_only(secret):
    assert reason(call(token(session_id="s-1"), "direct")) == "TOKEN_SESSION"
    assert reason(call(token(session_id="s-1"), "gateway")) == "TOKEN_SESSION"


def test_prompt_attributes_grant_nothing(secret, monkeypatch):
    monkeypatch.setenv("TOOLGATE_BINDINGS", "{}")
    settings.settings.cache_clear()
    event = events.build(SPEC, args(), "bedrock", events.Session(id="s-1")).payload
    event["promptSessionAttributes"] = {"_caller": token(session_id="s-1")}
    assert reason(events.unwrap(make()(event, Context()))) == "SURFACE_UNBOUND"


@pytest.mark.parametrize("change", [{"scopes": ["workspace:read"]}, {"scopes": ["moon:land"]}])
def test_a_token_without_the_scope_is_told_which_one_although_the_binding_has_it(secret, change):
    answer = call(token(**change))
    assert reason(answer) == "SCOPE_MISSING"
    assert answer["error"]["details"]["scope"] == "workspace:write"


def test_a_forged_a_widened_and_a_foreign_token_are_refused(secret):
    narrow = token(scopes=["workspace:read"])
    assert reason(call(token(keys=[OLD]))) == "TOKEN_FORGED"
    assert reason(call(resigned(narrow, scopes=WRITE))) == "TOKEN_FORGED"
    assert reason(call(resigned(token(), tenant="other"))) == "TOKEN_FORGED"
    assert reason(call(resigned(token(), expiresAtS=NOW_S + 3_000))) == "TOKEN_FORGED"
    assert reason(call(token(stage="prod"))) == "TOKEN_AUDIENCE"
    assert reason(call(Signer(KEY).sign("e30").decode())) == "TOKEN_FORGED"


def test_a_token_ends_at_its_second_and_never_lives_longer_than_an_hour(secret, monkeypatch):
    mine = token(life_s=60)
    at(monkeypatch, NOW_S + 60)
    assert reason(call(mine)) == "TOKEN_EXPIRED"
    at(monkeypatch, NOW_S)
    assert reason(call(token(now_s=NOW_S + 61, life_s=3_600))) == "TOKEN_LIFETIME"
    at(monkeypatch, NOW_S + 59.999)
    assert call(mine)["ok"]


@pytest.mark.parametrize("odd", ["", ".", 7, None, [], {}, "x" * 5_000, "\ud800.x", "é.x"])
def test_what_cannot_be_a_token_is_refused_without_asking_for_keys(asked, odd):
    # "." is the one of these that looks like a token.
    answer = make()({**args(), "_caller": odd}, Context())
    if odd is None:
        assert answer["ok"]
    else:
        assert reason(answer) == "TOKEN_FORGED"
    assert asked == (["GetSecretValue"] if odd == "." else [])


@chance(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=80) | st.from_regex(r"\A[\w-]{0,60}\.[\w-]{0,43}\Z"))
def test_no_text_is_a_token_by_chance(secret, text):
    answer = make()({**args(), "_caller": text}, Context())
    assert (answer["error"]["code"], answer["error"]["details"]["reason"]) == (
        "FORBIDDEN",
        "TOKEN_FORGED",
    )
    assert text in ("", *"._-") or len(text) < 8 or text not in json.dumps(answer)


def test_keys_are_asked_for_once_and_only_when_a_token_is_presented(asked):
    handler = make()
    assert call(None, handler=handler)["ok"]
    assert asked == []
    assert call(token(), handler=handler)["ok"]
    assert call(token(), handler=handler)["ok"]
    assert asked == ["GetSecretValue"]


def test_a_new_key_counts_soon_and_a_dropped_one_after_minutes(secret, asked, monkeypatch):
    mine = token(life_s=3_600)
    assert call(mine)["ok"]
    secret(previous=KEY, current=NEW)
    fresh = token(keys=[KEY, NEW])
    asked.clear()
    # Forged tokens make no more than one call in that time.
    assert [call(fresh)["ok"] for _ in range(3)] == [False] * 3
    assert asked == []
    at(monkeypatch, NOW_S + keys.ASKED_AGAIN_MS / 1000)
    assert call(fresh)["ok"]
    assert call(mine)["ok"]
    secret(previous=NEW, current=OLD)
    assert call(mine)["ok"]
    at(monkeypatch, NOW_S + (keys.ASKED_AGAIN_MS + keys.KEPT_MS) / 1000)
    assert call(mine)["error"]["details"]["reason"] == "TOKEN_FORGED"
    assert call(fresh)["ok"]


@pytest.mark.parametrize("text", ["no JSON", "[]", "{}", '{"current": "short"}', '{"current": 1}'])
def test_keys_that_cannot_be_read_are_worth_a_retry_and_spend_nothing(secret, text):
    secret(text)
    failure = call(token())["error"]
    assert (failure["code"], failure["retryable"]) == ("UNAVAILABLE", True)
    assert failure["details"]["keySpent"] is False
    secret(current=KEY)
    assert call(token())["ok"]


def test_a_missing_secret_is_unavailable(secret, monkeypatch):
    monkeypatch.setenv("CALLER_KEYS_SECRET", "no-such-secret")
    settings.settings.cache_clear()
    assert call(token())["error"]["code"] == "UNAVAILABLE"


def test_two_tenants_with_the_same_key_never_meet(secret):
    one, two = token(tenant="one"), token(tenant="two")
    assert call(one) == {"ok": True, "schemaVersion": 1, "count": 1, "skippedAsDuplicate": False}
    assert call(two, add=2)["count"] == 3
    assert call(one)["skippedAsDuplicate"] is True
    assert call(two, add=2)["count"] == 3
    assert len(aws.dynamodb().scan(TableName="idempotency")["Items"]) == 2
    assert count() == 3


def test_a_token_and_its_claims_are_neither_answered_nor_logged(secret, capsys):
    good, bad = token(subject="canary-subject"), token(keys=[OLD])
    said = json.dumps([call(good), call(bad), call(token(now_s=NOW_S - 3_600))])
    said += capsys.readouterr().out
    assert "canary-subject" not in said
    for one in (good, bad):
        assert one not in said
        assert one.split(".")[1] not in said
    assert KEY not in said


def test_history_is_told_the_subject_and_unknown_scopes_are_dropped(secret):
    from functions._runtime.caller import Presented, authorise

    ring = keys.ring(settings.settings().caller_keys)
    presented = Presented("direct", None, token(scopes=[*WRITE, "moon:land"]))
    found = authorise(presented, SPEC, settings.settings(), now_ms=NOW_S * 1000, ring=ring)
    assert (found.name, found.tenant) == ("ada", "default")
    assert found.scopes == {"workspace:write"}
    assert presented.token not in repr(presented)
