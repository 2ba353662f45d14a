"""eaglelint's own errors: what ends a run (exit status 2), and what makes one file unreadable while the run goes on."""

from __future__ import annotations

from eaglelint.location import Location


class UsageError(Exception):
    """The call or the configuration is wrong: one clear message for the person, exit status 2, no traceback."""


class UnreadableError(Exception):
    """A file can not be read as what it is: `where` is the place, `reason` says why, as after "can not be read:"."""

    def __init__(self, where: Location, reason: str) -> None:
        super().__init__(where, reason)
        self.where = where
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.where}: {self.reason}"


class UnreadableSource(UnreadableError):
    """The bytes of a file can not be had or are not text (permission, size, encoding)."""


class DocumentError(UnreadableError):
    """A text is not the JSON, YAML or TOML that it should be.

    `template` is True for a template (Helm, Jinja) that only becomes YAML when it is rendered: that is no defect.
    """

    def __init__(self, where: Location, reason: str, template: bool = False) -> None:
        super().__init__(where, reason)
        self.args = (where, reason, template)
        self.template = template
