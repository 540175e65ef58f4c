"""What each tool ships: its own files, what they import, and nothing that would move them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from contracts import registry
from infra.errors import PackagingError
from infra.packaging import contract_imports, stage_tool, tool_files

PROJECT = Path(__file__).parents[2]
REQUIREMENTS = PROJECT / "functions/requirements.txt"
SPECS = {spec.model_name: spec for spec in registry.specs()}
HAVE_HANDLERS = [n for n, spec in SPECS.items() if (PROJECT / spec.handler_path).is_file()]

PROBE = """
import importlib, pathlib, sys
asset, *packages = sys.argv[1:4]
sys.path[:0] = [asset, *packages]
sys.dont_write_bytecode = True
for path in sorted(pathlib.Path(asset).rglob("*.py")):
    parts = path.relative_to(asset).with_suffix("").parts
    importlib.import_module(".".join(p for p in parts if p != "__init__"))
own = [m for n, m in sys.modules.items() if n.split(".")[0] in ("contracts", "functions")]
assert all(str(m.__file__ or asset).startswith(asset) for m in own), own
handler = importlib.import_module(sys.argv[4]).handler
class Context:
    aws_request_id = "00000000-0000-4000-8000-000000000001"
    function_name = "probe"
    function_version = "1"
    invoked_function_arn = "arn:aws:lambda:eu-central-1:123456789012:function:probe"
    memory_limit_in_mb = 1024
    client_context = None
    identity = None
    def get_remaining_time_in_millis(self):
        return 10_000
print("ANSWER", handler({"surplus": 1}, Context())["error"]["code"])
"""


def distributions(names):
    """Distributions and all that they need here, by name."""
    found, waiting = {}, list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = metadata.distribution(name)
            needs = [Requirement(text) for text in found[name].requires or ()]
            waiting += [r.name for r in needs if not r.marker or r.marker.evaluate({"extra": ""})]
    return found.values()


def only(names, folder):
    """A folder that holds these distributions and what they need, and nothing else."""
    folder.mkdir()
    for found in distributions(names):
        for path in found.files or ():
            top = path.parts[0]
            source, link = Path(found.locate_file(top)), folder / top
            if top not in ("..", "__pycache__") and not link.exists():
                link.symlink_to(source)
    return folder


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """Two folders: what the layer holds, and what Lambda brings."""
    home = tmp_path_factory.mktemp("packages")
    lines = REQUIREMENTS.read_text("utf-8").splitlines()
    shipped = [Requirement(line).name for line in lines if line and not line.startswith("#")]
    return only(shipped, home / "layer"), only(["boto3"], home / "lambda")


@pytest.mark.parametrize("name", HAVE_HANDLERS)
def test_a_tool_runs_with_its_asset_its_layer_and_what_lambda_brings(name, packages, tmp_path):
    spec = SPECS[name]
    asset = stage_tool(PROJECT, spec, tmp_path / "asset")
    done = subprocess.run(
        [
            sys.executable,
            "-I",
            "-S",
            "-c",
            PROBE,
            str(asset),
            *map(str, packages),
            spec.handler_module,
        ],
        capture_output=True,
        text=True,
        check=False,
        env={
            "PATH": os.defpath,
            "AWS_REGION": "eu-central-1",
            "AWS_DEFAULT_REGION": "eu-central-1",
            "TOOLGATE_STAGE": "dev",
            "IDEMPOTENCY_TABLE": "i",
            "WORKSPACE_TABLE": "w",
            "WORKSPACE_BUCKET": "b",
            "ORDERS_TABLE": "o",
            "RELEASES_BUCKET": "r",
            "TOOLGATE_BINDINGS": json.dumps(
                {"direct": {"tenant": "default", "scopes": sorted(spec.scopes)}}
            ),
            "POWERTOOLS_SERVICE_NAME": "toolgate",
            "POWERTOOLS_METRICS_NAMESPACE": "Toolgate",
        },
    )
    assert done.returncode == 0, done.stderr
    assert "ANSWER VALIDATION" in done.stdout


@pytest.mark.parametrize("name", HAVE_HANDLERS)
def test_an_asset_holds_no_other_tool_and_nothing_for_builders(name):
    spec = SPECS[name]
    files = tool_files(PROJECT, spec)
    others = {other.folder for other in SPECS.values()} - {spec.folder}
    for path in files:
        top, second = Path(path).parts[:2]
        assert top in ("contracts", "functions")
        assert second not in {"registry.py", "publishing.py", "instruction.py", "dialects"} | others
        assert "__pycache__" not in path
    assert spec.handler_path in files
    assert spec.contract_path in files
    assert {"contracts/__init__.py", "contracts/spec.py", "functions/__init__.py"} <= set(files)


@pytest.fixture
def asset_hashes(new_app, deployed):
    """Gives the hash of each tool's asset in a tree, as the CDK computes it."""
    import aws_cdk as cdk
    from aws_cdk import aws_s3_assets as assets

    def of(tree, staging):
        stack = cdk.Stack(new_app(), "Assets")
        return {
            spec.model_name: assets.Asset(
                stack, spec.model_name, path=str(stage_tool(tree, spec, staging / spec.model_name))
            ).asset_hash
            for spec in deployed("dev")
        }

    return of


