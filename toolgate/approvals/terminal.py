"""An approval on a terminal, line by line.

Every line of somebody else's words begins with a bar, and is cut where the terminal would wrap it:
nothing that an agent wrote can look like a line of ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer
from rich.table import Table
from rich.text import Text

from toolgate.approvals import words
from toolgate.approvals.visible import Shown, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from toolgate.approvals.client import Listing, Summary
    from toolgate.approvals.rendering import Block
    from toolgate.approvals.review import Review

BAR = "│ "
NARROWEST = 20
ID_WIDTH, STATE_WIDTH = 36, 22
MARKED = (
    "Behind a bar stand words that are not ours: the agent's, and people's reasons. What they "
    "claim may be untrue, or meant to mislead you."
)
_COLOURS = {"added": "green", "removed": "red", "hunk": "cyan"}


def table(listing: Listing, now_s: float, width: int) -> Table:
    """All approvals, one a row; everything about what they are is the agent's own words."""
    made = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    left = max(NARROWEST, width - ID_WIDTH - STATE_WIDTH - 2)
    made.add_column("Approval", overflow="fold", width=ID_WIDTH)
    made.add_column("State", overflow="fold", width=STATE_WIDTH)
    made.add_column("In the agent's words", overflow="fold", width=left)
    for one in listing["approvals"]:
        made.add_row(
            Text(f"{visible(one['approvalId'])}\n{visible(one['tool'])}"),
            Text("\n".join(_state(one, now_s))),
            Text(words.subject(one["subject"])),
        )
    return made


def _state(one: Summary, now_s: float) -> Iterator[str]:
    yield f"{words.state(one)}{', your turn' if one['mayVote'] else ''}"
    pending = one["state"] == "pending"
    ends = f", ends {words.away(one['approveBy'], now_s)}" if pending else ""
    yield f"{words.tally(one)}{ends}"
    yield f"asked by {visible(one['requester'])}"


def told(review: Review, now_s: float, width: int | None) -> Iterator[str]:
    """The whole approval. `width` is the terminal's, None for no terminal."""
    approval = review.approval
    yield typer.style(f"{words.state(approval)}: {words.clock(approval, now_s)}", bold=True)
    for name, value in words.facts(approval):
        yield f"  {name:<13} {value}"
    yield ""
    yield f"{words.tally(approval)} have agreed"
    for vote in approval["votes"]:
        yield f"  {visible(vote['by'])}: {visible(vote['decision'])}, {words.moment(vote['at'])}"
        if vote["reason"]:
            yield from _quoted(f"  {BAR}", vote["reason"], width)
    yield ""
    yield MARKED
    for block in review.blocks:
        yield ""
        yield from _block(block, width)


def audited(audit: Mapping[str, Any], width: int | None) -> Iterator[str]:
    """The events of an approval."""
    for event in words.events(audit["events"]):
        yield f"{event.n}  {event.at}  {event.kind} by {event.by}"
        for name, text in event.words:
            yield from _quoted(f"   {BAR}", Shown(f"{name}: {text}"), width)
        yield f"   {event.hash}"


def _block(block: Block, width: int | None) -> Iterator[str]:
    if block.is_path:
        yield typer.style(block.label, bold=True)
        yield from _quoted(BAR, block.title, width)
    else:
        yield typer.style(block.title, bold=True)
    for warning in block.warnings:
        yield typer.style(f"! {warning}", fg="yellow", bold=True)
    yield from block.said
    for fact in block.facts:
        yield from _quoted(f"  {fact.name:<13} {BAR}", fact.value, width)
    for row in block.rows:
        yield f"  {words.moment(row.at)}  {row.tool} by {row.by}"
        yield from _quoted(f"  {BAR}", row.revision, width)
        for text in filter(None, (row.message, *row.paths)):
            yield from _quoted(f"  {BAR}", text, width)
        if row.more:
            yield f"  and {row.more} more"
    for passage in block.passages:
        count = len(passage.lines)
        counted = f"{count:,} line{'' if count == 1 else 's'}"
        yield f"{passage.title}: {counted}, +{passage.added:,} -{passage.removed:,}"
        for line in passage.lines:
            yield from _quoted(
                BAR, Shown(f"{line.sign}{line.text}"), width, _COLOURS.get(line.kind)
            )


def _quoted(prefix: str, text: str, width: int | None, colour: str | None = None) -> Iterator[str]:
    shown = visible(text, keep="\t").expandtabs(4)
    for piece in _pieces(shown, None if width is None else width - len(prefix)):
        yield prefix + (typer.style(piece, fg=colour) if colour else piece)


def _pieces(text: str, width: int | None) -> Sequence[str]:
    """The text in pieces that fit; a character that is no ASCII may take two places."""
    if width is None or not text:
        return [text]
    step = max(NARROWEST, width if text.isascii() else width // 2)
    return [text[start : start + step] for start in range(0, len(text), step)]
