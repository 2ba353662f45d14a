"""What a state is by value, on toy targets of eight families."""

from __future__ import annotations

import math
from pathlib import Path
from random import Random

import pytest
from toy_targets import FAMILIES, Family, Row, Toy, states, write_safetensors

from eaglelint.fingerprints import measures, slots, verdicts
from eaglelint.fingerprints.reading import Values
from eaglelint.fingerprints.records import EmbeddingVerdict, NormVerdict
from eaglelint.fingerprints.sampling import ids_of
from eaglelint.fingerprints.target import TargetWeights
from eaglelint.project import Source

IDS = [5, 9, 5, 33, 12, 60, 7, 21, 2]
LLAMA = FAMILIES[0]


def judged(
    toy: Toy, folder: Path, rows: list[Row], dtype: str = "BF16", ids: list[int] = IDS
) -> tuple[EmbeddingVerdict, NormVerdict]:
    """The verdicts on one state of a sample."""
    toy.write(folder / "target")
    path = folder / "s.safetensors"
    write_safetensors(path, {"input_ids": ("I64", [len(ids)], ids), "h": states(rows, dtype)})
    with Values(Source("s.safetensors", "binary", path)) as values, TargetWeights(str(folder / "target")) as target:
        found = slots.contents(values.header, target.hidden)
        (slot,) = found.slots
        embedding = verdicts.embedding_verdict(values, slot, target, ids_of(values, found.tokens[0]))
        return embedding, verdicts.norm_verdict(measures.rows(values, slot)[1], slot.tensor.dtype, target)


@pytest.mark.parametrize("dtype", ["BF16", "F16", "F32"])
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_the_embedding_and_the_norm_are_told_in_every_family(family: Family, dtype: str, tmp_path: Path):
    toy = Toy(family, Random(family.name + dtype))
    raw = toy.stream(IDS, toy.depth, dtype)
    embedding, _ = judged(toy, tmp_path, toy.embedding(IDS, dtype), dtype)
    assert embedding.is_ == "rows"
    assert embedding.scale == pytest.approx(math.sqrt(toy.hidden) if family.scaled else 1, rel=0.01)
    assert [verdict.is_ for verdict in judged(toy, tmp_path, raw, dtype)] == ["other", "before"]
    assert [verdict.is_ for verdict in judged(toy, tmp_path, toy.normed(raw, dtype), dtype)] == ["other", "after"]


def test_the_rows_are_found_where_tokens_were_left_out(tmp_path: Path):
    rows = Toy(LLAMA, Random(1)).embedding(IDS, "BF16")
    assert judged(Toy(LLAMA, Random(1)), tmp_path, rows[:-1])[0][:3:2] == ("rows", 0)
    assert judged(Toy(LLAMA, Random(1)), tmp_path, rows[4:])[0][:3:2] == ("rows", 4)


def test_the_rows_of_the_next_token_are_still_the_embedding(tmp_path: Path):
    toy = Toy(LLAMA, Random(1))
    embedding, _ = judged(toy, tmp_path, toy.embedding([*IDS[1:], 40], "BF16"))
    assert (embedding.is_, embedding.shift) == ("rows", 1)


def test_pictures_between_the_tokens_do_not_hide_the_embedding(tmp_path: Path):
    """Of an id that stands for a picture no row of the embedding is in the sample."""
    toy = Toy(LLAMA, Random(1))
    ids = [5, *[63] * 40, 9, 12, 33, 60]
    rows = toy.embedding(ids, "BF16")
    draw = Random(2)
    rows = [[draw.gauss(0, 1) for _ in row] if token == 63 else row for token, row in zip(ids, rows, strict=True)]
    rows = [
        [float(round(value * 64) / 64) for value in row] if token == 63 else row
        for token, row in zip(ids, rows, strict=True)
    ]
    assert judged(toy, tmp_path, rows, "F32", ids)[0].is_ == "rows"


def test_a_state_that_is_near_the_embedding_is_not_judged(tmp_path: Path):
    """Rows of another checkpoint of the same family: alike, and not the same."""
    toy, draw = Toy(LLAMA, Random(1)), Random(2)
    rows = [[value + draw.gauss(0, 0.05 * 0.02) for value in row] for row in toy.embedding(IDS, "F32")]
    assert judged(toy, tmp_path, rows, "F32")[0].is_ == "unknown"


def test_the_norm_of_another_checkpoint_is_not_taken_for_the_stream(tmp_path: Path):
    toy = Toy(LLAMA, Random(1))
    normed = toy.normed(toy.stream(IDS, toy.depth, "F32"), "F32")
    assert judged(toy, tmp_path, [[1.2 * value for value in row] for row in normed], "F32")[1].is_ == "unknown"


def test_one_or_two_tokens_are_too_few_for_after_the_norm(tmp_path: Path):
    toy = Toy(LLAMA, Random(1))
    normed = toy.normed(toy.stream(IDS, toy.depth, "F32"), "F32")
    assert judged(toy, tmp_path, normed[:2], "F32", IDS[:2])[1].is_ == "unknown"
    assert judged(toy, tmp_path, normed[:3], "F32", IDS[:3])[1].is_ == "after"


def test_numbers_that_are_none_are_left_out(tmp_path: Path):
    toy = Toy(LLAMA, Random(1))
    rows = toy.embedding(IDS, "F32")
    rows[0][3], rows[4][0] = math.inf, math.nan
    assert judged(toy, tmp_path, rows, "F32")[0].is_ == "rows"


def test_a_target_without_weights_leaves_everything_open(tmp_path: Path):
    with TargetWeights(str(tmp_path / "nowhere")) as target:
        assert not target.has_embedding
        assert target.norm() is None
        assert target.problem


def test_the_weights_are_found_through_an_index(tmp_path: Path):
    toy = Toy(FAMILIES[-1], Random(1))
    toy.write(tmp_path)
    (tmp_path / "model.safetensors").rename(tmp_path / "model-00001-of-00001.safetensors")
    names = ("language_model.model.embed_tokens.weight", "language_model.model.norm.weight", "mm_projector.norm.weight")
    entries = ", ".join(f'"{name}": "model-00001-of-00001.safetensors"' for name in names)
    (tmp_path / "model.safetensors.index.json").write_text(f'{{"metadata": {{}}, "weight_map": {{{entries}}}}}')
    with TargetWeights(str(tmp_path)) as target:
        assert target.row(5) == toy.rows[5]
        assert target.norm() == toy.weight
        assert target.row(64) is None


def test_an_index_leads_to_no_file_outside_its_folder(tmp_path: Path):
    Toy(LLAMA, Random(1)).write(tmp_path / "outside")
    (tmp_path / "target").mkdir()
    (tmp_path / "target" / "model.safetensors.index.json").write_text(
        '{"weight_map": {"model.embed_tokens.weight": "../outside/model.safetensors"}}'
    )
    with TargetWeights(str(tmp_path / "target")) as target:
        assert not target.has_embedding
