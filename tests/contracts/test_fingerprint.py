"""The recipe of the fingerprint is stored in records: these values must never change."""

from __future__ import annotations

import json

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.apply_patch.v1 import SPEC, Input
from contracts.fingerprint import arguments, canonical, fingerprint

CALL = {
    "schemaVersion": 1,
    "idempotencyKey": "agent-turn-9f3c",
    "repoRoot": "/workspace/app",
    "files": [{"path": "a.txt", "mode": "replace_full", "content": "é\n"}],
}
AS_DIFF = {**CALL, "files": [{**CALL["files"][0], "mode": "unified_diff"}]}


def of(call):
    return fingerprint(SPEC, Input.model_validate(call))


@pytest.mark.parametrize(
    ("call", "value"),
    [
        (CALL, "1:ba78bd1d5634a341edb960b0fd64cd35c514beefd3b52c66da090294053838b2"),
        (AS_DIFF, "1:8ddbf041f940a561f1830446b2df5f0427b2be5dc437ef3c3d40f65aa4c4467f"),
    ],
)
def test_the_fingerprint_is_the_pinned_one(call, value):
    assert of(call) == value


@pytest.mark.parametrize(
    "change", [{"idempotencyKey": "another-key"}, {"dryRun": True}, {"dryRun": False}]
)
def test_how_to_call_is_no_part_of_what_is_asked(change):
    assert of({**CALL, **change}) == of(CALL)


def test_defaults_are_left_out():
    assert arguments(Input.model_validate({**CALL, "dryRun": False})) == {
        "repoRoot": "/workspace/app",
        "files": CALL["files"],
    }


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(alphabet=st.characters(codec="ascii"), max_size=8), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@given(JSON)
@settings(max_examples=300, derandomize=True, deadline=None)
def test_canonical_json_is_rfc_8785_for_what_contracts_allow(value):
    assert canonical(value).encode("utf-8") == rfc8785.dumps(value)
    assert json.loads(canonical(value)) == value
