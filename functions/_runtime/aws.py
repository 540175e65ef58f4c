"""The AWS clients, made on first use and kept: the only place under `functions` that has boto3."""

from __future__ import annotations

from functools import cache
from typing import Any

import boto3
from botocore.config import Config

# Within a tool's few seconds a hung connection must fail early enough to be answered as
# UNAVAILABLE. A retried transaction carries the same client token, so it cannot land twice.
CONFIG = Config(
    connect_timeout=2,
    read_timeout=5,
    retries={"mode": "standard", "total_max_attempts": 2},
    max_pool_connections=16,
)


@cache
def dynamodb() -> Any:
    """The DynamoDB client."""
    return boto3.client("dynamodb", config=CONFIG)


@cache
def s3() -> Any:
    """The S3 client; thread-safe, as boto3's clients are."""
    return boto3.client("s3", config=CONFIG)


@cache
def secrets() -> Any:
    """The Secrets Manager client; made by the first call that presents a token."""
    return boto3.client("secretsmanager", config=CONFIG)


@cache
def sns() -> Any:
    """The SNS client; made by the first call that has people to tell."""
    return boto3.client("sns", config=CONFIG)


def forget() -> None:
    """Drop the clients, so that the next use sees a changed environment; for tests."""
    dynamodb.cache_clear()
    s3.cache_clear()
    secrets.cache_clear()
    sns.cache_clear()
