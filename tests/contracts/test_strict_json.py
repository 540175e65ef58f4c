"""JSON text that two parsers could read differently is refused."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.strict_json import StrictJsonError, parse


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "{",
        "[1] 2",
        "\ufeff{}",
        '{"a":1,"a":1}',
        '[{"a":{"b":1,"b":2}}]',
        "NaN",
        "[-Infinity]",
        "1e400",
        "-1e999",
        "1" * 5_000,
        "[" * 65 + "]" * 65,
        '{"a":' * 100_000,
        '["\\\\",' + "[" * 64 + "]" * 64 + "]",
        '["a\nb"]',
        "{'a': 1}",
        "[1,]",
    ],
)
def test_doubtful_text_is_refused_without_quoting_it(text):
    with pytest.raises(StrictJsonError) as caught:
        parse(text)
    assert len(str(caught.value)) < 120


def test_brackets_in_strings_are_no_nesting():
    text = json.dumps(["[{" * 1_000, '\\"[' * 1_000, "[\\"])
    assert parse(text) == json.loads(text)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(10**18), 10**18) | st.text(max_size=9),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
        max_leaves=10,
    )
)
@settings(max_examples=200, derandomize=True, deadline=None)
def test_plain_json_is_read_as_it_is(value):
    assert parse(json.dumps(value)) == value
