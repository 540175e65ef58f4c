"""Where the project is, for commands that read or write its files."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
"""The checkout that this package runs from."""
