"""Fenced code of Markdown: read when it is asked for, each block on its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from eaglelint.facts import Launch
from eaglelint.guard import Guard
from eaglelint.project import Source, discover
from eaglelint.readers.launch import python_code, read_launches
from eaglelint.readers.pins import read_pins
from eaglelint.reading import read
from eaglelint.settings import Settings


def page(text: str) -> Source:
    return Source("README.md", "markdown", Path("README.md"), text.encode())


def launches(text: str) -> list[Launch]:
    return [fact for fact in read_launches(page(text)) if isinstance(fact, Launch)]


@pytest.mark.parametrize(
    "block",
    [
        "```bash\nvllm serve t --port 1\n```",
        "~~~~ sh\nvllm serve t \\\n  --port 1\n~~~~",
        '``` {.bash linenos="1"}\nvllm serve t --port 1\n```',
        "- do\n  ```shell\n  vllm serve t --port 1\n  ```",
        "> ```bash\n> vllm serve t --port 1\n> ```",
        "```console\n(venv) $ vllm serve t \\\n    --port 1\nINFO vllm serve x\n$ date\n```",
        "```\nCUDA_VISIBLE_DEVICES=0 vllm serve t --port 1\n```",
        "```bash\nvllm serve t --port 1",
        "````bash\ncat <<X\n```\nX\nvllm serve t --port 1\n````",
        "```yaml\nservices:\n  a:\n    command: vllm serve t --port 1\n```",
        '```dockerfile\nFROM x\nCMD ["vllm", "serve", "t", "--port", "1"]\n```',
    ],
)
def test_a_block_that_starts_a_server(block: str) -> None:
    (found,) = launches(f"# T\n\n{block}\n\ntext\n")
    port = found.get("port")
    assert found.target is not None
    assert port is not None
    assert (found.target.value, str(port.value.value)) == ("t", "1")


@pytest.mark.parametrize(
    "text",
    [
        "vllm serve t",
        "`vllm serve t`",
        "```\nINFO started vllm serve t\n```",
        "```text\nvllm serve t\n```",
        "```yaml\nservices: [\n  vllm\n```",
        "```python\n'vllm serve t'\n```",
    ],
)
def test_text_that_starts_none(text: str) -> None:
    assert launches(text) == []


def test_places_are_in_the_file() -> None:
    (found,) = launches("a\n\n  ```bash\n  vllm serve t\n  ```\n")
    assert (found.where.line, found.where.column) == (4, 3)


def test_a_block_knows_nothing_of_the_one_before() -> None:
    (found,) = launches('```bash\nT=t\n```\n```bash\nvllm serve "$T"\n```')
    assert found.target is None or not found.target.known


def test_python_with_and_without_prompts() -> None:
    blocks = "```python\na = 1\n```\n```pycon\n>>> b = (\n...     2)\n2\n>>> c\n```"
    assert [text.text for text in python_code(page(blocks))] == ["a = 1\n", "b = (\n    2)\nc\n"]


def test_what_blocks_install() -> None:
    text = "```bash\npip install vllm==0.12.0\n```\n```yaml\nservices: {a: {image: 'lmsysorg/sglang:v0.5.9'}}\n```\n"
    text += "```dockerfile\nFROM vllm/vllm-openai:v0.11.0\n```\n"
    assert [pin.exact for pin in read_pins(page(text))] == ["0.12.0", "0.5.9", "0.11.0"]


def test_blocks_count_only_when_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code = "from vllm import LLM\nLLM(model='t', speculative_config={'method': 'eagle3', 'model': 'd'})"
    text = f"```bash\nvllm serve t\npip install vllm==0.12.0\n```\n```python\n{code}\n```\n"
    (tmp_path / "README.md").write_text(text)
    for settings, number in ((Settings(), 0), (Settings(markdown=True), 2)):
        facts = read(discover(["."], settings=settings), settings, Guard())
        assert (len(facts.launches), len(facts.pins)) == (number, number // 2)
