"""What the files of a project start: engines, with their arguments, and Python scripts, and in which environment."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from posixpath import basename

from eaglelint.facts import EnvironmentSetting
from eaglelint.location import MappedText
from eaglelint.project import Source
from eaglelint.readers.starting import Fact, facts_from, facts_of, from_keywords, from_words, with_options

__all__ = [
    "Fact",
    "facts_of",
    "from_keywords",
    "from_words",
    "python_code",
    "read_launches",
    "shell_facts",
    "with_options",
]

#: Without one of these words a file starts nothing that matters here.
_MARKERS = re.compile(
    rb"sglang|vllm|trtllm|tokenspeed|\bts serve|llama-server|lmdeploy|atom\.entrypoints|rtp_llm|mlx_vlm|[Pp]ython"
    rb"|specforge|speculators|automodel|launch_train|train_eagle"
    rb"|(?:^|[;&\n])\s*(?:source|\.) "
    rb"|\.py\b|\buv run\b|torchrun|accelerate|deepspeed|speculative|\bexport\b|ENV\b|nviron"
)
_PYTHON = re.compile(rb"[Pp]ython|\.py\b")
#: Kinds of files that may hold Python.
_HOLDERS = ("shell", "dockerfile", "makefile", "yaml", "notebook", "markdown")
_ENV_FILE = re.compile(r"(?:.*\.)?env(?:\..*)?")


def read_launches(source: Source) -> Iterator[Fact]:
    """The launches, script runs and environment settings of a file, and the arguments that are not JSON as they should.

    Raises UnreadableSource and DocumentError for a file that is not what it should be.
    """
    reader = _reader(source)
    if reader is not None and _MARKERS.search(source.data):
        yield from reader(source)


def shell_facts(
    text: MappedText, form: str = "shell", unit: str = "", script: str = "", folder: str = ""
) -> Iterator[Fact]:
    """The same for a shell text, wherever it stands (`subprocess.run("...", shell=True)`)."""
    from eaglelint.readers.shell import read_commands

    yield from facts_from(read_commands(text, script=script, folder=folder), form, unit)


def python_code(source: Source) -> Iterator[MappedText]:
    """The Python code that a file which is no Python file holds for an interpreter: in here-documents and steps.

    See `shell.python_heredocs` for what stands in the place of shell variables.
    """
    from eaglelint.readers.shell import folder_of, python_heredocs

    if source.kind not in _HOLDERS:
        return
    if source.kind != "notebook" and not _PYTHON.search(source.data):  # a notebook need not say its language
        return
    if source.kind in ("shell", "makefile"):
        yield from python_heredocs(source.text, source.path, folder_of(source))
    elif source.kind in ("notebook", "markdown"):
        from eaglelint.readers.passages import passages_of
        from eaglelint.readers.shell import python_of

        for passage in passages_of(source):
            if passage.language == "python":
                yield passage.text
            elif passage.language == "shell":
                yield from python_of(passage.commands())
    elif source.kind == "dockerfile":
        from eaglelint.readers.images import image_scripts

        for text in image_scripts(source):
            yield from python_heredocs(text)
    else:
        from eaglelint.readers.services import service_scripts

        for language, text in service_scripts(source):
            yield from [text] if language == "python" else python_heredocs(text)


def _reader(source: Source) -> Callable[[Source], Iterator[Fact]] | None:
    """The reader for a kind of file; each is loaded when there is a file for it."""
    if source.kind == "shell":
        from eaglelint.readers.shell import folder_of

        return lambda source: shell_facts(source.text, script=source.path, folder=folder_of(source))
    if source.kind == "dockerfile":
        from eaglelint.readers.images import image_facts

        return image_facts
    if source.kind == "yaml":
        from eaglelint.readers.services import service_facts

        return service_facts
    if source.kind == "makefile":
        from eaglelint.readers.makefiles import makefile_facts

        return makefile_facts
    if source.kind == "systemd":
        from eaglelint.readers.systemd import unit_facts

        return unit_facts
    if source.kind in ("notebook", "markdown"):
        return _passage_facts
    if source.kind == "text" and _ENV_FILE.fullmatch(basename(source.path)):
        return _env_file
    return None


def _passage_facts(source: Source) -> Iterator[Fact]:
    """What the code in a notebook or a Markdown file starts; its Python is read by the analyser."""
    from eaglelint.readers.documents import DocumentError, read_yaml
    from eaglelint.readers.passages import passages_of

    for passage in passages_of(source):
        if passage.language == "shell":
            for name, word in passage.variables.items():
                yield EnvironmentSetting(name, word.value())
            yield from facts_from(passage.commands(), "shell")
        elif passage.language == "dockerfile":
            from eaglelint.readers.images import dockerfile_facts

            yield from dockerfile_facts(passage.text)
        elif passage.language == "yaml":
            from eaglelint.readers.services import document_facts

            try:
                yield from document_facts(read_yaml(passage.text))
            except DocumentError:
                continue  # a part of a file, or one with an ellipsis


def _env_file(source: Source) -> Iterator[Fact]:
    """A file of NAME=value lines: all of them are for the environment."""
    for found in re.finditer(r"(?m)^\s*(?:export\s+)?([A-Za-z_]\w*)=(.*)$", source.text.text):
        text = source.text[slice(*found.span(2))]
        for fact in shell_facts(source.text[slice(*found.span())]):
            if isinstance(fact, EnvironmentSetting):
                yield fact
                break
        else:
            from eaglelint.readers.expansion import split
            from eaglelint.readers.words import joined

            words = split(text, {})
            where = text.location(0, len(text))
            if words:
                yield EnvironmentSetting(found[1], joined(words, where).value())
