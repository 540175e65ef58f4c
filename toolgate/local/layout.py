"""Where the local cloud keeps its things: everything below `.local/` of the project."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

PROJECT_ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Layout:
    """The paths of one project's local cloud."""

    root: Path = PROJECT_ROOT

    @property
    def home(self) -> Path:
        """The one folder that is written to."""
        return self.root / ".local"

    @property
    def emulator_venv(self) -> Path:
        """The emulator's own virtual environment; its Lambda workers run on that interpreter."""
        return self.home / "ministack"

    @property
    def emulator_python(self) -> Path:
        """The interpreter of the emulator and of its Lambda workers."""
        return self.emulator_venv / "bin" / "python"

    @property
    def cdk(self) -> Path:
        """Holds the CDK CLI's node_modules."""
        return self.home / "cdk"

    @property
    def cdk_cli(self) -> Path:
        """The CDK CLI's script, run with node."""
        return self.cdk / "node_modules" / "aws-cdk" / "bin" / "cdk"

    @property
    def cdk_home(self) -> Path:
        """The CDK CLI's caches, apart from the developer's own `~/.cdk`."""
        return self.home / "cdk-home"

    @property
    def cdk_out(self) -> Path:
        """The synthesised cloud assembly."""
        return self.home / "cdk.out"

    @property
    def scratch(self) -> Path:
        """Home and temporary folder of the emulator; holds the workers' unpacked code."""
        return self.home / "tmp"

    @property
    def tables(self) -> Path:
        """The emulator's state but for S3 objects: tables, functions, stacks."""
        return self.home / "state"

    @property
    def objects(self) -> Path:
        """The emulator's S3 objects."""
        return self.home / "s3"

    @property
    def process_file(self) -> Path:
        """Who the running emulator is, and how the last one ended."""
        return self.home / "state.json"

    @property
    def deployed_file(self) -> Path:
        """The digest of the source that was deployed last."""
        return self.home / "deployed.json"

    @property
    def lock_file(self) -> Path:
        """Held while a command changes the local cloud."""
        return self.home / "lock"

    @property
    def emulator_log(self) -> Path:
        """Output of the emulator."""
        return self.home / "ministack.log"

    @property
    def deploy_log(self) -> Path:
        """Output of the CDK CLI."""
        return self.home / "deploy.log"
