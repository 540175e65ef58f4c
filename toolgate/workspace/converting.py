"""What git stores of files that it converts: line ends, filters, encodings. `git add` is asked.

A workspace holds files as they lie in a working tree. What a commit must hold of them depends on
attributes and configuration, which git alone reads rightly.
"""

from __future__ import annotations

import shlex
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from functions._runtime.workspace.names import shown
from functions._runtime.workspace.objects import EXECUTABLE, FILE
from toolgate.workspace.errors import GitError
from toolgate.workspace.fast_import import refuse_git_directory
from toolgate.workspace.git import environment, git
from toolgate.workspace.writing import DirectoryWriter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from functions._runtime.workspace.walk import Difference
    from toolgate.workspace.fast_import import ReadBlob
    from toolgate.workspace.git import Repository

    Step = Sequence[Difference]

_ATTRIBUTES = b".gitattributes"
_ASKED = ("text", "crlf", "eol", "ident", "filter", "working-tree-encoding")
_OFF = {b"unspecified", b"unset"}
_FALSE = {"", "false", "no", "off", "0"}
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"


def stored_ids(
    repository: Repository, base: str | None, steps: Sequence[Step], read: ReadBlob
) -> list[dict[bytes, str]]:
    """For each step after the commit `base`: git's ids of the blobs that are not as `read` gives.

    Such a blob is then in the repository; what is in no answer is stored as it is. A file whose
    bytes a step does not change keeps the blob that it has. Raises GitError if a filter fails.
    """
    if not any(steps):
        return [{} for _ in steps]
    with tempfile.TemporaryDirectory(prefix="toolgate-convert-") as place:
        return _Scratch(repository, Path(place), base, read).run(steps)


