"""Workers killed at random moments over 200 patches: every one happens once, and none is forgotten.

The functions' own time is short here, so that leases of the dead end soon: a copy of the deployed
function, with the same code, layer, role and tables.
"""

from __future__ import annotations

import json
import os
import random
import signal
import statistics
import sys
import threading
import time
import urllib.request
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from tests.e2e.callers import DIED, SPEC, Caller, diff, now_ms, patch, record_of
from toolgate.deployed import output_key

pytestmark = [pytest.mark.local, pytest.mark.long]

SEED = 20_260_401
PATCHES, CALLERS = 200, 4
DOOMED = 0.2
"""Of so many patches, a worker is killed soon after they begin."""
TIMEOUT_S = 6
"""Its last 3 s are kept for answering, so 3 s are left to work in."""
LEASE_S = TIMEOUT_S + 2
WITHIN_S = 270
COPY = "toolgate-kills-apply-patch-v1"
HEADER = "# one line a patch\n"


@pytest.fixture
def short_lived(local_cloud):
    """The name of a copy of the deployed function that may run for TIMEOUT_S; gone afterwards."""
    client = local_cloud.client("lambda")
    deployed = client.get_function(FunctionName=local_cloud.outputs()[output_key(SPEC)])
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(deployed["Code"]["Location"], timeout=30) as answer:
        code = answer.read()
    configuration = deployed["Configuration"]
    with suppress(client.exceptions.ResourceNotFoundException):
        client.delete_function(FunctionName=COPY)
    same = ("Runtime", "Role", "Handler", "MemorySize", "Architectures", "Environment")
    client.create_function(
        FunctionName=COPY,
        Code={"ZipFile": code},
        Layers=[layer["Arn"] for layer in configuration["Layers"]],
        Timeout=TIMEOUT_S,
        **{name: configuration[name] for name in same},
    )
    client.get_waiter("function_active_v2").wait(FunctionName=COPY)
    yield COPY
    client.delete_function(FunctionName=COPY)


class Killer:
    """Kills one worker at a time, chosen and timed by a seeded generator."""

    def __init__(self, cloud, function, within_s):
        self.kills = 0
        self._cloud, self._function, self._within_s = cloud, function, within_s
        self._random, self._lock = random.Random(SEED), threading.Lock()
        self._timers = []

    def maybe(self):
        """A patch begins: perhaps some worker dies soon."""
        with self._lock:
            if self._random.random() < DOOMED:
                timer = threading.Timer(self._random.uniform(0, self._within_s), self._kill)
                timer.start()
                self._timers.append(timer)

    def join(self):
        for timer in self._timers:
            timer.join()

    def _kill(self):
        with self._lock, suppress(ProcessLookupError):
            workers = [pid for pid in self._cloud.workers(self._function) if _has_begun(pid)]
            if workers:
                os.kill(self._random.choice(workers), signal.SIGKILL)
                self.kills += 1


def _has_begun(pid):
    """Whether a worker has been at a store: it has a connection.

    One that only starts is spared: when a start fails, the emulator ends all workers of the
    function, those that start as well, whose starts then fail.
    """
    with suppress(FileNotFoundError):
        links = [fd.readlink() for fd in Path(f"/proc/{pid}/fd").iterdir()]
        return any(link.name.startswith("socket:") for link in links)
    return False


class Records:
    """The idempotency records, and what they said when a call had just failed."""

    def __init__(self, cloud):
        self._dynamodb = cloud.client("dynamodb")
        self._table = cloud.outputs()["IdempotencyTable"]
        self.at_death: Counter[str] = Counter()

    def of(self, key):
        """The record of a key, or nothing."""
        return self._dynamodb.get_item(
            TableName=self._table, Key={"id": {"S": record_of(key)}}, ConsistentRead=True
        ).get("Item", {})

    def failed(self, why, arguments, began_ms):
        """A try has failed: it may have been held up only by a lease that had not ended."""
        record = self.of(arguments["idempotencyKey"])
        if why == DIED:
            self.at_death[record.get("status", {}).get("S", "none")] += 1
        if why == "IN_PROGRESS":
            assert record["status"]["S"] == "INPROGRESS"
            lease_ms = int(record["in_progress_expiration"]["N"])
            assert began_ms <= lease_ms <= now_ms() + LEASE_S * 1000


def test_whoever_is_killed_every_patch_happens_once(
    local_cloud, local_workspaces, short_lived, capsys
):
    root = f"/workspace/kills-{uuid.uuid4().hex[:8]}"
    local_workspaces.create(root, {"counter.txt": HEADER.encode()})
    records = Records(local_cloud)
    caller = Caller(local_cloud.client("lambda"), short_lived, records.failed)
    keys = [f"kills-{uuid.uuid4().hex}" for _ in range(PATCHES)]
    started = time.monotonic()

    def do(number, killer=None):
        if killer:
            killer.maybe()
        # The line is put right below the header: if it happens twice, it is there twice.
        counted = diff("counter.txt", f"@@ -1 +1,2 @@\n {HEADER}+{number}\n")
        named = (f"done/{number}.txt", "replace_full", f"{number}\n")
        begun = time.monotonic()
        left_s = WITHIN_S - (begun - started)
        done = caller.until_done(patch(root, keys[number], counted, named), left_s)
        return done, time.monotonic() - begun

    calm = [do(number) for number in range(10)]
    usual_s = statistics.median(took for _, took in calm)
    killer = Killer(local_cloud, short_lived, CALLERS * usual_s)
    done = [one for one, _ in calm]
    try:
        with ThreadPoolExecutor(CALLERS) as pool:
            for one, _ in pool.map(lambda number: do(number, killer), range(10, PATCHES)):
                done.append(one)
    finally:
        killer.join()
        with capsys.disabled():
            sys.stdout.write(_report(killer, records, done, time.monotonic() - started))

    # Every patch was acknowledged, is in the files once and in history once.
    assert all(one.answer["ok"] for one in done)
    files = local_workspaces.files(root)
    lines = files.pop("counter.txt").decode().splitlines(keepends=True)
    assert lines[0] == HEADER
    assert sorted(lines[1:]) == sorted(f"{number}\n" for number in range(PATCHES))
    assert files == {f"done/{n}.txt": f"{n}\n".encode() for n in range(PATCHES)}
    first, *rows = local_workspaces.log(root)
    assert sorted(row["op"]["S"] for row in rows) == sorted(map(record_of, keys))
    # The history is one chain, and its end is the head.
    for before, row in zip([first, *rows], rows, strict=False):
        assert row["parent"] == before["tree"]
    assert local_workspaces.snapshot(root).head.tree == rows[-1]["tree"]["S"]
    assert local_workspaces.commits(root) == PATCHES + 1
    # No record is left behind, and each holds what its caller was told.
    for key, one in zip(keys, done, strict=True):
        record = records.of(key)
        assert record["status"]["S"] == "COMPLETED"
        assert json.loads(record["data"]["S"])["applied"] == one.answer["applied"]
    # Otherwise nothing was tested.
    assert killer.kills >= 20
    assert records.at_death["INPROGRESS"] >= 5


def _report(killer, records, done, took_s):
    deaths = ", ".join(f"{count} {status}" for status, count in sorted(records.at_death.items()))
    repeated = Counter(why for one in done for why in one.repeated)
    return (
        f"\n{len(done)} of {PATCHES} patches by {CALLERS} callers in {took_s:.0f} s; "
        f"{killer.kills} workers killed; records of the calls that died: {deaths or 'none'}; "
        f"repeated because of {dict(repeated)}; "
        f"{sum(not one.first for one in done)} answered from their record\n"
    )
