"""The objects of one workspace in S3: immutable, named by their content, proved on every read.

UnavailableError  S3 failed, throttled or timed out; the identical call may succeed
InternalError     an object that must be there is missing, or its bytes are not what its id says,
                  or a request was malformed
TooLargeError     the object holds more than was asked for; nothing of it was fetched
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Protocol

from botocore.exceptions import ClientError

from contracts.errors import InternalError, TooLargeError
from functions._runtime.buckets import put_new
from functions._runtime.failures import ABSENT, error_code, unavailable_on_failure
from functions._runtime.workspace.objects import (
    MalformedObjectError,
    ObjectKind,
    decode_tree,
    open_object,
    payload_size,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from functions._runtime.workspace.objects import Tree

READ_MAX_BYTES = 32 * 1024 * 1024
"""What a read fetches at the most, so that a huge file cannot exhaust a function's memory."""

_HEADER_MAX = 32
_PARALLEL = 8


class Clock(Protocol):
    """What is asked before each call to a store; it raises when time is up."""

    def check(self) -> None:
        """Raise if no more work may begin."""


class MissingObjectError(InternalError):
    """The store has no object of that id."""


class ObjectCache:
    """Objects by their S3 key, the least recently used dropped first; safe for threads.

    Keys hold bucket, tenant and workspace, so no caller is answered from another's objects.
    """

    def __init__(
        self, max_bytes: int = 32 * 1024 * 1024, max_object_bytes: int = 4_000_000
    ) -> None:
        self._max_bytes, self._max_object_bytes = max_bytes, max_object_bytes
        self._objects: OrderedDict[tuple[str, str], bytes] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, key: tuple[str, str]) -> bytes | None:
        """The object, or None."""
        with self._lock:
            found = self._objects.get(key)
            if found is not None:
                self._objects.move_to_end(key)
            return found

    def put(self, key: tuple[str, str], framed: bytes) -> None:
        """Keep an object, unless it is too large to be worth it."""
        if len(framed) > self._max_object_bytes:
            return
        with self._lock:
            if key not in self._objects:
                self._objects[key] = framed
                self._bytes += len(framed)
            while self._bytes > self._max_bytes:
                self._bytes -= len(self._objects.popitem(last=False)[1])


class ObjectStore:
    """Objects under one prefix of a bucket. Content never changes, so a cached one is never old."""

    def __init__(
        self, *, s3: Any, bucket: str, prefix: str, clock: Clock, cache: ObjectCache
    ) -> None:
        self._s3, self._bucket, self._prefix = s3, bucket, prefix
        self._clock, self._cache = clock, cache
        self._written: set[str] = set()

    def key(self, oid: str) -> str:
        """The S3 key of an object."""
        return f"{self._prefix}{oid[:2]}/{oid[2:]}"

    def tree(self, oid: str) -> Tree:
        """A directory. Raises as the module says."""
        payload = self._read(oid, "tree", READ_MAX_BYTES)
        try:
            return decode_tree(payload)
        except MalformedObjectError as error:
            raise _damaged() from error

    def blob(self, oid: str, max_bytes: int = READ_MAX_BYTES) -> bytes:
        """A file's bytes. Raises as the module says."""
        return self._read(oid, "blob", max_bytes)

    def write(self, objects: Mapping[str, bytes]) -> int:
        """Store objects, framed, by id, several at a time; returns how many were new to the store.

        All of them are there when it returns. Raises UnavailableError, or what the clock raises.
        """
        todo = [(oid, framed) for oid, framed in objects.items() if oid not in self._written]
        if len(todo) <= 1:
            return sum(self._put(oid, framed) for oid, framed in todo)
        with ThreadPoolExecutor(min(_PARALLEL, len(todo))) as pool:
            puts = [pool.submit(self._put, oid, framed) for oid, framed in todo]
            try:
                return sum(put.result() for put in puts)
            finally:
                for put in puts:
                    put.cancel()

    def has(self, oid: str) -> bool:
        """Whether the object is there. Raises UnavailableError."""
        self._clock.check()
        with unavailable_on_failure():
            try:
                self._s3.head_object(Bucket=self._bucket, Key=self.key(oid))
            except ClientError as error:
                if error_code(error) not in ABSENT:
                    raise
                return False
        return True

    def _read(self, oid: str, kind: ObjectKind, max_bytes: int) -> bytes:
        cache_key = (self._bucket, self.key(oid))
        framed = self._cache.get(cache_key)
        fresh = framed is None
        if framed is None:
            framed = self._fetch(oid, max_bytes)
        try:
            payload = open_object(oid, kind, framed)
        except MalformedObjectError as error:
            raise _damaged() from error
        if len(payload) > max_bytes:
            raise _too_large(max_bytes, len(payload))
        if fresh:
            self._cache.put(cache_key, framed)
        return payload

    def _fetch(self, oid: str, max_bytes: int) -> bytes:
        self._clock.check()
        with unavailable_on_failure():
            try:
                answer = self._s3.get_object(Bucket=self._bucket, Key=self.key(oid))
            except ClientError as error:
                if error_code(error) not in ABSENT:
                    raise
                raise MissingObjectError("the workspace lacks an object that it needs") from error
            body = answer["Body"]
            try:
                if answer["ContentLength"] <= max_bytes + _HEADER_MAX:
                    return bytes(body.read())
                start = body.read(_HEADER_MAX)
            finally:
                body.close()
        try:
            raise _too_large(max_bytes, payload_size(start))
        except MalformedObjectError as error:
            raise _damaged() from error

    def _put(self, oid: str, framed: bytes) -> bool:
        """Store one object; False if it was there."""
        new = put_new(
            self._s3,
            bucket=self._bucket,
            key=self.key(oid),
            body=framed,
            before=self._clock.check,
        )
        self._written.add(oid)
        self._cache.put((self._bucket, self.key(oid)), framed)
        return new


def _damaged() -> InternalError:
    return InternalError("the workspace holds an object that is damaged")


def _too_large(limit: int, actual: int) -> TooLargeError:
    return TooLargeError("the file holds more bytes than may be read", limit=limit, actual=actual)
