"""A push of many files that is stopped sends the rest the next time, and nothing twice."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from contracts.errors import UnavailableError
from tests.functions.workspace.cloud import ROOT, Recorder
from toolgate.workspace import push, pushing

if TYPE_CHECKING:
    from pathlib import Path

    from functions._runtime.workspace import Stores

FILES, BEFORE_THE_STOP = 60, 40


def test_a_stopped_push_goes_on_where_it_was(stores: Stores, tmp_path: Path, monkeypatch: Any):
    monkeypatch.setattr(pushing, "_LIST_FROM", 10)
    for number in range(FILES):
        inside = tmp_path / f"d{number % 7}"
        inside.mkdir(exist_ok=True)
        (inside / f"f{number}").write_bytes(b"%d" % number)
    failing = Recorder(stores.s3)

    def stop(**_: Any) -> None:
        if failing.count("put_object") > BEFORE_THE_STOP:
            raise ClientError({"Error": {"Code": "AccessDenied"}}, "PutObject")

    failing.before["put_object"] = stop
    arguments: dict[str, Any] = {"by": "ada", "now_ms": 0}
    with pytest.raises(UnavailableError):
        push(replace(stores, s3=failing), tmp_path, ROOT, **arguments)
    sent: list[tuple[int, int]] = []
    again = Recorder(stores.s3)
    result = push(
        replace(stores, s3=again),
        tmp_path,
        ROOT,
        **arguments,
        progress=lambda done, total: sent.append((done, total)),
    )
    objects = FILES + 7 + 1
    assert (result.created, result.files) == (True, FILES)
    assert result.uploaded == again.count("put_object") == objects - BEFORE_THE_STOP
    assert result.skipped == BEFORE_THE_STOP
    assert sent[-1] == (objects, objects)
    third = Recorder(stores.s3)
    assert push(replace(stores, s3=third), tmp_path, ROOT, **arguments).changed is False
    assert third.count("put_object") == 0
