"""`eaglelint derive`: the convention that an engine's own source implements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from eaglelint.derive import Derived


@click.command("derive")
@click.argument("path", type=click.Path())
@click.option(
    "--format", "format_", type=click.Choice(("text", "json")), default="text", help="What is printed (text)."
)
@click.option("--target-file", default="", metavar="FILE", help="Only target files of this name, such as llama.py.")
def command(path: str, format_: str, target_file: str) -> None:
    """Read an engine's source and print what its target models make of layer ids.

    PATH is a checkout, a site-packages folder, an unpacked wheel or a wheel of SGLang or vLLM. Nothing of it is
    imported or executed: the models are run abstractly, and what can not be told is said, with the reason.
    """
    from eaglelint.derive import derive
    from eaglelint.report.excerpt import at_line_start, visible

    found = derive(path, target_file)
    if format_ == "json":
        from eaglelint.report.encoding import as_json

        click.echo(as_json([record(item) for item in found], 0), nl=False)
        return
    if not found:
        click.echo("no target file has a setter for auxiliary layers" + (f" ({target_file})" if target_file else ""))
    file = ""
    for item in found:
        if item.file != file:
            click.echo(("\n" if file else "") + click.style(at_line_start(visible(item.file)), bold=True))
            file = item.file
        for line in lines(item):
            click.echo(visible(line))


def lines(item: Derived) -> list[str]:
    """One class as it is printed: what ids mean, what is captured, and the lines that show it."""
    from eaglelint.conventions.rules import MEANING

    shown = [f"  {item.name}"]
    reading = item.reading
    if reading is None:
        at = f" ({item.where.path}:{item.where.line})" if item.where is not None else ""
        shown.append(f"    unknown: {item.reason}{at}")
    else:
        shown.append(f"    ids      {reading.rule}: {MEANING[reading.rule]}")
        if reading.note:
            shown.append(f"             {reading.note}")
        if reading.rule not in ("nothing_captured",):
            shown.append(f"    default  {', '.join(reading.default) or 'not a simple formula of N'}")
            shown.append(f"    reach    boundaries {reading.reach[0]} to {reading.reach[1]}")
            edges = (("0", reading.zero), ("N", reading.end), ("-1", reading.outside))
            shown.append("    edges    " + "; ".join(f"boundary {b}: {_EDGES[edge]}" for b, edge in edges))
            order = "ascending" if reading.order == "ascending" else "as listed"
            shown.append(f"    order    {order}; repeated ids: {reading.duplicates}")
            shown.append(f"    tensor   {_TENSORS.get(reading.tensor, reading.tensor)}")
    for what, where in item.proofs:
        shown.append(f"    {what:<8} {where.path}:{where.line}")
    return shown


def record(item: Derived) -> dict[str, Any]:
    """One class as JSON."""
    reading = item.reading
    made: dict[str, Any] = {"engine": item.engine, "file": item.file, "class": item.name, "rule": "unknown"}
    if reading is not None:
        low, high = reading.reach
        made |= {
            "release": reading.first, "rule": reading.rule, "default": list(reading.default), "reach": [low, high],
            "zero": reading.zero, "end": reading.end, "outside": reading.outside, "order": reading.order,
            "duplicates": reading.duplicates, "tensor": reading.tensor, "status": reading.status,
        }  # fmt: skip
    if item.reason:
        made["reason"] = item.reason
    if item.where is not None:
        made["where"] = {"path": item.where.path, "line": item.where.line}
    made["evidence"] = [{"what": what, "path": w.path, "line": w.line} for what, w in item.proofs]
    made["runs"] = [
        {
            "ids": list(s.ids) if s.ids is not None else None,
            "depth": s.depth,
            "captured": [b for b, _ in s.states],
            **({"error": s.crash} if s.crash else {}),
        }
        for s in item.seen
    ]
    return made


_EDGES = {
    "captured": "captured",
    "dropped": "left out, one state too few",
    "crash": "an error",
    "wrong_layer": "counted from the end, the wrong state",
    "unknown": "not known",
}
_TENSORS = {
    "stream": "the complete residual stream, before any norm",
    "branch": "the branch alone: the residual is not added",
    "residual": "the residual alone: the branch is not added",
    "normed": "a normed state",
    "mean": "the mean over parallel streams",
}
