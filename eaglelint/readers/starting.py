"""Commands and calls that start an engine or a script, as facts, whoever evaluated their words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from eaglelint.facts import Argument, EnvironmentSetting, Launch, ScriptRun, Unreadable, Value
from eaglelint.location import Location
from eaglelint.readers.arguments import flattened, parse
from eaglelint.readers.commands import Command, Setting
from eaglelint.readers.engines import GRAMMARS, Grammar, engine_of_image, python_target, recognise
from eaglelint.readers.words import HOLE, Word, unknown
from eaglelint.readers.wrappers import assignment, program, unwrap

Fact = Launch | ScriptRun | EnvironmentSetting | Unreadable
#: Variables with what is known of them.
Environment = Sequence[tuple[str, Value]]

_LAUNCHERS = frozenset({"torchrun", "accelerate", "deepspeed", "colossalai", "horovodrun", "coverage", "viztracer"})
_LAUNCHER_MODULES = frozenset(
    {"torch.distributed.run", "torch.distributed.launch", "accelerate.commands.launch", "coverage", "debugpy"}
)
#: Modules that are never a project's own.
_TOOLS = frozenset(
    {"pip", "venv", "virtualenv", "ensurepip", "http.server", "json.tool", "pytest", "unittest", "build", "uv"}
)
#: Programs and shell scripts by which trainers are started; like Python scripts, they are runs.
_TRAINERS = frozenset({"specforge", "speculators", "automodel", "launch_train.sh", "train_eagle_streaming.sh"})
#: Programs that only speak of commands, look for them or end them.
_SPEAKERS = re.compile(
    r"(?:p?kill(?:all)?|e?grep|pgrep|echo|printf|ps|which|type|man|cat|sed|awk|test|\[+|wait\w*|(?:die|log|info|warn\w*)"
    r"|print\w*|say|note|pip3?|apt(?:-get)?|git|curl|wget|docker|kubectl|systemctl|tee|rg|find|ls|rm|cp|mv|mkdir|touch)"
)


def from_words(
    words: Sequence[Word | Value | None],
    where: Location,
    form: str = "shell",
    unit: str = "",
    environment: Environment = (),
) -> Launch | ScriptRun | None:
    """What a command starts, wrappers taken off; None when it is neither an engine nor a Python script.

    A word is a `Word` (whose characters know their places), a value that something evaluated, or None when it is not
    known.
    """
    found = facts_of(words, where, form, unit, environment)
    return next((fact for fact in found if isinstance(fact, (Launch, ScriptRun))), None)


def facts_of(
    words: Sequence[Word | Value | None],
    where: Location,
    form: str = "shell",
    unit: str = "",
    environment: Environment = (),
    image: str = "",
    whole: bool = True,
) -> list[Launch | ScriptRun | Unreadable]:
    """As `from_words`, with the arguments that can not be read.

    `image` is the container image that the command runs in; a known one has an engine as its entry point. `whole` is
    False when words may be missing.
    """
    given = [_word(word, where) for word in words]
    found = unwrap(given)
    if found.code is not None:
        return []
    own = [(name, word.value()) for name, word in found.environment]
    environment = tuple({**dict(environment), **dict(own)}.items())
    image = found.image.content if found.image is not None else image
    inner = list(found.words)
    started = recognise(inner) or _inside(inner)
    if started is None and image and (not inner or not _names_program(inner[0])):
        grammar = engine_of_image(image)
        started = (grammar, 0) if grammar is not None else None
    if started is not None:
        grammar, index = started
        parsed = parse(grammar, inner[index:])
        target = parsed.positional[0].value() if grammar.positional and parsed.positional else None
        complete = parsed.complete and whole
        launch = _launch(grammar, form, where, parsed.arguments, target, unit, complete, environment)
        return [launch, *parsed.unreadable]
    run = _run(inner, where, environment)
    return [run] if run is not None else []


def from_keywords(
    engine: str,
    pairs: Iterable[tuple[str, Value, Location]],
    where: Location,
    form: str = "python",
    unit: str = "",
    environment: Environment = (),
    complete: bool = True,
) -> Launch:
    """A launch from keywords: the name, value and place of each, as in `sgl.Engine(...)` or a YAML mapping.

    Names are the engine's own: a keyword has no aliases. A value that is a mapping also gives one argument for each of
    its keys; names that are dotted already stay as they are. `complete` is False when more may be given (`**options`).
    """
    grammar = GRAMMARS.get(engine) or Grammar(engine, ("model", "model_path"))
    given = [(name.replace("-", "_"), value, place) for name, value, place in pairs]
    arguments: list[Argument] = []
    for name, value, place in given:
        if any(other.startswith(f"{name}.") for other, _, _ in given):
            arguments.append(Argument(name, name, value, place))
        else:
            arguments.extend(flattened(name, value, place))
    return _launch(grammar, form, where, arguments, None, unit, complete, tuple(environment))


def facts_from(
    items: Iterable[Command | Setting], form: str = "shell", unit: str = "", image: str = ""
) -> Iterator[Fact]:
    """What the commands of a script start, and the variables that they set. `image` is where all of it runs."""
    for item in items:
        if isinstance(item, Setting):
            yield EnvironmentSetting(item.name, item.word.value())
            continue
        environment = tuple((name, word.value()) for name, word in item.environment)
        own = item.image.content if item.image is not None else image if item.words else ""
        for fact in facts_of(item.words, place_of(item), form, unit, environment, own, item.whole):
            yield replace(fact, mounts=item.mounts) if isinstance(fact, Launch) and item.mounts else fact


def place_of(command: Command) -> Location:
    """Where a command is written: where it is run, or where its first word stands when that is elsewhere."""
    if not command.words:
        return command.where
    first = command.words[0].where
    inside = first.path == command.where.path and command.where.start <= first.start < max(command.where.end, 1)
    return command.where if inside else first


def with_options(launch: Launch, options: Launch) -> Launch:
    """A launch together with the options file that it names; what stands on the command line comes last and wins."""
    return _launch(
        GRAMMARS.get(launch.engine) or Grammar(launch.engine, ()),
        launch.form,
        launch.where,
        [*options.arguments, *launch.arguments],
        launch.target or options.target,
        launch.unit,
        launch.complete and options.complete,
        launch.environment,
    )


def _launch(
    grammar: Grammar,
    form: str,
    where: Location,
    arguments: Sequence[Argument],
    target: Value | None,
    unit: str,
    complete: bool,
    environment: Environment,
) -> Launch:
    given = {argument.name: argument.value for argument in arguments if argument.value.value is not True}
    for name in grammar.target:
        target = given.get(name, target)
    drafts = [given[name] for name in grammar.draft if name in given]
    draft = drafts[-1] if drafts else None
    return Launch(grammar.engine, form, where, tuple(arguments), target, draft, unit, complete, tuple(environment))


def _word(word: Word | Value | None, where: Location) -> Word:
    if word is None:
        return unknown(where)
    return Word.of(word) if isinstance(word, Value) else word


def _names_program(word: Word) -> bool:
    """Whether the first word of a container's command is a program rather than an argument of its entry point."""
    return program(word) in ("bash", "sh", "python", "python3", "sleep", "tail", "env", "vllm", "sglang", "/bin/bash")


