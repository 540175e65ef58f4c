"""What must be true of a few patches under a few keys, as plain dictionaries.

The model does not know how the product works: it knows texts, who has called with which key, and
what a caller may be told when.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from contracts import registry
from contracts.fingerprint import record_id

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.exactly_once.attempts import Attempt

SPEC = registry.find("apply_patch_v1")
ROOT = "/interleavings"
TENANTS = ("default", "other")
BEFORE = {"a.txt": "one\ntwo\nthree\n", "b.txt": "b\n"}
LEASE_MS = 17_000
"""The tool's 15 s, and the grace."""
TIMEOUT_AFTER_MS = 12_000
"""Within its last 3 s an attempt gives up."""

Files = dict[str, str]


class Operation(NamedTuple):
    """One change, as it is sent, and as a plain function of the files: None if it cannot be."""

    entries: tuple[tuple[str, str, str], ...]
    changes: dict[str, tuple[str | None, str | None]]
    """By path: a text that must be there and what replaces it; None: no such file."""

    def outcome(self, files: Files) -> Files | None:
        """The files after it."""
        after = dict(files)
        for path, (old, new) in self.changes.items():
            text = files.get(path)
            if old == "*":
                after[path] = new or ""
            elif (text is None) != (old is None) or (old is not None and old not in text):
                return None
            elif new is None:
                del after[path]
            else:
                after[path] = new if text is None else text.replace(old, new)
        return after


def _diff(path: str, hunk: str, before: str | None = None, after: str | None = None) -> Any:
    before, after = before or f"a/{path}", after or f"b/{path}"
    return (path, "unified_diff", f"--- {before}\n+++ {after}\n{hunk}")


INSERT = _diff("a.txt", "@@ -1 +1,2 @@\n one\n+more\n")
CREATE = _diff("c.txt", "@@ -0,0 +1 @@\n+c\n", before="/dev/null")
OPERATIONS = {
    # Twice is not once: each insertion adds a line.
    "insert": Operation((INSERT,), {"a.txt": ("one\n", "one\nmore\n")}),
    "raise": Operation(
        (_diff("a.txt", "@@ -2,2 +2,2 @@\n-two\n+TWO\n three\n"),), {"a.txt": ("two\n", "TWO\n")}
    ),
    "lower": Operation(
        (_diff("a.txt", "@@ -2,2 +2,2 @@\n-TWO\n+two\n three\n"),), {"a.txt": ("TWO\n", "two\n")}
    ),
    "write": Operation((("b.txt", "replace_full", "B\n"),), {"b.txt": ("*", "B\n")}),
    "drop": Operation(
        (_diff("c.txt", "@@ -1 +0,0 @@\n-c\n", after="/dev/null"),), {"c.txt": ("c\n", None)}
    ),
    "both": Operation(
        (INSERT, CREATE), {"a.txt": ("one\n", "one\nmore\n"), "c.txt": (None, "c\n")}
    ),
}
RIVALS = {
    "elsewhere": Operation((), {"b.txt": ("*", "rival\n")}),
    "same line": Operation((), {"a.txt": ("two\n", "2\n")}),
    "back again": Operation((), {"a.txt": ("2\n", "two\n")}),
}


@dataclass(frozen=True)
class Call:
    """What a caller sends, and for whom."""

    tenant: str
    key: str
    operation: str
    dry_run: bool = False

    @property
    def name(self) -> tuple[str, str]:
        """What it is recorded under."""
        return self.tenant, self.key

    def arguments(self) -> dict[str, Any]:
        """As they go over the wire."""
        entries = OPERATIONS[self.operation].entries
        return {
            "schemaVersion": SPEC.major,
            "idempotencyKey": self.key,
            "repoRoot": ROOT,
            "dryRun": self.dry_run,
            "files": [{"path": p, "mode": m, "content": c} for p, m, c in entries],
        }


@dataclass
class Answer:
    """The final answer of a call: what it said first, and which attempt earned it, if known."""

    operation: str
    essence: tuple[Any, ...]
    by: Attempt | None


@dataclass
class Model:
    """The files, the answers and the commits, by tenant."""

    files: dict[str, Files] = field(default_factory=lambda: {t: dict(BEFORE) for t in TENANTS})
    log: dict[str, list[str]] = field(default_factory=lambda: {t: [""] for t in TENANTS})
    """The operation of each commit; the first made the workspace."""
    answers: dict[tuple[str, str], Answer] = field(default_factory=dict)
    holders: dict[tuple[str, str], str] = field(default_factory=dict)
    """The operation whose call was the first to claim the key."""
    attempts: list[tuple[Call, Attempt]] = field(default_factory=list)
    seen: dict[int, set[tuple[Any, ...]]] = field(default_factory=dict)
    """What each attempt's call came to on the states that were there while it was open."""
    began_at: dict[int, int] = field(default_factory=dict)
    """How many commits there were when it began."""

    def began(self, call: Call, attempt: Attempt) -> None:
        """An attempt has been started."""
        self.attempts.append((call, attempt))
        self.seen[id(attempt)] = {self.essence(call)}
        self.began_at[id(attempt)] = len(self.log[call.tenant])

    def claimed(self, call: Call) -> None:
        """An attempt's claim has reached the table, now or before."""
        if not call.dry_run:
            self.holders.setdefault(call.name, call.operation)

    def committed(self, tenant: str, changes: Operation, operation: str) -> None:
        """The workspace has got one more commit."""
        after = changes.outcome(self.files[tenant])
        assert after is not None, "committed what did not fit"
        assert after != self.files[tenant], "committed what changes nothing"
        self.files[tenant] = after
        self.log[tenant].append(operation)
        for call, attempt in self.attempts:
            if call.tenant == tenant:
                self.seen[id(attempt)].add(self.essence(call))

    def took_effect(self, call: Call, attempt: Attempt) -> None:
        """This attempt has changed the workspace: it may, once for each key."""
        assert not call.dry_run, "a dry run changed something"
        assert call.name not in self.answers, "the effect happened twice"
        self.earned(call, attempt)
        self.answers[call.name] = Answer(call.operation, self.essence(call), attempt)
        self.committed(
            call.tenant, OPERATIONS[call.operation], record_id(SPEC, call.tenant, call.key)
        )

    def earned(self, call: Call, attempt: Attempt) -> None:
        """This attempt says how its call ended: it must have had the key for itself."""
        assert self.holders[call.name] == call.operation, "the key was another call's"
        for _, other in self.others(call, attempt):
            leased = other.started_ms + LEASE_MS >= attempt.started_ms
            at_it = not other.over or (other.answer is None and other.done.count("UpdateItem") == 1)
            assert not (leased and at_it), "took a key from an attempt that had it"

    def essence(self, call: Call) -> tuple[Any, ...]:
        """What the call would be told on the files as they are."""
        before = self.files[call.tenant]
        after = OPERATIONS[call.operation].outcome(before)
        if after is None:
            return ("CONFLICT",)
        paths = dict.fromkeys(path for path, _, _ in OPERATIONS[call.operation].entries)
        return ("ok", *(path for path in paths if before.get(path) != after.get(path)))

    def others(self, call: Call, attempt: Attempt) -> Iterator[tuple[Call, Attempt]]:
        """The other attempts whose claims of the same key have reached the table."""
        for theirs, other in self.attempts:
            if theirs.name == call.name and other is not attempt and other.claimed:
                yield theirs, other

    def a_day_passed(self) -> None:
        """Every key is new again."""
        self.answers.clear()
        self.holders.clear()
        self.attempts.clear()
        self.seen.clear()
        self.began_at.clear()
