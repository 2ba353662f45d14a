"""The sample files that the configuration names: found, opened, measured and held against the target."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from eaglelint.errors import UnreadableError
from eaglelint.facts import Facts, TargetConfig, Unreadable
from eaglelint.fingerprints import matching, measures, slots, verdicts, writers
from eaglelint.fingerprints.named_values import Writer
from eaglelint.fingerprints.reading import Run, Values, strides_of
from eaglelint.fingerprints.records import MeasuredSlot, Named, Sample, SampleTarget
from eaglelint.fingerprints.slots import Contents, Slot
from eaglelint.fingerprints.target import TargetWeights
from eaglelint.location import Location
from eaglelint.project import Source
from eaglelint.readers.parts import Broken
from eaglelint.settings import Settings

#: The most files that are looked at, folders that are listed and token ids that are read.
_MOST_FILES = 64
_MOST_FOLDERS = 20_000
_MOST_IDS = 1 << 16
#: Bytes that are scanned for numbers that are not finite: of one file, and of all.
_FILE_BUDGET = 32 << 20
_WHOLE_BUDGET = 128 << 20
#: What readers say of a file that ends before its tensors do.
_ENDS = re.compile(r"ends (?:before|in the middle|after)|breaks off|shorter than|are there$")


def read_samples(
    sources: Sequence[Source], settings: Settings, facts: Facts
) -> Iterator[Sample | SampleTarget | Unreadable]:
    """What the configured samples hold by value, after the target that they are held against."""
    files = list(_files(settings))
    if not files:
        return
    place = _target_place(settings, facts)
    written = list(writers.writers(sources))
    with TargetWeights(place) as target:
        known = _described(target, place, facts, settings)
        yield known
        left = _WHOLE_BUDGET
        for pattern, source in files:
            budget = min(left, _FILE_BUDGET)
            try:
                with Values(source) as values:
                    if values.header.format == "pointer":
                        continue
                    yield _sample(values, pattern, target, known, written, budget)
                    left = max(1 << 20, left - min(budget, values.size))
            except UnreadableError as error:
                if _ENDS.search(error.reason):
                    yield Sample(source.path, pattern, broken=error.reason)
                else:
                    yield Unreadable(error.where, error.reason)
            except Broken as error:
                yield Unreadable(Location(source.path), str(error))


# ---- which files ---------------------------------------------------------------------------------------------------


def _files(settings: Settings) -> Iterator[tuple[str, Source]]:
    """The files that each pattern names, in the order of their names, each once."""
    root = Path(settings.folder or ".")
    seen: set[str] = set()
    for pattern in settings.data.samples:
        for file in _globbed(root, pattern):
            real = os.path.realpath(file)
            if real in seen or len(seen) >= _MOST_FILES:
                continue
            seen.add(real)
            shown = os.path.relpath(file).replace(os.sep, "/")
            yield pattern, Source(shown, "binary", file)


def _globbed(root: Path, pattern: str) -> list[Path]:
    """The regular files that a pattern names below (or, for an absolute one, outside) the folder of the configuration.

    A link that leads out of that folder is not followed.
    """
    start = Path(pattern[: re.search(r"[*?\[]|$", pattern).start()])  # type: ignore[union-attr]
    start = start if str(pattern).endswith(start.name) and not re.search(r"[*?\[]", pattern) else start.parent
    base = root / start
    wanted = _regex(pattern)
    inside = os.path.realpath(root)
    if base.is_file():
        candidates = [base]
    else:
        head = "/".join(start.parts) if start.parts else ""
        deep = "**" in pattern
        rest = pattern[len(head) :].lstrip("/") if head and head != "." else pattern
        candidates = list(_walked(base, 64 if deep else rest.count("/")))
    found = []
    for file in candidates:
        name = os.path.relpath(file, root).replace(os.sep, "/") if not Path(pattern).is_absolute() else str(file)
        real = os.path.realpath(file)
        own = Path(pattern).is_absolute() or ".." in pattern or real.startswith(inside.rstrip(os.sep) + os.sep)
        if wanted.fullmatch(name) and own and os.path.isfile(real):
            found.append(file)
    return sorted(found)


def _walked(base: Path, depth: int) -> Iterator[Path]:
    """The files of a folder and of those below it, `depth` levels deep."""
    waiting, folders = [(base, 0)], 0
    while waiting and folders < _MOST_FOLDERS:
        folder, level = waiting.pop()
        folders += 1
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False) and level < depth:
                waiting.append((Path(entry.path), level + 1))
            elif not entry.is_dir(follow_symlinks=False):
                yield Path(entry.path)


def _regex(pattern: str) -> re.Pattern[str]:
    """A glob as an expression: `*` and `?` stay within a folder, `**` does not."""
    text = pattern.removeprefix("./")
    parts = re.split(r"(\*\*/|\*\*|\*|\?|\[[^\]/]+\])", text)
    turned = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    made = [turned.get(part) or (_class(part) if part[:1] == "[" else re.escape(part)) for part in parts if part]
    try:
        return re.compile("".join(made), re.DOTALL)
    except re.error:
        return re.compile(re.escape(text))


def _class(part: str) -> str:
    """Characters in brackets as an expression; a lone bracket is itself."""
    if len(part) < 3 or not part.endswith("]"):
        return re.escape(part)
    return f"[^{part[2:]}" if part[1] == "!" else part


# ---- the target ----------------------------------------------------------------------------------------------------


def _target_place(settings: Settings, facts: Facts) -> str:
    """The folder or file of the target's weights, as seen from the current folder; "" when nothing names one."""
    stated = settings.data.target or (settings.target.path if settings.target is not None else "")
    if not stated and len(facts.targets) == 1:
        return facts.targets[0].folder or "."
    if not stated:
        return ""
    place = Path(settings.folder or ".") / stated
    return os.path.relpath(place).replace(os.sep, "/")


