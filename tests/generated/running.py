"""Runs generated capture code with stand-ins and tells which states it concatenates and saves under which names.

    python running.py < jobs.json > results.json

A job is {"files": {path: text}, "style": ..., "depths": [...], "steps": [[file, function, [arguments]], ...]}; the
result holds for each depth the concatenations and names, or the error. A function may stand in an instance:
`Collector(model).run`. Only code that the grammar of this folder wrote is run.
"""

from __future__ import annotations

import importlib
import json
import os
import runpy
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

import standin_models
import standins
from standin_tensors import JOINED, NAMED, Held, Tensor


def arguments(words: list[str], made: dict[str, Any]) -> list[Any]:
    """The values that the words of a step stand for; a model is made once for all steps."""
    values: list[Any] = []
    for word in words:
        if word == "model":
            values.append(made.setdefault("model", standin_models.CausalLM()))
        elif word == "inner":
            values.append(made.setdefault("model", standin_models.CausalLM()).model)
        elif word in ("ids", "positions", "batch"):
            values.append(Tensor(ndim=1))
        elif word == "tokens":
            values.append(standin_models.Batch(input_ids=Tensor(ndim=2)))
        elif word == "config":
            values.append(standin_models.config())
        elif word == "result":
            values.append(made["result"])
        else:
            values.append(word)
    return values


def run(job: dict[str, Any], depth: int) -> dict[str, Any]:
    """One run of a job for one depth."""
    standin_models.SETTINGS.update(depth=depth, style=job["style"])
    for path, text in job["files"].items():  # anew for each depth: the code may patch them
        file = Path(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    importlib.invalidate_caches()
    standins.FILES.clear()
    JOINED.clear()
    NAMED.clear()
    made: dict[str, Any] = {}
    before = set(sys.modules)
    standins.install()
    try:
        for file, path, words in job["steps"]:
            if not path:
                runpy.run_path(file, run_name="__main__")
                continue
            target: Any = importlib.import_module(file.removesuffix(".py").replace("/", "."))
            for name in path.split("."):
                name, call, given = name.partition("(")
                target = getattr(target, name)
                if call:
                    target = target(*arguments(given.rstrip(")").split(), made))
            made["result"] = target(*arguments(words, made))
    except Exception:
        return {"error": traceback.format_exc(limit=-6)}
    finally:
        for name in set(sys.modules) - before:
            del sys.modules[name]
    joined = [[tuple(held) for held in joined.parts] for joined in JOINED if not joined.used]
    return {"joined": joined, "named": {k: tuple(v) for k, v in NAMED.items() if isinstance(v, Held)}}


def main() -> None:
    """Run all jobs of stdin."""
    results = []
    out, sys.stdout = sys.stdout, sys.stderr
    for job in json.load(sys.stdin):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            sys.path.insert(0, folder)
            sys.argv = ["script.py"]
            results.append({str(depth): run(job, depth) for depth in job["depths"]})
            sys.path.remove(folder)
            os.chdir("/")
    json.dump(results, out)


if __name__ == "__main__":
    main()
