"""Mermaid flowcharts: every line is syntax that Mermaid has, ids are unique, labels can not break out."""

from __future__ import annotations

import html
import re
from typing import NamedTuple

import pytest
from traced_project import PROJECT, Trace

from eaglelint.tracing.mermaid import label
from eaglelint.tracing.run import Traced

_ID = r"[a-z][a-z0-9]*"
_LABEL = r'"([^"\n]+)"'
_NODE = rf"({_ID})\[{_LABEL}\](?::::(match|mismatch|unknown))?"
_LINK = rf"(?:-->|---|-\. {_LABEL} \.-)"
_PATTERNS = {
    "head": re.compile(r"flowchart LR"),
    "subgraph": re.compile(rf"  subgraph ({_ID})\[{_LABEL}\]"),
    "direction": re.compile(r"    direction LR"),
    "end": re.compile(r"  end"),
    "node": re.compile(rf" +{_NODE}"),
    "edge": re.compile(rf" +({_ID}) {_LINK} {_NODE}"),
    "class": re.compile(r"  classDef (match|mismatch|unknown) [a-z-]+:[#a-z0-9 ]+(,[a-z-]+:[#a-z0-9 ]+)*"),
}


class Chart(NamedTuple):
    nodes: dict[str, str]
    edges: list[tuple[str, str]]
    subgraphs: list[str]
    texts: list[str]


def parsed(text: str) -> Chart:
    """The chart, by a grammar that knows only what is written here; anything else fails."""
    nodes: dict[str, str] = {}
    edges: list[tuple[str, str]] = []
    subgraphs: list[str] = []
    texts: list[str] = []
    depth = 0
    lines = text.rstrip("\n").split("\n")
    assert lines[0] == "flowchart LR"
    for line in lines[1:]:
        kind, match = next(
            ((kind, found) for kind, pattern in _PATTERNS.items() if (found := pattern.fullmatch(line))), ("", None)
        )
        assert match is not None, line
        depth += {"subgraph": 1, "end": -1}.get(kind, 0)
        assert depth in (0, 1)
        if kind == "subgraph":
            subgraphs.append(match[1])
        groups = [group for group in match.groups() if group]
        texts += [decoded(group) for group in groups[1:]]
        if kind == "node":
            assert match[1] not in nodes
            nodes[match[1]] = decoded(match[2])
        elif kind == "edge":
            source, words, target, shown = match[1], match[2], match[3], match[4]
            assert source in nodes, line
            assert target not in nodes, line
            nodes[target] = decoded(shown)
            edges.append((source, target))
            assert words is None or words
    assert depth == 0
    assert not set(nodes) & set(subgraphs)
    return Chart(nodes, edges, subgraphs, texts)


def decoded(text: str) -> str:
    return re.sub(r"#(\d+);", lambda match: chr(int(match[1])), text)


def test_the_example(example: Traced):
    chart = parsed(example.render("mermaid"))
    assert len(chart.subgraphs) == 1
    shown = list(chart.nodes.values())
    for words in ("captured boundary 3", "state_0", "fc[0]", "served boundary 0", "id -1"):
        assert shown.count(words) == 1, words
    assert "eagle_config.eagle_aux_hidden_state_layer_ids[0]" in shown
    assert sum(words == f"fc[{n}]" for words in shown for n in range(3)) == 3
    assert "MISMATCH, 28 layers early" in chart.texts


def test_every_state_runs_into_its_column(example: Traced):
    chart = parsed(example.render("mermaid"))
    following = dict(chart.edges)
    place = next(name for name, words in chart.nodes.items() if words == "captured boundary 31")
    way = [chart.nodes[place]]
    while place in following:
        place = following[place]
        way.append(chart.nodes[place])
    assert way == [
        "captured boundary 31",
        "state_1",
        "layer3_out (the name says another state)",
        "fc[1]",
        "served boundary 3",
        "id 2",
        "eagle_config.eagle_aux_hidden_state_layer_ids[1]",
    ]


@pytest.mark.parametrize("missing", [(), ("dump.py",), ("serve.sh", "requirements.txt"), ("drafter/config.json",)])
def test_whatever_is_missing_it_is_a_chart(traced: Trace, missing: tuple[str, ...]):
    chart = parsed(traced({name: text for name, text in PROJECT.items() if name not in missing}).render("mermaid"))
    assert chart.nodes
    if "dump.py" in missing:
        assert "unknown" in chart.nodes.values()


def test_nothing_to_draw_is_a_chart_too(traced: Trace):
    assert list(parsed(traced({"a.py": ""}).render("mermaid")).nodes.values()) == [
        "no drafter and no captured states: nothing to draw"
    ]


@pytest.mark.parametrize(
    "text",
    [
        'a"b',
        "a]b",
        "a\nb",
        "`code`",
        "<b>&amp;</b>",
        "#quot;",
        "end",
        "a;b",
        "%% comment",
        "```",
        "__x__",
        "1. one",
        "- x",
        "{x}|y",
    ],
)
def test_labels_can_not_be_taken_for_syntax(text: str):
    written = label(text)
    assert decoded(written) == text.replace("\n", " ")
    assert not re.search(r'["`<>&;{}|\n]', re.sub(r"#\d+;", "", written))
    assert html.unescape(written) == written
    assert not re.search(r"(?<!\w)_|_(?!\w)|^\d+\. |^[-+=]", re.sub(r"#\d+;", "0", written))


def test_hostile_names_stay_labels(traced: Trace):
    name = '`end"]-->x[#quot;</script>_layer1'
    files = {**PROJECT, "dump.py": PROJECT["dump.py"].replace('"low"', repr(name))}
    chart = parsed(traced(files).render("mermaid"))
    assert any("_layer1" in words for words in chart.nodes.values())
