from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.functions.workspace.cloud import cloud

if TYPE_CHECKING:
    from collections.abc import Iterator

    from functions._runtime.workspace import Stores


@pytest.fixture
def stores() -> Iterator[Stores]:
    """Empty stores on moto; `stores.s3` and `stores.dynamodb` keep count of their calls."""
    with cloud() as made:
        yield made
