"""The page about evolving contracts shows what its commands print, and what check says."""

from __future__ import annotations

import re
import sys

import pytest

from tests.toolgate.test_promises import ADVICE, EDITS
from toolgate import __main__
from toolgate.project import ROOT

PAGE = (ROOT / "docs" / "evolving-contracts.md").read_text("utf-8")
FILES = dict(re.findall(r"^`(\S+\.json)`:\n\n```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
FENCES = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
TERMINALS = [text for language, text in FENCES if not language]
COMMANDS = re.findall(r"^toolgate (.*)\n((?:(?!toolgate ).*\n)*)", "".join(TERMINALS), re.MULTILINE)


@pytest.mark.parametrize(("command", "printed"), COMMANDS, ids=lambda text: text[:60])
def test_a_command_of_the_page_prints_what_the_page_says(
    monkeypatch, capsys, tmp_path, command, printed
):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / "contracts").symlink_to(ROOT / "contracts")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["toolgate", *command.split()])
    with pytest.raises(SystemExit) as ended:
        __main__.main()
    assert capsys.readouterr() == (printed, "")
    assert (ended.value.code or 0) == ("breaking" in printed)


def test_the_page_has_its_files_and_commands():
    assert sorted(FILES) == ["new.json", "old.json"]
    assert len(COMMANDS) == 3


def test_the_failing_check_of_the_page_is_a_real_one():
    said = EDITS["a nested bound tightened"][1]
    assert f"        apply_patch_v1: {said}{ADVICE}\n" in PAGE
