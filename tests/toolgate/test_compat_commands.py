"""`toolgate compat` answers for files, emitted documents and tools, by exit code and by example."""

from __future__ import annotations

import json
import sys

import pytest

from contracts import publishing, registry
from contracts.dialects import json_schema
from toolgate import __main__, promises
from toolgate.project import ROOT

PATCH = registry.find("apply_patch_v1")
SHORT = {"type": "object", "properties": {"a": {"type": "string", "maxLength": 128}}}
SHORTER = {"type": "object", "properties": {"a": {"type": "string", "maxLength": 64}}}


@pytest.fixture
def compat(monkeypatch, capsys):
    """Runs the command in this process: (exit code, stdout, stderr)."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["toolgate", "compat", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            __main__.main()
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, err

    return run


@pytest.fixture
def written(tmp_path):
    """A document as a file."""

    def write(name, document):
        path = tmp_path / name
        text = document if isinstance(document, str) else json.dumps(document)
        path.write_text(text, "utf-8")
        return path

    return write


@pytest.fixture
def files(written):
    return written("old.json", SHORT), written("new.json", SHORTER)


def test_a_break_is_exit_code_1_with_its_place_and_an_example(compat, files):
    assert compat(*files, "--direction", "input") == (
        1,
        (
            "input: breaking\n"
            "  breaking: /properties/a  maxLength 128 -> 64  [bound-changed]\n"
            '    was valid, is refused: {"a": "aaaaaaaaaaaaaaaaaaaa… (65 characters)"}\n'
        ),
        "",
    )


def test_the_same_change_of_an_answer_is_exit_code_0(compat, files):
    assert compat(*files, "--direction", "output") == (
        0,
        "output: compatible\n  compatible: /properties/a  maxLength 128 -> 64  [bound-changed]\n",
        "",
    )


def test_a_new_possible_answer_is_shown_as_such(compat, files):
    code, out, _ = compat(*files[::-1], "--direction", "output")
    assert code == 1
    assert '    was impossible, is possible: {"a": "aaaa' in out


def test_json_holds_the_example_whole(compat, files):
    code, out, err = compat(*files, "--direction", "input", "--json")
    assert (code, err) == (1, "")
    reason = {
        "pointer": "/properties/a",
        "change": "bound-changed",
        "why": "maxLength 128 -> 64",
        "verdict": "breaking",
        "witness": {"a": "a" * 65},
    }
    assert json.loads(out) == {
        "verdict": "breaking",
        "parts": {"input": {"verdict": "breaking", "reasons": [reason]}},
    }


def test_a_break_without_an_example_says_why_it_counts(compat, written):
    new = written("new.json", {"type": "string", "format": "date"})
    code, out, _ = compat(written("old.json", {"type": "string"}), new, "--direction", "input")
    assert code == 1
    assert "    no example was found; it counts as breaking" in out


def test_long_lists_are_cut_in_the_example(compat, written):
    sides = [{"type": "array", "items": {"type": "string"}, "maxItems": n} for n in (9, 3)]
    old, new = written("old.json", sides[0]), written("new.json", sides[1])
    assert '["a", "… (4 items)"]' in compat(old, new, "--direction", "input")[1]


@pytest.mark.parametrize("spec", registry.specs(), ids=lambda spec: spec.model_name)
def test_a_tool_is_identical_to_its_promise_and_to_all_that_is_emitted_of_it(compat, written, spec):
    documents = [
        spec.model_name,
        spec.key,
        ROOT / f"contracts/schemas/{spec.model_name}.json",
        written("promise.json", publishing.promise(spec)),
        written("shown.json", json_schema.emit(spec)),
    ]
    for document in documents:
        code, out, err = compat(document, spec.model_name, "--json")
        assert (code, err) == (0, "")
        parts = json.loads(out)["parts"]
        assert {"input", "output"} < set(parts)
        assert {part["verdict"] for part in parts.values()} == {"identical"}


def test_two_tools_are_compared_in_every_part(compat):
    code, out, err = compat("read_file_v1", "apply_patch_v1")
    assert (code, err) == (1, "")
    heads = [line.partition(":")[0] for line in out.splitlines() if line[0] != " "]
    assert heads == ["input", "output", "codes", "effect", "approval"]
    assert "  breaking: effect read -> write  [effect-changed]" in out


def test_a_published_promise_and_a_tool_are_compared_in_one_direction(compat):
    promise = ROOT / promises.path(PATCH)
    assert compat(promise, "apply_patch_v1", "--direction", "output") == (
        0,
        "output: identical\n",
        "",
    )


def test_a_schema_alone_is_compared_to_that_side_of_a_tool(compat, written):
    alone = written("input.json", json_schema.emit(PATCH)["input"])
    assert compat(alone, "apply_patch_v1", "--direction", "input")[0] == 0
    assert compat(alone, "apply_patch_v1", "--direction", "output")[0] == 1


@pytest.mark.parametrize(
    ("document", "options", "says"),
    [
        (SHORT, (), "a schema alone does not say who writes it: add --direction"),
        ("{", ("--direction", "input"), "new.json is not JSON"),
        ([], ("--direction", "input"), "new.json holds no JSON object"),
        ({"items": 1}, ("--direction", "input"), "this is no schema"),
        ({"$ref": "#"}, ("--direction", "input"), "# refers to itself, so the schema has no end"),
    ],
)
def test_what_cannot_be_compared_is_exit_code_2(compat, written, document, options, says):
    code, out, err = compat(written("old.json", SHORT), written("new.json", document), *options)
    assert (code, out) == (2, "")
    assert err.startswith("Error: ")
    assert err.count("\n") == 1
    assert says in err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("gone.json", "read_file"), "there is no file gone.json"),
        (("read_file", "rm_v1"), "no tool is called 'rm_v1'"),
        (("read_file",), "Missing argument"),
        (("read_file", "read_file", "--direction", "sideways"), "sideways"),
    ],
)
def test_misuse_is_exit_code_2(compat, arguments, says):
    code, out, err = compat(*arguments)
    assert (code, out) == (2, "")
    assert says in err
