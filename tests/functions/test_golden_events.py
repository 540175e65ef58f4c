"""Events as they were seen, whole: what is read, what is refused and how, what goes back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agents.events import unwrap
from contracts import registry
from contracts.schema_nodes import present
from functions._runtime import events
from functions.orders_lookup.v1 import handler
from tests.functions import hostile
from tests.functions.hostile import SPECS, sample, schema_of

HOME = Path(__file__).parent.parent / "golden" / "events"
ENVELOPES = json.loads((HOME / "envelopes.json").read_text(encoding="utf-8"))
VALUES = json.loads((HOME / "values.json").read_text(encoding="utf-8"))
BEDROCK = ("bedrock", "bedrock-function")
ARRAYS = [
    (spec, name)
    for spec in SPECS
    for name, declared in schema_of(spec)["properties"].items()
    if present(declared)[0].get("type") == "array"
]

each_form = pytest.mark.parametrize("form", BEDROCK)


def names(cases):
    return [case["name"].replace(" ", "-") for case in cases]


@pytest.mark.usefixtures("aws_cloud")
@pytest.mark.parametrize("case", ENVELOPES["cases"], ids=names(ENVELOPES["cases"]))
def test_an_event_is_answered_in_its_own_envelope(case):
    answer = handler(case["event"], None)
    result, expected = unwrap(answer), case.get("result", ENVELOPES["result"])
    whole = json.dumps(result, ensure_ascii=False, separators=(",", ":"))
    assert answer == _filled(case["answer"], whole)
    if "details" not in expected["error"]:
        result["error"].pop("details", None)
    assert result == expected


def _filled(value, text):
    if isinstance(value, dict):
        return {name: _filled(child, text) for name, child in value.items()}
    return text if value == "$RESULT" else value


@pytest.mark.parametrize("case", VALUES["refused"], ids=names(VALUES["refused"]))
@pytest.mark.parametrize(("spec", "name"), ARRAYS, ids=[spec.model_name for spec, _ in ARRAYS])
@each_form
def test_what_only_a_guess_could_read_is_refused_with_the_form_to_send(
    spec, name, case, form, monkeypatch
):
    hostile.patched(monkeypatch)
    answer = hostile.call(spec, form, sample(spec) | {name: case["value"]})
    assert answer.code == "VALIDATION"
    found = answer.result["error"]["details"]["issues"][0]
    expected = case["issue"] | {"path": case["issue"]["path"].replace("$PROPERTY", f"/{name}")}
    assert found | expected == found
    assert answer.result["error"]["message"].startswith(found["path"])


@pytest.mark.parametrize("case", VALUES["properties"], ids=names(VALUES["properties"]))
@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.model_name)
@each_form
def test_properties_that_cannot_be_told_apart_are_refused(spec, case, form, monkeypatch):
    hostile.patched(monkeypatch)
    sent = hostile.event(spec, form, sample(spec))
    entries = sent["parameters"]
    if form == "bedrock":
        entries = sent["requestBody"]["content"]["application/json"]["properties"]
    entries += case["entries"]
    answer = hostile.send(spec, sent)
    assert answer.code == "VALIDATION"
    (found,) = answer.result["error"]["details"]["issues"]
    assert found["expected"] == {"fields": ["name", "type", "value"]}


@pytest.mark.parametrize("form", hostile.FORMS)
def test_a_string_is_taken_verbatim_whatever_it_looks_like(form):
    """In every argument that is a string, of every tool."""
    for spec in SPECS:
        arguments = sample(spec)
        texts = [name for name, value in arguments.items() if isinstance(value, str)]
        for text in VALUES["strings"]:
            given = arguments | dict.fromkeys(texts, text)
            event = json.loads(json.dumps(hostile.event(spec, form, given)))
            envelope = events.recognise(event, hostile.context(spec, form))
            found, _ = events.arguments(envelope, spec)
            assert {name: found[name] for name in texts} == dict.fromkeys(texts, text)


@each_form
@pytest.mark.parametrize("text", VALUES["strings"][:5])
def test_what_was_wrapped_on_the_way_is_no_order_number(form, text, monkeypatch):
    hostile.patched(monkeypatch)
    answer = hostile.call(registry.find("orders.lookup"), form, {"order_id": text})
    assert (answer.code, answer.places[0]) == ("VALIDATION", "/order_id")
