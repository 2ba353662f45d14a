"""Notebooks: commands and Python of their cells, at their places in the JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eaglelint.errors import DocumentError
from eaglelint.facts import EnginePin, EnvironmentSetting, Launch
from eaglelint.location import Location
from eaglelint.project import Source
from eaglelint.readers.launch import python_code, read_launches
from eaglelint.readers.pins import read_pins


def notebook(*cells: str | list[str], language: str = "python") -> Source:
    """A notebook whose code cells have these sources, as strings or lists of lines."""
    value = {
        "cells": [{"cell_type": "code", "metadata": {}, "outputs": [], "source": cell} for cell in cells],
        "metadata": {"kernelspec": {"language": language}},
        "nbformat": 4,
    }
    return Source("n.ipynb", "notebook", Path("n.ipynb"), json.dumps(value, indent=1).encode())


def launches(*cells: str | list[str], language: str = "python") -> list[Launch]:
    return [fact for fact in read_launches(notebook(*cells, language=language)) if isinstance(fact, Launch)]


def value(launch: Launch, name: str) -> object:
    argument = launch.get(name)
    return None if argument is None else argument.value.value


def written(source: Source, where: Location) -> str:
    """What stands at a place of the file."""
    return source.text.text[where.start : where.end]


@pytest.mark.parametrize(
    "cell",
    [
        "!vllm serve t --port 1",
        ["import os\n", "!vllm serve t \\\n", "  --port 1\n", "print(1)"],
        "%%bash\nvllm serve t --port 1",
        "%%script bash --bg\nvllm serve t --port 1",
        "if True:\n    !vllm serve t --port 1",
        "out = !vllm serve t --port 1",
        "%sx vllm serve t --port 1",
        "%%writefile run.sh\nvllm serve t --port 1",
        'T = "t"\nport = 1\n!vllm serve {T} --port $port',
    ],
)
def test_a_cell_that_starts_a_server(cell: str | list[str]) -> None:
    (found,) = launches(cell)
    assert (found.engine, found.target and found.target.value, value(found, "port")) == ("vllm", "t", "1")


@pytest.mark.parametrize(
    "cell",
    ["# !vllm serve t", "%%html\n!vllm serve t", "%%writefile a.txt\nvllm serve t", "x!=vllm", "%%sql\n!vllm serve t"],
)
def test_a_cell_that_starts_none(cell: str) -> None:
    assert launches(cell) == []


def test_a_kernel_of_bash() -> None:
    assert len(launches("vllm serve t", language="bash")) == 1


def test_the_place_of_a_word_is_in_the_json() -> None:
    source = notebook(["x = 1\n", "!vllm serve t --speculative-config '{\"method\": \"eagle3\", \"model\": \"d\"}'"])
    (found,) = [fact for fact in read_launches(source) if isinstance(fact, Launch)]
    assert found.draft is not None
    assert written(source, found.draft.where).strip('\\"') == "d"
    method = found.get("speculative_config.method")
    assert method is not None
    assert written(source, method.value.where).strip('\\"') == "eagle3"


def test_a_name_that_is_no_constant_is_unknown() -> None:
    for code in ("T = pick()", 'T = "a"\nT = "b"', 'for T in ("a", "b"):\n    pass\nT = T'):
        (found,) = launches(code, "!vllm serve x --served-model-name {T}")
        assert value(found, "served_model_name") is None
    (found,) = launches("!vllm serve x --kv '{a}' --dtype $D")
    assert (value(found, "kv"), value(found, "dtype")) == ("{a}", None)


def test_the_environment_of_a_notebook() -> None:
    source = notebook("%env A=1", "%set_env B two", "!vllm serve t")
    found = list(read_launches(source))
    settings = {(fact.name, fact.value.value) for fact in found if isinstance(fact, EnvironmentSetting)}
    assert settings == {("A", "1"), ("B", "two")}
    (launch,) = [fact for fact in found if isinstance(fact, Launch)]
    assert [name for name, _ in launch.environment] == ["A", "B"]


def test_python_without_magic() -> None:
    cells = ["%load_ext x\nimport vllm\n!date\nif x:\n    !ls\nvllm?", "%%time\ny = 2", "%%bash\npython -c 'z'"]
    texts = [text.text for text in python_code(notebook(*cells))]
    assert texts[0] == "z"
    lines = [line.rstrip() for line in texts[1].splitlines()]
    assert lines == ["0", "import vllm", "0", "if x:", "    0", "0", "y = 2"]


def test_what_it_installs() -> None:
    cells = ["!pip install sglang==0.5.9", "%pip install -q vllm==0.12.0"]
    found = [(pin.package, pin.exact) for pin in read_pins(notebook(*cells)) if isinstance(pin, EnginePin)]
    assert found == [("sglang", "0.5.9"), ("vllm", "0.12.0")]


def test_what_is_no_notebook() -> None:
    with pytest.raises(DocumentError):
        list(read_launches(Source("n.ipynb", "notebook", Path("n.ipynb"), b'{"cells": ["vllm",')))
    cells = b'{"cells": [1, {"cell_type": "code", "source": [2]}], "v": "vllm"}'
    for odd in (b'["vllm"]', b'{"cells": 3, "x": "vllm"}', cells):
        assert not list(read_launches(Source("n.ipynb", "notebook", Path("n.ipynb"), odd)))
