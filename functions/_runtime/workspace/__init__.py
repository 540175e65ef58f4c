"""What `repoRoot` names: files with history, read by snapshot and changed all or nothing.

Trees and blobs are git's, with SHA-256 ids, as immutable objects in S3; the head of a branch is one
item in DynamoDB that moves by compare-and-swap.
"""

from functions._runtime.workspace.edits import Edit, FileWrite
from functions._runtime.workspace.heads import Stores
from functions._runtime.workspace.protected import PROTECTED, Protection, protected
from functions._runtime.workspace.snapshot import Entry, PathKind, Snapshot
from functions._runtime.workspace.store import ObjectCache
from functions._runtime.workspace.workspace import Workspace

__all__ = [
    "PROTECTED",
    "Edit",
    "Entry",
    "FileWrite",
    "ObjectCache",
    "PathKind",
    "Protection",
    "Snapshot",
    "Stores",
    "Workspace",
    "protected",
]