def _described(target: TargetWeights, place: str, facts: Facts, settings: Settings) -> SampleTarget:
    config = next((one for one in facts.targets if place and _same_folder(one, place)), None)
    hidden, vocab, depth = target.hidden, target.vocab, target.depth
    where = None
    if config is not None:
        hidden, vocab, depth = hidden or config.hidden_size, vocab or config.vocab_size, depth or config.depth
        where = config.document.where(f"{config.text_prefix}/hidden_size")
    elif not hidden:
        hidden, vocab, depth = _from_tables(settings)
    target.hidden = target.hidden or hidden
    return SampleTarget(
        place, hidden, vocab, depth, target.family.scale, target.embedding_place, target.problem if place else "", where
    )


def _same_folder(config: TargetConfig, place: str) -> bool:
    return os.path.realpath(os.path.dirname(config.path) or ".") == os.path.realpath(place)


def _from_tables(settings: Settings) -> tuple[int, int, int]:
    """The sizes of a target that is named, where its files are not here."""
    from eaglelint.conventions.known import known_target

    names = [settings.data.target, *([settings.target.name] if settings.target is not None else [])]
    for name in filter(None, names):
        known = known_target(name)
        if known is not None and known.established:
            return known.hidden_size, known.vocab_size, known.depth
    return 0, 0, 0


# ---- one sample ----------------------------------------------------------------------------------------------------


def _sample(
    values: Values, pattern: str, target: TargetWeights, known: SampleTarget, written: Sequence[Writer], budget: int
) -> Sample:
    found = slots.contents(values.header, known.hidden)
    fitting = [one for one in written if one.fits(values.path, list(values.header.tensors))]
    prompts = {one.prefix: ids_of(values, one) for one in found.tokens}
    measured = []
    each = budget // max(1, len(found.slots))
    for slot in found.slots:
        own = prompts.get(slot.tokens.prefix, []) if slot.tokens is not None else []
        measured.append(_measured(values, slot, target, own, _names(slot, fitting), each))
    sample = Sample(
        values.path,
        pattern,
        tuple(measured),
        broken="",
        unclear=tuple(tensor.name for tensor in found.unclear),
        shifted=next((one.shifted for one in fitting if one.shifted is not None), None),
    )
    return _with_ids(sample, found, prompts, known)


def _with_ids(sample: Sample, found: Contents, prompts: dict[str, list[int]], known: SampleTarget) -> Sample:
    if not found.tokens:
        return sample
    first = found.tokens[0]
    every = [one for ids in prompts.values() for one in ids]
    beyond = sum(one >= known.vocab for one in every) if known.vocab else 0
    return replace(
        sample,
        ids=first.length,
        prompt=hash(tuple(prompts[first.prefix])) or 1,
        beyond=beyond if 2 * beyond > len(every) else 0,
        ids_dtype=first.tensor.dtype,
        highest=max(every, default=0),
    )


def ids_of(values: Values, tokens: slots.Tokens) -> list[int]:
    """The token ids of a prompt, [] when they are no whole numbers."""
    tensor = tokens.tensor
    if tokens.values:
        return list(tokens.values[:_MOST_IDS])
    stride = next((s for n, s in zip(reversed(tensor.shape), reversed(strides_of(tensor)), strict=True) if n != 1), 1)
    try:
        return values.integers(tensor, Run(0, min(tokens.length, _MOST_IDS), stride))
    except Broken:
        return []


def _measured(
    values: Values, slot: Slot, target: TargetWeights, ids: Sequence[int], names: tuple[Named, ...], budget: int
) -> MeasuredSlot:
    stem = values.path.rpartition("/")[2].split(".")[0]
    ids_of_layers = slots.layer_ids(values.header, slot)
    key = slots.key_of(slot) if slot.name else stem
    if ids_of_layers and not key and slot.place < len(ids_of_layers):
        key = f"layer_{ids_of_layers[slot.place]}"
    made = MeasuredSlot(
        key=key,
        shown=slot.shown or stem,
        group=slot.group,
        index=slot.place,
        parts=slot.parts,
        columns=slot.columns,
        count=slot.length,
        width=slot.width,
        dtype=slot.tensor.dtype,
        expected=slot.tokens.length if slot.tokens is not None else 0,
        names=names,
    )
    _, rows = measures.rows(values, slot)
    return replace(
        made,
        sizes=tuple(map(measures.rms, rows)),
        scan=measures.scan(values, slot, budget),
        embedding=verdicts.embedding_verdict(values, slot, target, ids),
        norm=verdicts.norm_verdict(rows, slot.tensor.dtype, target),
        probe=matching.probe(values, slot),
    )


def _names(slot: Slot, fitting: Sequence[Writer]) -> tuple[Named, ...]:
    """What the code calls a slot, when the calls that may have written the file agree."""
    index = slot.place if slot.parts and not slot.name.rpartition(".")[2].isdigit() else None
    found = [one.names(slot.name, index) for one in fitting]
    found = [names for names in found if names]
    same = {tuple(one.name for one in names) for names in found}
    return found[0] if len(same) == 1 else ()
