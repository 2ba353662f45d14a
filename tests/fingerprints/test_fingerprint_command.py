"""`eaglelint fingerprint`: what it prints."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner
from toy_targets import FAMILIES, Toy, states, write_safetensors

from eaglelint.cli.group import cli
from eaglelint.fingerprints.sparkline import sparkline

IDS = [5, 9, 33, 12, 60, 7, 21, 2]


@pytest.fixture(autouse=True)
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Toy:
    monkeypatch.chdir(tmp_path)
    made = Toy(FAMILIES[0], Random(4))
    made.write(Path("target"))
    raw = made.stream(IDS, 12, "BF16")
    write_safetensors(
        Path("s.safetensors"),
        {
            "input_ids": ("I64", [8], IDS),
            "embed": states(made.embedding(IDS, "BF16"), "BF16"),
            "low": states(made.stream(IDS, 3, "BF16"), "BF16"),
            "pre_norm": states(raw, "BF16"),
            "post_norm": states(made.normed(raw, "BF16"), "BF16"),
        },
    )
    return made


def run(*words: str, status: int = 0) -> str:
    result = CliRunner().invoke(cli, ["fingerprint", *words])
    assert result.exit_code == status, result.output
    return result.output


def lines(output: str) -> dict[str, str]:
    """The lines of tensors by name."""
    return {line.split()[0]: " ".join(line.split()) for line in output.splitlines() if line.startswith("  ")}


def test_each_tensor_has_a_line_with_its_numbers():
    found = lines(run("s.safetensors"))
    assert found["input_ids"] == "input_ids [8] int64 5 9 33 12"
    assert found["low"].startswith("low [8, 48] bfloat16 █")
    assert " to " in found["low"]


def test_with_the_target_each_state_is_told():
    found = lines(run("s.safetensors", "--target", "target"))
    assert found["embed"].endswith("the embedding; not normed")
    assert found["low"].endswith("not the embedding; not normed")
    assert found["post_norm"].endswith("not the embedding; after the final norm")


def test_the_columns_are_aligned():
    table = [line for line in run("s.safetensors").splitlines() if line.startswith("  ")]
    assert len({line.index("[") for line in table[1:]}) == 1


def test_as_json():
    value = json.loads(run("s.safetensors", "--target", "target", "--format", "json"))
    embed = value["files"][0]["tensors"][1]
    assert (embed["key"], embed["shape"], embed["dtype"]) == ("embed", [8, 48], "bfloat16")
    assert embed["embedding"] == {"is": "rows", "scale": pytest.approx(1), "shift": 0, "compared": 8}
    assert len(embed["rms"]) == len(embed["tokens"]) == 8
    assert value["target"]["norm"] == "norm(h) * w"


def compared(toy: Toy, **held: Any) -> dict[str, str]:
    """Which state of `s` each state of another file is, as the command says."""
    write_safetensors(Path("o.safetensors"), held)
    output = run("s.safetensors", "--against", "o.safetensors", "--target", "target")
    pairs = [line for line in output.splitlines() if line.startswith("s.safetensors:") and "o.safetensors:" in line]
    return {line.split("o.safetensors:")[1].split("  ")[0]: line for line in pairs}


def test_a_state_is_known_again_after_a_cast(toy: Toy):
    rows = toy.embedding(IDS, "BF16")
    found = compared(toy, x=states([[float(value) for value in row] for row in rows], "F32"))
    assert found["x"].startswith("s.safetensors:embed  = o.safetensors:x")
    assert "no difference" in found["x"]


def test_a_state_is_known_again_in_a_batch_and_side_by_side(toy: Toy):
    rows = toy.embedding(IDS, "BF16")
    other = toy.stream(IDS, 7, "BF16")
    both = [b + a for a, b in zip(rows, other, strict=True)]
    found = compared(toy, hidden=("BF16", [1, 8, 48], rows), aux=states(both, "BF16"))
    assert set(found) == {"hidden", "aux[..., 48:96]"}


def test_a_state_is_known_again_shifted_and_cut(toy: Toy):
    rows = toy.embedding(IDS, "BF16")
    found = compared(toy, later=states(rows[1:], "BF16"), middle=states(rows[3:7], "BF16"))
    assert "its token 0 is token 1 here" in found["later"]
    assert "its token 0 is token 3 here" in found["middle"]
    assert "4 tokens" in found["middle"]


def test_numbers_of_another_engine_are_near(toy: Toy):
    draw = Random(1)
    rows = [[value * (1 + draw.gauss(0, 0.005)) for value in row] for row in toy.embedding(IDS, "BF16")]
    found = compared(toy, x=states(rows, "F32"))
    assert " ~ o.safetensors:x" in found["x"]
    assert "largest difference" in found["x"]


def test_what_stays_unmatched_is_named(toy: Toy):
    write_safetensors(Path("o.safetensors"), {"h": states(toy.stream(IDS, 9, "BF16"), "BF16")})
    output = run("s.safetensors", "--against", "o.safetensors")
    assert "no state of one set is one of the other" in output
    assert "only in the other: o.safetensors:h" in output


def test_a_file_that_can_not_be_read_says_why(tmp_path: Path):
    Path("bad.pt").write_bytes(b"nothing")
    assert "can not be read: no whole pickle" in run("bad.pt", status=1)


@pytest.mark.parametrize(
    "words", [("nowhere.pt",), ("s.safetensors", "--target", "nowhere"), ("s.safetensors", "--against", "x")]
)
def test_a_path_that_does_not_exist_is_an_error_of_the_call(words: tuple[str, ...]):
    assert "no such file or folder" in run(*words, status=2)


def test_a_target_that_lacks_weights_is_said():
    Path("target/model.safetensors").unlink()
    assert "no weights in this folder" in run("s.safetensors", "--target", "target", status=1)


@pytest.mark.parametrize(
    ("sizes", "drawn"),
    [
        ([1.0, 2.0, 4.0], "▃▅█"),
        ([1.0, 1.0, 200.0], "▁▁█"),
        ([0.0, float("nan"), 2.0], " !█"),
        ([1.0] * 40, "█" * 16),
        ([], ""),
    ],
)
def test_sizes_as_a_picture(sizes: list[float], drawn: str):
    assert sparkline(sizes) == drawn


def test_a_picture_of_plain_characters():
    assert sparkline([1.0, 8.0], plain=True).isascii()
