"""The steps of the demo, in order: each is something that really happens on the local cloud."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from toolgate import workspace
from toolgate.demo import diffs, release, scratch
from toolgate.demo.stage import Stage, fresh_key
from toolgate.demo.steps import Step
from toolgate.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from agents.bedrock_local import Turn

PATCH = "apply_patch_v2"
FILE = "CHANGELOG.md"
NEWS = "- Patched by an agent, exactly once.\n"
CALLERS = 16
KILLED_FILES, KILLED_BYTES = 40, 60_000
"""Large enough that the call runs for a while between its claim and its commit."""
KILL_TRIES = 5


def tell(stage: Stage, repository: Path) -> Iterator[Step]:
    """Play the story; the workspace must hold `repository` already."""

    def step(id_: str, title: str, turn: Turn, **more: Any) -> Step:
        return Step(id_, title, turn.choice.tool, turn.event, turn.result, stage.commits(), more)

    listed = stage.choose("list_files_v1", glob="*.md")
    yield step("list", "The agent lists the repository", listed)
    read = stage.choose("read_file_v1", path=FILE)
    yield step("read", f"It reads {FILE}", read)

    before = _text(read)
    diff = diffs.unified(FILE, before, _with_news(before))
    key = fresh_key()
    patch = {"files": [_entry(diff)], "idempotencyKey": key}
    dry = stage.choose(PATCH, **patch, dryRun=True)
    yield step("dry-run", "It asks what its diff would do, by a dry run", dry)
    yield step("apply", "It applies the diff", stage.choose(PATCH, **patch))
    again = stage.choose(PATCH, **patch)
    yield step("replay", "The answer was lost, so it sends the same call again", again)
    other = stage.choose(
        PATCH, files=[_entry(_replaced("other"), "replace_full")], idempotencyKey=key
    )
    yield step("key-conflict", "By mistake it uses the same key for something else", other)

    stale = stage.choose(PATCH, files=[_entry(_stale(before))], idempotencyKey=fresh_key())
    yield step("stale-conflict", "Another diff names a line that the file does not have", stale)
    mended = diffs.corrected(FILE, stale.result["error"]["details"])
    repaired = stage.choose(PATCH, files=[_entry(mended)], idempotencyKey=fresh_key())
    yield step("repaired", "It mends the diff from the error's details alone", repaired)

    escape = _entry(_replaced("x"), "replace_full", path="../outside.txt")
    refused = stage.choose(PATCH, files=[escape], idempotencyKey=fresh_key())
    yield step("forbidden-path", "It tries to write outside the workspace", refused)
    malformed = stage.choose(PATCH, files=[{"path": FILE}], idempotencyKey=fresh_key())
    yield step("validation", "It forgets half of an argument", malformed)

    yield _concurrent(stage)
    yield from _killed(stage)
    yield from release.told(stage, repository)
    yield _pulled(stage, repository)


def _concurrent(stage: Stage) -> Step:
    """Sixteen callers, one key, one moment."""
    entry = _entry(_replaced("written once"), "replace_full", path="demo/concurrent.txt")
    turns = stage.choose_at_once(CALLERS, PATCH, files=[entry], idempotencyKey=fresh_key())
    first = [turn for turn in turns if not turn.result.get("skippedAsDuplicate")]
    # If the acting call's own answer was lost, it was repeated, and all of them are duplicates.
    shown = first[0] if first else turns[0]
    title = f"{CALLERS} callers send one call at the same moment"
    more = {
        "callers": len(turns),
        "effects": sum(turn.result["ok"] for turn in first),
        "duplicates": sum(bool(turn.result.get("skippedAsDuplicate")) for turn in turns),
    }
    return Step("concurrent", title, PATCH, shown.event, shown.result, stage.commits(), more)


def _killed(stage: Stage) -> Iterator[Step]:
    """Kill the worker between claim and commit, then repeat the call until it is done.

    A worker that was quicker than the kill proves nothing: that is told as a step of its own, and
    there is another try with a new change.
    """
    for number in range(KILL_TRIES):
        files = [
            _entry(f"{number}.{file}\n" * (KILLED_BYTES // 5), "replace_full", f"demo/{file}.txt")
            for file in range(KILLED_FILES)
        ]
        call = {"files": files, "idempotencyKey": fresh_key()}
        at_kill, killed, turn = _kill_while_it_runs(stage, call)
        event = {**turn.event, "requestBody": f"{KILLED_FILES} files, left out here"}
        more = {"recordAtKill": at_kill, "killedWorkers": len(killed), "attempts": turn.attempts}
        caught = at_kill == "INPROGRESS" and bool(killed)
        id_ = "killed" if caught else "kill-missed"
        title = "The worker is killed in the middle of a call, and the call is repeated"
        if not caught:
            title = "A worker was quicker than the kill; another try"
        yield Step(id_, title, PATCH, event, turn.result, stage.commits(), more)
        if caught:
            return
    raise CommandError(f"no worker could be killed in time, in {KILL_TRIES} tries; run it again")


def _kill_while_it_runs(stage: Stage, call: dict[str, Any]) -> tuple[str | None, list[int], Turn]:
    """(status of the record right after the kill, the workers killed, the answer in the end)."""
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(stage.choose, PATCH, **call)
        status, killed = None, []
        while status is None and not answer.done():
            status = stage.record_status(PATCH, call["idempotencyKey"])
        if status == "INPROGRESS":
            killed = stage.cloud.kill_workers(stage.function(PATCH))
            status = stage.record_status(PATCH, call["idempotencyKey"])
        return status, killed, answer.result()


def _pulled(stage: Stage, repository: Path) -> Step:
    """Bring the agent's commits back into a clone, and show the first of them."""
    result = workspace.pull(stage.stores, repository, stage.repo_root, checkout=True)
    news = f"{result.branch}~{result.commits - 1}"
    more = {"diff": scratch.show(repository, news), "pulledCommits": result.commits}
    told = {"ok": True, "branch": result.branch, "commit": result.tip, "revision": result.revision}
    title = "The agent's work comes back as git commits, in a scratch clone"
    return Step("pull", title, "workspace pull", None, told, stage.commits(), more)


def _text(read: Turn) -> str:
    if not read.result["ok"]:
        raise CommandError(f"{FILE} could not be read: {read.result['error']['message']}")
    return str(read.result["text"])


def _with_news(text: str) -> str:
    """The text with one more line of news under its first heading of the second level."""
    head, heading, rest = text.partition("\n## ")
    title, _, entries = rest.partition("\n")
    return f"{head}{heading}{title}\n\n{NEWS}{entries}"


def _stale(before: str) -> str:
    """A diff from a text that the file never had: its context misremembers one line."""
    wrong = before.replace("# Changelog\n", "# Change log\n", 1)
    wanted = wrong.replace("# Change log\n", "# Change log\n\nMended in one turn.\n", 1)
    return diffs.unified(FILE, wrong, wanted, context=6)


def _entry(content: str, mode: str = "unified_diff", path: str = FILE) -> dict[str, str]:
    return {"path": path, "mode": mode, "content": content}


def _replaced(text: str) -> str:
    return f"{text}\n"
