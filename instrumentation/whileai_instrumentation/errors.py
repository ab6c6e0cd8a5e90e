"""What this package raises: only for a call that cannot mean anything, never for the service being away.

A program that is observed must not fail because it is observed, so everything that happens after `instrument` is told
to the logger `whileai` instead.
"""


class InstrumentationError(Exception):
    """The base of this package's errors."""


class UsageError(InstrumentationError, ValueError):
    """A call that cannot mean anything: the message says which argument, and what it should have been."""
