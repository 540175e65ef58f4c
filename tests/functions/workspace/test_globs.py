from __future__ import annotations

import time

import pytest

from functions._runtime.workspace.globs import Glob
from functions._runtime.workspace.protected import protected


@pytest.mark.parametrize(
    ("glob", "path", "matches"),
    [
        ("**", "a", True),
        ("**", "a/b/c", True),
        ("*", "a", True),
        ("*", ".hidden", True),
        ("*", "a/b", False),
        ("*.py", "a.py", True),
        ("*.py", "a.PY", False),
        ("**/*.py", "a.py", True),
        ("**/*.py", "a/b/c.py", True),
        ("src/**", "src/a", True),
        ("src/**", "src/a/b", True),
        ("src/**", "src", False),
        ("src/**", "srcs/a", False),
        ("src/**/test_*.py", "src/test_a.py", True),
        ("src/**/test_*.py", "src/x/y/test_a.py", True),
        ("src/**/**/a", "src/a", True),
        ("a/**/b/**/c", "a/b/x/b/c", True),
        ("a/**/b/**/c", "a/x/c", False),
        ("?.txt", "é.txt", True),
        ("[ab]/[!c]", "a/d", True),
        ("[ab]/[!c]", "a/c", False),
        ("[[]slug]/x", "[slug]/x", True),
        ("a**b", "axxb", True),
        ("a**b", "a/b", False),
        ("[z-a]", "z", False),
        ("[", "[", True),
        ("(a+)+$", "(a+)+$", True),
        ("", "a", False),
    ],
)
def test_glob_matches_as_documented(glob: str, path: str, matches: bool):
    assert Glob.of(glob).matches(path) is matches
    assert Glob.of(glob).matches(path.encode()) is matches


def test_name_that_is_not_utf_8_is_one_character_a_byte():
    assert Glob.of("caf?.txt").matches(b"caf\xe9.txt")


def test_hostile_glob_is_answered_at_once():
    started = time.perf_counter()
    assert not Glob.of("/".join(["**", "*a*a*a*a*a*b"] * 18)).matches("/".join(["a" * 250] * 60))
    assert not Glob.of("*a" * 120 + "b").matches("a" * 255)
    assert time.perf_counter() - started < 2


@pytest.mark.parametrize(
    "path",
    [
        ".github/workflows/ci.yml",
        ".GitHub/Workflows/deep/er.yml",
        ".github/workflows./ci.yml",
        ".git\u200bhub/workflows/ci.yml",
        ".github/\u034fworkflows/ci.yml",
        ".git\u034fhub/workflows/ci.yml",
        ".github\u3164/workflows/ci.yml",
        ".github/work\uffa0flows/ci.yml",
        "CODEOWNERS\ufe0f",
        "code\u115fowners",
        "docs/CODE\U000e0155OWNERS",
        "buildspec.yml",
        "deploy/buildspec-prod.yaml",
        "Deploy/BuildSpec.YML",
        "CODEOWNERS",
        "codeowners",
        ".github/CODEOWNERS",
        "docs/codeowners",
        "buildspec.yml::$DATA",
        "CODEOWNERS:stream",
        ".github::$INDEX_ALLOCATION/workflows/ci.yml",
        "GITHUB~1/workflows/ci.yml",
        ".github/WORKFL~2/ci.yml",
        "deploy/BUILDS~1.YML",
        "BUILDS~3.YAM",
        "CODEOW~1",
    ],
)
def test_deploy_files_are_protected_in_every_spelling(path: str):
    assert protected(path)


@pytest.mark.parametrize(
    "path",
    [
        ".github/dependabot.yml",
        "src/CODEOWNERS",
        "buildspec.json",
        "my-buildspec.yml",
        "README.md",
        "builds~1.txt",
        "github~x/workflows/a",
    ],
)
def test_other_files_are_not_protected(path: str):
    assert not protected(path)
    assert protected(path, ["**"])


def test_own_globs_protect_in_every_case():
    assert protected("Infra/Role.py", ["infra/**"])
