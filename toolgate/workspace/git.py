"""The git command line, in an environment of its own: the shell's GIT_* is not heard."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from functions._runtime.workspace.objects import SUBMODULE
from toolgate.workspace.errors import GitError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_PLAIN = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false")
_NAMED_MAX = 5


def environment(**more: str) -> dict[str, str]:
    """What git is run with: no GIT_* of the caller's, no prompts, messages in English."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    return {**kept, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", **more}


def git(
    directory: Path,
    *arguments: str,
    env: Mapping[str, str] | None = None,
    ok: tuple[int, ...] = (),
    stdin: bytes = b"",
) -> bytes:
    """Run git in a directory, give it `stdin`, and give what it printed.

    Raises GitError for an exit status that is neither 0 nor in `ok`.
    """
    done = _run(directory, *arguments, env=env, stdin=stdin)
    if done.returncode and done.returncode not in ok:
        raise GitError(_complaint(arguments, done.stderr))
    return done.stdout


def succeeds(directory: Path, *arguments: str) -> bool:
    """Whether git says yes (exit status 0) and not no (1). Raises GitError for anything else."""
    done = _run(directory, *arguments)
    if done.returncode not in {0, 1}:
        raise GitError(_complaint(arguments, done.stderr))
    return done.returncode == 0


def fast_import(
    directory: Path, stream: Iterable[bytes], env: Mapping[str, str] | None = None
) -> None:
    """Feed `git fast-import`, and say that it is done. Raises GitError; no ref has moved then."""
    arguments = ("fast-import", "--quiet", "--done", "--force", "--date-format=raw")
    with subprocess.Popen(
        ["git", *_PLAIN, *arguments],
        cwd=directory,
        env=environment() if env is None else dict(env),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        feed, complaints = process.stdin, process.stderr
        if feed is None or complaints is None:
            raise GitError("git fast-import has no pipes")
        try:
            for chunk in stream:
                feed.write(chunk)
            feed.write(b"done\n")
            feed.close()
        except BrokenPipeError:
            pass  # it gave up early; its exit status and its message tell why
        except BaseException:
            process.kill()
            raise
        complaint = complaints.read()
        if process.wait():
            raise GitError(_complaint(arguments, complaint))


def _run(
    directory: Path,
    *arguments: str,
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            ["git", *_PLAIN, *arguments],
            cwd=directory,
            env=environment() if env is None else dict(env),
            input=stdin,
            capture_output=True,
            check=False,
        )
    except (FileNotFoundError, NotADirectoryError) as error:
        if not directory.is_dir():
            raise GitError(f"{directory} is not a directory") from error
        raise GitError("git is not installed, or not on PATH") from error
    except OSError as error:
        raise GitError(f"git cannot be run in {directory}: {error.strerror}") from error


def _complaint(arguments: tuple[str, ...], stderr: bytes) -> str:
    """Why git failed: what it calls fatal, or its last line; or the files that it names.

    Lines after a fatal one tell only what git did about it, such as to write a crash report.
    """
    lines = stderr.decode("utf-8", "backslashreplace").strip().splitlines()
    fatal = [line for line in lines if line.startswith("fatal: ")]
    names = [line.strip() for line in lines if line.startswith("\t")]
    if not names:
        return f"git {arguments[0]} failed: {(fatal or lines or ['it did not say why'])[-1]}"
    more = f" and {len(names) - _NAMED_MAX} more" if len(names) > _NAMED_MAX else ""
    return f"{lines[0].removeprefix('error: ')} {', '.join(names[:_NAMED_MAX])}{more}"


@dataclass(frozen=True)
class Repository:
    """A directory of a work tree. `prefix` is where it lies below the top: empty, or `a/b/`.

    `git_dir` is the work tree's own, `common_dir` the one that all work trees share.
    """

    directory: Path
    git_dir: Path
    common_dir: Path
    prefix: bytes
    object_format: str

    @property
    def work_tree(self) -> str:
        """A name of the work tree that lasts when the repository is moved."""
        return os.path.relpath(self.git_dir, self.common_dir)

    @property
    def top(self) -> Path:
        """The top of the work tree."""
        depth = self.prefix.count(b"/")
        return self.directory.resolve().parents[depth - 1] if depth else self.directory.resolve()

    def head(self) -> str | None:
        """Id of the commit that is checked out; None before the first."""
        text = git(self.directory, "rev-parse", "--verify", "--quiet", "HEAD^{commit}", ok=(1,))
        return text.decode().strip() or None

    def ref(self, name: str) -> str | None:
        """Id that a ref points to, or None."""
        text = git(self.directory, "rev-parse", "--verify", "--quiet", name, ok=(1,))
        return text.decode().strip() or None

    def commit_at(self, name: str) -> str:
        """Id of the commit that a ref, which must be there, points to. Raises GitError."""
        return git(self.directory, "rev-parse", "--verify", f"{name}^{{commit}}").decode().strip()

    def staged_submodules(self) -> set[bytes]:
        """Paths below the directory where the index has another repository's commit."""
        lines = git(self.directory, "ls-files", "-z", "--stage").split(b"\0")[:-1]
        return {line.partition(b"\t")[2] for line in lines if line.startswith(b"160000 ")}

    def files(self) -> list[bytes]:
        """Tracked and new files below the directory, without ignored ones; may hold repeats."""
        out = git(self.directory, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
        return out.split(b"\0")[:-1]

    def absent(self) -> list[bytes]:
        """Tracked files that a sparse checkout leaves out of the directory."""
        top = os.fsencode(self.directory)
        return sorted(
            path
            for tag, path in self._tracked("-t")
            if tag == b"S" and not os.path.lexists(os.path.join(top, path))  # noqa: PTH118 - bytes
        )

    def unmodified(self, paths: set[bytes]) -> set[bytes]:
        """Those of `paths` that git takes for what is committed, as it converts line ends."""
        options = ("--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all")
        query = ("diff", "--name-only", "-z", "--relative", *options, "HEAD", "--", ".")
        modified = git(self.directory, *query).split(b"\0")[:-1]
        # Git does not look at files that it was told to assume unchanged.
        looked_at = {path for tag, path in self._tracked("-v") if tag == b"H"}
        return (paths & looked_at).difference(modified)

    def _tracked(self, tags: str) -> Iterator[tuple[bytes, bytes]]:
        for line in git(self.directory, "ls-files", "-z", tags).split(b"\0")[:-1]:
            tag, _, path = line.partition(b" ")
            yield tag, path

    def committed(self, commit: str) -> dict[bytes, tuple[str, str]]:
        """Mode and git's id of each path below the directory in a commit."""
        out = git(self.directory, "ls-tree", "-r", "-z", commit)
        entries = (line.partition(b"\t") for line in out.split(b"\0")[:-1])
        return {
            path: (about.split()[0].decode(), about.split()[2].decode())
            for about, _, path in entries
        }

    def submodules(self, commit: str) -> set[bytes]:
        """Paths below the directory where a commit has another repository's commit."""
        return {path for path, (mode, _) in self.committed(commit).items() if mode == SUBMODULE}

    def has(self, commit: str) -> bool:
        """Whether the repository still holds a commit."""
        query = ("rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}")
        return bool(git(self.directory, *query, ok=(1, 128)))

    def is_merged(self, commit: str) -> bool:
        """Whether what is checked out contains a commit."""
        head = self.head()
        return head is not None and self.has(commit) and self.contains(head, commit)

    def contains(self, descendant: str, commit: str) -> bool:
        """Whether a commit is another, or comes after it."""
        return succeeds(self.directory, "merge-base", "--is-ancestor", commit, descendant)


def find_repository(directory: Path) -> Repository | None:
    """The repository whose work tree a directory belongs to; None if it belongs to none.

    A directory that a repository around it ignores belongs to none. Raises GitError if git cannot
    tell, so that a repository is never taken for a plain directory and its ignored files pushed.
    """
    _refuse_unreadable(directory)
    done = _run(directory, "rev-parse", "--is-inside-work-tree")
    if done.returncode:
        if b"not a git repository" in done.stderr:
            return None
        raise GitError(_complaint(("rev-parse",), done.stderr))
    if done.stdout.strip() != b"true":
        raise GitError(f"{directory} is inside a git directory, not in a work tree")
    prefix = git(directory, "rev-parse", "--show-prefix").removesuffix(b"\n")
    if prefix and succeeds(directory, "check-ignore", "--quiet", "--", str(directory.resolve())):
        return None
    git_dir, common_dir = (
        Path(os.fsdecode(git(directory, "rev-parse", *what).removesuffix(b"\n")))
        for what in (["--absolute-git-dir"], ["--path-format=absolute", "--git-common-dir"])
    )
    object_format = git(directory, "rev-parse", "--show-object-format").decode().strip()
    return Repository(directory, git_dir, common_dir, prefix, object_format)


def _refuse_unreadable(directory: Path) -> None:
    """Raise GitError if the nearest `.git`, here or above, leads to no repository.

    Git itself passes over some of those and looks further up, or calls the directory a plain one.
    """
    here = directory.resolve()
    places = (place / ".git" for place in (here, *here.parents))
    nearest = next((place for place in places if os.path.lexists(place)), None)
    if nearest is None:
        return
    done = _run(here, "rev-parse", "--git-dir", env=environment(GIT_DIR=str(nearest)))
    if done.returncode:
        raise GitError(
            f"{_complaint(('rev-parse',), done.stderr)}; {nearest} leads to no repository, so what "
            "it ignores cannot be told: repair it, or move it away"
        )
