from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from contracts.errors import (
    ConflictError,
    ForbiddenPathError,
    InvalidArgumentsError,
    NotFoundError,
    TooLargeError,
)
from functions._runtime.workspace import Edit, FileWrite, ObjectCache, Stores
from functions._runtime.workspace.objects import EMPTY_TREE, frame, object_id
from tests.functions.workspace.cloud import (
    Done,
    TableEffect,
    all_objects,
    changed,
    found,
    log_row,
    put,
    workspace,
)

if TYPE_CHECKING:
    from functions._runtime.workspace.heads import WorkspaceName
    from functions._runtime.workspace.snapshot import Snapshot


@pytest.fixture
def name(stores: Stores) -> WorkspaceName:
    return found(stores)


def test_change_moves_the_head_writes_history_and_completes_the_call(stores: Stores, name: Any):
    effect = TableEffect(stores)
    answer = workspace(stores, effect=effect).change(put("src/a.py", b"print()\n"))

    assert answer == Done()
    snapshot = workspace(stores).snapshot()
    assert snapshot.read("src/a.py").data == b"print()\n"
    assert snapshot.revision == f"2-{snapshot.tree}"
    row = log_row(stores, name, 2)
    assert {k: next(iter(v.values())) for k, v in row.items() if k not in {"pk", "sk"}} == {
        "tree": snapshot.tree,
        "parent": EMPTY_TREE,
        "op": "apply_patch@1#0",
        "tool": "apply_patch@1",
        "by": "ada",
        "atMs": "1700000000000",
        "message": "Write src/a.py",
        "paths": [{"S": "src/a.py"}],
        "more": "0",
    }
    record = stores.dynamodb.get_item(TableName="idempotency", Key={"id": {"S": effect.operation}})
    assert record["Item"]["data"]["S"] == '{"text":"done"}'


def test_rows_and_keys_are_as_pinned(stores: Stores, name: Any):
    changed(stores, put("a", b"1"))
    assert name.pk == "WS#default#af7e243d70b1613d780683967f922c56"
    rows = stores.dynamodb.query(
        TableName="workspace",
        KeyConditionExpression="pk = :pk",
        ExpressionAttributeValues={":pk": {"S": name.pk}},
    )["Items"]
    assert [row["sk"]["S"] for row in rows] == [
        "HEAD#main",
        "LOG#main#000000000001",
        "LOG#main#000000000002",
        "META",
    ]
    blob = object_id(frame("blob", b"1"))
    assert f"t/default/w/af7e243d70b1613d780683967f922c56/o/{blob[:2]}/{blob[2:]}" in all_objects(
        stores
    )


def test_change_without_difference_completes_the_call_and_writes_no_history(stores: Stores):
    found(stores)
    changed(stores, put("a", b"1"))
    stores.s3.calls.clear()
    effect = TableEffect(stores, "again")
    assert workspace(stores, effect=effect).change(put("a", b"1")) == Done()
    assert effect.commits == [[]]
    assert workspace(stores).snapshot().head.seq == 2
    assert stores.s3.count("put_object") == 0


def test_dry_run_gives_the_answer_and_writes_nothing(stores: Stores, name: Any):
    before = all_objects(stores)
    stores.dynamodb.calls.clear()
    assert workspace(stores).change(put("a", b"1", text="would")) == Done(text="would")
    assert all_objects(stores) == before
    assert [called for called, _ in stores.dynamodb.calls] == ["batch_get_item"]


def test_dry_run_is_refused_like_the_real_one(stores: Stores):
    found(stores)
    changed(stores, put("a", b"1"))
    for effect in (None, TableEffect(stores)):
        with pytest.raises(ConflictError):
            workspace(stores, effect=effect).change(put("A", b"2"))


def test_change_on_a_moved_head_is_made_again_on_what_is_there(stores: Stores, name: Any):
    seen: list[str] = []

    def edit(snapshot: Snapshot) -> Edit:
        if not seen:
            workspace(stores, effect=TableEffect(stores, "other")).change(put("a", b"theirs "))
        data = snapshot.read("a").data + b"mine"
        seen.append(snapshot.revision)
        return Edit([FileWrite("a", data)], lambda _: Done(), "Append")

    effect = TableEffect(stores, "mine")
    workspace(stores, effect=effect).change(edit)
    assert [revision[:2] for revision in seen] == ["1-", "2-"]
    assert workspace(stores).snapshot().read("a").data == b"theirs mine"
    assert len(effect.commits) == 1
    assert log_row(stores, name, 3)["op"]["S"] == "mine"


