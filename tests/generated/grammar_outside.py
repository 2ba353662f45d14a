"""Layers that are chosen outside of the code: environment, options, other modules and files."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random

from grammar_ids import Ids, Names, some_ids


def _environment(draw: Random, n: Names) -> Ids:
    ids = some_ids(draw)
    text = ",".join(map(str, ids))
    read = draw.choice(
        [
            f'os.environ.get("EAGLE3_TAPS", "{text}")',
            f'os.getenv("EAGLE3_TAPS", "{text}")',
            f'(os.environ.get("EAGLE3_TAPS") or "{text}")',
        ]
    )
    parse = draw.choice(["[int(v) for v in {}.split(',')]", "tuple(int(v) for v in {}.split(','))"])
    return Ids("environment", n.ids, len(ids), imports=["import os"], module=[f"{n.ids} = {parse.format(read)}"])


def _json_environment(draw: Random, n: Names) -> Ids:
    ids = some_ids(draw)
    return Ids(
        "json environment",
        n.ids,
        len(ids),
        imports=["import json", "import os"],
        module=[f'{n.ids} = json.loads(os.environ.get("EAGLE3_TAPS", "{ids}"))'],
    )


def _argparse(draw: Random, n: Names) -> Ids:
    ids = some_ids(draw)
    csv = ",".join(map(str, ids))
    option, expression = draw.choice(
        [
            (f'"--layers", nargs="+", type=int, default={ids}', "ARGS.layers"),
            (f'"--aux-layers", type=str, default="{csv}"', '[int(v) for v in ARGS.aux_layers.split(",")]'),
            (f'"--taps", type=lambda text: [int(v) for v in text.split(",")], default={ids}', "ARGS.taps"),
            (f'"--taps", type=_numbers, default="{csv}"', "ARGS.taps"),
            (f'"-l", "--layer-ids", dest="chosen", nargs="*", type=int, default={tuple(ids)}', "ARGS.chosen"),
        ]
    )
    helper = (
        ["def _numbers(text):", '    return [int(v) for v in text.split(",")]', "", ""] if "_numbers" in option else []
    )
    module = [
        *helper,
        "PARSER = argparse.ArgumentParser()",
        f"PARSER.add_argument({option})",
        "ARGS = PARSER.parse_args()",
        f"{n.ids} = {expression}",
    ]
    return Ids("argparse", n.ids, len(ids), imports=["import argparse"], module=module)


def _imported(draw: Random, n: Names) -> Ids:
    ids = some_ids(draw)
    files = {"eagle3_settings.py": f"# layers of the drafter\n{n.ids} = {ids}\nFOLDER = 'dump'\n"}
    imports, used = draw.choice(
        [
            (f"from eagle3_settings import {n.ids}", n.ids),
            ("import eagle3_settings", f"eagle3_settings.{n.ids}"),
            (f"from eagle3_settings import FOLDER, {n.ids} as CHOSEN", "CHOSEN"),
            ("from eagle3_settings import *", n.ids),
        ]
    )
    return Ids("imported", used, len(ids), imports=[imports], files=files)


def _json_file(draw: Random, n: Names) -> Ids:
    ids = some_ids(draw)
    text = draw.choice([{"layers": ids, "steps": 3}, {"eagle": {"layers": ids}}])
    path = '["eagle"]["layers"]' if "eagle" in text else '["layers"]'
    module = draw.choice(
        [
            ['with open("capture.json") as handle:', f"    {n.ids} = json.load(handle){path}"],
            [f'{n.ids} = json.loads(Path("capture.json").read_text()){path}'],
            [f'{n.ids} = json.loads((Path(__file__).parent / "capture.json").read_text(encoding="utf-8")){path}'],
            [f'{n.ids} = json.load(open(os.path.join(os.path.dirname(__file__), "capture.json"))){path}'],
        ]
    )
    return Ids(
        "JSON file",
        n.ids,
        len(ids),
        imports=["import json", "import os", "from pathlib import Path"],
        module=module,
        files={"capture.json": json.dumps(text)},
    )


def _config_file(draw: Random, n: Names) -> Ids:
    ids = some_ids(draw, 3)
    text = f"# EAGLE-3\ndraft:\n  steps: 3\n  layers: {ids}\n"
    if draw.random() < 0.5:
        text = "draft:\n  steps: 3\n  layers:\n" + "".join(f"    - {i}\n" for i in ids)
    module = draw.choice(
        [
            ['with open("draft.yaml") as handle:', f'    {n.ids} = yaml.safe_load(handle)["draft"]["layers"]'],
            [f'{n.ids} = yaml.safe_load(Path("draft.yaml").read_text())["draft"]["layers"]'],
            ['CONFIG = yaml.safe_load(open("draft.yaml"))', f'{n.ids} = tuple(CONFIG["draft"].get("layers", []))'],
        ]
    )
    return Ids(
        "YAML file",
        n.ids,
        3,
        imports=["import yaml", "from pathlib import Path"],
        module=module,
        files={"draft.yaml": text},
    )


def _drafter(draw: Random, n: Names) -> Ids:
    """The ids of the drafter's own config, as outputs of layers."""
    ids = some_ids(draw, 3)
    key = "eagle_aux_hidden_state_layer_ids"
    config = {
        "architectures": ["LlamaForCausalLMEagle3"],
        "eagle_config": {key: ids, "use_aux_hidden_state": True},
        "hidden_size": 64,
        "num_hidden_layers": 1,
        "vocab_size": 1000,
        "draft_vocab_size": 500,
    }
    read = draw.choice(
        [
            ['with open("head/config.json") as handle:', "    HEAD = json.load(handle)"],
            ['HEAD = json.loads(Path("head/config.json").read_text())'],
            ['HEAD_FOLDER = "head"', 'HEAD = json.load(open(os.path.join(HEAD_FOLDER, "config.json")))'],
            ['HEAD_FOLDER = Path("head")', 'HEAD = json.loads((HEAD_FOLDER / "config.json").read_text())'],
        ]
    )
    use = draw.choice(
        [
            f'[v + 1 for v in HEAD["eagle_config"]["{key}"]]',
            f'HEAD["eagle_config"]["{key}"]',
            f'HEAD.get("eagle_config", {{}}).get("{key}")',
        ]
    )
    return Ids(
        "drafter",
        n.ids,
        3,
        imports=["import json", "import os", "from pathlib import Path"],
        module=[*read, f"{n.ids} = {use}"],
        files={"head/config.json": json.dumps(config, indent=2)},
    )


#: Forms of this module.
FORMS: list[Callable[[Random, Names], Ids]] = [
    _environment,
    _json_environment,
    _argparse,
    _imported,
    _json_file,
    _config_file,
    _drafter,
]
