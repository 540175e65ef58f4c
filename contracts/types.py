"""The vocabulary that contracts share: a strict base model, keys, paths and revisions."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError, core_schema

from contracts.ignorable import without_ignorable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import GetCoreSchemaHandler

PATH_MAX = 1024
COMPONENTS_MAX = 4096
"""More parts than the path of any file system has."""
COMPONENT_MAX_BYTES = 255
DEVICES = frozenset({"con", "prn", "aux", "nul"}) | {
    f"{d}{n}" for d in ("com", "lpt") for n in range(1, 10)
}
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_DRIVE = re.compile(r"[A-Za-z]:")
_SHORT_GIT = re.compile(r"git~[0-9]+\Z")


class Contract(BaseModel):
    """The base of every input: strict, frozen, closed; camelCase, and nothing else, on the wire."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        alias_generator=to_camel,
        validate_by_alias=True,
        validate_by_name=False,
        serialize_by_alias=True,
        hide_input_in_errors=True,
        allow_inf_nan=False,
    )


class Answer(Contract):
    """The base of every output: as Contract, but built by Python names and complete on the wire."""

    model_config = ConfigDict(
        validate_by_name=True,
        json_schema_serialization_defaults_required=True,
    )


def path_problem(path: str, *, absolute: bool = False) -> str | None:
    """Why a path must not be used, in words that end a sentence; None if it is safe.

    `absolute` is for names of workspaces, which begin with one `/`. The text is judged as it is:
    nothing is decoded, normalised or repaired.
    """
    if len(path) > COMPONENTS_MAX * (COMPONENT_MAX_BYTES + 1):
        return f"is longer than {COMPONENTS_MAX} components of {COMPONENT_MAX_BYTES} bytes"
    if _SURROGATE.search(path):
        return "holds a lone surrogate"
    if _CONTROL.search(path):
        return "holds a control character"
    if "\\" in path:
        return "holds a backslash"
    if _DRIVE.match(path):
        return "begins with a drive letter"
    if path.startswith("/") and not absolute:
        return "is absolute; paths are relative to repoRoot"
    components = (path[1:] if absolute else path).split("/", COMPONENTS_MAX)
    if len(components) > COMPONENTS_MAX:
        return f"has more than {COMPONENTS_MAX} components"
    for component in components:
        if problem := _component_problem(component, empty_is_fine=absolute):
            return problem
    return None


def _component_problem(name: str, *, empty_is_fine: bool) -> str | None:
    if not name:
        return None if empty_is_fine else "has an empty component"
    # First of all the length: a character may unfold to eighteen.
    if len(name.encode("utf-8")) > COMPONENT_MAX_BYTES:
        return f"has a component over {COMPONENT_MAX_BYTES} bytes"
    folded = unicodedata.normalize("NFKC", name)
    visible = without_ignorable(folded)
    if visible in {".", ".."}:
        return f"has a '{visible}' component"
    if folded != name and ("/" in folded or "\\" in folded):
        return "holds a look-alike of '/'"
    # File systems that fold case, drop ignorable code points, trailing dots or stream names
    # would open .git under any of these spellings.
    plain = visible.casefold().split(":", 1)[0].rstrip(". ")
    if plain == ".git" or _SHORT_GIT.match(plain):
        return "names .git"
    if plain.split(".", 1)[0].rstrip() in DEVICES:
        return "names a device"
    return None


@dataclass(frozen=True)
class SafePath:
    """Marks a string field as a path: the pipeline scans it first, the model checks it again."""

    absolute: bool = False

    def problem(self, path: str) -> str | None:
        """Why the path is refused, or None."""
        return path_problem(path, absolute=self.absolute)

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def _check(self, path: str) -> str:
        if self.problem(path):
            raise PydanticCustomError("unsafe_path", "unsafe path")
        return path


def path_rules(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, SafePath]]:
    """JSON pointers of every path field of a model, `*` standing for any item of a list."""
    for name, info in model.model_fields.items():
        pointer = f"{prefix}/{info.alias or name}"
        for rule in info.metadata:
            if isinstance(rule, SafePath):
                yield pointer, rule
        yield from _nested_rules(info.annotation, pointer)


def _nested_rules(annotation: Any, pointer: str) -> Iterator[tuple[str, SafePath]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield from path_rules(annotation, pointer)
        return
    item = "/*" if getattr(annotation, "__origin__", None) in {list, tuple} else ""
    for rule in getattr(annotation, "__metadata__", ()):
        if isinstance(rule, SafePath):
            yield pointer, rule
    for argument in get_args(annotation):
        yield from _nested_rules(argument, pointer + item)


def _whole(value: Any) -> Any:
    if type(value) is not int:
        raise PydanticCustomError("int_type", "not an integer")
    return value


WHOLE = BeforeValidator(_whole)
"""Beside a `Literal` of integers, which alone would take `true` and `1.0` for 1."""

IdempotencyKey = Annotated[
    str,
    Field(
        min_length=8,
        max_length=128,
        description=(
            "Key of this change, 8-128 characters. Make a fresh unguessable one for each new "
            "change; send the same one to repeat a call; take a new one after a failure that is "
            "not retryable and whose details say keySpent."
        ),
    ),
]
"""Names one intended change. Repeating it with the same arguments never repeats the effect."""

RepoRoot = Annotated[
    str,
    Field(
        # The length stands in the pattern: beside one, decoders that follow schemas drop it.
        pattern=r"^/[A-Za-z0-9._/-]{1,255}$",
        description="Name of the workspace, such as /workspace/app; 2-256 characters.",
    ),
    SafePath(absolute=True),
]
"""Names a workspace. It looks like a directory; it is a key."""

RepoPath = Annotated[
    str,
    Field(
        min_length=1,
        max_length=PATH_MAX,
        description="Path of a file, relative to repoRoot, parts joined by /; 1-1024 characters.",
    ),
    SafePath(),
]
"""Any real path inside a workspace: spaces, unicode, brackets; never `..`, never absolute."""

Revision = Annotated[
    str,
    Field(
        pattern=r"^[0-9]{1,16}-[0-9a-f]{64}$",
        description="Revision of the workspace, as an earlier answer gave it; opaque.",
    ),
]
"""`{seq}-{tree}`; opaque to callers."""

RevisionShown = Annotated[str, Field(max_length=90)]
"""A revision in an answer; the field says which one."""

RevisionAsked = Annotated[
    Revision | None,
    Field(
        default=None,
        description="Revision to look at, as an earlier answer gave it; by default the newest.",
    ),
]
"""The revision that a reading tool looks at."""

PathShown = Annotated[str, Field(max_length=16_384, description="Path, relative to repoRoot.")]
"""A path as it is in a workspace; bytes that are not UTF-8 are shown as four characters each."""

PathGlob = Annotated[
    str,
    Field(
        default="**",
        min_length=1,
        max_length=256,
        description=(
            "Which paths: * and ? within a part, ** across parts, [abc] one of. *.py fits the "
            "top directory only, **/*.py any; no {a,b}; a literal [ is [[]. 1-256 characters."
        ),
    ),
]
"""Which paths of a workspace; by default every one."""

Cursor = Annotated[str, Field(min_length=1, max_length=8_192)]
"""Where a page ended; opaque, and good for the question alone that it was given for."""
