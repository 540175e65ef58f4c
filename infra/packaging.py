"""The files of one tool's Lambda, at their own import paths: an allow-list, never the tree.

A tool ships its own folders under `contracts/` and `functions/`, the shared runtime, and of
`contracts` only the modules that those import. So a change of one tool changes one asset, and
neither the registry nor an emitter ever reaches a Lambda.
"""

from __future__ import annotations

import ast
import shutil
from functools import cache
from typing import TYPE_CHECKING

from infra.errors import PackagingError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from contracts.spec import ToolSpec

RUNTIME = "functions/_runtime"
APPROVALS = "functions/_approvals"
NEVER_SHIPPED = frozenset(
    {
        "contracts.registry",  # would import every tool
        "contracts.publishing",
        "contracts.instruction",
        "contracts.compatibility",
        "contracts.dialects",
        "contracts.schemas",
    }
)
"""Modules for the builder's side; a runtime that imports one is refused."""

SUFFIXES = frozenset({".py", ".json"})
_PACKAGES = ("contracts/__init__.py", "functions/__init__.py")


def tool_files(root: Path, spec: ToolSpec) -> tuple[str, ...]:
    """Paths of the tool's files relative to `root`, sorted.

    Raises PackagingError if the handler is missing, or if something imports what may not ship.
    """
    if not (root / spec.handler_path).is_file():
        raise PackagingError(f"{spec.key} has a contract but no handler; write {spec.handler_path}")
    folders = (f"contracts/{spec.folder}", f"functions/{spec.folder}", RUNTIME)
    found = {path for folder in folders for path in _folder(root, folder)}
    found |= {path for path in _PACKAGES if (root / path).is_file()}
    return tuple(sorted(found | _imported_contracts(root, found)))


def approvals_files(root: Path) -> tuple[str, ...]:
    """Paths of the files of the humans' Lambda, sorted. Raises PackagingError like `tool_files`."""
    found = {path for folder in (APPROVALS, RUNTIME) for path in _folder(root, folder)}
    found |= {path for path in _PACKAGES if (root / path).is_file()}
    return tuple(sorted(found | _imported_contracts(root, found)))


def stage_tool(root: Path, spec: ToolSpec, target: Path) -> Path:
    """Copy the tool's files into the new directory `target`, and return that."""
    return stage_files(root, tool_files(root, spec), target)


def stage_files(root: Path, files: Iterable[str], target: Path) -> Path:
    """Copy files into the new directory `target`, and return that.

    Modes are set, not copied: Lambda runs as another user than the one that checked out.
    """
    for relative in files:
        copy = target / relative
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / relative, copy)
        copy.chmod(0o644)
    for folder in (target, *(path for path in target.rglob("*") if path.is_dir())):
        folder.chmod(0o755)
    return target


def _folder(root: Path, folder: str) -> Iterator[str]:
    for path in (root / folder).rglob("*"):
        relative = path.relative_to(root)
        hidden = any(part.startswith(".") or part == "__pycache__" for part in relative.parts)
        if path.suffix in SUFFIXES and path.is_file() and not hidden:
            yield relative.as_posix()


def _imported_contracts(root: Path, files: set[str]) -> set[str]:
    """The modules of `contracts` that the files import when they run, directly or not."""
    found: set[str] = set()
    waiting = sorted(path for path in files if path.endswith(".py"))
    while waiting:
        importer = waiting.pop()
        for module in contract_imports((root / importer).read_text("utf-8")):
            if any(module == name or module.startswith(f"{name}.") for name in NEVER_SHIPPED):
                raise PackagingError(f"{importer} imports {module}, which does not ship")
            path = f"{module.replace('.', '/')}.py"
            if path not in files | found and (root / path).is_file():
                found.add(path)
                waiting.append(path)
    return found


@cache
def contract_imports(source: str) -> tuple[str, ...]:
    """Modules of `contracts` that a source names in its imports, except those for types only.

    `from contracts import x` is given as `contracts.x`, which may or may not be a module.
    """
    named: set[str] = set()
    waiting: list[ast.AST] = [ast.parse(source)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and _is_for_types(node.test):
            waiting += node.orelse
        elif isinstance(node, ast.Import):
            named |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            named |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        else:
            waiting += ast.iter_child_nodes(node)
    return tuple(sorted(name for name in named if name.startswith("contracts.")))


def _is_for_types(test: ast.expr) -> bool:
    name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", "")
    return name == "TYPE_CHECKING"
