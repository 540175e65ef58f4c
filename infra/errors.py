"""Every way in which a synth refuses; each message is one sentence that says what to do.

InfraError
├── SetupError       node or a package is missing
├── OptionError      a -c option has a value that means nothing
├── ScopeError       a scope grants nothing, because the table does not know it
├── PackagingError   a tool's files are incomplete, or pull in what must not ship
├── LayerError       the dependency layer could not be built
├── QuotaError       AWS would refuse the agent or the gateway at deploy time
└── ReviewError      the templates hold a policy that cannot be read from them alone
"""

from __future__ import annotations


class InfraError(Exception):
    """A synth that stops on purpose."""


class SetupError(InfraError):
    """The machine lacks something that synthesising needs."""


class OptionError(InfraError):
    """A context option holds a value that means nothing."""


class ScopeError(InfraError):
    """A contract names a scope that the table of grants does not know."""


class PackagingError(InfraError):
    """A tool's Lambda cannot be put together from the tree."""


class LayerError(InfraError):
    """The dependency layer could not be built."""


class QuotaError(InfraError):
    """The agent or the gateway would exceed what AWS accepts."""


class ReviewError(InfraError):
    """A review would have to guess what the templates allow."""
