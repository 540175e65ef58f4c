"""Every rule of the checklist passes here, and is broken by what it is there for.

A spec that contradicts itself cannot be made, so some are forced.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest
from pydantic import Field

from contracts import publishing, registry
from contracts.dialects import bedrock, json_schema
from contracts.errors import DomainError
from contracts.spec import Approval, Effect, Status
from contracts.types import Contract
from tests.toolgate.projects import TITLES, copied
from toolgate import checklist
from toolgate.project import ROOT

PATCH = registry.find("apply_patch_v1")
READ = registry.find("read_file_v1")
RELEASE = registry.find("release_publish_v1")


@pytest.fixture
def project(tmp_path):
    return copied(tmp_path)


def forced(spec, **changes):
    """A spec with changes that ToolSpec itself would refuse."""
    made = replace(spec)
    made.__dict__.pop("input_schema", None)
    for name, value in changes.items():
        object.__setattr__(made, name, value)
    return made


class NoKey(Contract):
    """A mutating input without its key."""

    name: str = Field(max_length=9, description="A name.")


class Open(Contract, extra="allow"):
    """Takes anything."""

    name: str = Field(max_length=9, description="A name.")


class Undescribed(Contract):
    """Says nothing of its field."""

    inner: list[NoKey] = Field(max_length=3, description="Some.")
    name: str = Field(max_length=9)


class Holder(Contract):
    """Says nothing of a field further in."""

    items: list[Undescribed] = Field(max_length=9, description="Some.")


class LostError(DomainError):
    """A thing is lost."""

    code = "thing_lost"


def problems(title, specs, root):
    assert title in TITLES
    (line,) = [line for line in checklist.run(specs, root) if line.title == title]
    assert line.ok is not bool(line.problems)
    return list(line.problems)


def edit(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert text.count(old) >= 1
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize("title", TITLES)
def test_the_project_as_it_is_breaks_no_rule(title):
    assert problems(title, registry.specs(), ROOT) == []


@pytest.mark.parametrize(
    ("title", "spec", "says"),
    [
        (TITLES[0], forced(PATCH, input=NoKey), "idempotencyKey is not required"),
        (TITLES[0], forced(PATCH, input=NoKey), "schemaVersion is not required"),
        (TITLES[1], forced(READ, input=Open), "input / takes additional properties"),
        (TITLES[6], replace(READ, input=Undescribed), "input /name has no description"),
        (
            TITLES[6],
            replace(READ, input=Holder),
            "input /properties/items/items/name has no description",
        ),
        (TITLES[7], forced(READ, name="a" * 40), "is not 1-64 letters, digits"),
        (TITLES[8], replace(READ, errors=(LostError,)), "no golden case answers thing_lost"),
        (TITLES[8], replace(READ, version="2.0.0"), "there is no tests/golden/read_file_v2.json"),
        (
            TITLES[9],
            forced(PATCH, effect=Effect.DESTRUCTIVE, approval=Approval.NONE),
            "is destructive and has no dual approval",
        ),
        (TITLES[4], replace(READ, version="2.0.0"), "there is no contracts/read_file/v2.py"),
        (TITLES[4], replace(READ, version="2.0.0"), "there is no functions/read_file/v2.py"),
        (TITLES[3], replace(READ, version="2.0.0"), "there is no functions/read_file/v2.py"),
        (TITLES[10], replace(READ, status=Status.ACTIVE), "was never published"),
        (
            TITLES[10],
            replace(PATCH, status=Status.DRAFT, sunset=None),
            "is published and calls itself a draft",
        ),
        (
            TITLES[10],
            replace(PATCH, approval=Approval.DUAL),
            "approval: breaking: approval none -> dual; undo the change, or make it apply_patch v3",
        ),
        (TITLES[5], replace(READ, summary="Else."), "read_file_v1.json is out of date"),
        (TITLES[11], READ, "apply_patch@1 was published and has no contract"),
        (TITLES[12], replace(READ, summary="s" * 4_000), "characters, not 40-4000"),
    ],
)
def test_a_spec_that_breaks_a_rule_is_named_with_what_it_breaks(title, spec, says):
    assert any(says in problem for problem in problems(title, [spec], ROOT))


HANDLER = """
@tool(SPEC)
def handler(request: Input, call: Call) -> Output:
    return None
