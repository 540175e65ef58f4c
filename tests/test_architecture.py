"""The house rules that no linter knows: who imports whom, what may happen at import, what is where.

Every rule yields `file:line` and what is wrong there, so that a failure reads as a to-do list.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from contracts import registry
from toolgate import schema_files
from toolgate.project import ROOT

PRODUCT = ("contracts", "functions", "infra", "agents", "toolgate")
LINES_MAX = 400
SHARED_CONTRACTS = {path.stem for path in (ROOT / "contracts").glob("*.py")} | {"dialects"}
TOOLS = sorted({spec.folder for spec in registry.specs()})
BROUGHT_BY_LAMBDA = {"boto3", "botocore"}
IMPORTED_AS = {
    "aws-lambda-powertools": {"aws_lambda_powertools"},
    "google-re2": {"re2"},
    "itsdangerous": {"itsdangerous"},
    "pydantic": {"pydantic"},
}
OF_PYDANTIC = {"pydantic", "pydantic_core"}

ALLOWED = {
    "contracts": {"contracts", *OF_PYDANTIC},
    "functions": {
        "contracts",
        "functions",
        "aws_lambda_powertools",
        "botocore",
        "itsdangerous",
        "re2",
        *OF_PYDANTIC,
    },
    "infra": {"contracts", "infra", "aws_cdk", "constructs"},
    "agents": {
        *OF_PYDANTIC,
        *("agents", "contracts", "boto3", "botocore", "itsdangerous"),
        *("anyio", "mcp", "mcp_types", "langchain_core"),  # extras, imported on use
    },
}
"""What each package may import besides the standard library."""
BOTO3_HOME = "functions/_runtime/aws.py"
ENVIRONMENT_HOME = "functions/_runtime/settings.py"
CATCH_ALL_HOMES = ("functions/_runtime/tool.py", "functions/_approvals/handler.py")
MOMENTARY = {"boto3", "datetime", "environ", "getenv", "os", "random", "secrets", "time", "uuid"}
"""What must not be called while a module is imported: clients, clocks, chance, the environment."""


@dataclass(frozen=True)
class Import:
    """One imported module, by its whole name, and where it is imported."""

    path: str
    line: int
    module: str

    @property
    def top(self) -> str:
        return self.module.split(".", 1)[0]

    def __str__(self) -> str:
        return f"{self.path}:{self.line} imports {self.module}"


@cache
def python_files(package: str) -> tuple[Path, ...]:
    found = sorted((ROOT / package).rglob("*.py"))
    assert found
    return tuple(found)


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imports_of(path: Path) -> list[Import]:
    """Every import of a file, inside functions and for types only, too; relative ones resolved."""
    place, found = relative(path), []
    package = place.removesuffix(".py").split("/")[:-1]
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            found += [Import(place, node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *(node.module or "").split(".")]).rstrip(".")
            # `from contracts import registry` imports a module of that name.
            found += [Import(place, node.lineno, f"{module}.{alias.name}") for alias in node.names]
    return found


def imports_below(folder: str) -> list[Import]:
    return [one for path in python_files(folder) for one in imports_of(path)]


def is_of(one: Import, *modules: str) -> bool:
    return any(one.module == name or one.module.startswith(f"{name}.") for name in modules)


def said(problems) -> list[str]:
    return sorted({str(problem) for problem in problems})


@pytest.mark.parametrize("package", sorted(ALLOWED))
def test_a_package_imports_only_what_its_place_allows(package):
    allowed = ALLOWED[package] | set(sys.stdlib_module_names)
    if package == "functions":
        allowed = allowed | {"boto3"}  # its one place is checked below
    assert said(one for one in imports_below(package) if one.top not in allowed) == []


def test_what_functions_import_is_what_the_layer_and_lambda_hold():
    lines = (ROOT / "functions/requirements.txt").read_text(encoding="utf-8").splitlines()
    listed = {re.split("[=<>\\[]", line)[0] for line in lines if line and line[0] != "#"}
    assert set(IMPORTED_AS) <= listed
    shipped = set().union(*IMPORTED_AS.values(), OF_PYDANTIC, BROUGHT_BY_LAMBDA)
    known = shipped | {"contracts", "functions"} | set(sys.stdlib_module_names)
    assert said(one for one in imports_below("functions") if one.top not in known) == []


def test_boto3_is_imported_in_one_place_under_functions():
    users = {one.path for one in imports_below("functions") if one.top == "boto3"}
    assert users == {BOTO3_HOME}


def test_functions_and_infra_know_nothing_of_each_other():
    crossing = [one for one in imports_below("functions") if one.top == "infra"]
    crossing += [one for one in imports_below("infra") if one.top == "functions"]
    assert said(crossing) == []


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tools_folder_imports_its_own_contract_and_the_runtime_only(tool):
    shared = {f"contracts.{name}" for name in SHARED_CONTRACTS - {"registry"}}
    own = {f"contracts.{tool}", f"functions.{tool}", "functions._runtime"}
    houses = ("contracts", "functions", "infra", "agents", "toolgate")
    ours = [one for one in imports_below(f"functions/{tool}") if one.top in houses]
    assert ours
    assert said(one for one in ours if not is_of(one, *own, *shared)) == []


def test_a_contract_imports_no_other_tools_contract_and_not_the_registry():
    problems = []
    for tool in TOOLS:
        others = [f"contracts.{other}" for other in TOOLS if other != tool]
        found = imports_below(f"contracts/{tool}")
        problems += [one for one in found if is_of(one, *others, "contracts.registry")]
    assert said(problems) == []


def test_the_shared_runtime_knows_no_tool():
    tools = [f"{side}.{tool}" for side in ("contracts", "functions") for tool in TOOLS]
    found = imports_below("functions/_runtime")
    assert said(one for one in found if is_of(one, *tools, "contracts.registry")) == []


def test_the_patch_engine_is_pure():
    allowed = {"functions", *sys.stdlib_module_names}
    found = imports_below("functions/apply_patch/engine")
    assert said(one for one in found if one.top not in allowed) == []
    ours = [one for one in found if one.top == "functions"]
    assert said(one for one in ours if not is_of(one, "functions.apply_patch.engine")) == []
    outward = ("os", "io", "pathlib", "socket", "subprocess", "time", "random", "logging")
    assert said(one for one in found if is_of(one, *outward)) == []


def test_the_cdk_is_imported_under_infra_only_and_the_app_imports_infra_alone():
    elsewhere = [package for package in PRODUCT if package != "infra"]
    cdk = ("aws_cdk", "constructs", "jsii")
    assert said(o for p in elsewhere for o in imports_below(p) if is_of(o, *cdk)) == []
    assert {one.top for one in imports_of(ROOT / "app.py")} == {"infra"}


def test_a_catch_all_stands_only_where_an_answer_leaves_a_lambda():
    """Cleaning up and raising again is no catch-all."""
    found = []
    for package in ("contracts", "functions", "agents"):
        for path in python_files(package):
            for node in ast.walk(tree_of(path)):
                if not isinstance(node, ast.ExceptHandler):
                    continue
                caught = "" if node.type is None else ast.unparse(node.type)
                if caught in {"", "Exception", "BaseException"}:
                    found.append(f"{relative(path)}:{node.lineno}")
    assert {place.partition(":")[0] for place in found} == set(CATCH_ALL_HOMES)


def test_the_environment_is_read_in_one_place_under_functions():
    readers = set()
    for path in python_files("functions"):
        for node in ast.walk(tree_of(path)):
            name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
            if name in {"environ", "getenv", "environb", "putenv"}:
                readers.add(relative(path))
    assert readers == {ENVIRONMENT_HOME}


def at_import(node: ast.AST):
    """Every node that is evaluated while the module is imported: bodies of functions are not."""
    yield node
    if isinstance(node, ast.Lambda):
        return
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        children = [*node.decorator_list, *node.args.defaults, *node.args.kw_defaults]
    else:
        children = list(ast.iter_child_nodes(node))
    for child in filter(None, children):
        yield from at_import(child)


@pytest.mark.parametrize("package", ["contracts", "functions", "agents", "infra"])
def test_no_clock_no_chance_and_no_environment_is_asked_at_import(package):
    problems = []
    for path in python_files(package):
        for node in at_import(tree_of(path)):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                if called.split(".", 1)[0] in MOMENTARY:
                    problems.append(f"{relative(path)}:{node.lineno} calls {called}")
    assert problems == []


IMPORT_ALL = """
import importlib, os, sys
read = []
real = type(os.environ).__getitem__
def getitem(self, name):
    read.append(name)
    return real(self, name)
