"""Bring a workspace's changes to a directory: as git commits, or as files where there is no git."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from functions._runtime.workspace.heads import parse_revision
from functions._runtime.workspace.names import shown
from functions._runtime.workspace.walk import differences
from toolgate.workspace.converting import stored_ids
from toolgate.workspace.disk import FILE_MAX_BYTES
from toolgate.workspace.errors import DirectoryError, GitError, PullRefusedError
from toolgate.workspace.exporting import update_directory
from toolgate.workspace.fast_import import CommitText, commit
from toolgate.workspace.git import fast_import, find_repository, git, succeeds
from toolgate.workspace.record import Record, RecordFile
from toolgate.workspace.remote import Remote

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from functions._runtime.workspace.heads import Head, Stores
    from functions._runtime.workspace.objects import TreeEntry
    from functions._runtime.workspace.walk import Difference
    from toolgate.workspace.git import Repository
    from toolgate.workspace.remote import LogEntry

# Without this, git takes ignored files, which are nowhere else, for worthless and overwrites them.
_KEEP_IGNORED = ("--no-overwrite-ignore",)
_NOT_IN_BRANCH = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True)
class PullResult:
    """What a pull brought: in a repository `commits` new ones, up to `tip`, on `branch`.

    Elsewhere `changed` paths, and no branch. Both are 0 if nothing was new; `tip` is None if the
    branch is not there, because nothing was ever to be brought.
    """

    revision: str
    commits: int = 0
    changed: int = 0
    branch: str | None = None
    tip: str | None = None


def pull(
    stores: Stores,
    directory: Path,
    repo_root: str,
    *,
    tenant: str = "default",
    branch: str | None = None,
    checkout: bool = False,
    state_directory: Path | None = None,
) -> PullResult:
    """Bring what the workspace has and the directory has not seen.

    In a repository: one commit for each row of history, with its author, time and message, on
    `branch` (`toolgate/NAME` if not given); index and files stay as they are unless `checkout`.
    Elsewhere: the files themselves; the directory is made if need be.

    Raises NotFoundError if there is no such workspace, PullRefusedError if something local would be
    lost, DirectoryError if the directory cannot be made, GitError, UnavailableError.
    """
    remote = Remote(stores, tenant, repo_root)
    head = remote.head()
    _make(directory)
    repository = find_repository(directory)
    record_file = RecordFile(directory, repository, state_directory, remote)
    record = _still_true(remote, record_file.load())
    if repository is None and (branch is not None or checkout):
        raise PullRefusedError(
            f"{directory} is in no git repository, so there is no branch to pull to or check out"
        )
    if repository is None:
        base = parse_revision(record.revision).tree if record else None
        changed = update_directory(remote.snapshot(head), directory, base)
        record_file.save(Record(head.revision))
        return PullResult(head.revision, changed=changed)
    name = branch_of(repo_root) if branch is None else branch
    _refuse_bad_name(repository, name)
    return _Git(remote, repository, record_file, name).pull(head, record, checkout=checkout)


def _refuse_bad_name(repository: Repository, name: str) -> None:
    # HEAD and @ may be refs, but no git command takes a branch of that name for one.
    spelt = not name.startswith("-") and name not in {"HEAD", "@"}
    if not spelt or not succeeds(repository.directory, "check-ref-format", f"refs/heads/{name}"):
        raise PullRefusedError(f"{name!r} is no name for a branch")


def _make(directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DirectoryError(f"{directory} cannot be made: {error.strerror}") from error


def branch_of(repo_root: str) -> str:
    """The branch that a workspace is pulled to: `toolgate/` and its last name."""
    last = repo_root.rstrip("/").rpartition("/")[2]
    return f"toolgate/{_NOT_IN_BRANCH.sub('-', last).strip('-') or 'workspace'}"


def _still_true(remote: Remote, record: Record | None) -> Record | None:
    """The record, unless the workspace's history is no longer the one it speaks of."""
    if record is None:
        return None
    seen = parse_revision(record.revision)
    row = remote.row(seen.seq)
    return record if row and row.tree == seen.tree else None


