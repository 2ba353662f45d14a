"""The model files of published engine releases, fetched without executing anything of the package.

`pip download` builds metadata of an sdist by running the package's own code, and a wheel of vLLM is hundreds of
megabytes. So the index that pip is configured for is asked for its list of files, and the smallest archive that holds
the Python sources (wheel or sdist) is read as a stream; what an engine does with layer ids is kept as a small zip.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
import urllib.parse
import urllib.request
import zipfile
from html.parser import HTMLParser
from pathlib import Path

#: Folders (and files) of an engine that its target models are made of.
KEPT = {
    "sglang": (
        "sglang/srt/models/", "sglang/srt/layers/", "sglang/srt/utils", "sglang/srt/distributed/",
        "sglang/srt/model_executor/forward_batch_info.py", "sglang/srt/model_executor/cuda_graph",
        "sglang/srt/batch_overlap/", "sglang/srt/two_batch_overlap.py", "sglang/srt/single_batch_overlap.py",
        "sglang/srt/operations", "sglang/srt/runtime_context.py", "sglang/srt/environ.py", "sglang/srt/configs/",
        "sglang/version.py",
    ),
    "vllm": (
        "vllm/model_executor/models/", "vllm/model_executor/layers/", "vllm/models/", "vllm/distributed/",
        "vllm/model_executor/custom_op.py", "vllm/ir/", "vllm/sequence.py", "vllm/version.py",
    ),
}  # fmt: skip
#: Other files are kept below `BESIDE` when they hold this key: they read the ids from a drafter's config.
ID_KEY = b"eagle_aux_hidden_state_layer_ids"
BESIDE = "beside/"
#: A wheel above this size (bytes) is passed over for the sdist.
_BIG_WHEEL = 60_000_000


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.urls: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.urls += [value for name, value in attrs if name == "href" and value]


def index_url() -> str:
    """The package index that pip is configured for, or its default one."""
    answer = subprocess.run(
        [sys.executable, "-m", "pip", "config", "get", "global.index-url"], capture_output=True, text=True, check=False
    )
    if answer.stdout.strip():
        return answer.stdout.strip().rstrip("/")
    if os.environ.get("PIP_INDEX_URL"):
        return os.environ["PIP_INDEX_URL"].rstrip("/")
    from pip._internal.models.index import PyPI

    return str(PyPI.simple_url).rstrip("/")


def archives(package: str) -> dict[str, tuple[str, int]]:
    """File name -> (URL, size in bytes, 0 when not told) of everything that the index has of a package."""
    page = f"{index_url()}/{package}/"
    accept = "application/vnd.pypi.simple.v1+json, text/html;q=0.5"
    with urllib.request.urlopen(urllib.request.Request(page, headers={"Accept": accept})) as answer:
        kind, body = answer.headers.get("content-type", ""), answer.read()
    if "json" in kind:
        listed = json.loads(body)["files"]
        return {f["filename"]: (urllib.parse.urljoin(page, f["url"]), f.get("size") or 0) for f in listed}
    links = _Links()
    links.feed(body.decode())
    urls = [urllib.parse.urljoin(page, link).split("#")[0] for link in links.urls]
    return {urllib.parse.unquote(url.rsplit("/", 1)[-1]): (url, 0) for url in urls}


def release(package: str, version: str, cache: Path, files: dict[str, tuple[str, int]] | None = None) -> Path | None:
    """The zip with the model files of a release, fetched when the cache lacks it; None when no archive is published."""
    kept = cache / f"{package}-{version}.zip"
    if kept.exists():
        return kept
    files = archives(package) if files is None else files
    wheels = [(size, name) for name, (_, size) in files.items() if _is_wheel(name, package, version)]
    sdists = [(size, name) for name, (_, size) in files.items() if name == f"{package}-{version}.tar.gz"]
    small = [w for w in sorted(wheels) if w[0] and w[0] < _BIG_WHEEL]
    chosen = (small or sdists or sorted(wheels))[:1]
    if not chosen:
        return None
    name = chosen[0][1]
    with urllib.request.urlopen(files[name][0]) as answer:
        data = answer.read()
    part = kept.with_suffix(".part")
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as made:
        for path, content in _sources(name, data):
            if path.startswith(KEPT[package]):
                made.writestr(zipfile.ZipInfo(path), content, zipfile.ZIP_DEFLATED)
            elif ID_KEY in content:
                made.writestr(zipfile.ZipInfo(BESIDE + path), content, zipfile.ZIP_DEFLATED)
    part.rename(kept)
    return kept


def _is_wheel(name: str, package: str, version: str) -> bool:
    return name.startswith(f"{package}-{version}-") and name.endswith(".whl")


def _sources(name: str, data: bytes) -> list[tuple[str, bytes]]:
    """The Python files of an archive, by their path below the package's parent folder."""
    if name.endswith(".whl"):
        with zipfile.ZipFile(io.BytesIO(data)) as wheel:
            return [(n, wheel.read(n)) for n in wheel.namelist() if n.endswith(".py")]
    found: list[tuple[str, bytes]] = []
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as sdist:
        for member in sdist:
            if member.isfile() and member.name.endswith(".py"):
                handle = sdist.extractfile(member)
                path = member.name.split("/", 1)[-1].removeprefix("python/")
                found.append((path, handle.read() if handle else b""))
    return found