def test_eight_writers_of_one_branch_all_land(stores: Stores, name: Any):
    start = threading.Barrier(8)

    def write(number: int) -> None:
        start.wait()
        effect = TableEffect(stores, f"op{number}")
        workspace(stores, effect=effect).change(put(f"d{number}/f", b"%d" % number))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    snapshot = workspace(stores).snapshot()
    assert snapshot.head.seq == 9
    assert [snapshot.read(f"d{n}/f").data for n in range(8)] == [b"%d" % n for n in range(8)]


def test_one_file_patch_touches_only_the_trees_on_its_path(stores: Stores, name: Any):
    many = [
        FileWrite(f"a/b{n % 10}/c{n % 30}/d{n}.txt", b"%d" % n, executable=False)
        for n in range(600)
    ]
    changed(stores, lambda _: Edit(many, lambda _: Done(), "Fill"))
    stores.s3.calls.clear()
    stores.dynamodb.calls.clear()

    def patch(snapshot: Snapshot) -> Edit:
        path = "a/b7/c17/d47.txt"
        assert snapshot.read(path).data == b"47"
        return Edit([FileWrite(path, b"new")], lambda _: Done(), "Patch")

    workspace(stores, effect=TableEffect(stores)).change(patch)
    assert stores.s3.count("get_object") == 4 + 1
    assert stores.s3.count("put_object") == 4 + 1
    assert [c for c, _ in stores.dynamodb.calls] == ["batch_get_item", "transact_write_items"]
    assert len(stores.dynamodb.calls[-1][1]["TransactItems"]) == 3


def test_blobs_are_stored_before_trees_and_trees_before_the_head(stores: Stores, name: Any):
    effect = TableEffect(stores)
    stores.s3.calls.clear()
    writes = [FileWrite(f"d{n}/f", b"%d" % n) for n in range(5)]
    stores.dynamodb.before["transact_write_items"] = lambda **_: stores.s3.calls.append(
        ("COMMIT", {})
    )
    workspace(stores, effect=effect).change(lambda _: Edit(writes, lambda _: Done(), "Five"))
    kinds = [
        arguments["Body"][:4].decode() if called == "put_object" else called
        for called, arguments in stores.s3.calls
        if called != "get_object"
    ]
    assert kinds == ["blob"] * 5 + ["tree"] * 6 + ["COMMIT"]
    assert all(a["IfNoneMatch"] == "*" for c, a in stores.s3.calls if c == "put_object")


def test_object_that_is_already_there_counts_as_stored(stores: Stores, name: Any):
    framed = frame("blob", b"1")
    oid = object_id(framed)
    key = f"{name.prefix}{oid[:2]}/{oid[2:]}"
    stores.s3.put_object(Bucket=stores.bucket, Key=key, Body=framed)
    assert changed(stores, put("a", b"1")).snapshot().read("a").data == b"1"


def test_unknown_workspace_and_another_tenants_are_not_found(stores: Stores, name: Any):
    for more in ({"repo_root": "/workspace/other"}, {"tenant": "other"}):
        with pytest.raises(NotFoundError):
            workspace(stores, **more).snapshot()
        with pytest.raises(NotFoundError):
            workspace(stores, effect=TableEffect(stores), **more).change(put("a", b"1"))
        with pytest.raises(NotFoundError):
            workspace(stores, **more).at(f"1-{EMPTY_TREE}")


def test_pinned_revision_reads_what_was_there_then(stores: Stores, name: Any):
    revision = changed(stores, put("a", b"old")).snapshot().revision
    changed(stores, put("a", b"new"), put("b", b""))
    assert workspace(stores).at(revision).read("a").data == b"old"
    assert workspace(stores).at(revision).revision == revision


