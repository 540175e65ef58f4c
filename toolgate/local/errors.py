"""What can go wrong with the local cloud, said so that the reader knows what to do next.

LocalCloudError
├── PrerequisiteError   the machine lacks something; the message names it and how to get it
├── PortTakenError      another program listens on the port
├── InstallError        uv or npm failed; the message ends with the tail of its output
├── EmulatorError       the emulator did not start, or did not stop
├── DeployError         the CDK CLI failed; the message ends with the tail of its output
└── NotRunningError     something was asked of a local cloud that is not up
"""

from __future__ import annotations


class LocalCloudError(Exception):
    """A sentence that says what to do; commands print it without a traceback."""


class PrerequisiteError(LocalCloudError):
    """The machine or the checkout lacks something."""


class PortTakenError(LocalCloudError):
    """Another program listens on the port."""


class InstallError(LocalCloudError):
    """uv or npm could not install what the local cloud is made of."""


class EmulatorError(LocalCloudError):
    """The emulator did not start, or did not stop."""


class DeployError(LocalCloudError):
    """The CDK CLI could not bootstrap or deploy."""


class NotRunningError(LocalCloudError):
    """The local cloud is not up."""
