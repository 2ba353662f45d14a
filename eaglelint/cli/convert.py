"""`eaglelint convert`: layer ids of one engine or trainer as ids of another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from eaglelint.reference.asking import Subject
    from eaglelint.reference.convert import Answer, Conversion
    from eaglelint.reference.ways import Read, Way


@click.command("convert", context_settings={"ignore_unknown_options": True})  # -1 is an id
@click.argument("ids", metavar="IDS")
@click.option("--from", "source", required=True, metavar="READER", help="Whose ids they are.")
@click.option("--to", "wanted", required=True, metavar="READER", help="Whose ids are wanted.")
@click.option("--target", metavar="NAME", help="The target model by its Hub id; ids may mean other layers for each.")
@click.option("--depth", type=click.IntRange(min=1), help="Its number of decoder layers, where --target does not say.")
@click.option(
    "--method",
    type=click.Choice(("eagle3", "dflash", "dspark")),
    default="eagle3",
    help="The kind of drafter (eagle3).",
)
@click.option("--format", "format_", type=click.Choice(("text", "json")), default="text", help="As text or as JSON.")
@click.pass_context
def command(
    ctx: click.Context,
    ids: str,
    source: str,
    wanted: str,
    target: str | None,
    depth: int | None,
    method: str,
    format_: str,
) -> None:
    """Convert layer ids through the boundaries that they stand for.

    IDS are numbers with commas between them, `2,30,58` or `[-1, 5]`, or `default` for what is captured without any. A
    READER is an engine or trainer with or without a release (`sglang@0.5.10`, `vllm`, `modelopt:vllm_dump`),
    `boundaries`, or `hf` for indices of hidden_states. Where the release or the target is left open, every reading is
    listed. The exit status is 1 when no conversion exists, and 2 when the call is wrong.
    """
    from eaglelint.reference.asking import ask, subject
    from eaglelint.reference.convert import convert

    about = subject(target, depth)
    found = convert(_numbers(ids), ask(source, plain=True), ask(wanted, plain=True), about, method)
    if format_ == "json":
        import json

        click.echo(json.dumps(_json(found, about), indent=2))
    else:
        click.echo("\n".join(_lines(found, about, source, ids)))
    ctx.exit(0 if any(conversion.possible for conversion in found) else 1)


def _numbers(text: str) -> tuple[int, ...] | None:
    """The ids of the call; None for the default."""
    from eaglelint.errors import UsageError

    bare = text.strip().strip("[]()").strip()
    if bare == "default":
        return None
    parts = [part for part in re.split(r"[\s,]+", bare) if part]
    if not parts or any(re.fullmatch(r"-?\d{1,6}", part) is None for part in parts):
        raise UsageError(f"{text!r} is no list of ids; write numbers with commas between them, or `default`")
    return tuple(int(part) for part in parts)


# ---- text ------------------------------------------------------------------------------------------------------------


def _lines(found: Sequence[Conversion], about: Subject, source: str, ids: str) -> Iterator[str]:
    if about.words:
        yield f"for {about.words}"
    if not found:
        yield f"{source} reads no ids of auxiliary states"
    for conversion in found:
        if about.words or conversion is not found[0]:
            yield ""
        yield from _from(conversion, about, ids)
        for answer in conversion.answers:
            yield ""
            yield from _to(answer)
    if len({conversion.read.states for conversion in found}) > 1:
        yield from ("", "several readings are possible; a release (NAME@RELEASE) and --target narrow them")


def _from(conversion: Conversion, about: Subject, ids: str) -> Iterator[str]:
    yield f"{ids} from {conversion.name}: {conversion.ways[0].rule}"
    yield from _states(conversion.read, about)
    if conversion.read.reason:
        yield f"  impossible: {conversion.read.reason}"
    for note in _notes(conversion.read.notes, conversion.ways):
        yield f"  note: {note}"


def _states(read: Read, about: Subject) -> Iterator[str]:
    from eaglelint.reference.words import state_words

    width = max((len(str(meaning.id)) for meaning in read.meanings if meaning.id is not None), default=0)
    for meaning in read.meanings:
        words = state_words(meaning.state, about.depth) if meaning.state is not None else meaning.fate
        if meaning.state is not None and meaning.fate:
            words += f"; {meaning.fate}"
        yield f"  {meaning.id if meaning.id is not None else '':>{width}}  {words}" if width else f"  {words}"


def _to(answer: Answer) -> Iterator[str]:
    from eaglelint.boundary import show_ids
    from eaglelint.reference.words import listed

    way, rules = answer.ways[0], {other.rule for other in answer.ways}
    yield f"  to {answer.name}" + (f": {way.rule}" if len(rules) == 1 else ", by each of its rules:")
    if answer.written.ids is None:
        yield f"    impossible: {answer.written.reason}"
    elif not answer.written.ids:
        yield f"    no ids: {answer.written.reason}"
    else:
        yield f"    {show_ids(answer.written.ids)}"
        if way.places:
            yield f"    in {listed(way.places, 'or')}"
    for note in _notes(answer.written.notes, answer.ways):
        yield f"    note: {note}"


def _notes(notes: Sequence[str], ways: Sequence[Way]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*notes, *(note for way in ways for note in way.notes))))


# ---- JSON ------------------------------------------------------------------------------------------------------------


def _json(found: Sequence[Conversion], about: Subject) -> dict[str, Any]:
    return {
        "target": about.name or None,
        "depth": about.depth,
        "conversions": [
            {
                "from": _reader(conversion.name, conversion.ways, conversion.read.notes),
                "ids": [_meaning(meaning, about) for meaning in conversion.read.meanings],
                "states": _columns(conversion.read),
                "reason": conversion.read.reason or None,
                "to": [
                    {
                        **_reader(answer.name, answer.ways, answer.written.notes),
                        "ids": list(answer.written.ids) if answer.written.ids is not None else None,
                        "reason": answer.written.reason or None,
                    }
                    for answer in conversion.answers
                ],
            }
            for conversion in found
        ],
    }


def _reader(name: str, ways: Sequence[Way], notes: Sequence[str]) -> dict[str, Any]:
    return {
        "reader": name,
        "rules": list(dict.fromkeys(way.rule for way in ways)),
        "places": list(ways[0].places),
        "notes": list(_notes(notes, ways)),
    }


def _meaning(meaning: Any, about: Subject) -> dict[str, Any]:
    from eaglelint.reference.words import state_words

    state = meaning.state
    return {
        "id": meaning.id,
        "boundary": state.boundary if state is not None else None,
        "normed": state.normed if state is not None else None,
        "words": state_words(state, about.depth) if state is not None else None,
        "fate": meaning.fate or None,
    }


def _columns(read: Read) -> list[dict[str, Any]] | None:
    if read.states is None:
        return None
    return [{"boundary": state.boundary, "normed": state.normed} for state in read.states]