@pytest.mark.parametrize("text", ["", "1", "1-abc", f"x-{EMPTY_TREE}", f"1-{EMPTY_TREE}\n"])
def test_text_that_is_no_revision_is_invalid(stores: Stores, name: Any, text: str):
    with pytest.raises(InvalidArgumentsError):
        workspace(stores).at(text)


def test_revision_of_no_commit_of_this_workspace_is_not_found(stores: Stores, name: Any):
    snapshot = changed(stores, put("a/b", b"1")).snapshot()
    inner = snapshot.read_tree(snapshot.tree)[b"a"].oid
    for text in (f"2-{inner}", f"3-{snapshot.tree}", f"1-{snapshot.tree}"):
        with pytest.raises(NotFoundError):
            workspace(stores).at(text)


def test_read_tells_what_stands_at_a_path(stores: Stores, name: Any):
    def fill(_: Any) -> Edit:
        writes = [FileWrite("d/f", b"data"), FileWrite("run", b"#!", executable=True)]
        return Edit(writes, lambda _: Done(), "Fill")

    snapshot = changed(stores, fill).snapshot()
    assert (snapshot.read("d/f").kind, snapshot.read("d/f").size) == ("file", 4)
    assert snapshot.read("run").kind == "executable"
    assert snapshot.read("d").kind == "directory"
    assert snapshot.read("no").kind == "missing"
    assert snapshot.read("run/x").kind == "not_a_directory"
    assert list(snapshot.walk("**")) == [(b"d/f", "file"), (b"run", "executable")]
    assert list(snapshot.walk("*", after=b"d")) == [(b"run", "executable")]


def test_file_over_the_limit_is_refused_before_it_is_fetched(stores: Stores, name: Any):
    snapshot = changed(stores, put("big", b"x" * 5_000)).snapshot()
    with pytest.raises(TooLargeError) as caught:
        snapshot.read("big", max_bytes=4_999)
    assert caught.value.details == {"limit": 4_999, "actual": 5_000}
    assert snapshot.read("big", max_bytes=5_000).size == 5_000
    with pytest.raises(TooLargeError):
        snapshot.read("big", max_bytes=4_990)


def test_protected_paths_are_refused_and_nothing_is_written(stores: Stores, name: Any):
    stores.dynamodb.update_item(
        TableName="workspace",
        Key=name.key("META"),
        UpdateExpression="SET protected = :p",
        ExpressionAttributeValues={":p": {"L": [{"S": "infra/**"}]}},
    )
    before = all_objects(stores)
    for path in ("infra/role.py", "INFRA/role.py", ".github/workflows/x.yml"):
        effect = TableEffect(stores)
        with pytest.raises(ForbiddenPathError) as caught:
            workspace(stores, effect=effect).change(put(path, b"1"))
        assert caught.value.details == {"path": path, "reason": "PROTECTED"}
        assert effect.commits == []
    assert all_objects(stores) == before
    changed(stores, put("infra.md", b"1"))


def test_shared_cache_saves_reads_and_never_crosses_workspaces(stores: Stores, name: Any):
    found(stores, tenant="other")
    cache = ObjectCache()
    changed(stores, put("a", b"1"), cache=cache)
    stores.s3.calls.clear()
    assert workspace(stores, cache=cache).snapshot().read("a").data == b"1"
    assert stores.s3.calls == []
    changed(stores, put("a", b"1"), tenant="other", cache=cache)
    assert stores.s3.count("put_object") == 2
    assert workspace(stores, tenant="other").snapshot().read("a").data == b"1"


def test_cache_stays_within_its_bounds():
    cache = ObjectCache(max_bytes=10, max_object_bytes=6)
    cache.put(("b", "1"), b"12345")
    cache.put(("b", "2"), b"12345")
    assert cache.get(("b", "1"))
    cache.put(("b", "3"), b"12345")
    cache.put(("b", "4"), b"1234567")
    kept = [key for key in "1234" if cache.get(("b", key))]
    assert kept == ["1", "3"]


def test_tenant_that_could_reach_into_anothers_keys_is_refused(stores: Stores):
    for tenant in ("", "a/b", "A", "a#b", "x" * 33, "a\n"):
        with pytest.raises(ValueError, match="tenant"):
            workspace(stores, tenant=tenant)
