"""What a loop has sent, on disk before it is sent, so that a crash of the harness loses no call.

An append-only file of JSON lines, for one session and one process at a time:

    {"is": "sent", "turn": 3, "action": 0, "tool": "apply_patch_v2", "key": …,
     "arguments": {…}, "atMs": …}
    {"is": "answered", "turn": 3, "action": 0, "result": {…}}

`sent` is on the disk before the call leaves; `answered` follows each result. A call whose last line
is `sent` may or may not have happened: only sending it again, as it was, tells. The file holds
arguments and results, never a token or the secret; only its owner may read it.
"""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from contracts.results import Result

KEPT_MS = 23 * 3_600_000
"""How long after sending a call may be repeated blindly: tools know a key for 24 hours."""


class JournalError(RuntimeError):
    """The journal cannot be used: in use elsewhere, full, damaged, or at odds with a call."""


@dataclass(frozen=True)
class Call:
    """One call, as it is sent each time: the version of the tool, its arguments, its key.

    `arguments` are the model's; what the harness adds is made of `key` and the version. JSON-ready
    by `dataclasses.asdict`.
    """

    turn: int
    action: int
    tool: str
    key: str
    arguments: dict[str, Any]

    @property
    def place(self) -> tuple[int, int]:
        """Where in the session: turn and action."""
        return self.turn, self.action


@dataclass
class Entry:
    """What is known of a call: since when it may have happened, and its last answer, if any."""

    call: Call
    sent_ms: int
    result: Result | None = None

    @property
    def is_pending(self) -> bool:
        """Whether nothing has happened yet, as the last answer says: people are asked first."""
        error = self.result.get("error") if self.result else None
        return error is not None and error["code"] == "APPROVAL_PENDING"

    def sent_again(self, at_ms: int) -> Entry:
        """The entry once the call is sent once more, now without an answer."""
        return Entry(self.call, at_ms if self.is_pending else self.sent_ms)


class Journal:
    """An open journal; a context manager. Nothing else may write to its file meanwhile."""

    def __init__(self, path: Path | str) -> None:
        """Open or make the file. Raises JournalError if it is in use or damaged.

        A last line that is cut short is taken away: its call was never sent.
        """
        path = Path(path)
        self.entries: dict[tuple[int, int], Entry] = {}
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._read(path)
        except BlockingIOError:
            self.close()
            raise JournalError(f"{path} is in use by another process") from None
        except (JournalError, OSError):
            self.close()
            raise
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)  # else a new file's name may not survive what its lines do
        finally:
            os.close(folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file; more than once does no harm."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    @property
    def next_turn(self) -> int:
        """The first turn that no call has been made in yet."""
        return max((turn for turn, _ in self.entries), default=-1) + 1

    def sent(self, call: Call, at_ms: int) -> None:
        """Write down that a call is about to be sent; on the disk when this returns."""
        known = self.entries.get(call.place)
        if known is not None and known.call != call:
            raise JournalError(f"turn {call.turn}, action {call.action} was another call")
        self._append(
            {
                "is": "sent",
                "turn": call.turn,
                "action": call.action,
                "tool": call.tool,
                "key": call.key,
                "arguments": call.arguments,
                "atMs": at_ms,
            }
        )
        self._note(call, at_ms)

    def answered(self, call: Call, result: Result) -> None:
        """Write down how a call that was sent ended."""
        line = {"is": "answered", "turn": call.turn, "action": call.action, "result": result}
        self._append(line)
        self.entries[call.place].result = result

    def _note(self, call: Call, at_ms: int) -> None:
        known = self.entries.get(call.place)
        self.entries[call.place] = known.sent_again(at_ms) if known else Entry(call, at_ms)

    def _append(self, line: dict[str, Any]) -> None:
        data = json.dumps(line, separators=(",", ":")).encode("ascii") + b"\n"
        end = os.lseek(self._file, 0, os.SEEK_END)
        try:
            while data:
                data = data[os.write(self._file, data) :]
            os.fsync(self._file)
        except OSError as error:
            # Half a line would spoil the next one.
            with suppress(OSError):
                os.ftruncate(self._file, end)
            raise JournalError(f"the journal cannot be written: {error.strerror}") from error

    def _read(self, path: Path) -> None:
        data = path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            os.ftruncate(self._file, whole)
            os.fsync(self._file)
        for number, line in enumerate(data[:whole].splitlines(), 1):
            try:
                self._take(json.loads(line))
            except (KeyError, TypeError, ValueError):
                raise JournalError(f"{path} is damaged at line {number}") from None

    def _take(self, line: dict[str, Any]) -> None:
        place = line["turn"], line["action"]
        if line["is"] == "sent":
            call = Call(*place, line["tool"], line["key"], line["arguments"])
            self._note(call, line["atMs"])
        elif line["is"] == "answered":
            self.entries[place].result = line["result"]
        else:
            raise ValueError
