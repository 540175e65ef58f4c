"""Move files between a directory and a workspace, and see what happened to it.

`push` brings a directory in, and is the only thing that creates a workspace; `pull` brings agents'
work back, as git commits where the directory is a repository; `log` and `diff` show history, `undo`
takes one revision back, `remove` ends a workspace.
`import_tree` and `export_tree` do the same without rules or records, for tests and demos.
"""

from toolgate.workspace.errors import (
    DirectoryError,
    GitError,
    PullRefusedError,
    PushRefusedError,
    UndoRefusedError,
    WorkspaceError,
)
from toolgate.workspace.exporting import export_tree
from toolgate.workspace.history import diff, log
from toolgate.workspace.pulling import PullResult, branch_of, pull
from toolgate.workspace.pushing import PushResult, import_tree, push
from toolgate.workspace.remote import LogEntry, Remote
from toolgate.workspace.removing import RemoveResult, remove
from toolgate.workspace.undoing import UndoResult, undo

__all__ = [
    "DirectoryError",
    "GitError",
    "LogEntry",
    "PullRefusedError",
    "PullResult",
    "PushRefusedError",
    "PushResult",
    "Remote",
    "RemoveResult",
    "UndoRefusedError",
    "UndoResult",
    "WorkspaceError",
    "branch_of",
    "diff",
    "export_tree",
    "import_tree",
    "log",
    "pull",
    "push",
    "remove",
    "undo",
]
