"""A scratch clone of this project, with the working tree as it is; the project stays untouched."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from toolgate.errors import CommandError
from toolgate.project import ROOT

IDENTITY = ("-c", "user.name=toolgate demo", "-c", "user.email=demo@toolgate.invalid")


def clone(place: Path) -> Path:
    """A git repository in `place` that holds the project's working tree, committed."""
    target = place / "repository"
    if (ROOT / ".git").exists():
        _git(place, "clone", "--quiet", "--no-hardlinks", str(ROOT), str(target))
        listed = _git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split(
            b"\0"
        )
        _mirror([Path(path.decode("utf-8", "surrogateescape")) for path in listed if path], target)
    else:
        ignored = shutil.ignore_patterns(".venv", ".local", "build", "cdk.out", "__pycache__")
        shutil.copytree(ROOT, target, ignore=ignored, symlinks=True)
        _git(target, "init", "--quiet")
    _git(target, "add", "--all")
    _git(target, *IDENTITY, "commit", "--quiet", "--allow-empty", "-m", "The working tree as it is")
    return target


def show(repository: Path, revision: str) -> str:
    """A commit with its author, message and diff, as git prints it."""
    text = _git(repository, "show", "--stat", "--patch", "--format=%an%n%s%n%b", revision)
    return text.decode("utf-8", "replace")


def _mirror(paths: list[Path], target: Path) -> None:
    kept = {path for path in paths if (ROOT / path).exists() or (ROOT / path).is_symlink()}
    for path in set(paths) - kept:
        (target / path).unlink(missing_ok=True)
    for path in kept:
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / path, target / path, follow_symlinks=False)


def _git(directory: Path, *arguments: str) -> bytes:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=directory, check=True, capture_output=True, timeout=120
        )
    except FileNotFoundError:
        raise CommandError("git is not installed") from None
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode("utf-8", "replace").strip()
        raise CommandError(f"git {arguments[0]} failed: {said}") from None
    return done.stdout