class _Git:
    """A pull into a repository."""

    def __init__(
        self, remote: Remote, repository: Repository, record_file: RecordFile, branch: str
    ) -> None:
        self._remote, self._repository = remote, repository
        self._record_file = record_file
        self._branch, self._ref = branch, f"refs/heads/{branch}"
        self._import_ref = f"refs/toolgate/{record_file.key}/pulled"

    def pull(self, head: Head, record: Record | None, *, checkout: bool) -> PullResult:
        base = record.commit if record else None
        seen = parse_revision(record.revision) if record and base else None
        first = seen.seq + 1 if seen else 1
        rows = list(self._remote.rows(first, head.seq))
        here = self._repository.ref(self._ref)
        if not rows:
            here = self._with_what_was_pulled(here, record)
            if checkout and here:
                self._check_out()
            return PullResult(head.revision, branch=self._branch, tip=here)
        current = self._checked_out_here()
        if current and not checkout:
            raise PullRefusedError(
                f"{self._branch} is checked out; check out another branch, or pull with checkout"
            )
        if base and not self._repository.has(base):
            raise GitError(
                f"the commit {base[:12]}, which the last push or pull left here, is gone; to pull "
                f"the whole history instead, remove {self._record_file.path}"
            )
        steps = self._steps(rows, base, seen.tree if seen else None)
        fast_import(self._repository.directory, self._stream(rows, steps, base))
        tip = self._repository.commit_at(self._import_ref)
        ours = record.tip if record else None
        if here not in {None, ours, tip}:
            raise PullRefusedError(
                f"{self._branch} has commits that no pull brought; give another branch (--branch)"
            )
        if current:
            self._show("merge", "--ff-only", "--quiet", *_KEEP_IGNORED, tip)
        elif here != tip:
            self._move(tip, here)
        # The branch has moved: the next pull must know it, even if it cannot be checked out now.
        self._record_file.save(Record(head.revision, tip, tip, self._repository.work_tree))
        if checkout and not current:
            self._check_out()
        return PullResult(head.revision, commits=len(rows), branch=self._branch, tip=tip)

    def _with_what_was_pulled(self, here: str | None, record: Record | None) -> str | None:
        """Where the branch is, made if it is gone, when there is nothing but what was pulled."""
        tip = record.tip if record and record.tip == record.commit else None
        if tip is None or not self._repository.has(tip):
            return here
        if here is None:
            self._move(tip, None)
            return tip
        if not self._repository.contains(here, tip):
            raise PullRefusedError(
                f"{self._branch} does not hold what was pulled; merge {tip[:12]}, or give another "
                "branch (--branch)"
            )
        return here

    def _steps(
        self, rows: list[LogEntry], base: str | None, tree: str | None
    ) -> list[list[Difference]]:
        """What each row changed, without what the repository keeps for its submodules."""
        submodules = self._repository.submodules(base) if base else set()
        read, inside = self._remote.objects.tree, partial(_meets, submodules)
        if rows and submodules:
            for change in differences(read, tree, rows[-1].tree):
                if change.new and (submodule := inside(change.path)):
                    raise PullRefusedError(
                        f"the workspace holds {shown(change.path)}, where this repository has the "
                        f"submodule {shown(submodule)}; undo that or move it in the workspace, and "
                        "pull again"
                    )
        steps = []
        for row in rows:
            # What was there for a while only is left out: the submodule must stay in each commit.
            found = differences(read, tree, row.tree)
            steps.append([change for change in found if not inside(change.path)])
            tree = row.tree
        return steps

    def _stream(
        self, rows: list[LogEntry], steps: list[list[Difference]], base: str | None
    ) -> Iterator[bytes]:
        objects, prefix = self._remote.objects, self._repository.prefix

        def read(_: bytes, entry: TreeEntry) -> bytes:
            return objects.blob(entry.oid, FILE_MAX_BYTES)

        stored = stored_ids(self._repository, base, steps, read)
        parent = base
        for row, step, ids in zip(rows, steps, stored, strict=True):
            changes = [(change.path, change.new) for change in step]
            yield from commit(
                self._import_ref, parent, _text(row), changes, read, prefix=prefix, ids=ids
            )
            parent = None

    def _checked_out_here(self) -> bool:
        """Whether the branch is what the directory shows. Raises if another work tree shows it."""
        query = ("for-each-ref", "--format=%(worktreepath)", self._ref)
        if not git(self._repository.directory, *query).strip():
            return False
        out = git(self._repository.directory, "symbolic-ref", "--quiet", "HEAD", ok=(1,))
        if out.decode().strip() != self._ref:
            raise PullRefusedError(f"{self._branch} is checked out in another work tree")
        return True

    def _move(self, tip: str, old: str | None) -> None:
        nothing = "0" * len(tip)
        reason = f"toolgate: pull {self._remote.name.repo_root}"
        git(
            self._repository.directory,
            *("update-ref", "-m", reason, self._ref, tip, old or nothing),
        )

    def _check_out(self) -> None:
        self._show("checkout", "--quiet", *_KEEP_IGNORED, self._branch, "--")

    def _show(self, *arguments: str) -> None:
        """Bring the work to index and files. Raises PullRefusedError, which names the files."""
        try:
            git(self._repository.directory, *arguments)
        except GitError as error:
            raise PullRefusedError(f"{self._branch} cannot be checked out here: {error}") from error


def _meets(submodules: set[bytes], path: bytes) -> bytes | None:
    """The submodule that a path is, lies in, or would take the place of."""
    if not submodules:
        return None
    parts = path.split(b"/")
    above = (b"/".join(parts[:end]) for end in range(1, len(parts) + 1))
    inside = next((each for each in above if each in submodules), None)
    return inside or next((s for s in submodules if s.startswith(path + b"/")), None)


def _text(row: LogEntry) -> CommitText:
    subject = row.message.strip() or f"Change by {row.tool}"
    message = (
        f"{subject}\n\nToolgate-Revision: {row.revision}\nToolgate-Tool: {row.tool}\n"
        f"Toolgate-Operation: {row.operation}\n"
    )
    return CommitText(row.by, row.at_ms, message)
