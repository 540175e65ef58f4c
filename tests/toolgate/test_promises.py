"""A change of a published contract is named with its class, whatever was changed."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace

import pytest

from contracts import publishing, registry, spec
from contracts.errors import CODES
from tests.toolgate.projects import TITLES, copied
from toolgate import checklist, promises
from toolgate.project import ROOT

PATCH = registry.find("apply_patch_v1")
SOURCE = (ROOT / PATCH.contract_path).read_text("utf-8")
ADVICE = "; undo the change, or make it apply_patch v3"
KEY = "idempotency_key: IdempotencyKey"
OWN_ERROR = """
from contracts.errors import DomainError

class LostError(DomainError):
    code = "thing_lost"

SPEC = ToolSpec("""
ITEM = "/properties/files/items/properties"
MAX_FILES = "min_length=1,\n            max_length=40"
MAX_APPLIED = "list[str],\n        Field(\n            max_length=40"
DRY_RUN = "    dry_run: bool = Field(\n        default=False"
MODE = 'Literal["unified_diff", "replace_full"]'
PATTERN = 'pattern=r"^[a-zA-Z0-9._/-]+$"'
NOTE = 'Field({}max_length=9, description="A note.")\n'


def note(default):
    """A new argument before the last one."""
    return "    dry_run: bool", f"    note: str = {NOTE.format(default)}    dry_run: bool"


EDITS = {
    "a bound tightened": [
        (KEY, 'idempotency_key: str = Field(min_length=8, max_length=64, description="Key.")'),
        "input: breaking: /properties/idempotencyKey maxLength 128 -> 64",
    ],
    "a bound loosened": [
        (KEY, 'idempotency_key: str = Field(min_length=1, max_length=128, description="Key.")'),
        "input: compatible: /properties/idempotencyKey minLength 8 -> 1",
    ],
    "a bound removed": [
        (KEY, 'idempotency_key: str = Field(min_length=8, description="Key.")'),
        "input: compatible: /properties/idempotencyKey maxLength 128 -> none",
    ],
    "fewer items": [
        (MAX_FILES, MAX_FILES.replace("40", "20")),
        "input: breaking: /properties/files maxItems 40 -> 20",
    ],
    "a nested bound tightened": [
        ("max_length=500_000", "max_length=400_000"),
        f"input: breaking: {ITEM}/content maxLength 500000 -> 400000",
    ],
    "a nested bound loosened": [
        ("max_length=1024", "max_length=2048"),
        f"input: compatible: {ITEM}/path maxLength 1024 -> 2048",
    ],
    "a nested bound added": [
        ("max_length=500_000", "min_length=1, max_length=500_000"),
        f"input: breaking: {ITEM}/content minLength none -> 1",
    ],
    "a pattern narrowed": [
        (PATTERN, 'pattern=r"^[a-z0-9._/-]+$"'),
        f"input: breaking: {ITEM}/path pattern ^[a-zA-Z0-9._/-]+$ -> ^[a-z0-9._/-]+$",
    ],
    "a pattern widened": [
        (PATTERN, 'pattern=r"^[a-zA-Z0-9._/ -]+$"'),
        f"input: compatible: {ITEM}/path pattern ^[a-zA-Z0-9._/-]+$ -> ^[a-zA-Z0-9._/ -]+$",
    ],
    "a pattern removed": [
        (f"            {PATTERN},\n", ""),
        f"input: compatible: {ITEM}/path pattern ^[a-zA-Z0-9._/-]+$ -> none",
    ],
    "a pattern added": [
        ("max_length=500_000", 'pattern="^-", max_length=500_000'),
        f"input: breaking: {ITEM}/content pattern none -> ^-",
    ],
    "a value added": [
        (MODE, MODE.replace("]", ', "delete"]')),
        f'input: compatible: {ITEM}/mode value "delete" is new',
    ],
    "a value removed": [
        (MODE, 'Literal["unified_diff"]'),
        f'input: breaking: {ITEM}/mode value "replace_full" is gone',
    ],
    "values opened": [
        (MODE, "str"),
        f'input: compatible: {ITEM}/mode type one of "unified_diff", "replace_full" -> string',
    ],
    "another version": [
        ("Literal[1]", "Literal[2]"),
        "input: breaking: /properties/schemaVersion value 1 is gone",
        "input: compatible: /properties/schemaVersion value 2 is new",
    ],
    "an optional argument added": [
        note('default="", '),
        "input: additive: /properties/note optional property 'note' is new, default \"\"",
    ],
    "a required argument added": [
        note(""),
        "input: breaking: /properties/note required property 'note' is new",
    ],
    "an argument removed": [
        (SOURCE[SOURCE.index("    dry_run: bool") : SOURCE.index("class Output")], "\n\n"),
        "input: breaking: /properties/dryRun optional property 'dryRun' is gone",
    ],
    "an argument required": [
        ("        default=False,\n", ""),
        "input: breaking: /properties/dryRun is now required",
        "input: compatible: /properties/dryRun default false -> none",
    ],
    "an argument optional": [
        ("SafePath(absolute=True),\n    ]", 'SafePath(absolute=True),\n    ] = "/workspace/app"'),
        "input: compatible: /properties/repoRoot is no longer required",
        'input: compatible: /properties/repoRoot default none -> "/workspace/app"',
    ],
    "another default": [
        (DRY_RUN, DRY_RUN.replace("False", "True")),
        "input: compatible: /properties/dryRun default false -> true",
    ],
    "another type": [
        ("    dry_run: bool", "    dry_run: int"),
        "input: breaking: /properties/dryRun type boolean -> integer",
        "input: compatible: /properties/dryRun default false -> 0",
        ("default=False", "default=0"),
    ],
    "null allowed": [
        ("    dry_run: bool", "    dry_run: bool | None"),
        "input: compatible: /properties/dryRun null is now allowed",
    ],
    "an object opened": [
        ("class FilePatch(Contract):", 'class FilePatch(Contract, extra="allow"):'),
        "input: compatible: /properties/files/items additional properties are now allowed",
    ],
    "more answered": [
        (MAX_APPLIED, MAX_APPLIED.replace("40", "80")),
        "output: breaking: /properties/applied maxItems 40 -> 80",
    ],
    "less answered": [
        (MAX_APPLIED, MAX_APPLIED.replace("40", "20")),
        "output: compatible: /properties/applied maxItems 40 -> 20",
    ],
    "items of an answer bounded": [
        ("list[str],", "list[Annotated[str, Field(max_length=9)]],"),
        "output: compatible: /properties/applied/items maxLength none -> 9",
    ],
    "a field added to the answer": [
        ("    applied: ", f"    note: str = {NOTE.format('')}    applied: "),
        "output: breaking: /properties/note required property 'note' is new",
    ],
    "a field of the answer renamed": [
        ("    applied: ", "    written: "),
        "output: breaking: /properties/applied required property 'applied' is gone",
        "output: breaking: /properties/written required property 'written' is new",
    ],
    "a code added": [
        ("\nSPEC = ToolSpec(", OWN_ERROR + "\n    errors=(LostError,),"),
        "codes: breaking: /thing_lost code thing_lost is new",
    ],
    "more done": [
        ("Effect.WRITE", "Effect.DESTRUCTIVE, approval=Approval.DUAL"),
        "effect: breaking: effect write -> destructive",
        "approval: breaking: approval none -> dual",
        ("import Effect", "import Approval, Effect"),
    ],
    "people asked": [
        ("Effect.WRITE", "Effect.WRITE, approval=Approval.WHEN_PROTECTED"),
        "approval: breaking: approval none -> when_protected",
        ("import Effect", "import Approval, Effect"),
    ],
    "arguments in another order": [
        (f"    {KEY}\n", ""),
        ("    files: ", f"    {KEY}\n    files: "),
        "input: identical: /required is written in another way",
    ],
    "a scope": [
        ("{Scope.WORKSPACE_WRITE}", "{Scope.WORKSPACE_WRITE, Scope.ORDERS_READ}"),
        "scopes: breaking: workspace:write -> orders:read, workspace:write",
    ],
    "a path that is no longer checked as one": [
        ("        SafePath(),\n", ""),
        "paths: breaking: /files/*/path, /repoRoot -> /repoRoot",
    ],
    "a description": [("File to change,", "The file to change,")],
    "a summary": [("full text: all", "full text; all")],
    "an owner": [('owner="agent-platform"', 'owner="someone else"')],
    "a timeout": [("timeout_s=15", "timeout_s=9")],
    "a patch version": [('version="1.0.1"', 'version="1.0.2"')],
}
"""What is edited in the source of apply_patch v1, and every line that check prints of it."""


@pytest.fixture
def edited(monkeypatch, tmp_path):
    """The SPEC of apply_patch v1 with its source edited."""

    def load(*edits):
        source = SOURCE
        for old, new in edits:
            assert source.count(old) == 1, old
            source = source.replace(old, new)
        path = tmp_path / "edited_apply_patch.py"
        path.write_text(source, "utf-8")
        found = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(found)
        monkeypatch.setitem(sys.modules, path.stem, module)
        found.loader.exec_module(module)
        return module.SPEC

    return load


def kept(spec, root=ROOT):
    """What check says of published versions."""
    (line,) = [line for line in checklist.run([spec], root) if line.title == TITLES[10]]
    return list(line.problems)


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_of_a_published_contract_is_named_with_its_class(edited, name):
    edits = [one for one in EDITS[name] if isinstance(one, tuple)]
    said = [f"apply_patch_v1: {one}{ADVICE}" for one in EDITS[name] if isinstance(one, str)]
    assert kept(edited(*edits)) == said


@pytest.mark.parametrize(
    ("codes", "said"),
    [
        (
            {**CODES, "CONFLICT": replace(CODES["CONFLICT"], retryable=True)},
            "codes: breaking: /CONFLICT retryable false -> true",
        ),
        (
            {name: code for name, code in CODES.items() if name != "TIMEOUT"},
            "codes: compatible: /TIMEOUT code TIMEOUT is gone",
        ),
    ],
)
def test_an_edit_of_the_platforms_codes_is_named_for_each_published_tool(monkeypatch, codes, said):
    monkeypatch.setattr(spec, "CODES", codes)
    assert kept(PATCH) == [f"apply_patch_v1: {said}{ADVICE}"]


@pytest.fixture
def project(tmp_path):
    return copied(tmp_path)


def test_the_kept_promise_of_every_published_version_is_the_one_its_digest_was_made_of():
    for prefix in checklist.schema_files.digests():
        spec = registry.find(prefix)
        text = (ROOT / promises.path(spec)).read_text("utf-8")
        assert text == publishing.dump(publishing.promise(spec))
    kept_files = {path.stem for path in (ROOT / promises.PUBLISHED).iterdir()}
    assert kept_files == {registry.find(p).model_name for p in checklist.schema_files.digests()}


def test_a_kept_promise_that_is_gone_or_edited_is_named(project):
    path = project / promises.path(PATCH)
    text = path.read_text("utf-8")
    path.write_text(text.replace("128", "64"), "utf-8")
    (problem,) = kept(PATCH, project)
    assert f"{promises.path(PATCH)} is not what {publishing.DIGESTS} has: bring back" in problem
    path.unlink()
    (problem,) = kept(PATCH, project)
    assert f"{promises.path(PATCH)} is missing: bring back what was published as 1.0.0" in problem


def test_a_change_is_not_hidden_by_editing_the_kept_promise_with_it(edited, project):
    spec = edited(("max_length=500_000", "max_length=400_000"))
    promises.store(spec, project)
    first, second = kept(spec, project)
    assert "is not what" in first
    assert second == f"apply_patch_v1: its schema is not the one published as 1.0.0{ADVICE}"


def test_a_draft_beside_a_published_version_breaks_nothing(edited):
    draft = edited(
        ("Literal[1]", "Literal[3]"),
        ('version="1.0.1"', 'version="3.0.0"'),
        ("Status.DEPRECATED", "Status.DRAFT"),
        ("    sunset=date(2027, 5, 31),\n", ""),
        ("max_length=500_000", "max_length=5"),
    )
    assert kept(draft) == []
