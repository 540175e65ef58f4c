"""search v1: one page of the lines that a query fits."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from contracts.errors import DeadlineError
from contracts.search.v1 import SPEC, Input, Output
from functions._runtime.tool import tool
from functions.search.paging import fill
from functions.search.question import Question, refuse_unusable
from functions.search.reading import steps

if TYPE_CHECKING:
    from collections.abc import Callable

    from functions._runtime.call import Call

TIME_MAX_MS = 8_000


@tool(SPEC, precheck=refuse_unusable)
def handler(request: Input, call: Call) -> Output:
    """Search the newest revision, the one asked for, or the one that the cursor names."""
    clock = _clock(call)
    question, workspace = Question.of(request), call.workspace(request.repo_root)
    snapshot = workspace.at(question.revision)
    with closing(steps(snapshot, request.glob, question.start.after)) as found:
        page = fill(
            found,
            question.matcher,
            question.start,
            limit=request.limit,
            check=clock,
        )
    return Output(
        matches=page.matches,
        revision=snapshot.revision,
        next_cursor=question.cursor(snapshot.revision, page.place) if page.place else None,
        truncated=page.place is not None,
        files_searched=page.searched,
        skipped=page.skipped,
    )


def _clock(call: Call) -> Callable[[], None]:
    """What raises DeadlineError when this page has had its time, or the whole call."""
    ends_ms = call.now_ms() + TIME_MAX_MS

    def check() -> None:
        call.deadline.check()
        if call.now_ms() >= ends_ms:
            raise DeadlineError("the page has had its time")

    return check
