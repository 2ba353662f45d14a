"""The pages of the site that are made from the tables: one a rule, one an engine or trainer, and the settings.

mkdocs runs it as a hook (`make docs`); nothing of it is kept in the repository. The functions that give the pages need
no mkdocs, so that tests can read them.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from eaglelint import catalog
from eaglelint._resources import data_root
from eaglelint.catalog import Rule
from eaglelint.reference import engines, trainers
from eaglelint.reference.asking import ask, subject

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

_GROUPS = {
    "EGL0": "Reading and linking",
    "EGL1": "Capture code",
    "EGL2": "The drafter's config",
    "EGL3": "Servers",
    "EGL4": "The contract between files",
    "EGL5": "Names",
    "EGL6": "Weights",
    "EGL7": "Vocabulary",
    "EGL8": "Dumped samples",
}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    from mkdocs.structure.files import File

    for path, content in pages().items():
        files.append(File.generated(config, path, content=content))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    """Links to files of the repository that are no pages are only their words on the site."""
    return re.sub(r"\[([^\]]*)\]\(\.\./(?!\w+/EGL)[^)]*\)", r"\1", markdown)


def pages() -> dict[str, str]:
    """Every generated page, by its path in `docs/`."""
    made = {"rules/index.md": _joined(_rules()), "engines/index.md": _joined(_engines())}
    made |= {f"rules/{code}.md": _joined(_rule(catalog.load(code))) for code in catalog.names()}
    made |= {f"engines/{name}.md": _joined(_engine(name)) for name in _names()}
    made["configuration.md"] = _joined(_settings())
    return made


def _joined(lines: Iterator[str]) -> str:
    return "\n".join(lines) + "\n"


def _prose(text: str) -> str:
    """A text as a catalogue file wraps it, as paragraphs."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.strip().split("\n\n"))


def _cell(text: str) -> str:
    return html.escape(" ".join(text.split()), quote=False).replace("|", "\\|")


# ---- rules -----------------------------------------------------------------------------------------------------------


def _rules() -> Iterator[str]:
    yield from ("# Rules", "", "A rule is named by its code or its slug, wherever one is asked for.")
    for prefix, title in _GROUPS.items():
        rules = [catalog.load(code) for code in catalog.names() if code.startswith(prefix)]
        if rules:
            yield from ("", f"## {title}", "", "| code | name | severity | what it reports |", "|---|---|---|---|")
        for rule in rules:
            off = "" if rule.enabled else ", off unless selected"
            yield (
                f"| [{rule.code}]({rule.code}.md) | {rule.slug} | {rule.severity}{off} | {_cell(rule.summary)} |"
            )


def _rule(rule: Rule) -> Iterator[str]:
    yield from (f"# {rule.code} {rule.slug}", "", _prose(rule.summary), "")
    yield f"**{rule.severity}**, {rule.status}, since {rule.since}" + ("" if rule.enabled else ", off unless selected")
    yield from ("", "## Why it matters", "", _prose(rule.why), "", "## How to fix it", "", _prose(rule.fix))
    for title, side in (("Wrong", rule.examples.wrong), ("Right", rule.examples.right)):
        yield from ("", f"## {title}")
        for example in side:
            yield from ("", _prose(example.about))
            for path, text in example.files.items():
                yield from ("", *_file(path, text))
            for path, tensors in example.checkpoints.items():
                lines = "\n".join(f"{name}: {tensor}" for name, tensor in tensors.items())
                yield from ("", *_file(path, lines))
            for want in getattr(example, "expect", ()):
                yield from ("", f"`{want.file}:{want.line}` {want.severity or rule.severity} {want.rule}")
    if rule.silences:
        links = ", ".join(f"[{code}]({code}.md)" for code in rule.silences)
        yield from ("", f"It speaks instead of {links} about the same defect.")
    if rule.references:
        yield from ("", "## References", "")
        for reference in rule.references:
            yield f"- <{reference}>" if reference.startswith("http") else f"- {reference}"


_LANGUAGES = {"py": "python", "json": "json", "sh": "bash", "toml": "toml", "yaml": "yaml", "yml": "yaml", "md": "text"}


def _file(path: str, text: str) -> Iterator[str]:
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall(r"`+", text)), 3)
    language = _LANGUAGES.get(path.rpartition(".")[2], "text")
    yield from (f'{fence}{language} title="{path}"', text.rstrip("\n"), fence)


# ---- engines and trainers --------------------------------------------------------------------------------------------


