"""The stage's bucket of releases: objects that are written once and never replaced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from contracts.errors import InternalError
from functions._runtime.buckets import put_new
from functions._runtime.failures import ABSENT, error_code, unavailable_on_failure


@dataclass(frozen=True)
class Releases:
    """The bucket. Every method raises UnavailableError if S3 failed or was busy."""

    s3: Any
    bucket: str

    def find(self, key: str) -> bytes | None:
        """What an object holds, or None if there is none."""
        with unavailable_on_failure():
            try:
                answer = self.s3.get_object(Bucket=self.bucket, Key=key)
            except ClientError as error:
                if error_code(error) not in ABSENT:
                    raise
                return None
            with answer["Body"] as body:
                return bytes(body.read())

    def keep(self, key: str, body: bytes) -> None:
        """Have the object hold these bytes, whether they were there already or not.

        Raises InternalError if it holds others.
        """
        if put_new(self.s3, bucket=self.bucket, key=key, body=body):
            return
        if self.find(key) != body:
            raise InternalError("a release of this id holds something else; nothing was changed")