type(os.environ).__getitem__ = getitem
import boto3
def refuse(*_, **__):
    raise AssertionError("a client was made at import")
boto3.client = boto3.resource = boto3.session.Session.client = refuse
for name in sys.argv[1:]:
    importlib.import_module(name)
ours = ("TOOLGATE_", "IDEMPOTENCY_", "WORKSPACE_")
print(sorted({name for name in read if name.startswith(ours)}))
"""


def test_importing_makes_no_client_and_reads_nothing_of_the_stage():
    modules = []
    for package in ("contracts", "functions", "agents"):
        for path in python_files(package):
            name = relative(path).removesuffix(".py").removesuffix("/__init__")
            modules.append(name.replace("/", "."))
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL, *modules],
        cwd=ROOT,
        env={},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("package", PRODUCT)
def test_every_module_is_short_and_says_what_the_reader_gets(package):
    problems = []
    for path in python_files(package):
        lines = path.read_text(encoding="utf-8").count("\n")
        if lines > LINES_MAX:
            problems.append(f"{relative(path)}:{lines} is longer than {LINES_MAX} lines")
        if not (ast.get_docstring(tree_of(path)) or "").strip():
            problems.append(f"{relative(path)}:1 has no docstring")
    assert problems == []


@pytest.mark.parametrize("spec", registry.specs(), ids=lambda spec: spec.model_name)
def test_every_contract_has_its_handler_golden_cases_and_schema(spec):
    expected = (
        spec.contract_path,
        spec.handler_path,
        f"tests/golden/{spec.model_name}.json",
        f"contracts/schemas/{spec.model_name}.json",
    )
    assert [path for path in expected if not (ROOT / path).is_file()] == []


def test_every_handler_golden_file_and_schema_has_its_contract():
    specs = registry.specs()
    handlers = {relative(path) for path in (ROOT / "functions").glob("[!_]*/v[0-9]*.py")}
    assert handlers == {spec.handler_path for spec in specs}
    names = {spec.model_name for spec in specs}
    assert {path.stem for path in (ROOT / "tests/golden").glob("*.json")} == names
    schemas = {path.stem for path in (ROOT / "contracts/schemas").glob("*.json")}
    assert schemas - {"agent_action", "digests", "index"} == names
    assert set(schema_files.digests()) <= {spec.record_prefix for spec in specs}


def test_tool_folders_are_namespace_packages():
    places = [f"{side}/{tool}/__init__.py" for side in ("contracts", "functions") for tool in TOOLS]
    assert [place for place in places if (ROOT / place).exists()] == []


def test_the_list_of_functions_is_the_list_of_tools():
    folders = {
        path.name
        for path in (ROOT / "functions").iterdir()
        if path.is_dir() and not path.name.startswith("_")
    }
    assert folders == set(TOOLS)


UNWANTED = re.compile(
    "|".join(
        (
            r"(?<![\w.-])/wo" + r"rk/",
            r"(?<![\w.-])/root" + r"/",
            r"(?<![\w.-])/fa" + r"rm\b",
            r"pypi" + r"\.org",
            r"files\.python" + r"hosted",
            r"registry\.npm" + r"js",
            r"\bSEMANTICS" + r"\.md",
            r"\bDESIGN" + r"\.md",
        )
    )
)
"""Written in two parts each, so that this file is no finding of its own."""


def test_no_tracked_text_names_a_machine_or_a_registry():
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False, timeout=60
    )
    if listed.returncode:
        pytest.skip("not a git checkout, so nothing is tracked")
    problems = []
    for name in filter(None, listed.stdout.decode("utf-8").split("\0")):
        path = ROOT / name
        if not path.is_file():
            continue
        text = path.read_bytes().decode("utf-8", "replace")
        for number, line in enumerate(text.splitlines(), 1):
            if found := UNWANTED.search(line):
                problems.append(f"{name}:{number} says {found.group()}")
    assert problems == []
