"""The samples of a project in its trace: each state with the size of its tokens, and what it is by value."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from eaglelint.fingerprints.records import MeasuredSlot, Sample, SampleTarget
from eaglelint.fingerprints.sparkline import sparkline
from eaglelint.fingerprints.words import remarks, span
from eaglelint.report.excerpt import visible
from eaglelint.tracing.markup import element, tag
from eaglelint.tracing.markup import text as escaped

#: The picture of a state in the page, in its own units.
_WIDTH, _HEIGHT = 120, 24


def text(samples: Sequence[Sample], target: SampleTarget | None) -> str:
    """The samples as lines of text, "" without any."""
    lines = []
    for sample in samples:
        lines += ["", f"{visible(sample.path)}: its states by value, with the root mean square of each token"]
        names = max((len(visible(slot.shown)) for slot in sample.slots), default=0)
        for slot in sample.slots:
            said = "; ".join(_said(slot, target))
            drawn = sparkline(slot.sizes)
            lines.append(f"  {visible(slot.shown):{names}}  {drawn:16}  {span(slot.sizes):18}  {said}".rstrip())
        lines += [f"  {sample.broken}"] if sample.broken else []
    return "\n".join(lines[1:]) + "\n" if lines else ""


def section(samples: Sequence[Sample], target: SampleTarget | None) -> str:
    """The samples as a section of the page, "" without any."""
    if not samples:
        return ""
    held = f", held against {target.path}" if target is not None and target.embedding else ""
    lead = (
        f"What the states of the samples are by their values{held}. A picture shows the root mean square of each token."
    )
    parts = [element("h2", "Samples", {"id": "samples-title"}), tag("p", "target", escaped(lead))]
    parts += [tag("article", "panel", "".join(_sample(sample, target))) for sample in samples]
    return element("section", "".join(parts), {"class": "drawing", "id": "samples", "aria-labelledby": "samples-title"})


def _said(slot: MeasuredSlot, target: SampleTarget | None) -> list[str]:
    known = target is not None and bool(target.embedding)
    return remarks(slot.scan, slot.embedding if known else None, slot.norm if known else None)


def _sample(sample: Sample, target: SampleTarget | None) -> Iterator[str]:
    yield element("header", element("h3", escaped(sample.path)))
    if sample.broken:
        yield tag("p", "verdict", escaped(sample.broken))
    rows = []
    for slot in sample.slots:
        said = "; ".join(_said(slot, target))
        names = ", ".join(dict.fromkeys(one.name for one in slot.names))
        name = f"<code>{escaped(slot.shown)}</code>" + (f" <small>{escaped(names)}</small>" if names else "")
        cells = [
            element("span", name),
            element("span", _picture(slot)),
            tag("span", "mono", escaped(span(slot.sizes))),
            tag("span", "what", escaped(said)),
        ]
        rows.append(element("li", "".join(cells)))
    yield tag("ol", "slots", "".join(rows))


def _picture(slot: MeasuredSlot) -> str:
    """The sizes as bars; a number that is not finite is a bar of full height in the colour of what is wrong."""
    known = [size for size in slot.sizes if math.isfinite(size)]
    most = max(known, default=0.0)
    step = _WIDTH / max(1, len(slot.sizes))
    bars = []
    for place, size in enumerate(slot.sizes):
        odd = not math.isfinite(size)
        height = _HEIGHT if odd else _HEIGHT * size / most if most else 0.0
        box = {
            "x": f"{place * step:.2f}", "y": f"{_HEIGHT - height:.2f}", "width": f"{max(0.5, step - 0.6):.2f}",
            "height": f"{max(0.5, height):.2f}", "class": "odd" if odd else "size",
        }  # fmt: skip
        bars.append(element("rect", "", box))
    label = f"root mean square by token, {span(slot.sizes)}" if known else "no token has a size"
    frame = {"class": "sizes", "viewBox": f"0 0 {_WIDTH} {_HEIGHT}", "role": "img", "aria-label": label}
    return element("svg", "".join(bars), frame)
