"""What code calls the states that it writes into samples."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from eaglelint.fingerprints.writers import writers
from eaglelint.project import Source


def names(code: str, key: str, place: int | None = None) -> list[str]:
    """The names of what the only call in some code stores under a key, each with its line."""
    (writer,) = writers([Source("collect.py", "python", Path("collect.py"), dedent(code).encode())])
    return [f"{one.name}:{one.where.line}" for one in writer.names(key, place)]


def test_entries_of_a_list_have_the_names_that_they_were_bound_to():
    code = """\
    import torch
    def collect(ids):
        embed = torch.load("a.pt")
        last = torch.load("b.pt").to(torch.bfloat16)
        torch.save({"input_ids": ids, "hidden_states": [embed, last]}, "s.pt")
    """
    assert names(code, "hidden_states", 0) == ["embed:3"]
    assert names(code, "hidden_states.1") == ["last:4"]


def test_a_name_that_is_bound_again_counts_where_it_is_bound_first():
    code = """\
    embed = load(0)
    embed = embed.cpu()
    torch.save([embed], "s.pt")
    """
    assert names(code, "0") == ["embed:1"]


@pytest.mark.parametrize(
    ("code", "key", "place", "wanted"),
    [
        ("""\
        def write(embed, low): torch.save({"h": torch.cat([embed, low], -1)}, "s.pt")
        """, "h", 1, ["low:1"]),
        ("""\
        states = {}
        states["embed"] = load(0)
        states["low"] = load(1)
        torch.save({"h": list(states.values())}, "s.pt")
        """, "h", 0, ["embed:2"]),
        ("""\
        sample = {}
        for name in ("embed", "low"):
            sample[name] = load(name)
        torch.save(sample, "s.pt")
        """, "low", None, ["low:2"]),
        ("""\
        np.savez("s.npz", ids=ids, embed=hs[0])
        """, "embed", None, ["embed:1"]),
        ("""\
        arrays = dict(embed=hs[0], low=hs[1])
        np.savez_compressed("s.npz", **arrays)
        """, "low", None, ["low:1"]),
        ("""\
        def made(embed): return {"states": torch.stack((embed, embed), dim=1)}
        def main():
            first = load(0)
            torch.save(made(first), "s.pt")
        """, "states", 1, ["first:3", "embed:1"]),
        ("""\
        embed, low = (h[b][:, :-1].contiguous() for b in (0, 3))
        save_file({"embed": embed, "low": low}, f"out/{n}.safetensors")
        """, "low", None, ["low:1"]),
    ],
    ids=["parameters", "dict in steps", "loop over names", "savez", "splat", "helper", "unpacked generator"],
)  # fmt: skip
def test_names_are_followed_through(code: str, key: str, place: int | None, wanted: list[str]):
    assert names(code, key, place) == wanted


def test_the_place_of_a_name_counts_characters():
    code = 'é = "ü"; embed = load(0)\ntorch.save({"embed": embed}, "s.pt")\n'
    (writer,) = writers([Source("collect.py", "python", Path("collect.py"), code.encode())])
    assert (writer.names("embed", None)[0].where.column, writer.names("embed", None)[0].where.start) == (10, 9)


def test_another_state_of_a_tuple_is_another_state():
    code = """\
    states = model(ids).hidden_states
    torch.save({"a": states[3], "b": states[0:1]}, "s.pt")
    """
    assert names(code, "a") == ["a:2"]
    assert names(code, "b")[0] == "hidden_states:1"


@pytest.mark.parametrize(
    ("path", "fits"),
    [("data/s_1.pt", True), ("elsewhere/data/s_1.pt", True), ("data/t_1.pt", False), ("dump/s_1.pt", False)],
)
def test_a_call_wrote_the_files_that_its_path_can_name(path: str, fits: bool):
    code = 'OUT = Path("data")\ntorch.save({"h": h}, OUT / f"s_{n}.pt")\n'
    (writer,) = writers([Source("collect.py", "python", Path("collect.py"), code.encode())])
    assert writer.fits(path, ["h"]) is fits
    assert not writer.fits(path, ["h", "other"])


def test_a_cut_of_one_token_is_seen_in_the_function_that_writes():
    code = """\
    def dump(hs):
        torch.save({"h": hs[:, :-1]}, "s.pt")
    """
    (writer,) = writers([Source("collect.py", "python", Path("collect.py"), dedent(code).encode())])
    assert writer.shifted is not None
    assert writer.shifted.line == 2


@pytest.mark.parametrize("code", ["torch.save(", "save(" * 3000, "x = " + "[" * 300 + "save()", "\0torch.save(a, b)"])
def test_code_that_can_not_be_followed_writes_nothing(code: str):
    assert list(writers([Source("collect.py", "python", Path("collect.py"), code.encode())])) == []


def test_code_that_goes_round_in_circles_ends():
    code = "def f(x): return f(x)\n" + "for a in (1, 2, 3, 4): f(a)\n" * 200 + 'torch.save({"h": f(1)}, "s.pt")\n'
    assert len(list(writers([Source("collect.py", "python", Path("collect.py"), code.encode())]))) == 1
