"""A notebook whose metadata were stripped is Python."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eaglelint.project import Source
from eaglelint.readers.launch import python_code

CODE = ["aux = [hidden_states[2]]\n", "torch.cat(aux)"]


@pytest.mark.parametrize("metadata", [{}, {"kernelspec": {"name": "python3"}}, {"language_info": {"name": "python"}}])
def test_its_cells_are_read(metadata: dict[str, object]):
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": CODE}]
    notebook = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    source = Source("dump.ipynb", "notebook", Path("dump.ipynb"), json.dumps(notebook).encode())
    (text,) = python_code(source)
    assert text.text.rstrip() == "".join(CODE)


def test_another_language_is_not_read():
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": ["ls"]}]
    notebook = {"cells": cells, "metadata": {"kernelspec": {"name": "bash"}}, "nbformat": 4, "nbformat_minor": 5}
    source = Source("x.ipynb", "notebook", Path("x.ipynb"), json.dumps(notebook).encode())
    assert list(python_code(source)) == []
