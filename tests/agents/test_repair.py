"""Self-repair: one valid answer, within the budget, by a small report that quotes nothing."""

from __future__ import annotations

import asyncio
import datetime as dt
import json

import pytest
from pydantic import BaseModel, TypeAdapter

from agents.repair import RepairExhausted, aget_valid_action, get_valid_action
from contracts.actions import ReadFile, WriteFile

READ = '{"action": "read_file", "path": "a.txt"}'
WRITE = {"action": "write_file", "path": "a.txt", "content": "x = {1}\n```\n{}\n```\n"}
SECRET = "hunter2-hunter2"


class Model:
    """Gives its replies in order, the last one for ever; keeps what it was asked."""

    def __init__(self, *replies):
        self.replies, self.asked = list(replies), []

    def __call__(self, messages):
        self.asked.append(messages)
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]

    @property
    def feedback(self):
        """What went back in the last request besides the prompt."""
        return self.asked[-1][1:]


def ask(way, model, *rest, **more):
    if way == "sync":
        return get_valid_action(model, "do it", *rest, **more)

    async def awaited(messages):
        return model(messages)

    return asyncio.run(aget_valid_action(awaited, "do it", *rest, **more))


each_way = pytest.mark.parametrize("way", ["sync", "async"])


@each_way
def test_a_valid_reply_is_returned_after_one_call(way):
    model = Model(READ)
    assert ask(way, model) == ReadFile(action="read_file", path="a.txt")
    assert model.asked == [[{"role": "user", "content": "do it"}]]


@pytest.mark.parametrize(
    "reply",
    [
        f"\ufeff  {READ}\n",
        f"```json\n{READ}\n```",
        f"Sure [1]:\n\n```\n{READ}\n```\nHope that helps!",
        f"I'll read it: {READ} That is all.",
        f"First {READ}, that is: {json.dumps(json.loads(READ), indent=2)}",
        f'{{"action": {READ}}}',
    ],
)
def test_the_one_value_is_found_in_fences_and_prose(reply):
    assert get_valid_action(Model(reply), "p", 1) == ReadFile(action="read_file", path="a.txt")


def test_fences_and_braces_inside_a_string_are_content():
    reply = f"Writing:\n```json\n{json.dumps(WRITE)}\n```"
    action = get_valid_action(Model(reply), "p", 1)
    assert isinstance(action, WriteFile)
    assert action.content == WRITE["content"]


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (f"{READ} or {READ.replace('a.txt', 'b.txt')}", "two different"),
        ('{"action": "read_file", "path": "a", "path": "b"}', "same key twice"),
        ('{"action": "read_file", "path": "a", "firstLine": NaN}', "NaN"),
        (f"{READ}}}", "stray"),
        (f"{READ}{{", "not JSON"),
        ("{oops} " + READ, "not JSON"),
        ('{"action": "read_file", "path": "a"', "not JSON"),
        ('{"a":' * 100_000, "deep"),
        ("[" * 100_000 + "{", "deep"),
        ("I cannot do that.", "no JSON object"),
        ("", "no JSON object"),
        ('{"action": "read_file", "path": "\\ud800"}', None),
        ('{"action": "read_file", "firstLine": ' + "9" * 5_000 + "}", "digits"),
        ("x" * 2_000_001, "longer"),
        ("[]", None),
        ("7", "no JSON object"),
    ],
)
def test_a_reply_that_could_be_read_in_two_ways_or_none_is_refused(reply, says):
    with pytest.raises(RepairExhausted) as caught:
        get_valid_action(Model(reply), "p", 1)
    (issue,) = caught.value.attempts[0].issues
    assert says is None or says in issue["problem"]


@each_way
def test_what_was_wrong_goes_back_by_pointer_and_the_next_reply_counts(way):
    model = Model(f'{{"action": "read_file", "path": "a", "firstLine": "{SECRET}"}}', READ)
    assert ask(way, model).path == "a.txt"
    prompt, kept, report = model.asked[1]
    assert prompt == model.asked[0][0]
    assert [kept["role"], report["role"]] == ["assistant", "user"]
    assert '"path":"/firstLine","problem":"not an integer"' in report["content"]
    assert SECRET not in report["content"]


