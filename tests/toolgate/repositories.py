"""A git repository, its workspace on moto, and an agent that changes it."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from functions._runtime.workspace import Edit, FileWrite
from tests.functions.workspace.cloud import ROOT, Done, TableEffect, workspace
from toolgate.workspace import PullResult, PushResult, pull, push

if TYPE_CHECKING:
    from functions._runtime.workspace import Stores


NOW = 1_700_000_000_000
IDENTITY = {
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.invalid",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.invalid",
    "GIT_CONFIG_NOSYSTEM": "1",
}


@dataclass
class Repo:
    """A repository, its workspace, and an agent that patches it."""

    path: Path
    stores: Stores
    state: Path

    def git(self, *arguments: str) -> str:
        env = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], **IDENTITY}
        run = subprocess.run(
            ["git", *arguments], cwd=self.path, env=env, capture_output=True, check=True
        )
        return run.stdout.decode("utf-8", "surrogateescape").strip()

    def write(self, name: str, data: bytes) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def commit(self, message: str = "Commit") -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD")

    def push(self, directory: Path | None = None, **more: Any) -> PushResult:
        arguments: dict[str, Any] = {"by": "ada", "now_ms": NOW}
        return push(self.stores, directory or self.path, ROOT, **(arguments | more))

    def pull(self, directory: Path | None = None, **more: Any) -> PullResult:
        return pull(self.stores, directory or self.path, ROOT, **more)

    def agent(self, *writes: FileWrite, message: str = "Agent's change", at_ms: int = NOW) -> None:
        number = workspace(self.stores).snapshot().head.seq
        workspace(
            self.stores,
            effect=TableEffect(self.stores, f"apply_patch@1#{number}"),
            by="bedrock",
            now_ms=lambda: at_ms,
        ).change(lambda _: Edit(writes, lambda _: Done(), message))

    def status(self) -> str:
        return self.git("status", "--porcelain") + self.git("rev-parse", "HEAD", "HEAD:")


def made_repo(stores: Stores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A repository with every kind of file, committed; no configuration but its own."""
    monkeypatch.setenv("HOME", str(tmp_path))
    made = Repo(tmp_path / "repo", stores, tmp_path / "state")
    made.path.mkdir()
    made.git("init", "-q", "-b", "main")
    made.write("README.md", b"# App\n")
    made.write("src/app.py", b"print('hello')\n")
    made.write(".gitignore", b"*.log\nsecret/\n")
    made.write("run", b"#!/bin/sh\n").chmod(0o755)
    (made.path / "link").symlink_to("src/app.py")
    made.commit("Start")
    return made


def paths(stores: Stores) -> list[bytes]:
    """Paths that the workspace holds."""
    return [path for path, _ in workspace(stores).snapshot().walk()]
