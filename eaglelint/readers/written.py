"""Commands that take a shell script on standard input: shells, batch systems, and what writes one to a file."""

from __future__ import annotations

import re
from collections.abc import Sequence

from eaglelint.readers.commands import Command
from eaglelint.readers.words import Word
from eaglelint.readers.wrappers import program

_SHELLS = frozenset({"bash", "sh", "zsh", "dash"})
_BATCH = frozenset({"sbatch", "qsub", "bsub"})
_ENDINGS = (".sh", ".bash", ".slurm", ".sbatch")
_FIRST_LINE = re.compile(r"#!\s*(?:\S*/)?(?:env\s+)?(?:ba|da|z|k|a)?sh\b")


def reads_code(words: Sequence[Word], command: Command, source: str) -> bool:
    """Whether the standard input of a command with the words `words` is a script that runs, now or later.

    `source` is the text that the command stands in: a file that is written there and named again is run or copied to
    where it is run; one that begins with the line of a shell is a script wherever it goes.
    """
    if not words or command.stdin is None:
        return False
    name = program(words[0])
    if name in _SHELLS:
        return all(word.content.startswith("-") for word in words[1:2])
    if name in _BATCH:
        return not any(_is_operand(words, index) for index in range(1, len(words)))
    if name in ("cat", "tee"):
        file = command.output if name == "cat" else words[-1]
        if file is None or not file.content:
            return False
        named_again = file.content.endswith(_ENDINGS) and source.count(program(file)) > 1
        return named_again or is_script("", command.stdin.content)
    return False


def _is_operand(words: Sequence[Word], index: int) -> bool:
    """Whether a word is neither an option nor, right after one, its value."""
    before = words[index - 1].content
    return not words[index].content.startswith("-") and not (before.startswith("-") and "=" not in before)


def is_script(path: str, content: str) -> bool:
    """Whether a file is a shell script, by its name or its first line."""
    return path.endswith(_ENDINGS) or _FIRST_LINE.match(content) is not None
