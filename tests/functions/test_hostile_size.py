"""However much is sent, refusing it costs no more than reading it once."""

from __future__ import annotations

import sys
import time
import tracemalloc

import pytest

from contracts import registry, strict_json
from contracts.types import path_problem
from tests.functions import hostile

MB = 1_000_000
PATCH = registry.find("apply_patch_v2")
READ = registry.find("read_file_v1")
SEARCH = registry.find("search_v1")
ORDERS = registry.find("orders_lookup_v1")


@pytest.fixture(autouse=True)
def _unreachable(monkeypatch):
    hostile.patched(monkeypatch)


def change(**fields):
    return {"files": [{"path": "a.txt", "mode": "replace_full", "content": "", **fields}]}


LARGE = {
    "content": (PATCH, "direct", lambda text: change(content=text), "/files/0/content"),
    "path": (PATCH, "direct", lambda text: change(path=text), "/files/0/path"),
    "mode": (PATCH, "gateway", lambda text: change(mode=text), "/files/0/mode"),
    "unknown field": (PATCH, "direct", lambda text: {"surplus": text}, "/surplus"),
    "unknown name": (PATCH, "direct", lambda text: {text: 1}, ""),
    "key": (PATCH, "gateway", lambda text: {"idempotencyKey": text}, "/idempotencyKey"),
    "version": (PATCH, "bedrock", lambda text: {"schemaVersion": text}, "/schemaVersion"),
    "query": (SEARCH, "bedrock-function", lambda text: {"query": text}, "/query"),
    "limit": (SEARCH, "bedrock", lambda text: {"limit": text}, "/limit"),
    "root": (READ, "direct", lambda text: {"repoRoot": f"/{text}"}, "/repoRoot"),
    "number": (ORDERS, "direct", lambda text: {"order_id": text}, "/order_id"),
    "JSON text": (PATCH, "bedrock", lambda text: {"files": f'["{text}"]'}, "/files"),
    "brackets": (PATCH, "bedrock", lambda text: {"files": "[" + text + "]"}, "/files"),
    "arguments": (SEARCH, "arguments", lambda text: f'{{"query":"{text}"}}', "/arguments"),
}


@pytest.mark.parametrize("place", LARGE)
@pytest.mark.parametrize("unit", ["x", "[/"], ids=["letters", "parts"])
def test_100_mb_are_refused_in_a_few_times_their_memory(place, unit):
    spec, form, given, pointer = LARGE[place]
    sent = given(unit * (100 * MB // len(unit)))
    if form != "arguments":
        sent = hostile.sample(spec) | sent
    tracemalloc.start()
    try:
        answer = hostile.call(spec, form, sent)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert pointer in answer.places
    assert peak < 250 * MB


def steps(spec, form, arguments):
    """How many calls of functions an answer took, in Python or out of it."""
    count = 0

    def counted(_frame, what, _argument):
        nonlocal count
        count += what in {"call", "c_call"}

    hostile.call(spec, form, arguments)  # what is made once has been made
    sys.setprofile(counted)
    try:
        answer = hostile.call(spec, form, arguments)
    finally:
        sys.setprofile(None)
    assert answer.is_refused
    return count


MANY = {
    "wrong items": lambda n: {"files": [1] * n},
    "empty items": lambda n: {"files": [{} for _ in range(n)]},
    "items with a path": lambda n: {"files": [{"path": "a.txt"} for _ in range(n)]},
    "named entries": lambda n: {"files": [[{"name": "path", "value": "a"}] for _ in range(n)]},
    "unknown fields": lambda n: {f"no such field {i}": i for i in range(n)},
    "unknown fields of an item": lambda n: change(**{f"x{i}": i for i in range(n)}),
    "parts of a path": lambda n: change(path="a/" * n + "a"),
}


@pytest.mark.parametrize("many", MANY)
@pytest.mark.parametrize("form", ["direct", "arguments"])
def test_100_000_errors_cost_what_10_000_do(many, form):
    base = hostile.sample(PATCH)
    fewer, more = (steps(PATCH, form, base | MANY[many](n)) for n in (10_000, 100_000))
    assert more <= fewer * 1.1


@pytest.mark.parametrize("many", MANY)
def test_on_bedrock_each_property_costs_its_reading_and_no_more(many):
    base = hostile.sample(PATCH)
    fewer, more = (steps(PATCH, "bedrock", base | MANY[many](n)) for n in (1_000, 10_000))
    assert more <= fewer * 10


def test_a_text_of_100_000_errors_is_answered_with_one():
    text = "[" + ",".join(["{}"] * 100_000) + "]"
    answer = hostile.call(PATCH, "bedrock", hostile.sample(PATCH) | {"files": text})
    (issue,) = answer.result["error"]["details"]["issues"]
    assert (issue["path"], issue["problem"]) == ("/files", "too many items")


TEXTS = {
    "open strings": lambda n: '"[' * n,
    "quotes": lambda n: '["' + '\\"' * n,
    "backslashes": lambda n: '["' + "\\" * n,
    "brackets": lambda n: "[]" * n,
    "nothing": lambda n: " " * n,
    "digits": lambda n: "1" * n + ".0",
    "zeros": lambda n: "0." + "0" * n + "1",
    "exponent": lambda n: "1e" + "9" * n,
    "keys": lambda n: "{" + ",".join(f'"{i}":1' for i in range(n // 8)) + "}",
}


def seconds(work):
    """CPU time of the quickest of three."""
    times = []
    for _ in range(3):
        begun = time.process_time()
        work()
        times.append(time.process_time() - begun)
    return min(times)


def parsed(text):
    try:
        strict_json.parse(text)
    except strict_json.StrictJsonError:
        return


@pytest.mark.parametrize("kind", TEXTS)
def test_reading_json_text_takes_time_as_its_length(kind):
    fewer, more = (seconds(lambda n=n: parsed(TEXTS[kind](n))) for n in (50_000, 800_000))
    assert more < 16 * 6 * max(fewer, 0.000_5)


@pytest.mark.parametrize("unit", ["a/", "../", "\ufdfa", "\u202e/", "con.", "a\u0301"])
def test_judging_a_path_takes_no_more_time_however_long_it_is(unit):
    """A character that unfolds to eighteen, or a part for each second byte."""
    few, more, most = (
        seconds(lambda n=n: path_problem(unit * n)) for n in (1_000, 300_000, 4_000_000)
    )
    assert max(more, most) < 60 * max(few, 0.001)
