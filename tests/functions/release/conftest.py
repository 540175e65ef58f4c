"""A stage for releases on moto."""

from __future__ import annotations

import uuid

import pytest

from functions._runtime import aws
from tests.functions.release.stages import Stage
from tests.people import clear_bucket, clear_pages, make_keys


@pytest.fixture
def stage(workspaces, monkeypatch):
    """A stage whose bucket keeps every version, so that a second write would show."""
    bucket = f"releases-{uuid.uuid4().hex}"
    aws.s3().create_bucket(Bucket=bucket)
    aws.s3().put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    monkeypatch.setenv("RELEASES_BUCKET", bucket)
    make_keys(monkeypatch)
    clear_bucket()
    clear_pages()
    return Stage(workspaces, bucket)
