"""Errors that end a command with one sentence instead of a traceback.

CommandError            exit code 2: the command could not be carried out as asked
└── CallFailedError     exit code 1: it was, and the tool gave no answer
"""

from __future__ import annotations


class CommandError(Exception):
    """Says in one sentence what is wrong and what to do."""


class CallFailedError(CommandError):
    """A tool was called and no answer came back."""
