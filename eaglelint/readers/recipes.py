"""What a trainer or data generator was told: run configurations and commands, as recipes.

Which configurations and commands these are is data (`rules/recipes.yaml`). A configuration and a command that names it
are two recipes; whoever links them joins what was given to both (`joined`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from posixpath import basename
from typing import Any

from eaglelint.conventions import recipes
from eaglelint.conventions.recipes import Form
from eaglelint.facts import Document, LayerIds, Recipe, ScriptRun, Value
from eaglelint.location import Location
from eaglelint.project import Source
from eaglelint.readers.documents import documents
from eaglelint.readers.places import pointer_part

Given = Mapping[str, Value]

#: Without one of these words a document is no recipe.
_MARKERS = re.compile(
    rb"aux_|layer_ids|_layers|layers_to_capture|EAGLE_CAPTURE_IDS|eagle_|target_model|recipe_args|policy"
    rb"|verifier_name_or_path|draft_model_config"
)
#: A document of more bytes than this is no run configuration.
_LARGEST = 1 << 20
#: Keys of model configs, checkpoints and servers, which are read as such.
_NO_RECIPE = ("architectures", "model_type", "speculators_config", "peft_type", "speculative_config", "weight_map")
#: How deep a document nests what it gives.
_DEEPEST = 5
#: Scripts whose names say nothing: these are known by the folder that they lie in, or by their arguments.
_COMMON_NAMES = frozenset({"main.py", "train.py", "convert_to_hf.py"})
#: A value that something outside the document fills in.
_FILLED_IN = re.compile(r"\$\{|<<|\{\{|^\?\?+$")


def read_recipes(source: Source) -> Iterator[Recipe]:
    """The recipe that a YAML, JSON or TOML document is. Raises DocumentError, and UnreadableSource."""
    data = source.data
    if len(data) > _LARGEST or not _MARKERS.search(data):
        return
    for document in documents(source):
        yield from _of_document(document)


def recipes_of_given(index: int, given: Given, where: Location) -> Iterator[Recipe]:
    """The recipe of a form by what code gives to its functions; none when something that it needs is not given."""
    form = recipes.forms()[index]
    if all(name in given for name in form.required) and (form.calls or _recognised(form, given)):
        yield from _built(index, given, where)


def _of_document(document: Document) -> Iterator[Recipe]:
    value = document.value
    if not isinstance(value, dict) or any(key in value for key in _NO_RECIPE):
        return
    given = dict(_flattened(document, value, "", "", 0))
    known = False
    for index, form in enumerate(recipes.forms()):
        if form.environment:
            yield from _of_variables(index, form, given)
        elif form.config is not None and _recognised(form, given):
            known = True
            yield from _built(index, given, _place(form, given, document))
    if not known:
        yield from _of_unknown(given)


def _flattened(document: Document, value: Any, pointer: str, prefix: str, depth: int) -> Iterator[tuple[str, Value]]:
    """Every entry of nested mappings, and of mappings in lists, under its dotted name."""
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for entry, index in zip(value, range(64), strict=False):
            if isinstance(entry, (dict, list)):
                yield from _flattened(document, entry, f"{pointer}/{index}", f"{prefix}{index}.", depth + 1)
        return
    for key, entry in value.items() if isinstance(value, dict) else ():
        below = f"{pointer}/{pointer_part(str(key))}"
        name = f"{prefix}{key}"
        known = not (isinstance(entry, str) and _FILLED_IN.search(entry))
        yield name, Value(entry if known else None, document.spans.get(below, document.where(below)), known)
        yield from _flattened(document, entry, below, f"{name}.", depth + 1)


def _recognised(form: Form, given: Given) -> bool:
    config = form.config
    assert config is not None
    if not all(name in given for name in config.keys):
        return False
    said = [text.lower() in str(given[name].value).lower() for name, text in config.contains if name in given]
    if config.any:
        return any(name in given for name in config.any) or any(said)
    return len(said) == len(config.contains) and all(said)


def _place(form: Form, given: Given, document: Document) -> Location:
    """The place that makes a document a recipe: its ids, else its target, else the document."""
    for name in (*form.ids, *form.target):
        if name in given:
            return given[name].where
    return document.spans.get("", Location(document.path))


def _of_variables(index: int, form: Form, given: Given) -> Iterator[Recipe]:
    """Environment variables that a document sets for what it runs."""
    for name, value in given.items():
        if name.rsplit(".", 1)[-1] == form.environment and value.known:
            yield from _built(index, {form.environment: value}, value.where)


def _of_unknown(given: Given) -> Iterator[Recipe]:
    """Lists of layer ids in a document whose writer is not known."""
    wanted = recipes.unknown().keys
    for name, value in given.items():
        if name.rsplit(".", 1)[-1] in wanted and (ids := _ids(name, value)) is not None and len(ids.ids) > 1:
            target = next((given[n] for n in given if n.rsplit(".", 1)[-1] in _TARGET_NAMES and _text(given[n])), None)
            yield Recipe("", "", "train", value.where, ids=ids, target=target)


_TARGET_NAMES = (
    "target_model_path", "target_model_name_or_path", "target_model", "base_model", "verifier_name_or_path",
    "model_name_or_path", "target", "model_name", "model_path", "model",
)  # fmt: skip


# ---- commands ------------------------------------------------------------------------------------------------------


def recipes_of_run(run: ScriptRun) -> Iterator[Recipe]:
    """The recipe that a command is, by the script, module or program that it runs and its arguments."""
    for index, form in enumerate(recipes.forms()):
        words = next((w for command in form.commands if (w := _words(run, command, form)) is not None), None)
        if words is None:
            continue
        given = arguments(words)
        if all(name in given for name in form.required):
            yield from _built(index, given, run.where, complete=all(word.known for word in words))
            return


def of_variable(name: str, value: Value) -> Iterator[Recipe]:
    """The recipe that an environment variable of a script is."""
    for index, form in enumerate(recipes.forms()):
        if form.environment == name and value.known:
            yield from _built(index, {name: value}, value.where)


def _words(run: ScriptRun, command: str, form: Form) -> Sequence[Value] | None:
    """The words after a command's own; None when the run is another command."""
    program, _, sub = command.partition(" ")
    if not _is_command(run.script, program, bool(form.required)):
        return None
    if not sub:
        return run.words
    return run.words[1:] if run.words and run.words[0].value == sub else None


