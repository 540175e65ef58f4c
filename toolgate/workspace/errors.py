"""Why moving files in or out of a workspace was refused, in words for the person who asked.

    WorkspaceError
    ├── PushRefusedError     the workspace moved on, or pulled work is not merged yet
    ├── PullRefusedError     something local would be lost, or must not be written here
    ├── UndoRefusedError     what would be taken back is not there any more
    ├── DirectoryError       the directory holds what cannot be pushed
    └── GitError             git itself failed; the message is git's own

The stores' own failures come as `contracts.errors` has them.
"""

from __future__ import annotations


class WorkspaceError(Exception):
    """The base; its message is one or two sentences for a person."""


class PushRefusedError(WorkspaceError):
    """Nothing was changed; the message says what to do first."""


class PullRefusedError(WorkspaceError):
    """Nothing was overwritten; the message names what stands in the way."""


class UndoRefusedError(WorkspaceError):
    """Nothing was changed; the message names what was changed since."""


class DirectoryError(WorkspaceError):
    """The directory cannot be read as a tree."""


class GitError(WorkspaceError):
    """A git command failed."""
