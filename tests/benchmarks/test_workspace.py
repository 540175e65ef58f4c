"""The benchmark of workspaces runs, and a change costs as many calls in a larger tree."""

from __future__ import annotations

from benchmarks import workspace


def test_a_change_makes_the_same_calls_in_a_larger_tree(monkeypatch):
    monkeypatch.setattr(workspace, "SIZES", (100, 2_000))
    monkeypatch.setattr(workspace, "ROUNDS", 2)
    small, large = (calls for _, calls in workspace.measure(5).values())
    assert small == large
    assert small["PutObject"] == 13
