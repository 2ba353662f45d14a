"""The page: self-contained, safe, usable by keyboard, and it shows the lines that the drawing rests on."""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from html.parser import HTMLParser
from typing import Any

import pytest
from traced_project import PROJECT, Trace

from eaglelint.tracing.run import Traced

_VOID = {"meta", "br"}
_KNOWN = {
    *("html", "head", "meta", "title", "style", "script", "body", "a", "header", "main", "footer", "nav", "section"),
    *("article", "figure", "figcaption", "details", "summary", "div", "span", "p", "h1", "h2", "h3", "h4", "b", "i"),
    *("small", "code", "pre", "mark", "br", "ul", "ol", "li", "dl", "dt", "dd", "button"),
    *("svg", "line", "path", "rect", "circle", "text"),
}


class Page(HTMLParser):
    """The elements of a page; fails where they are not nested properly."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.content: dict[str, str] = {}
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open
        assert self.open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("style", "script"):
            self.content[self.open[-1]] = self.content.get(self.open[-1], "") + data
        else:
            self.words.append(data)

    def having(self, tag: str, kind: str = "") -> list[dict[str, str | None]]:
        kinds = [(found, (found.get("class") or "").split()) for name, found in self.elements if name == tag]
        return [found for found, own in kinds if not kind or kind in own]

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())


@pytest.fixture
def page(example: Traced) -> Page:
    return Page(example.render("html"))


def test_it_needs_nothing_from_elsewhere(example: Traced, page: Page):
    text = example.render("html")
    assert not re.search(r"https?:|//[a-z]|@import|url\(|<link|<img|<iframe", text)
    assert {name for name, _ in page.elements} <= _KNOWN
    for _, attributes in page.elements:
        assert not [key for key in attributes if key.startswith("on") or key in ("style", "src", "srcset")]


def test_only_its_own_style_and_script_may_run(page: Page):
    [policy] = [found["content"] or "" for found in page.having("meta") if found.get("http-equiv")]
    assert policy.startswith("default-src 'none'; ")
    for name in ("style", "script"):
        digest = b64encode(hashlib.sha256(page.content[name].encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy


def test_rows_open_by_keyboard_without_a_script(page: Page):
    rows = page.having("details", "row")
    assert [row["id"] for row in rows] == ["d0p0c0", "d0p0c1", "d0p0c2"]
    assert all(row["class"] == "row mismatch" for row in rows)
    assert len(page.having("summary")) == len(page.having("details"))
    assert page.having("a", "skip")[0]["href"] == "#drawings"
    assert [found for name, found in page.elements if found.get("id") == "drawings"]
    assert ":focus-visible" in page.content["style"]


def test_ids_are_unique_and_links_lead_somewhere(page: Page):
    ids = [found["id"] for _, found in page.elements if found.get("id")]
    assert len(ids) == len(set(ids))
    for _, found in page.elements:
        for target in ((found.get("href") or "").removeprefix("#"), found.get("aria-labelledby") or ""):
            assert not target or target in ids, target


def test_light_dark_and_narrow(page: Page):
    style = page.content["style"]
    for query in (
        "prefers-color-scheme: dark",
        "max-width: 860px",
        "max-width: 1060px",
        "forced-colors",
        "prefers-reduced-motion",
        "print",
    ):
        assert query in style
    assert page.having("meta")[1]["content"] == "width=device-width, initial-scale=1"


def test_it_says_what_the_text_says(page: Page):
    text = page.text
    for words in ("MISMATCH", "SGLang 0.5.9", "embed_out", "says the embedding output (boundary 0)", "28 layers early"):
        assert words in text
    assert "[2, 30, 58] under eagle_config.eagle_aux_hidden_state_layer_ids" in text


def test_the_steps_show_their_lines_with_the_place_marked(example: Traced, page: Page):
    text = example.render("html")
    assert "<mark>hs_dump[f&quot;state_{len(hs_dump)}&quot;]</mark>" in text
    assert (
        '<span class="here"><i>18</i>    &quot;eagle_aux_hidden_state_layer_ids&quot;: [<mark>-1</mark>, 2, 30]' in text
    )
    assert len(page.having("pre", "excerpt")) > 20


def test_the_ruler_stands_for_two_widths_and_is_left_to_the_eyes(page: Page):
    drawn = page.having("svg")
    assert [found["class"] for found in drawn] == ["wide", "narrow"]
    assert all(found["aria-hidden"] == "true" for found in drawn)
    assert len(page.having("line", "link")) == 6


def test_without_n_there_is_no_ruler(traced: Trace):
    files = {**PROJECT, "serve.sh": PROJECT["serve.sh"].replace("--model-path target", '--model-path "$MODEL"')}
    del files["target/config.json"], files["dump.py"]
    assert not Page(traced(files).render("html")).having("svg")


HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>_layer1"


def test_contents_and_names_can_not_inject(traced: Trace):
    files = {
        **PROJECT,
        "dump.py": PROJECT["dump.py"].replace('"low"', repr(HOSTILE)) + f"# {HOSTILE}\n",
        "drafter/config.json": PROJECT["drafter/config.json"].replace("32]", '"\\u003cb onclick=1>"]'),
    }
    files['a"><script>1<&script>/requirements.txt'] = files.pop("requirements.txt")
    text = traced(files).render("html")
    page = Page(text)
    assert len(page.having("script")) == 1
    assert {name for name, _ in page.elements} <= _KNOWN
    for _, attributes in page.elements:
        assert not [key for key in attributes if key.startswith("on")]
    assert HOSTILE[:30] in "".join(page.words)


def test_several_drafters_have_a_list_of_contents(traced: Trace):
    files = {**PROJECT, "other/config.json": PROJECT["drafter/config.json"]}
    page = Page(traced(files).render("html"))
    [nav] = page.having("nav")
    assert nav["aria-label"] == "Drafters"
    assert {"#d0", "#d1"} <= {found.get("href") for found in page.having("a")}


def test_nothing_to_draw(traced: Trace):
    assert "nothing to draw" in Page(traced({"a.py": ""}).render("html")).text
