"""File names and contents that try to be more than text, in what every command prints: text, JSON, HTML, Mermaid."""

# ruff: noqa: E501 - lists of command lines

from __future__ import annotations

import html.parser
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from eaglelint.cli.group import cli

pytestmark = pytest.mark.skipif(os.name == "nt", reason="names that Windows does not take")
#: Names of folders and words in files. A terminal obeys the first, a CI the second, a browser the third.
TRICKS = {
    "escape": "\x1b]0;owned\x07\x1b[2J\u202egnp",
    "newline": "x\n::error::forged\n##[group]x\r::stop-commands::y",
    "markup": "<script>alert(1)<\\script>\"'><img src=x onerror=alert(1)>&lt;`|](javascript:alert(1))",
}
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
DUMP = """import torch
from transformers import AutoModelForCausalLM
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-14B")
TRICK = {trick!r}  # {comment}


def dump(batch, path):
    states = model(**batch, output_hidden_states=True).hidden_states
    embed, middle, late = states[2], states[20], states[37]  # {comment}
    torch.save({{"aux_hidden_states": torch.cat([embed, middle, late], dim=-1), TRICK: embed}}, path)
"""


@pytest.fixture(params=TRICKS)
def tricked(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A project with a trick in every name and content; the current folder is the project. Gives the head's folder."""
    trick = TRICKS[request.param]
    name = trick.replace("/", "-")
    head = tmp_path / f"head {name}"
    head.mkdir()
    config: dict[str, Any] = {
        "architectures": ["LlamaForCausalLMEagle3", trick], "model_type": trick, "_name_or_path": trick, trick: trick,
        "hidden_size": 5120, "vocab_size": 151936, "draft_vocab_size": 32000, "torch_dtype": trick,
        "eagle_config": {"eagle_aux_hidden_state_layer_ids": [2, 20, 37], "use_aux_hidden_state": True, trick: [trick]},
    }  # fmt: skip
    (head / "config.json").write_text(json.dumps(config, ensure_ascii=False))
    header = json.dumps(
        {"__metadata__": {trick: trick}, trick: {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}
    ).encode()
    (head / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(4))
    folder = tmp_path / name
    folder.mkdir()
    comment = re.sub(r"[\r\n]", " ", trick)
    (folder / f"dump {name}.py").write_text(DUMP.format(trick=trick, comment=comment))
    (folder / f"serve {name}.sh").write_text(
        f"# {comment}\npython3 -m sglang.launch_server --model-path Qwen/Qwen3-14B --speculative-algorithm EAGLE3 "
        f"--speculative-draft-model-path '{head}' --speculative-{comment.split()[0]} 1\n"
    )
    (folder / "broken.json").write_text(
        '{"architectures": ["Eagle3"], ' + json.dumps(trick, ensure_ascii=False) + " 1}"
    )
    (folder / "requirements.txt").write_text(f"sglang==0.5.1\nvllm=={comment}\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    return head.name


def run(*words: str) -> str:
    result = CliRunner().invoke(cli, list(words), prog_name="eaglelint")
    assert result.exception is None or isinstance(result.exception, SystemExit), (words, result.exception)
    return result.output


COMMANDS = [
    "check .", "check . --format github", "check . --fix --unsafe-fixes --diff", "check . --statistics", "check . --verbose",
    "trace .", "trace . --format mermaid", "trace . --format json", "trace . --format html", "inspect HEAD",
    "inspect HEAD --format json", "fingerprint HEAD", "fingerprint HEAD --format json", "derive .", "derive . --format json",
    "init --dry-run", "config .", "explain HEAD", "matrix HEAD", "drafters HEAD", "engines HEAD", "convert HEAD",
    "check HEAD/none", "inspect HEAD/none", "trace HEAD/none", "fingerprint HEAD/none", "derive HEAD/none",
    "check . --config HEAD/none", "check . --baseline HEAD/none", "check . --select HEAD", "check . --diff-base HEAD", "HEAD",
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_that_is_printed_is_obeyed(tricked: str, command: str):
    printed = run(*(word.replace("HEAD", tricked) for word in command.split()))
    assert printed
    assert not CONTROL.findall(printed.replace("\r\n", "\n")), repr(printed)
    lines = re.split(r"\r\n|\r|\n", printed)
    forged = [line for line in lines if "##[" in line or re.match(r"\s*::(?!(?:error|warning|notice) file=)", line)]
    assert forged == []


class Page(html.parser.HTMLParser):
    """What a browser makes of a page: its elements with their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))


def test_no_element_of_a_page_comes_from_the_project(tricked: str):
    page = Page()
    page.feed(run("trace", ".", "--format", "html"))
    assert page.elements
    assert sum(tag == "script" for tag, _ in page.elements) <= 1
    assert not [tag for tag, _ in page.elements if tag in ("img", "iframe", "object", "embed", "base", "form", "link")]
    names = {name for _, attributes in page.elements for name in attributes}
    assert not [name for name in names if name.startswith("on")]
    addresses = [a.get(name) or "" for _, a in page.elements for name in ("href", "src", "action") if name in a]
    assert not [address for address in addresses if address.lower().lstrip().startswith(("javascript:", "data:"))]


def test_no_line_of_a_mermaid_chart_comes_from_the_project(tricked: str):
    for line in run("trace", ".", "--format", "mermaid").splitlines():
        assert "<script" not in line
        assert not re.match(r"\s*(click|link|href|%%\{)", line)
