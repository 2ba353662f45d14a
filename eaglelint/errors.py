"""Errors that end a run before it can say anything about the files."""

from __future__ import annotations


class UsageError(Exception):
    """The call or the configuration is wrong: one clear message for the person, exit status 2, no traceback."""
