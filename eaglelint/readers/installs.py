"""Commands that install an engine or trainer, or run one from a container image."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from eaglelint.facts import EnginePin
from eaglelint.location import MappedText
from eaglelint.readers.commands import Command, Setting
from eaglelint.readers.packages import repository_package
from eaglelint.readers.releases import git_pin, image_pin, requirement_pin
from eaglelint.readers.shell import read_commands
from eaglelint.readers.words import HOLE, Word
from eaglelint.readers.wrappers import program


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: What must stand in a text for one of these commands to be in it.
_MAY_INSTALL = re.compile(
    r"\binstall\b|\buv\s+add\b|\b(?:poetry|pdm|rye|pixi)\s+add\b|\buvx\b|\btool\s+run\b|\bgit\s+clone\b"
    r"|\b(?:docker|podman|nerdctl)\b|\b(?:singularity|apptainer|enroot)\b|container-image"
)
_PYTHON = re.compile(r"(?:python|pypy)(?:\d[\d.]*)?")
#: Programs that install (without the release in their names), and the words after which they name what.
_INSTALLERS: dict[str, tuple[tuple[str, ...], ...]] = {
    "pip": (("install",), ("download",), ("wheel",)),
    "uv": (("pip", "install"), ("add",), ("tool", "install")),
    "pipx": (("install",),),
    **dict.fromkeys(("conda", "mamba", "micromamba"), (("install",), ("create",))),
    **dict.fromkeys(("poetry", "pdm", "rye", "pixi"), (("add",),)),
}
#: Options of pip, uv, conda and their kin that take the next word.
_VALUED = _words(
    "-r --requirement --requirements -c --constraint --constraints -i --index-url --extra-index-url -f --find-links "
    "-t --target --python -p --python-version --platform --prefix --root --torch-backend --index --default-index "
    "--index-strategy --src --cache-dir --progress-bar --no-binary --only-binary --prerelease --resolution -C "
    "--config-settings --config-setting --timeout --retries --trusted-host --proxy --cert --client-cert --log -b "
    "--build-constraint --build-constraints --override --overrides --extra -E --group -G --exclude-newer --link-mode "
    "--report --implementation --abi --upgrade-strategy --keyring-provider -n --name --channel --file --source "
    "--optional --marker --tag --branch --rev --package --project --directory --with-requirements --color "
    "--no-build-isolation-package --no-binary-package --no-build-package --reinstall-package --refresh-package "
    "--dest -d --wheel-dir -w --root-user-action --use-feature --use-deprecated"
)
#: Options whose value is a requirement.
_WITH_REQUIREMENT = _words("-e --editable -P --upgrade-package --with --from --spec --with-editable")


def may_install(text: str) -> bool:
    """Whether a text can hold a command that installs something or runs it from an image."""
    return _MAY_INSTALL.search(text) is not None


def script_pins(
    text: MappedText,
    unit: str = "",
    variables: Mapping[str, Word] | None = None,
    insertions: Mapping[str, Word] | None = None,
    script: str = "",
    folder: str = "",
) -> Iterator[EnginePin]:
    """The pins of a shell text; the parameters are those of `shell.read_commands`."""
    if may_install(text.text):
        yield from command_pins(read_commands(text, variables, insertions, script, folder), unit)


def command_pins(items: Iterable[Command | Setting], unit: str = "") -> Iterator[EnginePin]:
    """The pins of commands: what they install, and the image in which they run something."""
    for item in items:
        if isinstance(item, Command):
            if item.image is not None:
                yield from _image(item.image, unit)
            yield from _installed(item.words, unit)


def _image(word: Word, unit: str) -> Iterator[EnginePin]:
    pin = image_pin(word.content, word.where, unit, word.assumed)
    if pin is not None:
        yield pin


def _installed(words: tuple[Word, ...], unit: str) -> Iterator[EnginePin]:
    if not words:
        return
    name = program(words[0])
    if _PYTHON.fullmatch(name) and len(words) > 2 and words[1].content == "-m":
        words = words[2:]
        name = words[0].content
    named = [index for index, word in enumerate(words) if index and not word.content.startswith("-")]
    said = tuple(words[index].content for index in named[:2])
    for phrase in _INSTALLERS.get(re.sub(r"\d[\d.]*$", "", name), ()):
        if said[: len(phrase)] == phrase:
            yield from _requirements(words[named[len(phrase) - 1] + 1 :], unit)
            return
    if said[:1] == ("clone",) and name == "git":
        yield from _clone(words[named[0] + 1 :], unit)
    elif said[:1] in (("pull",), ("build",), ("import",)) and name in ("singularity", "apptainer", "enroot"):
        for word in words[2:]:
            if "://" in word.content:
                yield from _image(word, unit)
    elif "@" in words[0].content and "/" not in words[0].content:  # what is left of `uvx vllm@0.9.1 serve`
        yield from _requirement(words[0], unit)


def _requirements(words: tuple[Word, ...], unit: str) -> Iterator[EnginePin]:
    """The requirements among the arguments of an installing command."""
    skip = False
    for index, word in enumerate(words):
        option, has_value, _ = word.content.partition("=")
        if skip:
            skip = False
        elif option in _WITH_REQUIREMENT and option.startswith("-"):
            if has_value and option.startswith("--"):
                yield from _requirement(word.slice(len(option) + 1, len(word.content)), unit)
            elif index + 1 < len(words):
                skip = True
                yield from _requirement(words[index + 1], unit)
        elif word.content.startswith("-"):
            skip = option in _VALUED and not has_value
        else:
            yield from _requirement(word, unit)


def _requirement(word: Word, unit: str) -> Iterator[EnginePin]:
    content = word.content
    tool = re.fullmatch(r"([A-Za-z0-9._-]+(?:\[[^\]]*\])?)@([\w.!+]+)", content)
    if tool is not None:  # uv's `vllm@0.9.1`, poetry's `vllm@latest`
        content = f"{tool[1]}=={tool[2]}" if tool[2] != "latest" else tool[1]
    elif re.fullmatch(r"[A-Za-z0-9._-]+=[\w.*]+(?:=\w+)?", content):  # conda's `vllm=0.11`
        content = content.replace("=", "==", 1) + ("" if content.count("=") > 1 or content.endswith("*") else ".*")
    pin = requirement_pin(content, word.where, "install", unit, word.assumed)
    if pin is not None:
        yield pin


def _clone(words: tuple[Word, ...], unit: str) -> Iterator[EnginePin]:
    """A checkout of an engine's repository at a tag, from which it is then installed."""
    tag: Word | None = None
    package: str | None = None
    skip = False
    for index, word in enumerate(words):
        option, has_value, _ = word.content.partition("=")
        if skip:
            skip = False
        elif option in ("-b", "--branch"):
            value = word.slice(len(option) + 1, len(word.content)) if has_value else None
            tag = value or (words[index + 1] if index + 1 < len(words) else None)
            skip = not has_value
        elif word.content.startswith("-"):
            skip = option in ("--depth", "-c", "--config", "-o", "--origin", "-u", "--reference", "-j", "--jobs")
            skip = skip and not has_value
        elif package is None and HOLE not in word.content:
            package = repository_package(word.content)
    if package is not None and tag is not None:
        pin = git_pin(package, tag.content, tag.where, "checkout", unit, tag.assumed)
        if pin.exact:
            yield pin
