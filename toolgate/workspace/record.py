"""What a directory and a workspace last had in common, kept beside the directory.

In a repository it lies in `.git/toolgate/`, once for all its work trees, else in a directory that
the caller names. A push needs it to see that the workspace has not moved, a pull to bring only what
is new.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from functions._runtime.workspace.heads import parse_revision
from toolgate.workspace.errors import WorkspaceError
from toolgate.workspace.identity import identity

if TYPE_CHECKING:
    from pathlib import Path

    from toolgate.workspace.git import Repository
    from toolgate.workspace.remote import Remote

_FORMAT = 1


@dataclass(frozen=True)
class Record:
    """`revision` was pushed or pulled last.

    In a repository, `commit` holds the same files, `tip` is the newest commit that a pull made, and
    `work_tree` tells which of its work trees has the files.
    """

    revision: str
    commit: str | None = None
    tip: str | None = None
    work_tree: str | None = None


class RecordFile:
    """Where the record of one directory and one workspace is kept, if anywhere: at `path`."""

    def __init__(
        self,
        directory: Path,
        repository: Repository | None,
        state_directory: Path | None,
        remote: Remote,
    ) -> None:
        where = repository.common_dir / "toolgate" if repository else state_directory
        place = repository.prefix.hex() if repository else str(directory.resolve())
        stores, name = remote.stores, remote.name
        words = [stores.table, stores.bucket, name.tenant, name.repo_root, place]
        self.key = sha256(json.dumps(words).encode()).hexdigest()[:32]
        # A repository's record goes with it; a plain directory may be another one under its name.
        self._plain = None if repository else directory
        self._about: dict[str, str] = {"tenant": name.tenant, "repoRoot": name.repo_root}
        self._remote = remote
        self.path = where / f"{self.key}.json" if where else None

    def load(self) -> Record | None:
        """The record, or None; none of another directory that once had the name.

        Raises WorkspaceError if the file is damaged or cannot be read.
        """
        if self.path is None or not self.path.exists():
            return None
        try:
            stored = json.loads(self.path.read_text("utf-8"))
            if stored["format"] != _FORMAT:
                raise ValueError("a format of another release")
            if self._is_of_another(stored.get("directory")):
                return None
            kept = Record(**stored["record"]) if stored["record"] else None
            intended = Record(**stored["intended"]) if stored.get("intended") else None
        except (ValueError, KeyError, TypeError) as error:
            raise WorkspaceError(f"{self.path} is damaged; remove it and pull") from error
        except OSError as error:
            raise WorkspaceError(f"{self.path} cannot be read: {error.strerror}") from error
        return intended if intended and self._came_true(intended) else kept

    def save(self, record: Record | None, intended: Record | None = None) -> None:
        """Keep a record, whole or not at all, or one for as long as `intended` is not true.

        What is kept before the workspace moves is there whatever happens when it does. Raises
        WorkspaceError if it cannot be written.
        """
        if self.path is None:
            return
        about = self._about
        try:
            if self._plain:
                about = {**about, "directory": identity(self._plain)}
            self.path.parent.mkdir(parents=True, exist_ok=True)
            records = {"record": record, "intended": intended}
            kept = {name: asdict(each) if each else None for name, each in records.items()}
            text = json.dumps({"format": _FORMAT, **about, **kept}, indent=2)
            spare = self.path.with_suffix(".new")
            spare.write_text(text + "\n", "utf-8")
            spare.replace(self.path)
        except OSError as error:
            raise WorkspaceError(f"{self.path} cannot be written: {error.strerror}") from error

    def _came_true(self, intended: Record) -> bool:
        revision = parse_revision(intended.revision)
        row = self._remote.row(revision.seq)
        return row is not None and row.tree == revision.tree

    def _is_of_another(self, kept: str | None) -> bool:
        if self._plain is None or kept is None:
            return False
        return not self._plain.is_dir() or identity(self._plain) != kept