class _Scratch:
    """An index and a working tree of their own, which know what the step before left."""

    def __init__(
        self, repository: Repository, place: Path, base: str | None, read: ReadBlob
    ) -> None:
        self._repository, self._read = repository, read
        self._tree, self._index = place / "tree", place / "index"
        self._tree.mkdir()
        top = repository.directory
        committed = repository.committed(base) if base else {}
        self._committed = {path: oid for path, (_, oid) in committed.items()}
        self._known: dict[tuple[bytes, str], str] = {}
        auto = git(top, "config", "--get", "core.autocrlf", ok=(1,)).decode().strip().lower()
        self._everything = auto not in _FALSE
        self._filters = _configured_filters(repository)
        self._filter_of: dict[bytes, str] = {}
        if base:
            self._git("read-tree", base)

    def run(self, steps: Sequence[Step]) -> list[dict[bytes, str]]:
        ids: list[dict[bytes, str]] = [{} for _ in steps]
        for epoch in _epochs(steps):
            # Its first step may change the attributes, by which all that follows is converted.
            first, step = epoch[0]
            attributes = [change for change in step if _is_attributes(change.path)]
            self._add([(first, change) for change in attributes], ids)
            paths = {change.path for _, step in epoch for change in step}
            chosen = self._converted(paths - {change.path for change in attributes})
            self._walk(epoch, chosen, ids)
        return ids

    def _walk(
        self, epoch: list[tuple[int, Step]], chosen: set[bytes], ids: list[dict[bytes, str]]
    ) -> None:
        """Convert as many steps at once as change no path twice."""
        batch: dict[bytes, tuple[int, Difference]] = {}
        for number, step in epoch:
            changes = [change for change in step if change.path in chosen]
            if any(change.path in batch for change in changes):
                self._add(list(batch.values()), ids)
                batch = {}
            batch.update({change.path: (number, change) for change in changes})
        self._add(list(batch.values()), ids)

    def _add(self, batch: list[tuple[int, Difference]], ids: list[dict[bytes, str]]) -> None:
        asked: list[tuple[int, Difference]] = []
        for number, change in batch:
            kept = self._kept(change)
            if kept and change.new:
                ids[number][change.path] = kept
            else:
                asked.append((number, change))
        if not asked:
            return
        self._write([change for _, change in asked])
        paths = [self._repository.prefix + change.path for _, change in asked]
        try:
            options = ("-z", "--add", "--remove", "--replace", "--stdin")
            self._git("update-index", *options, stdin=b"".join(path + b"\0" for path in paths))
        except GitError as error:
            raise GitError(
                f"{error}; what git would store cannot be told without it: install or repair it, "
                "and try again"
            ) from error
        staged = self._staged()
        for number, change in asked:
            oid = staged.get(self._repository.prefix + change.path)
            if change.new and oid:
                ids[number][change.path] = oid
                self._known[change.path, change.new.oid] = oid
        self._clear(asked)

    def _kept(self, change: Difference) -> str | None:
        """The blob that git already has of these very bytes under this path."""
        if change.old and (had := self._committed.pop(change.path, None)):
            self._known[change.path, change.old.oid] = had
        return self._known.get((change.path, change.new.oid)) if change.new else None

    def _write(self, changes: list[Difference]) -> None:
        with DirectoryWriter(self._tree) as writer:
            for change in changes:
                refuse_git_directory(change.path)
                if change.new is None or change.new.mode not in {FILE, EXECUTABLE}:
                    continue
                data = self._read(change.path, change.new)
                self._refuse_without_lfs(change.path, data)
                path = self._repository.prefix + change.path
                writer.put_file(path, data, executable=change.new.mode == EXECUTABLE)

    def _clear(self, asked: list[tuple[int, Difference]]) -> None:
        with DirectoryWriter(self._tree) as writer:
            for _, change in asked:
                writer.remove(self._repository.prefix + change.path)

    def _refuse_without_lfs(self, path: bytes, data: bytes) -> None:
        """Git takes a filter that is not set up for none; whole files would get into git then."""
        missing = self._filter_of.get(path) == "lfs" and "lfs" not in self._filters
        if missing and data and not data.startswith(_LFS_POINTER):
            raise GitError(
                f"{shown(path)} goes through the filter lfs, which git does not know here: "
                "run git lfs install, and try again"
            )

    def _converted(self, paths: set[bytes]) -> set[bytes]:
        """Those that git may store otherwise than they are."""
        if not paths:
            return set()
        prefix = self._repository.prefix
        text = b"".join(prefix + path + b"\0" for path in sorted(paths))
        fields = iter(self._git("check-attr", "-z", "--stdin", *_ASKED, stdin=text).split(b"\0"))
        chosen = set(paths) if self._everything else set()
        for full, attribute, value in zip(fields, fields, fields, strict=False):
            if value not in _OFF:
                path = full.removeprefix(prefix)
                chosen.add(path)
                if attribute == b"filter":
                    self._filter_of[path] = value.decode("utf-8", "surrogateescape")
        return chosen

    def _staged(self) -> dict[bytes, str]:
        lines = self._git("ls-files", "-z", "--stage").split(b"\0")[:-1]
        entries = (line.partition(b"\t") for line in lines)
        return {path: about.split()[1].decode() for about, _, path in entries}

    def _git(self, *arguments: str, stdin: bytes = b"") -> bytes:
        settings = {"core.safecrlf": "false", "core.splitIndex": "false", **self._filters_here()}
        numbered = dict(enumerate(settings.items()))
        env = environment(
            GIT_DIR=str(self._repository.git_dir),
            GIT_WORK_TREE=str(self._tree),
            GIT_INDEX_FILE=str(self._index),
            GIT_CONFIG_COUNT=str(len(numbered)),
            **{f"GIT_CONFIG_KEY_{at}": key for at, (key, _) in numbered.items()},
            **{f"GIT_CONFIG_VALUE_{at}": value for at, (_, value) in numbered.items()},
        )
        return git(self._tree, *arguments, env=env, stdin=stdin)

    def _filters_here(self) -> dict[str, str]:
        """Filters run at the top of the user's files, as by `git add`, and must not fail."""
        top = f"cd {shlex.quote(str(self._repository.top))} && "
        settings: dict[str, str] = {}
        for name, commands in self._filters.items():
            settings[f"filter.{name}.required"] = "true"
            for key, command in commands.items():
                # Git replaces what follows a % in this one, but in no process.
                start = top.replace("%", "%%") if key == "clean" else top
                settings[f"filter.{name}.{key}"] = start + command
        return settings


def _configured_filters(repository: Repository) -> dict[str, dict[str, str]]:
    """Commands that bring files into git, by the filter's name."""
    query = ("config", "-z", "--get-regexp", r"^filter\..*\.(clean|process)$")
    lines = git(repository.directory, *query, ok=(1,)).decode("utf-8", "surrogateescape")
    found: dict[str, dict[str, str]] = {}
    for line in lines.split("\0")[:-1]:
        key, _, command = line.partition("\n")
        name, _, what = key.removeprefix("filter.").rpartition(".")
        if command:
            found.setdefault(name, {})[what] = command
    return found


def _epochs(steps: Iterable[Step]) -> Iterator[list[tuple[int, Step]]]:
    """Steps in runs throughout which the attributes stay as the first of each made them."""
    epoch: list[tuple[int, Step]] = []
    for number, step in enumerate(steps):
        if epoch and any(_is_attributes(change.path) for change in step):
            yield epoch
            epoch = []
        epoch.append((number, step))
    yield epoch


def _is_attributes(path: bytes) -> bool:
    return path.rpartition(b"/")[2] == _ATTRIBUTES
