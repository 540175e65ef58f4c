"""Approvals in a few words, for lists and headings. Pure; texts of agents are made visible."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from toolgate.approvals.visible import Shown, concerns, visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from toolgate.approvals.client import Approval, Summary

PATHS_SHOWN = 3
STATES = {
    "pending": "Waiting",
    "approved": "Approved",
    "denied": "Denied",
    "expired": "Expired",
    "consumed": "Carried out",
}
_MINUTE_S, _HOUR_S, _DAY_S = 60, 3600, 86_400


def state(summary: Summary) -> str:
    """Its state in a word."""
    return STATES.get(summary["state"]) or visible(summary["state"])


def subject(about: Mapping[str, Any]) -> Shown:
    """What a call is about, in the agent's own words: `checkout-api 1.4.0 · /w/app`."""
    given = about.get("paths")
    paths = [str(path) for path in given] if isinstance(given, list) else []
    roots = [path for path in (about.get("repoRoot"), *paths) if str(path or "").startswith("/")]
    files = [path for path in paths if path not in roots]
    parts = []
    if isinstance(about.get("name"), str):
        parts.append(" ".join(str(about[key]) for key in ("name", "version") if key in about))
    if files:
        more = len(files) - PATHS_SHOWN + int(about.get("more", 0))
        named = ", ".join(files[:PATHS_SHOWN])
        parts.append(f"{named} and {more} more" if more > 0 else named)
    parts += map(str, dict.fromkeys(roots))
    rest = [value for value in about.values() if isinstance(value, str)]
    return visible(" · ".join(parts or rest or ["no words"]))


def moment(text: str) -> str:
    """`2026-12-01T10:00:00Z` as `1 Dec 2026, 10:00 UTC`; any other text as it is, visible."""
    found = _parsed(text)
    return f"{found.day} {found:%b %Y, %H:%M} UTC" if found else visible(text)


def moment_of(at_ms: int) -> str:
    """Milliseconds since the epoch, to the second."""
    found = datetime.fromtimestamp(at_ms / 1000, UTC)
    return f"{found.day} {found:%b %Y, %H:%M:%S} UTC"


def away(text: str, now_s: float) -> str:
    """How far a moment is: `in 3 h`, `20 min ago`; nothing for what is no moment."""
    found = _parsed(text)
    if found is None:
        return ""
    seconds = round(found.timestamp() - now_s)
    size = abs(seconds)
    if size < _MINUTE_S:
        return "now"
    if size < _HOUR_S:
        said = f"{size // _MINUTE_S} min"
    elif size < _DAY_S * 2:
        said = f"{size // _HOUR_S} h"
    else:
        said = f"{size // _DAY_S} days"
    return f"in {said}" if seconds > 0 else f"{said} ago"


def clock(summary: Summary, now_s: float) -> str:
    """The clock that runs: until when people may decide, or the call be carried out."""
    if summary["state"] == "pending":
        return f"decide by {moment(summary['approveBy'])} ({away(summary['approveBy'], now_s)})"
    late = summary["executeBy"]
    if summary["state"] == "approved" and late:
        return f"to be carried out by {moment(late)} ({away(late, now_s)})"
    return f"asked {moment(summary['createdAt'])} ({away(summary['createdAt'], now_s)})"


def tool(summary: Summary) -> tuple[str, str]:
    """The tool's name and its version."""
    name, _, version = summary["tool"].partition("@")
    return name, version


def may_deceive(about: Mapping[str, Any]) -> bool:
    """Whether a path that a list shows is not what it looks like."""
    paths = about.get("paths")
    return isinstance(paths, list) and any(concerns(str(path)) for path in paths)


def tally(summary: Summary) -> str:
    """How many of how many have agreed."""
    return f"{summary['have']} of {summary['need']}"


def facts(approval: Approval) -> list[tuple[str, str]]:
    """What the stage knows of an approval, by name; none of it is the agent's to choose."""
    given = [
        ("Tool", visible(approval["tool"])),
        ("Asked by", visible(approval["requester"])),
        ("By way of", visible(approval["surface"])),
        ("Tenant", visible(approval["tenant"])),
        ("Asked", moment(approval["createdAt"])),
        ("Decide by", moment(approval["approveBy"])),
    ]
    if approval["executeBy"]:
        given.append(("Carry out by", moment(approval["executeBy"])))
    return [
        *given,
        ("Fingerprint", visible(approval["fingerprint"])),
        ("Id", approval["approvalId"]),
    ]


@dataclass(frozen=True)
class Event:
    """One event of an audit, as far as it can be read."""

    n: Shown
    kind: Shown
    by: Shown
    at: str
    words: tuple[tuple[Shown, Shown], ...]
    hash: Shown


def events(given: Sequence[Any]) -> list[Event]:
    """The events of an audit in words, whatever has become of them: tampering must be seen."""
    return [_event(one if isinstance(one, dict) else {}) for one in given]


def _event(given: dict[str, Any]) -> Event:
    at, data = given.get("atMs"), given.get("data")
    texts = data.items() if isinstance(data, dict) else ()
    try:
        when = moment_of(at) if isinstance(at, int) else visible(str(at))
    except (OverflowError, ValueError, OSError):
        when = visible(str(at))
    return Event(
        n=visible(str(given.get("n"))),
        kind=visible(str(given.get("kind"))),
        by=visible(str(given.get("by"))),
        at=when,
        words=tuple((visible(str(name)), visible(str(text))) for name, text in texts),
        hash=visible(str(given.get("hash"))),
    )


def _parsed(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else None