@pytest.mark.parametrize(
    "bad",
    [
        {**WRITE, "content": "x" * 500_000, "overwrite": SECRET},
        {**WRITE, "content": "x" * 500_000, "path": 7},
        {"action": "write_file", "path": "a", "text": "x" * 500_000},
        {"action": "write_file", **{f"{SECRET}{n:04d}" * 40: 1 for n in range(600)}},
        {"action": SECRET * 10_000},
        {"action": "write_file", "path": SECRET * 40_000, "content": "x"},
    ],
)
def test_after_a_reply_of_500_kb_less_than_1_kb_goes_back(bad):
    model = Model(json.dumps(bad), READ)
    get_valid_action(model, "p")
    sent = json.dumps(model.feedback)
    assert len(sent.encode()) < 1_000
    assert SECRET not in sent
    assert "x" * 100 not in sent


def test_requests_do_not_grow_with_the_attempts():
    model = Model(*[f'{{"action": "no{n}"}}' for n in range(9)], READ)
    get_valid_action(model, "p", 10)
    assert [len(asked) for asked in model.asked] == [1] + [3] * 9
    assert len({len(json.dumps(asked)) for asked in model.asked[1:]}) == 1


@each_way
@pytest.mark.parametrize("budget", [1, 2, 5])
def test_the_model_is_called_as_often_as_the_budget_says_and_no_more(way, budget):
    model = Model(*[f'{{"action": "no{n}"}}' for n in range(9)])
    with pytest.raises(RepairExhausted) as caught:
        ask(way, model, budget)
    assert len(model.asked) == len(caught.value.attempts) == budget
    assert caught.value.reason == "attempts"
    assert [one.number for one in caught.value.attempts] == list(range(1, budget + 1))


@each_way
def test_a_reply_that_comes_again_ends_it_early(way):
    model = Model("one", "two", "one")
    with pytest.raises(RepairExhausted) as caught:
        ask(way, model, 9)
    assert (len(model.asked), caught.value.reason) == (3, "same reply")


def test_the_error_quotes_no_reply():
    with pytest.raises(RepairExhausted) as caught:
        get_valid_action(Model(f'{{"action": "{SECRET}"}}'), "p", 2)
    assert SECRET not in f"{caught.value} {caught.value.attempts}"
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("budget", [0, -1])
def test_a_budget_of_nothing_is_refused_before_the_model_is_asked(budget):
    model = Model(READ)
    with pytest.raises(ValueError, match="max_attempts"):
        get_valid_action(model, "p", budget)
    assert model.asked == []


@each_way
def test_errors_of_the_model_itself_pass_through(way):
    def broken(_):
        raise ConnectionError("no route")

    with pytest.raises(ConnectionError):
        ask(way, broken)
    with pytest.raises(TypeError, match="NoneType"):
        ask(way, lambda _: None)


@each_way
def test_each_attempt_is_told_as_it_is_made(way):
    told = []
    ask(way, Model("oops", READ), on_attempt=told.append)
    assert [(one.number, one.ok, one.reply_bytes) for one in told] == [
        (1, False, 4),
        (2, True, len(READ)),
    ]
    assert told[0].fed_back_bytes > 0 == told[1].fed_back_bytes


class Meeting(BaseModel):
    """A type that is not of the contracts."""

    on: dt.date
    seats: tuple[int, ...] = ()


@pytest.mark.parametrize(
    ("of", "reply", "value"),
    [
        (Meeting, 'So: {"on": "2026-12-01", "seats": [1]}', Meeting(on="2026-12-01", seats=(1,))),
        (TypeAdapter(Meeting), '{"on": "2026-12-01"}', Meeting(on="2026-12-01")),
        (list[int], "Here:\n```json\n[1, 2]\n```", [1, 2]),
        (int, "```\n7\n```", 7),
        (str, '"seven"', "seven"),
        (dict[str, int], '{"a": 1}', {"a": 1}),
    ],
)
def test_any_type_of_pydantic_can_be_asked_for(of, reply, value):
    assert get_valid_action(Model(reply), "p", 1, of=of) == value


def test_a_type_without_a_schema_is_read_and_its_faults_are_placed():
    class Odd(BaseModel):
        call: type[int] | None = None
        n: int

    model = Model('{"n": "x"}', '{"n": 1}')
    assert get_valid_action(model, "p", of=Odd).n == 1
    assert '"/n"' in model.feedback[-1]["content"]
