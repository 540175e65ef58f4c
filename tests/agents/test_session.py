"""Signing caller tokens: what is signed, and what is refused before it is."""

from __future__ import annotations

import base64
import json

import pytest
from pydantic import ValidationError

from agents.session import IssueError, aws_subject, issue

GOOD = {
    "tenant": "default",
    "subject": "ada",
    "scopes": ["b", "a", "b"],
    "stage": "dev",
    "keys": ["k" * 40],
    "now_s": 1_000,
}


def claims(token):
    return json.loads(base64.urlsafe_b64decode(token.split(".")[0] + "==="))


def test_a_token_says_who_what_where_and_until_when():
    expected = {
        "tenant": "default",
        "subject": "ada",
        "scopes": ["a", "b"],
        "audience": "toolgate-dev",
        "expiresAtS": 1_900,
    }
    assert claims(issue(**GOOD)) == expected
    assert claims(issue(**GOOD, session_id="s")) == {**expected, "sessionId": "s"}


def test_the_same_claims_and_key_give_the_same_token_and_the_newest_key_signs():
    assert issue(**GOOD) == issue(**GOOD)
    assert issue(**{**GOOD, "keys": ["o" * 40, "k" * 40]}) == issue(**GOOD)
    assert issue(**{**GOOD, "keys": ["k" * 40, "o" * 40]}) != issue(**GOOD)


@pytest.mark.parametrize("life_s", [0, -1, 3_601])
def test_no_token_lives_longer_than_an_hour(life_s):
    with pytest.raises(IssueError, match="lives 1 to 3600 seconds"):
        issue(**GOOD, life_s=life_s)


@pytest.mark.parametrize(
    "change",
    [{"tenant": "Other"}, {"subject": ""}, {"subject": "a\nb"}, {"scopes": map(str, range(33))}],
)
def test_claims_out_of_bounds_are_not_signed(change):
    with pytest.raises(ValidationError):
        issue(**{**GOOD, **change})


def test_a_token_that_would_be_refused_for_its_length_is_not_signed():
    with pytest.raises(IssueError, match="longer than 4096"):
        issue(**{**GOOD, "scopes": ["x" * 4_000]})


@pytest.mark.parametrize(
    ("arn", "name"),
    [
        ("arn:aws:sts::123456789012:assumed-role/Admin/Ada@Example.org", "ada@example.org"),
        ("arn:aws:iam::123456789012:user/team/Ada", "ada"),
        ("arn:aws-cn:iam::123456789012:user/ada", "ada"),
    ],
)
def test_a_subject_is_the_name_that_aws_has_verified(arn, name):
    assert aws_subject(arn) == name


@pytest.mark.parametrize(
    "arn", ["arn:aws:iam::123456789012:root", "arn:aws:sts::123456789012:federated-user/ada", ""]
)
def test_credentials_without_a_name_of_their_own_give_no_subject(arn):
    with pytest.raises(IssueError):
        aws_subject(arn)
