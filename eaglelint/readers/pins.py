"""Which releases of engines and trainers a file installs, whatever kind of file it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from posixpath import basename

from eaglelint.facts import EnginePin
from eaglelint.project import Source
from eaglelint.readers.containers import Dockerfile, Stage, read_dockerfile
from eaglelint.readers.deployments import deployment_pins, document_pins
from eaglelint.readers.installs import command_pins, script_pins
from eaglelint.readers.manifests import pipfile_lock_pins, toml_pins
from eaglelint.readers.packages import may_name_a_package
from eaglelint.readers.python_manifests import python_pins
from eaglelint.readers.releases import image_pin
from eaglelint.readers.requirement_files import requirement_file_pins, setup_cfg_pins
from eaglelint.readers.shell import folder_of
from eaglelint.readers.words import Word


def read_pins(source: Source) -> Iterator[EnginePin]:
    """Every release, or range of releases, of an engine or trainer that a file installs or runs.

    Raises UnreadableSource and DocumentError for a file that is not what it should be.
    """
    reader = _reader(source)
    if reader is None or not may_name_a_package(source.data):
        return
    seen: set[EnginePin] = set()
    for pin in reader(source):
        if pin not in seen:
            seen.add(pin)
            yield pin


def _reader(source: Source) -> Callable[[Source], Iterator[EnginePin]] | None:
    name = basename(source.path).lower()
    if source.kind == "text":
        return setup_cfg_pins if name == "setup.cfg" else None
    if source.kind == "json":
        return pipfile_lock_pins if name == "pipfile.lock" else _json_pins
    if source.kind == "python":
        return python_pins if name == "setup.py" or b"# /// script" in source.data else None
    return {
        "requirements": requirement_file_pins,
        "toml": toml_pins,
        "yaml": deployment_pins,
        "dockerfile": _dockerfile_pins,
        "shell": _shell_pins,
        "makefile": _makefile_pins,
        "systemd": _unit_pins,
        "notebook": _passage_pins,
        "markdown": _passage_pins,
    }.get(source.kind)


def _json_pins(source: Source) -> Iterator[EnginePin]:
    """The pins of a Kubernetes object and the like; other JSON, which may be long, is not looked into."""
    return deployment_pins(source) if b'"image"' in source.data else iter(())


def _shell_pins(source: Source) -> Iterator[EnginePin]:
    return script_pins(source.text, script=source.path, folder=folder_of(source))


def _makefile_pins(source: Source) -> Iterator[EnginePin]:
    from eaglelint.readers.makefiles import recipe_commands

    for items in recipe_commands(source):
        yield from command_pins(items)


def _unit_pins(source: Source) -> Iterator[EnginePin]:
    from eaglelint.readers.systemd import unit_commands

    for items in unit_commands(source):
        yield from command_pins(items)


def _passage_pins(source: Source) -> Iterator[EnginePin]:
    """What the code in a notebook or a Markdown file installs."""
    from eaglelint.readers.documents import DocumentError, read_yaml
    from eaglelint.readers.passages import passages_of

    for passage in passages_of(source):
        if passage.language == "shell":
            yield from command_pins(passage.commands())
        elif passage.language == "dockerfile":
            yield from _image_pins(read_dockerfile(passage.text))
        elif passage.language == "yaml":
            try:
                yield from document_pins(read_yaml(passage.text))
            except DocumentError:
                continue  # a part of a file, or one with an ellipsis


def _dockerfile_pins(source: Source) -> Iterator[EnginePin]:
    yield from _image_pins(read_dockerfile(source.text))


def _image_pins(dockerfile: Dockerfile) -> Iterator[EnginePin]:
    """The base image of each stage, and what its RUN instructions install. A stage has what it starts from, too."""
    own = {stage.number: list(_base_image(stage)) for stage in dockerfile.stages}
    for instruction in dockerfile.instructions:
        if instruction.name == "RUN" and instruction.stage >= 0:
            values = dockerfile.variables(instruction)
            variables = {name: Word.of(value) for name, value in values.items()}
            own[instruction.stage] += script_pins(instruction.script, variables=variables)
    for stage in dockerfile.stages:
        for ancestor in reversed(dockerfile.family(stage.number)):
            for pin in own[ancestor]:
                yield replace(pin, unit=dockerfile.unit(stage.number))


def _base_image(stage: Stage) -> Iterator[EnginePin]:
    if stage.parent is None:
        pin = image_pin(str(stage.image.value), stage.image.where, assumed=stage.image.assumed)
        if pin is not None:
            yield pin
