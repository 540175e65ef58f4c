"""The scene that these tests play in."""

from __future__ import annotations

import pytest

from tests.people import clear_bucket, make_keys
from tests.toolgate.approvals.scene import BEFORE, ROOT, WORKFLOW, Scene


@pytest.fixture
def scene(workspaces, monkeypatch):
    """A stage with a key, and a workspace with a protected file."""
    make_keys(monkeypatch)
    clear_bucket()
    files = {WORKFLOW: BEFORE.encode(), "README.md": b"# App\n", "logo.png": b"\x89PNG\0\xff"}
    workspaces.create(ROOT, files)
    return Scene(workspaces)