@pytest.fixture
def changed(asset_hashes, tree, tmp_path):
    """Gives the tools whose asset changes when a file of the tree does."""

    def by(relative, text="\n# changed\n"):
        copy = tmp_path / "copy"
        shutil.copytree(tree, copy)
        before = asset_hashes(copy, tmp_path / "before")
        path = copy / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
        after = asset_hashes(copy, tmp_path / "after")
        return {name for name in before if before[name] != after[name]}

    return by


def test_editing_one_handler_changes_the_asset_of_that_tool_alone(changed):
    assert changed("functions/read_file/v1.py") == {"read_file_v1"}


def test_editing_one_contract_changes_the_asset_of_that_tool_alone(changed):
    assert changed("contracts/list_files/v1.py") == {"list_files_v1"}


def test_editing_the_shared_runtime_changes_every_asset(changed):
    assert changed("functions/_runtime/settings.py") == set(SPECS)


@pytest.mark.parametrize(
    "relative",
    [
        "contracts/registry.py",
        "contracts/dialects/bedrock.py",
        "contracts/__pycache__/spec.cpython-311.pyc",
        "functions/read_file/__pycache__/v1.cpython-311.pyc",
        "functions/read_file/README.md",
        "functions/read_file/.v1.py",
        "functions/read_file/__pycache__/v1.py",
        "functions/requirements.txt",
    ],
)
def test_files_that_do_not_ship_change_no_asset(changed, relative):
    assert changed(relative) == set()


def test_the_functions_of_the_template_run_those_assets(asset_hashes, tree, tmp_path, resources):
    keys = {f["Code"]["S3Key"] for f in resources("dev", "tools", "AWS::Lambda::Function").values()}
    assert keys == {f"{h}.zip" for h in asset_hashes(tree, tmp_path / "again").values()}


def test_staged_files_are_readable_by_lambdas_user(tree, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(tree, copy)
    (copy / SPECS["read_file_v1"].handler_path).chmod(0o600)
    staged = stage_tool(copy, SPECS["read_file_v1"], tmp_path / "asset")
    for path in staged.rglob("*"):
        assert path.stat().st_mode & 0o777 == (0o755 if path.is_dir() else 0o644)


def test_a_contract_without_a_handler_is_refused_with_the_file_to_write(tree, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(tree, copy)
    (copy / "functions/read_file/v1.py").unlink()
    with pytest.raises(PackagingError, match=r"write functions/read_file/v1\.py"):
        tool_files(copy, SPECS["read_file_v1"])


@pytest.mark.parametrize(
    "line", ["from contracts import registry", "import contracts.dialects.bedrock"]
)
def test_a_handler_that_needs_the_builders_side_is_refused(tree, tmp_path, line):
    copy = tmp_path / "copy"
    shutil.copytree(tree, copy)
    with (copy / "functions/read_file/v1.py").open("a", encoding="utf-8") as file:
        file.write(f"\ndef late():\n    {line}\n")
    with pytest.raises(PackagingError, match=r"functions/read_file/v1\.py imports contracts"):
        tool_files(copy, SPECS["read_file_v1"])


def test_imports_for_types_only_do_not_ship():
    source = (
        "from typing import TYPE_CHECKING\n"
        "from contracts import results\n"
        "if TYPE_CHECKING:\n    from contracts.spec import ToolSpec\n"
        "else:\n    from contracts.types import Answer\n"
        "def late():\n    import contracts.issues\n"
    )
    found = contract_imports(source)
    assert {"contracts.results", "contracts.types", "contracts.issues"} <= set(found)
    assert not [name for name in found if name.startswith("contracts.spec")]