"""
IMPORT = "from contracts.read_file.v1 import SPEC, Input, Output\n"


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (IMPORT, "has no function handler"),
        (f"{IMPORT}handler = tool(SPEC)(print)\n", "has no function handler"),
        (IMPORT + HANDLER.replace("@tool(SPEC)", ""), "is not decorated by @tool(SPEC) alone"),
        (IMPORT + HANDLER.replace("SPEC", "SPECIAL"), "is not decorated by @tool(SPEC) alone"),
        (
            IMPORT + HANDLER.replace("@tool", "@cache\n@tool"),
            "is not decorated by @tool(SPEC) alone",
        ),
        (IMPORT + HANDLER + "    pass\n" * 23, "handler has 25 lines"),
        (IMPORT + HANDLER + "    pass\n" * 24, "handler has 26 lines, not at most 25"),
        (
            IMPORT + HANDLER + "    try:\n        pass\n    except ValueError:\n        pass\n",
            "handler has a try",
        ),
        (
            IMPORT + HANDLER + "    def edit():\n        try:\n            pass\n"
            "        except* ValueError:\n            pass\n",
            "handler has a try",
        ),
        (HANDLER, "does not import SPEC from its own contract"),
        (
            IMPORT.replace("read_file", "list_files") + HANDLER,
            "does not import SPEC from its own contract",
        ),
        (
            IMPORT + IMPORT.replace("read_file", "list_files") + HANDLER,
            "does not import SPEC from its own contract",
        ),
    ],
)
def test_a_handler_that_is_not_the_pipelines_is_named(tmp_path, source, says):
    path = tmp_path / READ.handler_path
    path.parent.mkdir(parents=True)
    path.write_text(source)
    found = problems(TITLES[3], [READ], tmp_path)
    if says == "handler has 25 lines":
        assert found == []
    else:
        assert len(found) == 1
        assert says in found[0]


def test_a_handler_may_have_a_precheck(tmp_path):
    path = tmp_path / READ.handler_path
    path.parent.mkdir(parents=True)
    path.write_text(IMPORT + HANDLER.replace("@tool(SPEC)", "@tool(SPEC, precheck=refuse)"))
    assert problems(TITLES[3], [READ], tmp_path) == []


@pytest.mark.parametrize("kind", checklist.GOLDEN_WRITE)
def test_a_kind_of_golden_case_that_is_missing_is_named(project, kind):
    path = project / "tests/golden/apply_patch_v1.json"
    document = json.loads(path.read_text())
    document["cases"] = [case for case in document["cases"] if case["kind"] != kind]
    path.write_text(json.dumps(document))
    assert problems(TITLES[8], [PATCH], project) == [
        f"apply_patch_v1: tests/golden/apply_patch_v1.json has no case of kind {kind!r}"
    ]


@pytest.mark.parametrize("kind", checklist.GOLDEN_READ)
def test_a_kind_of_golden_case_that_is_missing_of_a_read_tool_is_named(project, kind):
    edit(project / "tests/golden/read_file_v1.json", f'"{kind}"', '"another kind"')
    assert problems(TITLES[8], [READ], project) == [
        f"read_file_v1: tests/golden/read_file_v1.json has no case of kind {kind!r}"
    ]


@pytest.mark.parametrize("kind", checklist.GOLDEN_GATED)
def test_a_kind_of_golden_case_that_is_missing_of_a_gated_tool_is_named(project, kind):
    edit(project / "tests/golden/release_publish_v1.json", f'"{kind}"', '"another kind"')
    assert problems(TITLES[8], [RELEASE], project) == [
        f"release_publish_v1: tests/golden/release_publish_v1.json has no case of kind {kind!r}"
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"code": "FORBIDDEN"', '"code": "CONFLICT"'),
        ('"reason": "SUBJECT_REQUIRED"', '"reason": "SCOPE_MISSING"'),
        ('"keySpent": false', '"keySpent": true'),
    ],
)
def test_a_gated_case_that_expects_anything_but_the_gates_refusal_is_named(project, old, new):
    path = project / "tests/golden/release_publish_v1.json"
    document = json.loads(path.read_text())
    violations = [case for case in document["cases"] if case["kind"] == "violation"]
    gated = next(case for case in document["cases"] if case["kind"] == "gated")
    wrong = json.loads(json.dumps(gated).replace(old, new))
    assert wrong != gated
    path.write_text(json.dumps({**document, "cases": [*violations, wrong]}))
    (problem,) = problems(TITLES[8], [RELEASE], project)
    named = f"release_publish_v1: the gated case {gated['name']!r} expects something else"
    assert problem == f"{named} than the gate's refusal"


def test_only_a_tool_that_always_needs_approval_may_go_without_cases_of_success(project):
    shown = replace(RELEASE, effect=Effect.WRITE, approval=Approval.WHEN_PROTECTED)
    assert [
        one.partition("no case of kind ")[2] for one in problems(TITLES[8], [shown], project)
    ] == [repr(kind) for kind in checklist.GOLDEN_WRITE if kind != "violation"]


def test_a_schema_that_was_edited_or_is_missing_or_left_over_is_named(project):
    schemas = project / "contracts/schemas"
    edit(schemas / "apply_patch_v1.json", "500000", "400000")
    (schemas / "list_files_v1.json").unlink()
    shutil.copy(schemas / "read_file_v1.json", schemas / "read_file_v9.json")
    assert problems(TITLES[5], registry.specs(), project) == [
        f"contracts/schemas/{name}.json is out of date: run toolgate emit"
        for name in ("apply_patch_v1", "list_files_v1", "read_file_v9")
    ]


def test_a_digest_that_was_edited_is_named(project):
    edit(project / publishing.DIGESTS, publishing.digest(PATCH), "sha256:0")
    kept, moved = problems(TITLES[10], [PATCH], project)
    assert "published/apply_patch_v1.json is not what contracts/schemas/digests.json has" in kept
    assert moved.startswith("apply_patch_v1: its schema is not the one published as 1.0.0")


def test_a_published_contract_without_its_digest_is_named(project):
    (project / publishing.DIGESTS).write_text("{}")
    (problem,) = problems(TITLES[10], [PATCH], project)
    assert "is not a draft and was never published" in problem


@pytest.mark.parametrize(
    ("part", "broken"),
    [
        ("output", {"properties": {"ok": {"type": "boolean"}}}),
        ("output", {"required": ["schemaVersion"]}),
        (
            "error",
            {"properties": {"ok": {"const": True}, "error": {"required": ["code", "retryable"]}}},
        ),
        ("error", {"properties": {"ok": {"const": False}, "error": {"required": ["code"]}}}),
    ],
)
def test_results_that_cannot_be_told_apart_are_named(monkeypatch, part, broken):
    emitted = json_schema.emit(READ)
    changed = {**emitted, part: {**emitted[part], **broken}}
    monkeypatch.setattr(json_schema, "emit", lambda _spec: changed)
    assert len(list(checklist._discriminated(READ, ROOT))) == 1


def test_a_keyword_that_bedrock_ignores_is_named_however_deep(monkeypatch):
    inner = {"type": "string", "enum": ["a"]}
    deep = {"type": "object", "properties": {"enum": {"type": "array", "items": inner}}}
    monkeypatch.setattr(bedrock, "response_schema", lambda _spec: deep)
    assert problems(TITLES[7], [READ], ROOT) == ["read_file_v1: result /enum/* uses enum (bedrock)"]


def test_a_handler_without_a_contract_is_named(project):
    stray = project / "functions" / "notes_add" / "v1.py"
    stray.parent.mkdir(parents=True)
    stray.write_text('"""Nothing."""\n', encoding="utf-8")
    (problem,) = problems(TITLES[13], registry.specs(), project)
    assert problem.startswith("functions/notes_add/v1.py is the handler of no contract: write ")


def test_a_contract_without_a_handler_is_named(project):
    (project / READ.handler_path).unlink()
    assert problems(TITLES[4], registry.specs(), project) == [
        f"read_file_v1: there is no {READ.handler_path}"
    ]


@pytest.mark.parametrize("name", ["V1.py", "v01.py", "v1b.py", "v2"])
@pytest.mark.parametrize("side", ["contracts", "functions"])
def test_a_version_that_would_be_overlooked_is_named(project, side, name):
    (project / side / "read_file" / name).mkdir()
    (problem,) = problems(TITLES[13], registry.specs(), project)
    assert problem == f"{side}/read_file/{name} is no version: call it v<N>.py"
