"""An AWS of your own on this machine, with the tools deployed to it: `up`, `status`, `down`."""

from toolgate.local.cloud import Status, attached, down, reset, status, up
from toolgate.local.environment import LocalCloud
from toolgate.local.errors import LocalCloudError

__all__ = ["LocalCloud", "LocalCloudError", "Status", "attached", "down", "reset", "status", "up"]
