"""Any interleaving of calls, crashes, faults, waits and rivals: one effect and one answer a key."""

from __future__ import annotations

import itertools
from contextlib import closing
from dataclasses import replace
from sys import exception

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from tests.exactly_once.model import LEASE_MS, OPERATIONS, RIVALS, TENANTS, Call
from tests.exactly_once.play import Play
from tests.faults.injector import Fault

CRASHES = (Fault.CRASH_BEFORE, Fault.CRASH_AFTER)
FAULTS = tuple(fault for fault in Fault if fault not in CRASHES)
AT_ONCE = 3
which, calls, frozen = st.integers(0, 11), st.integers(0, 6), st.booleans()


class Interleavings(RuleBasedStateMachine):
    """Several processes of apply_patch over one moto, an AWS call at a time."""

    def __init__(self):
        super().__init__()
        self.play = Play()

    def may_begin(self):
        return len(self.play.running) < AT_ONCE

    def may_repeat(self):
        return self.may_begin() and self.play.model.attempts

    def runs(self):
        return self.play.running

    @precondition(may_begin)
    @rule(
        tenant=st.sampled_from((*TENANTS[:1] * 3, *TENANTS[1:])),
        operation=st.sampled_from(sorted(OPERATIONS)),
        calls=calls,
        frozen=frozen,
    )
    def start(self, tenant, operation, calls, frozen):
        key = f"key number {len(self.play.model.attempts)}"
        self.play.begin(Call(tenant, key, operation), calls, frozen=frozen)

    @precondition(may_repeat)
    @rule(which=which, calls=calls, frozen=frozen)
    def repeat(self, which, calls, frozen):
        self.play.begin(self._call(which), calls, frozen=frozen)

    @precondition(may_repeat)
    @rule(ms=st.sampled_from((0, 13_000, LEASE_MS + 1)), calls=calls, frozen=frozen)
    def wait_and_repeat_the_last(self, ms, calls, frozen):
        self.play.clock.ms += ms
        self.play.begin(self._call(-1), calls, frozen=frozen)

    @precondition(may_repeat)
    @rule(
        which=which,
        other=st.one_of(
            st.fixed_dictionaries({"operation": st.sampled_from(sorted(OPERATIONS))}),
            st.fixed_dictionaries({"tenant": st.sampled_from(TENANTS)}),
            st.just({"dry_run": True}),
        ),
        calls=calls,
    )
    def repeat_otherwise(self, which, other, calls):
        self.play.begin(replace(self._call(which), **other), calls)

    @precondition(runs)
    @rule(which=which, calls=st.integers(1, 5))
    def go_on(self, which, calls):
        self.play.go_on(*self._running(which), calls)

    @precondition(runs)
    @rule(which=which, fault=st.sampled_from(CRASHES))
    def crash(self, which, fault):
        self.play.step(*self._running(which), fault)

    @precondition(runs)
    @rule(which=which, fault=st.sampled_from(FAULTS))
    def fail(self, which, fault):
        self.play.step(*self._running(which), fault)

    @rule(ms=st.sampled_from((1_000, 13_000, LEASE_MS + 1)))
    def wait(self, ms):
        self.play.clock.ms += ms

    @precondition(lambda self: not self.play.running)
    @rule()
    def wait_a_day(self):
        self.play.wait_a_day()

    @rule(tenant=st.sampled_from(TENANTS), kind=st.sampled_from(sorted(RIVALS)))
    def somebody_else_commits(self, tenant, kind):
        self.play.rival(tenant, kind)

    def teardown(self):
        with closing(self.play):
            if exception() is None:
                self.play.finish()

    def _call(self, which):
        attempts = self.play.model.attempts
        return attempts[which % len(attempts)][0]

    def _running(self, which):
        return self.play.running[which % len(self.play.running)]


def explore(examples, steps, phases):
    """So many stories of at most so many steps, the same ones each time."""
    profile = settings(
        max_examples=examples,
        stateful_step_count=steps,
        derandomize=True,
        database=None,
        deadline=None,
        phases=phases,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(Interleavings, settings=profile)


def test_whatever_the_interleaving_a_key_has_one_effect_and_one_answer(aws_cloud):
    # Making a failing story shorter takes minutes: the long test does that.
    explore(examples=16, steps=50, phases=[Phase.generate])


@pytest.mark.long
def test_whatever_the_interleaving_a_key_has_one_effect_and_one_answer_at_length(aws_cloud):
    explore(examples=150, steps=60, phases=[Phase.generate, Phase.shrink])


STOPS = ("BatchGetItem", "PutObject", "TransactWriteItems")
"""Before the head, before the objects, before the commit; None: at the end."""
LATE = list(itertools.product(STOPS, (*STOPS, None), (True, False)))
TELLING = [
    ("BatchGetItem", "BatchGetItem", False),
    ("PutObject", "TransactWriteItems", False),
    ("BatchGetItem", "TransactWriteItems", True),
    ("TransactWriteItems", "BatchGetItem", False),
    ("TransactWriteItems", "TransactWriteItems", False),
    ("TransactWriteItems", None, False),
]


@pytest.mark.parametrize(("late", "ahead", "frozen"), TELLING)
def test_a_late_attempt_disturbs_none_of_its_successors(aws_cloud, late, ahead, frozen):
    _overtake(late, ahead, frozen=frozen)


@pytest.mark.long
@pytest.mark.parametrize(("late", "ahead", "frozen"), [one for one in LATE if one not in TELLING])
def test_an_attempt_late_at_any_call_disturbs_none_of_its_successors(
    aws_cloud, late, ahead, frozen
):
    _overtake(late, ahead, frozen=frozen)


def _overtake(late, ahead, *, frozen):
    """One stands before the call `late` when its lease ends, and its successor before `ahead`."""
    call = Call("default", "the one key", "insert")
    with closing(Play()) as play:
        first = play.begin(call, frozen=frozen)
        play.go_on_to(call, first, late)
        play.clock.ms += LEASE_MS + 1
        play.begin(replace(call, operation="write"), 99)
        second = play.begin(call)
        play.go_on_to(call, second, ahead)
        assert (first.waits_for, second.waits_for) == (late, ahead)
        play.go_on_to(call, first, None)
        play.begin(call, 99)
        play.finish()
