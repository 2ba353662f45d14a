"""Layers that a command line chooses: click, typer, fire, tyro, HfArgumentParser, as they are with argparse."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import boundaries, facts_of

HEAD = """\
import torch
from transformers import AutoModelForCausalLM


def dump(layers):
    target = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-8B")
    hs = target(batch, output_hidden_states=True).hidden_states
    torch.save({"aux_hidden_states": torch.cat([hs[int(i)] for i in layers.split(",")], -1)}, "a.pt")


"""
CLICK = """
import click
@click.command()
@click.option("-l", "--layers", default="2,18,33", show_default=True)
def main(layers):
    dump(layers)
main()
"""
GROUP = """
import click
@click.group()
def cli():
    pass
@cli.command()
@click.option("--layers", "layers", default="2,18,33", type=str)
def collect(layers):
    dump(layers)
if __name__ == "__main__":
    cli()
"""
MULTIPLE = """
import click
@click.command()
@click.option("--layers", multiple=True, default=[2, 18, 33], type=click.INT)
def main(layers):
    dump(",".join(map(str, layers)))
main()
"""
APPENDED = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--layers", action="append", default=["2", "18", "33"])
dump(",".join(parser.parse_args().layers))
"""
TYPER = """
import typer
app = typer.Typer()
@app.command()
def main(layers: str = typer.Option("2,18,33", "--layers", help="which")):
    dump(layers)
app()
"""
TYPER_RUN = """
import typer
def main(layers: str = "2,18,33"):
    dump(layers)
typer.run(main)
"""
FIRE = """
import fire
def main(layers="2,18,33"):
    dump(layers)
fire.Fire(main)
"""
TYRO = """
import tyro
from dataclasses import dataclass
@dataclass
class Args:
    layers: str = "2,18,33"
dump(tyro.cli(Args).layers)
"""
RECORDS = """
from dataclasses import dataclass, field
from transformers import HfArgumentParser
@dataclass
class Args:
    layers: str = field(default="2,18,33")
args, = HfArgumentParser(Args).parse_args_into_dataclasses()
dump(args.layers)
"""
ALL = {
    "click": CLICK, "group": GROUP, "multiple": MULTIPLE, "appended": APPENDED, "typer": TYPER,
    "typer.run": TYPER_RUN, "fire": FIRE, "tyro": TYRO, "records": RECORDS,
}  # fmt: skip


@pytest.mark.parametrize("code", ALL.values(), ids=ALL.keys())
def test_defaults_are_assumed(tmp_path: Path, code: str):
    (found,) = facts_of(tmp_path, {"dump.py": HEAD + code}).assemblies
    assert boundaries(found) == [2, 18, 33]
    assert found.assumed == "default of --layers"


@pytest.mark.parametrize(
    ("code", "command"),
    [
        (CLICK, "python dump.py -l 3,19,34"),
        (GROUP, "python dump.py collect --layers=3,19,34"),
        (MULTIPLE, "python dump.py --layers 3 --layers 19 --layers 34"),
        (APPENDED, "python dump.py --layers 3 --layers 19 --layers 34"),
        (TYPER_RUN, "python dump.py --layers 3,19,34"),
        (FIRE, "python dump.py --layers=3,19,34"),
    ],
)
def test_a_command_in_scope_says_what_they_are(tmp_path: Path, code: str, command: str):
    (found,) = facts_of(tmp_path, {"dump.py": HEAD + code, "run.sh": f"{command}\n"}).assemblies
    assert boundaries(found) == [3, 19, 34]
    assert found.assumed == ""


def test_a_command_that_is_called_with_values_takes_them(tmp_path: Path):
    code = CLICK.replace("main()", "main.callback('4,20,35')")
    (found,) = facts_of(tmp_path, {"dump.py": HEAD + code}).assemblies
    assert (boundaries(found), found.assumed) == ([4, 20, 35], "")


def test_a_required_option_is_not_guessed(tmp_path: Path):
    code = CLICK.replace('default="2,18,33"', "required=True")
    assert [boundaries(one) for one in facts_of(tmp_path, {"dump.py": HEAD + code}).assemblies] == []
