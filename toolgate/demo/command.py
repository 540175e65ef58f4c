"""`toolgate demo`: set up, deploy, push this project, and let an agent work on it."""

from __future__ import annotations

import getpass
import json
import tempfile
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from toolgate import workspace
from toolgate.demo import scratch
from toolgate.demo.stage import Stage
from toolgate.demo.story import tell
from toolgate.demo.transcript import Transcript
from toolgate.local import cloud
from toolgate.local.progress import Shown


def demo(
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a step.")] = False,
) -> None:
    """Show an agent patch a repository exactly once.

    On the local cloud, over real Bedrock events.
    """
    progress = Shown(Console(stderr=True, highlight=False))
    stage = Stage(cloud.up(progress))
    with tempfile.TemporaryDirectory(prefix="toolgate-demo-") as place:
        with progress.step("Clone this project and push it as a workspace"):
            repository = scratch.clone(Path(place))
            workspace.push(
                stage.stores,
                repository,
                stage.repo_root,
                by=getpass.getuser(),
                now_ms=time.time_ns() // 1_000_000,
                message="The project as it is",
            )
        transcript = Transcript(Console(highlight=False, soft_wrap=True))
        for step in tell(stage, repository):
            if as_json:
                typer.echo(json.dumps(step.as_dict(), ensure_ascii=False))
            else:
                transcript.tell(step)
        if not as_json:
            transcript.close()
