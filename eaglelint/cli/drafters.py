"""`eaglelint drafters`: what is known of published drafters, and what an engine would make of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from eaglelint.conventions.known import KnownDrafter
    from eaglelint.reference.asking import Asked
    from eaglelint.reference.drafters import Served


@click.command("drafters")
@click.argument("name", required=False)
@click.option("--engine", metavar="NAME[@RELEASE]", help="Say what this engine would capture, and what would be right.")
@click.option("--format", "format_", type=click.Choice(("text", "json")), default="text", help="As text or as JSON.")
def command(name: str | None, engine: str | None, format_: str) -> None:
    """Show what is known of published drafters: what they declare, what they were trained on, how sure that is.

    NAME is the Hub id of a drafter, or a path that ends like one; without it, all are listed.
    """
    import json

    from eaglelint.errors import UsageError
    from eaglelint.reference.asking import ask
    from eaglelint.reference.drafters import every, find

    asked = ask(engine) if engine is not None else None
    if asked is not None and asked.engine is None:
        raise UsageError(f"{asked.name} is a trainer, no engine")
    if name is not None:
        drafter = find(name)
        if format_ == "json":
            click.echo(json.dumps(_json(drafter, asked), indent=2))
        else:
            click.echo("\n".join(_lines(drafter, asked)))
    elif format_ == "json":
        click.echo(json.dumps([_json(drafter, asked) for drafter in every()], indent=2))
    else:
        click.echo("\n".join(_table(asked)))


# ---- text ------------------------------------------------------------------------------------------------------------


def _table(asked: Asked | None) -> Iterator[str]:
    from eaglelint.reference.drafters import algorithm, every, serve, trained_words

    known = list(every())
    width = max(len(drafter.repo) for drafter in known)
    for drafter in known:
        words = f"{algorithm(drafter):9}  {trained_words(drafter)}"
        if asked is not None:
            served = serve(drafter, asked)
            words = "; ".join(dict.fromkeys(s.outcome for s in served)) or "not served"
        yield f"{drafter.repo:{width}}  {words}"


def _lines(drafter: KnownDrafter, asked: Asked | None) -> Iterator[str]:
    from eaglelint.reference.drafters import card, right_releases, serve, served_words

    yield drafter.repo
    facts = list(card(drafter))
    width = max(len(label) for label, _ in facts)
    for label, words in facts:
        yield f"  {label:{width}}  {words}"
    yield "  sources"
    for source in drafter.sources:
        yield f"    {source}"
    if asked is None or asked.engine is None:
        return
    found = serve(drafter, asked)
    if not found:
        yield from ("", f"{asked.name} {asked.specifier}".rstrip() + " serves no heads of this kind")
    for served in found:
        yield from ("", served.name)
        for line in served_words(drafter, served):
            yield f"  {line}"
    if any(served.outcome == "differs" for served in found):
        right = right_releases(drafter, asked.engine)
        if right:
            yield f"  with its config as it stands, {' and '.join(right)} would be right"


# ---- JSON ------------------------------------------------------------------------------------------------------------


def _json(drafter: KnownDrafter, asked: Asked | None) -> dict[str, Any]:
    from eaglelint.reference.drafters import CONVENTIONS, right_releases, serve

    found: dict[str, Any] = {
        "repo": drafter.repo,
        "target": drafter.target,
        "depth": drafter.depth or None,
        "algorithm": drafter.algorithm,
        "trainer": drafter.trainer,
        "architectures": list(drafter.architectures),
        "ids": list(drafter.ids) if drafter.ids is not None else None,
        "ids_place": drafter.ids_place,
        "keys": list(drafter.pointers),
        "convention": drafter.convention,
        "meaning": CONVENTIONS[drafter.convention],
        "trained": list(drafter.trained) if drafter.trained is not None else None,
        "established": drafter.established,
        "evidence": drafter.evidence,
        "basis": drafter.basis or None,
        "config": dict(drafter.geometry),
        "flags": dict(drafter.flags),
        "note": drafter.note or None,
        "sources": list(drafter.sources),
    }
    if asked is not None and asked.engine is not None:
        found["served"] = [_served(served) for served in serve(drafter, asked)]
        found["right_releases"] = list(right_releases(drafter, asked.engine))
    return found


def _served(served: Served) -> dict[str, Any]:
    return {
        "engine": served.name,
        "outcome": served.outcome,
        "key": served.key or None,
        "rule": served.reading.rule,
        "captured": list(served.captured) if served.captured is not None else None,
        "right_ids": list(served.ids) if served.ids is not None else None,
        "right_place": served.place or None,
        "notes": list(served.notes),
    }
