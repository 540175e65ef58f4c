"""The patch engine: what a request of diffs and whole texts makes of some files, as plain data.

Pure and deterministic. `check_request` says what the arguments alone rule out; `plan_request` reads
the pre-images and answers with writes or with every conflict; `conflict_details` bounds the report.

**Policy.** A diff goes to the one place its old lines allow, or nowhere:

- Lines end at LF only. Bytes that are not UTF-8 survive. A NUL in the first 8,000 bytes means
  binary.
- Round the diff, prose, one Markdown fence, the V4A envelope and a mail signature are ignored;
  headers are optional and must agree with the entry's path; counts and line numbers may be wrong or
  missing; context may have lost its leading blank. An empty line is blank context.
- Old lines match exactly, or ignoring line endings, byte-order mark and final newline, or ignoring
  blanks at line ends: the first of these with any match decides. Nothing looser: no fuzz, no
  dropped context, no folding of indentation, case, Unicode or entities, no similarity.
- Every hunk refers to the file as it was. The stated line counts only with context that is not
  blank; else the match must be the only one, or be singled out by a scope line (`@@ class A:`) or
  `*** End of File`. Without a number it goes nowhere but below the scope lines it names. A place
  that is named so but matches less exactly than another is ambiguous with it, context or not. A
  hunk without old lines fits an empty or missing file only.
- Hunks may share context, not changes. Creating what exists, deleting what has other content, and
  repeating what is already there are conflicts. All entries fit, or nothing is written.
- Untouched lines are the file's own bytes. Added lines are the patch's, with the file's line
  endings where the match had to ignore them.
- A request has a budget of steps: what exceeds it is a conflict, or is left out of the report.

**Codes of `Invalid`**: NO_FILES, TOO_MANY_FILES, TOO_MANY_LINES, UNSAFE_PATH, DUPLICATE_PATH,
PATH_CLASH, BAD_TEXT, NO_HUNKS, EMPTY_HUNK, NO_CHANGES, JUNK, MULTIPLE_BLOCKS,
MULTIPLE_FILES, PATH_MISMATCH, RENAME_UNSUPPORTED, UNSUPPORTED_MODE, BINARY, COMBINED_DIFF,
CREATE_WITH_CONTEXT, BAD_ADD_LINE.
Codes of `Conflict`: `report.ConflictCode`.
"""

from .counts import COUNT_STEPS
from .plan import (
    Before,
    Plan,
    Write,
    check_request,
    conflict_details,
    plan_request,
)
from .report import Conflict, Fit, Invalid
from .request import OF_PATHS, FileChange, paths_of
from .single import HunkPlace

__all__ = [
    "COUNT_STEPS",
    "OF_PATHS",
    "Before",
    "Conflict",
    "FileChange",
    "Fit",
    "HunkPlace",
    "Invalid",
    "Plan",
    "Write",
    "check_request",
    "conflict_details",
    "paths_of",
    "plan_request",
]