def _names() -> list[str]:
    return [summary.name for summary in (*engines.summaries(), *trainers.summaries())]


def _engines() -> Iterator[str]:
    yield from ("# Engines and trainers", "")
    yield "What each of them does with layer ids, release by release, and how that is known. `eaglelint engines` prints"
    yield "the same; `eaglelint convert` turns ids of one into ids of another."
    yield from ("", "| name | kind | verified | how sure | releases read |", "|---|---|---|---|---|")
    for summary in (*engines.summaries(), *trainers.summaries()):
        cells = (summary.kind, summary.verified, summary.certainty, summary.releases)
        yield f"| [{summary.name}]({summary.name}.md) | {' | '.join(_cell(str(cell)) for cell in cells)} |"
    yield from ("", "**executed**: the release's own code was run with stubs; **read**: its source was read;")
    yield "**reported**: somebody else says so; **suspected**: it follows from something else. A suspected fact never"
    yield "makes an error."


def _engine(name: str) -> Iterator[str]:
    asked, about = ask(name), subject(None, None)
    page = engines.page(asked, about) if asked.engine is not None else trainers.page(asked, about)
    yield f"# {page.title}"
    for line in page.head:
        yield from ("", _text(line))
    for section in page.sections:
        yield from ("", f"## {_text(section.title)}", "")
        for row in section.rows:
            yield f"- {f'**{_text(row.range)}**: ' if row.range else ''}{_text(row.words)}"
            yield from (f"    - {_text(detail)}" for detail in row.details)
            if row.evidence:
                yield f"    - evidence: {'; '.join(f'`{line}`' for line in row.evidence)}"


def _text(text: str) -> str:
    """Plain text in Markdown: nothing of it is markup."""
    return re.sub(r"([\\`*_{}\[\]<>#|])", r"\\\1", " ".join(text.split()))


# ---- settings --------------------------------------------------------------------------------------------------------


def _settings() -> Iterator[str]:
    schema = json.loads((data_root("schemas") / "settings.schema.json").read_text(encoding="utf-8"))
    yield from ("# Configuration", "")
    yield "A project needs none. What no file of it says stands in `eaglelint.toml`, or under `[tool.eaglelint]` in"
    yield "`pyproject.toml`; the nearest one above what is checked holds. `eaglelint config` shows what holds and where"
    yield "each value comes from, `eaglelint schema settings` prints the JSON Schema for editors."
    yield from ("", "## Settings", "", *_table(schema))
    for name, definition in schema.get("$defs", {}).items():
        yield from ("", f"## {_words(name)}", "", _prose(definition.get("description", "")), "", *_table(definition))
    yield from ("", _EXAMPLE)


def _words(name: str) -> str:
    return re.sub(r"Settings$", "", name)


def _table(schema: dict[str, Any]) -> Iterator[str]:
    yield from ("| key | kind | default | what it says |", "|---|---|---|---|")
    for name, value in schema.get("properties", {}).items():
        default = json.dumps(value["default"]) if "default" in value and value["default"] is not None else ""
        cells = (f"`{name}`", _kind(value), f"`{default}`" if default else "", _cell(value.get("description", "")))
        yield f"| {' | '.join(cells)} |"


def _kind(value: dict[str, Any]) -> str:
    if "anyOf" in value:
        return " or ".join(_kind(one) for one in value["anyOf"] if one.get("type") != "null")
    if "$ref" in value:
        return _words(value["$ref"].rpartition("/")[2])
    if "enum" in value:
        return " \\| ".join(f"`{one}`" for one in value["enum"])
    kind = {"array": "list", "object": "table"}.get(value.get("type", ""), value.get("type", ""))
    return f"list of {_kind(value['items'])}" if kind == "list" and "items" in value else str(kind)


_EXAMPLE = """\
## An example

```toml title="eaglelint.toml"
[engines]
sglang = "0.5.9"                     # no file of the project pins it

[[pipeline]]
drafter = "drafters/kimi"
capture = ["tools/patch_sglang.py"]
training = ["training/*.py"]

[[exceptions]]                       # JSON has no comments
path = "drafters/old/config.json"
rule = "EGL202"
reason = "kept for comparison, never served"
```

In files with comments, an ignore comment accepts a finding on its line:

```python
layer3 = states[3]  # eaglelint: ignore[EGL501] the name is that of the paper
```

One that suppresses nothing is reported itself ([EGL003](rules/EGL003.md))."""
