"""Where the data of the package lies: `rules/` and `schemas/` in a wheel, an editable install or a bare checkout."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parent


def data_root(name: str) -> Path:
    """The folder `rules` or `schemas`: inside the package in a wheel, beside it in a checkout or editable install."""
    packaged = _PACKAGE / name
    return packaged if packaged.is_dir() else _PACKAGE.parent / name