def _is_command(script: str, command: str, told: bool) -> bool:
    """Whether a script or module is the command; one without its folder only if its name or arguments tell."""
    if not command.endswith((".py", ".sh")):
        as_path = "/" + command.replace(".", "/") + ".py"
        return script == command or script.replace("\\", "/").endswith(as_path)
    own = [part for part in script.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    wanted = command.split("/")
    if own[-len(wanted) :] == wanted:
        return told or len(wanted) > 1 or wanted[-1] not in _COMMON_NAMES
    if not own or own[-1] != wanted[-1]:
        return False
    return told or (len(own) < len(wanted) and wanted[-1] not in _COMMON_NAMES)


def arguments(words: Sequence[Value]) -> dict[str, Value]:
    """The arguments of a command: options by name, `key=value` words by key, the others by their number.

    An option with several values, or none, has a list of strings, or True. JSON values also give their dotted entries.
    """
    given: dict[str, Value] = {}
    position = 0
    option = ""
    for word in words:
        text = word.value if word.known and isinstance(word.value, str) else None
        if text == "--":
            break
        if text is not None and re.match(r"--?[A-Za-z]", text):
            name, equals, value = text.lstrip("-").partition("=")
            option = name.replace("-", "_")
            given[option] = word._replace(value=value if equals else True)
            option = "" if equals else option
        elif text is not None and (found := re.match(r"([A-Za-z_][\w.]*)=(.*)", text, re.DOTALL)):
            given[found[1]] = word._replace(value=found[2])
            option = ""
        elif option:
            given[option] = _more(given[option], word)
        else:
            given[str(position)] = word
            position += 1
    for name, entry in list(given.items()):
        given.update(_entries_of_json(name, entry))
    return given


def _more(so_far: Value, word: Value) -> Value:
    """An option's value with one word more."""
    if so_far.value is True:
        return word
    earlier = so_far.value if isinstance(so_far.value, list) else [so_far.value]
    first, last = so_far.where, word.where
    where = first._replace(end_line=last.end_line, end_column=last.end_column, end=last.end)
    known = so_far.known and word.known
    return so_far._replace(value=[*earlier, word.value], where=where if first.path == last.path else first, known=known)


def _entries_of_json(name: str, value: Value) -> dict[str, Value]:
    text = value.value
    if not value.known or not isinstance(text, str) or not text.lstrip().startswith("{"):
        return {}
    try:
        inner = json.loads(text)
    except ValueError:
        return {}
    return {f"{name}.{key}": value._replace(value=entry) for key, entry in inner.items()}


# ---- both ----------------------------------------------------------------------------------------------------------


def joined(command: Recipe, configuration: Recipe) -> Recipe:
    """A command together with the run configuration that it names; what the command gives wins."""
    given = {**configuration.given, **command.given}
    where = configuration.where
    own = recipes.forms()[command.form]
    if any(name in command.given for name in own.ids):
        where = next(command.given[name].where for name in own.ids if name in command.given)
    found = next(_built(command.form, given, where, command.complete), None)
    return found if found is not None else command


def _built(index: int, given: Given, where: Location, complete: bool = True) -> Iterator[Recipe]:
    """The recipe of a form with what was given; its path is "other" when it is for another kind of head."""
    form = recipes.forms()[index]
    ids, preset = _chosen(form, given)
    path = form.path
    if form.choice is not None:
        path = form.choice.of(_plain(given.get(form.choice.at)))
    other = form.method is not None and not form.method.of(_plain(given.get(form.method.at)))
    disabled = any(given[name].value in (False, "false", "False") for name in form.disabled if name in given)
    if other or disabled or not path or form.presets.get(preset) == "other":
        path = "other"
    configured = _first(form.configured_by, given)
    if form.configured and form.config is not None and not _recognised(form, given) and configured is None:
        return
    yield Recipe(
        trainer=form.trainer,
        path=path,
        step=form.step,
        where=where,
        form=index,
        ids=ids,
        preset=preset,
        target=_first(form.target, given),
        draft=_first(form.draft, given),
        output=_first(form.output, given),
        source=_first(form.source, given),
        stored=_stored(form, given, where),
        configured=configured,
        dtype=_first(form.dtype, given),
        given=dict(given),
        complete=complete,
    )


def _chosen(form: Form, given: Given) -> tuple[LayerIds | None, str]:
    """The ids that are given, or the preset that stands in their place."""
    names = (*form.ids, form.environment) if form.environment else form.ids
    for name in names:
        value = given.get(name)
        if value is None or (value.known and value.value in (None, "")):
            continue
        text = str(value.value).strip().lower()
        if text in form.presets:
            return None, text
        ids = _ids(name, value)
        return ids, "" if ids is not None else "?"
    return None, ""


def _ids(name: str, value: Value) -> LayerIds | None:
    """A list of ids as it may be written: a list, or text such as `1,17,32`, `[1, 17, 32]`, `1 17 32`."""
    entries = value.value
    if isinstance(entries, str):
        entries = re.split(r"[\s,]+", entries.strip().strip("[]()").strip())
    if not isinstance(entries, list) or not entries or not value.known:
        return None
    if len(entries) == 1 and isinstance(entries[0], str) and "," in entries[0]:
        entries = entries[0].split(",")
    numbers = [_number(entry) for entry in entries]
    return LayerIds(name, tuple(numbers), value.where) if None not in numbers else None


def _number(entry: Any) -> int | None:
    if isinstance(entry, int) and not isinstance(entry, bool):
        return entry
    text = entry.strip().strip(",[]") if isinstance(entry, str) else ""
    return int(text) if re.fullmatch(r"-?\d+", text) else None


def _first(names: Sequence[str], given: Given) -> Value | None:
    """The first of some values that is a text; an option followed by several words has the first of them."""
    for name in names:
        value = given.get(name)
        if value is not None and isinstance(value.value, list) and value.value and isinstance(value.value[0], str):
            value = value._replace(value=value.value[0], known=value.value[0] is not None)
        if value is not None and (_text(value) or not value.known):
            return value
    return None


def _stored(form: Form, given: Given, where: Location) -> Location | None:
    if "always" in form.stored:
        return where
    for name in form.stored:
        value = given.get(name)
        if value is not None and value.value not in (None, "", False):
            return value.where
    for name, values in form.stored_values.items():
        value = given.get(name)
        if value is not None and _plain(value) in values:
            return value.where
    return None


def _text(value: Value) -> bool:
    return value.known and isinstance(value.value, str) and bool(value.value.strip())


def _plain(value: Value | None) -> str | None:
    """A value as text; None when it is not given."""
    if value is None or value.value is None:
        return None
    if isinstance(value.value, list):
        return str(value.value[0]) if value.value else None
    return str(value.value).lower()


def is_configuration(recipe: Recipe) -> bool:
    """Whether a recipe is a document rather than a command."""
    return basename(recipe.where.path).endswith((".yaml", ".yml", ".json", ".toml"))
