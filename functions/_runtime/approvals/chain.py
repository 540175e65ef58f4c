"""The audit of one approval: events, each with the hash of the one before it. Pure.

A changed, dropped or reordered event breaks the chain. A chain that lost its end does not look
broken, so the hash of each event is published as well, where it is written once (`heads`).
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from contracts.fingerprint import canonical

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Kind = Literal["requested", "approve", "deny", "consumed"]


@dataclass(frozen=True)
class Event:
    """What happened: the `n`th event, by whom, on which arguments; `previous` is a hash."""

    n: int
    previous: str
    kind: str
    by: str
    at_ms: int
    fingerprint: str
    data: dict[str, str] = field(default_factory=dict)

    @property
    def hash(self) -> str:
        """SHA-256 (hex) of the canonical JSON of all of it."""
        said = canonical(self._said()).encode("utf-8", "surrogatepass")
        return hashlib.sha256(said).hexdigest()

    def as_dict(self) -> dict[str, Any]:
        """Its wire form, with its hash."""
        return {**self._said(), "hash": self.hash}

    def _said(self) -> dict[str, Any]:
        return {
            "n": self.n,
            "previous": self.previous,
            "kind": self.kind,
            "by": self.by,
            "atMs": self.at_ms,
            "fingerprint": self.fingerprint,
            "data": self.data,
        }


def first(approval_id: str, *, by: str, at_ms: int, fingerprint: str) -> Event:
    """The event that begins a chain; what goes before it is the approval itself."""
    return Event(1, approval_id, "requested", by, at_ms, fingerprint)


def after(last: Event, kind: Kind, *, by: str, at_ms: int, **data: str) -> Event:
    """The event that follows `last`."""
    return Event(last.n + 1, last.hash, kind, by, at_ms, last.fingerprint, data)


def read_event(value: Mapping[str, Any]) -> Event:
    """An event from its wire form. Raises ValueError, KeyError or TypeError for what is none."""
    return Event(
        n=int(value["n"]),
        previous=str(value["previous"]),
        kind=str(value["kind"]),
        by=str(value["by"]),
        at_ms=int(value["atMs"]),
        fingerprint=str(value["fingerprint"]),
        data={str(name): str(text) for name, text in value["data"].items()},
    )


def problems(
    approval_id: str,
    events: Sequence[Mapping[str, Any]],
    heads: Sequence[Mapping[str, Any]],
) -> list[str]:
    """What is wrong with an audit, in words; nothing if it is whole.

    `events` in their order, and `heads` as `{n, hash}`, both in the wire form of the API.
    """
    found: list[str] = []
    previous, hashes = approval_id, {}
    for place, value in enumerate(events, start=1):
        try:
            event = read_event(value)
        except (AttributeError, KeyError, TypeError, ValueError):
            return [*found, f"event {place} cannot be read"]
        hashes[event.n] = event.hash
        if event.n != place:
            found.append(f"event {place} is missing: event {event.n} stands in its place")
            break
        # All of it, to the letter: a hash of what was read would not see what reading passes over.
        if json.dumps(event.as_dict(), sort_keys=True) != json.dumps(value, sort_keys=True):
            found.append(f"event {place} was edited: it is not what its hash is of")
        if event.previous != previous:
            found.append(f"event {place} does not follow from what stands before it")
        previous = event.hash
    if not events:
        found.append("there are no events at all")
    for head in heads:
        if not isinstance(head, dict) or type(head.get("n")) is not int:
            found.append("a published hash cannot be read")
        elif head["n"] not in hashes:
            found.append(f"event {head['n']} was published and is gone")
        elif hashes[head["n"]] != head.get("hash"):
            found.append(f"event {head['n']} is not the one that was published")
    return found


def unpublished(
    events: Sequence[Mapping[str, Any]], heads: Sequence[Mapping[str, Any]]
) -> list[int]:
    """The events whose hash stands nowhere else: of these alone nobody could tell a loss."""
    known = {head.get("n") for head in heads if isinstance(head, dict)}
    return sorted({int(event["n"]) for event in events} - known)
