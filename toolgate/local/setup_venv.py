"""Creates `.venv` with a bare Python 3.11+: `python3 toolgate/local/setup_venv.py`.

Run by its path, since nothing is installed yet; hence only the standard library. Running it again
brings the environment up to date.
"""

from __future__ import annotations

import platform
import re
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OLDEST_PYTHON = (3, 11)
_UV = re.compile(r"^(uv==[0-9][^\s#;]*)", re.MULTILINE)


class SetupError(Exception):
    """A sentence that says what to do."""


def uv_requirement(requirements: str) -> str:
    """The pinned uv in a requirements file. Raises SetupError."""
    found = _UV.search(requirements)
    if found is None:
        raise SetupError("requirements.txt does not pin uv (uv==…).")
    return found.group(1)


def make(root: Path) -> Path:
    """Create or update `.venv` below `root`; the path of its Python. Raises SetupError."""
    home = root / ".venv"
    python = home / "bin" / "python"
    stale = _version(python) != platform.python_version()
    if stale:
        _say(f"Creating .venv with Python {platform.python_version()}")
        try:
            venv.create(home, clear=home.exists(), symlinks=True, with_pip=True)
        except subprocess.CalledProcessError:
            raise SetupError(
                f"{sys.executable} cannot create environments. On Debian and Ubuntu: "
                f"apt install python{sys.version_info.major}.{sys.version_info.minor}-venv"
            ) from None
    _say("Installing requirements.txt")
    requirements = root / "requirements.txt"
    uv = uv_requirement(requirements.read_text(encoding="utf-8"))
    _run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", uv], root)
    install = [str(python), "-m", "uv", "pip", "install", "--python", str(python)]
    _run([*install, "--requirements", str(requirements)], root)
    _run([*install, "--quiet", "--no-deps", "--editable", str(root)], root)
    # Compiled here, since a machine that forbids writing bytecode would compile at every start;
    # but for aws_cdk, which is larger than all else together: the first synth compiles its part.
    compiled = [
        "-W",
        "ignore",
        "-m",
        "compileall",
        "-q",
        "-j",
        "0",
        "-x",
        "/aws_cdk/",
        str(home / "lib"),
    ]
    subprocess.run([str(python), *compiled], cwd=root, check=False, stdout=subprocess.DEVNULL)
    return python


def main() -> int:
    """Make the environment; 1 with a sentence if that fails."""
    if sys.version_info[:2] < OLDEST_PYTHON:
        _say(f"Toolgate needs Python 3.11 or newer; {sys.executable} is older.")
        return 1
    try:
        make(ROOT)
    except SetupError as error:
        _say(f"Error: {error}")
        return 1
    return 0


def _version(python: Path) -> str | None:
    try:
        code = "import platform, pip; print(platform.python_version())"
        asked = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return asked.stdout.strip()


def _run(argv: list[str], root: Path) -> None:
    if subprocess.run(argv, cwd=root, check=False).returncode != 0:
        raise SetupError(
            f"{' '.join(argv[2:5])} failed; what it said stands above. If the registry cannot be "
            "reached, check the network and the proxy settings, then: make setup"
        )


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


if __name__ == "__main__":
    raise SystemExit(main())
