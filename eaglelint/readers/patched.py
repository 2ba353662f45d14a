"""Arguments that a patch of the project adds to an engine: no release has them, and the project's launches may."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from eaglelint.errors import UnreadableSource

if TYPE_CHECKING:
    from eaglelint.project import Source

#: Where engines declare their arguments.
_DECLARED = (b"server_args", b"arg_utils", b"ServerArgs", b"EngineArgs")
#: A field of a class of arguments, or an option, on a line that the patch adds.
_ADDED = re.compile(r"^\+\s+(?:(\w+)\s*:\s*[\w\"']|.*?[\"']--([\w-]+)[\"'])", re.MULTILINE)


def added_arguments(source: Source) -> Iterator[str]:
    """The names of the arguments that a patch adds, with underscores; nothing from a file that is no patch."""
    try:
        if source.kind != "patch" or not any(word in source.data for word in _DECLARED):
            return
        text = source.text.text
    except UnreadableSource:
        return
    for match in _ADDED.finditer(text):
        yield (match[1] or match[2]).replace("-", "_")
