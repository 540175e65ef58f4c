"""The grammar: one handler for each kind of structural line; sections, each under one header."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from .body import body_to_structure, counted_body, is_structure, without_separators
from .envelope import Envelope, skip_blank
from .hunk import Hunk, HunkLine, Intent, Unusable
from .paths import DEV_NULL, git_names, header_name

_RANGES = re.compile(r"@@ *- ?(\d+) ?(?:, ?(\d+))?(?: *\+ ?(\d+) ?(?:, ?(\d+))?)?(?: *@@| *$)")
_RANGES_LENGTH = 100  # no real range is longer; keeps the expression off long lines
_EXECUTABLE = {"100644": False, "100755": True}


@dataclass(eq=False)
class Section:
    """What stands under one file header (or under none)."""

    line: int
    """1-based line of the patch text."""
    names: list[tuple[str, int]] = field(default_factory=list)
    """File names of the header, each with its patch line."""
    named_unclearly: bool = False
    """`diff --git` with names that cannot be told apart."""
    paired: bool = False
    """A `---` or `+++` line was seen."""
    intent: Intent = "modify"
    executable: bool | None = None
    unconditional: bool = False
    hunks: list[Hunk] = field(default_factory=list)
    recounted: bool = False

    @property
    def asks_nothing(self) -> bool:
        """Whether the section is a header without consequence."""
        return not self.hunks and self.intent == "modify" and self.executable is None


def read_sections(envelope: Envelope) -> list[Section]:
    """Read every section of the diff. Raises Unusable."""
    return _Reader(envelope).read()


class _Reader:
    """A cursor over the lines. Handlers run with the cursor behind their own line."""

    def __init__(self, envelope: Envelope) -> None:
        self.lines = envelope.lines
        self.at = envelope.start
        self.stop = envelope.stop
        self.sections: list[Section] = []
        self.scopes: list[str] = []
        self.hunks = 0

    def read(self) -> list[Section]:
        while self.at < self.stop:
            line = self.lines[self.at].rstrip()
            self.at += 1
            if not line:
                continue
            for prefix, handle in _HANDLERS:
                if line.startswith(prefix):
                    handle(self, line[len(prefix) :])
                    break
            else:
                raise self.refusal(
                    "JUNK",
                    "This line is in no hunk. Below '@@' every line starts with ' ', '-' or '+'.",
                )
        return self.sections

    def refusal(self, code: str, hint: str) -> Unusable:
        return Unusable(code, hint, self.at)

    def open(self, _rest: str = "") -> Section:
        self.sections.append(Section(self.at))
        self.scopes = []
        return self.sections[-1]

    @property
    def section(self) -> Section:
        return self.sections[-1] if self.sections else self.open()

    def skip(self, _rest: str) -> None:
        """Pass over a line that says nothing of use."""

    # File headers.

    def git_header(self, rest: str) -> None:
        names = git_names(rest)
        self.open().names += [(name, self.at) for name in names or ()]
        self.section.named_unclearly = names is None

    def index_header(self, rest: str) -> None:
        self.open().names.append((rest.strip(), self.at))

    def old_name(self, _rest: str) -> None:
        if self.section.paired or self.section.hunks:
            self.open()
        self.name("create")

    def new_name(self, _rest: str) -> None:
        if self.section.hunks:
            self.open()
        self.name("delete")

    def name(self, intent_of_null: Intent) -> None:
        name = header_name(self.lines[self.at - 1][len("--- ") :])
        self.section.paired = True
        if name == DEV_NULL:
            self.section.intent = intent_of_null
        else:
            self.section.names.append((name, self.at))

    def mode(self, rest: str) -> bool:
        mode = rest.rsplit(" ", maxsplit=1)[-1]
        if mode not in _EXECUTABLE:
            raise self.refusal(
                "UNSUPPORTED_MODE", "Only regular files can be patched: no links, no submodules."
            )
        return _EXECUTABLE[mode]

    def old_mode(self, rest: str) -> None:
        self.mode(rest)

    def new_mode(self, rest: str) -> None:
        self.section.executable = self.mode(rest)

    def blob(self, rest: str) -> None:
        if " " in rest:
            self.mode(rest)

    def created(self, rest: str) -> None:
        self.section.executable = self.mode(rest)
        self.section.intent = "create"

    def deleted(self, rest: str) -> None:
        self.mode(rest)
        self.section.intent = "delete"

    def v4a_update(self, rest: str) -> None:
        self.index_header(rest)
        self.headless_hunk()

    def v4a_add(self, rest: str) -> None:
        self.index_header(rest)
        self.section.intent = "create"
        self.headless_hunk()

    def v4a_delete(self, rest: str) -> None:
        self.index_header(rest)
        self.section.intent = "delete"
        self.section.unconditional = True

    # Refusals.

    def combined(self, _rest: str) -> None:
        raise self.refusal(
            "COMBINED_DIFF", "A combined (merge) diff cannot be applied. Send a plain unified diff."
        )

    def renamed(self, _rest: str) -> None:
        raise self.refusal(
            "RENAME_UNSUPPORTED",
            "An entry changes one path. To rename, use mode move if the tool has it, or delete the "
            "old file in one entry and create the new one in another.",
        )

    def binary(self, _rest: str) -> None:
        raise self.refusal("BINARY", "Binary content cannot be changed with a diff.")

    def context_format(self, _rest: str) -> None:
        raise self.refusal(
            "NO_HUNKS", "This is not a unified diff. Send hunks that start with '@@'."
        )

    # Hunks.

    def hunk(self, _rest: str) -> None:
        section, line = self.section, self.at
        header = self.lines[line - 1].rstrip()
        ranges = _RANGES.match(header[:_RANGES_LENGTH].rstrip())
        if ranges is None:
            self.numberless_hunk(header, line)
            return
        start = int(ranges[1]) or None
        body = self.counted_body(ranges)
        if body is None:
            section.recounted = True
            body, skipped = self.uncounted_body()
            start = start and start + skipped
        if not body:
            raise Unusable("EMPTY_HUNK", "Nothing follows this '@@' line.", line)
        self.add(header, line, start, body)

    def numberless_hunk(self, header: str, line: int) -> None:
        """Read `@@`, `@@ ... @@` or `@@ scope`. Scopes without a body add up for the next hunk."""
        scope = header[2:].strip().removesuffix("@@").strip()
        if scope.strip(".…"):
            self.scopes.append(scope)
        body, _skipped = self.uncounted_body()
        if body:
            self.add(header, line, None, body)

    def headless_hunk(self) -> None:
        """Read a first hunk that does without its `@@`, as V4A allows."""
        line = self.at
        after = skip_blank(self.lines, line, self.stop)
        if after < self.stop and not is_structure(self.lines, after, self.stop):
            body, _skipped = self.uncounted_body()
            self.add("", line, None, body)

    def counted_body(self, ranges: re.Match[str]) -> list[HunkLine] | None:
        if ranges[3] is None:
            return None
        old, new = int(ranges[2] or 1), int(ranges[4] or 1)
        found = counted_body(self.lines, self.at, self.stop, old, new)
        if found is None:
            return None
        body, self.at = found
        return body

    def uncounted_body(self) -> tuple[list[HunkLine], int]:
        body, self.at = body_to_structure(self.lines, self.at, self.stop)
        return without_separators(body)

    def add(self, header: str, line: int, start: int | None, body: list[HunkLine]) -> None:
        self.hunks += 1
        self.section.hunks.append(
            Hunk(self.hunks, header, line, start, tuple(body), tuple(self.scopes))
        )
        self.scopes = []

    def end_of_file(self, _rest: str) -> None:
        if self.section.hunks:
            self.section.hunks[-1] = replace(self.section.hunks[-1], at_end=True)


_HANDLERS: tuple[tuple[str, Callable[[_Reader, str], object]], ...] = (
    ("@@@", _Reader.combined),
    ("@@", _Reader.hunk),
    ("--- ", _Reader.old_name),
    ("+++ ", _Reader.new_name),
    ("diff --git ", _Reader.git_header),
    ("diff --cc ", _Reader.combined),
    ("diff --combined ", _Reader.combined),
    ("diff -", _Reader.open),
    ("Index: ", _Reader.index_header),
    ("=======", _Reader.skip),
    ("index ", _Reader.blob),
    ("old mode ", _Reader.old_mode),
    ("new mode ", _Reader.new_mode),
    ("new file mode ", _Reader.created),
    ("deleted file mode ", _Reader.deleted),
    ("rename ", _Reader.renamed),
    ("copy ", _Reader.renamed),
    ("similarity index ", _Reader.skip),
    ("dissimilarity index ", _Reader.skip),
    ("GIT binary patch", _Reader.binary),
    ("Binary files ", _Reader.binary),
    ("*** Begin Patch", _Reader.skip),
    ("*** End Patch", _Reader.skip),
    ("*** Update File:", _Reader.v4a_update),
    ("*** Add File:", _Reader.v4a_add),
    ("*** Delete File:", _Reader.v4a_delete),
    ("*** Move to:", _Reader.renamed),
    ("*** End of File", _Reader.end_of_file),
    ("***", _Reader.context_format),
)