def _inside(words: Sequence[Word]) -> tuple[Grammar, int] | None:
    """The engine that an unknown program is told to start (`run_step serve python -m sglang.launch_server ...`)."""
    if len(words) > 2 and not words[0].known:  # a wrapper, or variables for the environment
        first = next((n for n, word in enumerate(words) if word.known and word.content and not assignment(word)), 0)
        found = recognise(words[first:])
        return None if found is None else (found[0], found[1] + first)
    if len(words) < 3 or _SPEAKERS.fullmatch(program(words[0])):
        return None
    if _run(words, words[0].where, ()) is not None:
        return None
    for index in range(1, len(words) - 2):
        if words[index].known and (words[index].content in ("vllm", "sglang") or words[index + 1].content == "-m"):
            found = recognise(words[index:])
            if found is not None:
                return found[0], found[1] + index
    return None


def _run(words: Sequence[Word], where: Location, environment: Environment) -> ScriptRun | None:
    """The Python script or module that a command runs, launchers such as torchrun taken off."""
    if not words:
        return None
    name = program(words[0])
    if name in ("bash", "sh") and len(words) > 1 and program(words[1]) in _TRAINERS:
        words, name = words[1:], program(words[1])
    if name in _TRAINERS and not words[0].many:
        return ScriptRun(name, tuple(word.value() for word in words[1:]), where, tuple(environment))
    found = python_target(words)
    if found is None and name.endswith(".py") and not words[0].many:
        found = (words[0].content, 1)
    if name in _LAUNCHERS or (found is not None and found[0] in _LAUNCHER_MODULES):
        found = _launched(words, 1 if found is None else found[1])
    if found is None or found[0] in _TOOLS:
        return None
    script = found[0].rsplit(HOLE, 1)[-1].lstrip("/") if HOLE in found[0] else found[0]
    if not script or (HOLE in found[0] and not script.endswith(".py")):
        return None
    return ScriptRun(script, tuple(word.value() for word in words[found[1] :]), where, tuple(environment))


def _launched(words: Sequence[Word], index: int) -> tuple[str, int] | None:
    for at in range(index, len(words)):
        content = words[at].content
        if content in ("-m", "--module") and at + 1 < len(words) and words[at + 1].known:
            return words[at + 1].content, at + 2
        if content.endswith(".py"):
            return content, at + 1
    return None
