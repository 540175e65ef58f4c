"""How a command tells what it is doing: one line a step, with the time that it took."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from rich.console import Console

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager


class Progress(Protocol):
    """Receives the steps of a command as they happen."""

    def step(self, title: str) -> AbstractContextManager[None]:
        """Announce a step; it is over when the context ends."""
        ...

    def note(self, text: str) -> None:
        """Say something beside the steps."""
        ...


class Silent:
    """Says nothing."""

    @contextmanager
    def step(self, title: str) -> Iterator[None]:  # noqa: ARG002 - the protocol's signature
        """Run the step."""
        yield

    def note(self, text: str) -> None:
        """Drop the text."""


class Shown:
    """Shows a spinner while a step runs, then the step and its seconds, on stderr."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(stderr=True, highlight=False)

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        """Run the step under a spinner; a step that fails is marked so."""
        began = time.monotonic()
        mark = "[red]✗[/red]"
        try:
            with self.console.status(f"{title} …"):
                yield
            mark = "[green]✓[/green]"
        finally:
            seconds = time.monotonic() - began
            self.console.print(f"{mark} {title} [dim]{seconds:.1f} s[/dim]")

    def note(self, text: str) -> None:
        """Print the text, dimmed."""
        self.console.print(f"  {text}", style="dim")
