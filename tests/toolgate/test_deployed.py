"""Names of what is deployed; a cloud that does not answer is said to be one."""

from __future__ import annotations

import pytest
from botocore.exceptions import ReadTimeoutError

from toolgate import deployed
from toolgate.local import cloud
from toolgate.local.errors import NotRunningError


class Silent:
    """A local cloud whose process is there and says nothing."""

    port = 4599

    def client(self, service):
        return service

    def outputs(self):
        raise ReadTimeoutError(endpoint_url="http://127.0.0.1:4599")


def test_a_silent_local_cloud_is_one_sentence_that_says_what_to_do(monkeypatch):
    monkeypatch.setattr(cloud, "attached", Silent)
    with pytest.raises(NotRunningError, match=r"does not answer on port 4599.*local down"):
        deployed.client_and_outputs("local", "dev", "lambda")
