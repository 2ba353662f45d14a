"""The engines and trainers whose releases matter, under all the names by which something installs them."""

from __future__ import annotations

import re
from typing import NamedTuple

#: Names in package indexes -> our name. Names are compared as the indexes do, without regard to case, `_` and `.`.
_PACKAGES = {
    **{name: name for name in ("sglang", "vllm", "tensorrt-llm", "tokenspeed", "speculators", "specforge")},
    **{name: name for name in ("transformers", "torchspec", "angelslim", "lmdeploy", "mlx-vlm", "openvino-genai")},
    **{name: name for name in ("rtp-llm", "llama-cpp-python")},
    **dict.fromkeys(("nvidia-modelopt", "modelopt"), "modelopt"),
}
#: Last part of a repository's address -> our name.
_REPOSITORIES = {
    **{name: name for name in ("sglang", "vllm", "tensorrt-llm", "tokenspeed", "speculators", "specforge")},
    **{name: name for name in ("transformers", "torchspec", "angelslim", "lmdeploy", "mlx-vlm", "rtp-llm", "atom")},
    **dict.fromkeys(("model-optimizer", "tensorrt-model-optimizer"), "modelopt"),
    "openvino-genai": "openvino-genai",
    "llama-cpp-python": "llama-cpp-python",
}


class Image(NamedTuple):
    """A family of container images: `package` is what runs in it, `own` whether the project publishes it itself.

    `calendar` is True when the tags are dates of the publisher's, which say nothing of the package's release.
    """

    package: str
    own: bool = True
    calendar: bool = False


_IMAGES: tuple[tuple[re.Pattern[str], Image], ...] = tuple(
    (re.compile(rf"(?:^|/)(?:{pattern})$"), image)
    for pattern, image in (
        (r"lmsysorg/sglang(?:-rocm|-xeon|-npu)?|rocm/(?:sglang|sgl-dev)", Image("sglang")),
        (r"vllm/vllm-(?:openai(?:-\w+)?|tpu)|rocm/vllm(?:-dev)?", Image("vllm")),
        (r"nvidia/tensorrt-llm/(?:release|devel)", Image("tensorrt-llm")),
        (r"nvidia/sglang", Image("sglang", calendar=True)),
        (r"nvidia/vllm", Image("vllm", calendar=True)),
        (r"openmmlab/lmdeploy", Image("lmdeploy")),
        (r"lightseekorg/tokenspeed(?:-\w+)?", Image("tokenspeed")),
        (r"rocm/atom(?:-dev)?", Image("atom")),
        (r"sglang", Image("sglang", own=False)),
        (r"vllm|vllm-openai", Image("vllm", own=False)),
        (r"tensorrt-llm|trtllm", Image("tensorrt-llm", own=False)),
        (r"lmdeploy", Image("lmdeploy", own=False)),
        (r"tokenspeed", Image("tokenspeed", own=False)),
    )
)
#: What must stand in a file (lower case, `_` as `-`) for a release to be told from it.
_WORDS = tuple({*_PACKAGES, *_REPOSITORIES, "sgl-dev", "trtllm"})


def normal(name: str) -> str:
    """A package name as the indexes compare it."""
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def package_of(name: str) -> str | None:
    """Our name of a package in an index; None for any other package."""
    return _PACKAGES.get(normal(name))


def repository_package(address: str) -> str | None:
    """Our name of what a repository's address (or path on disk) holds; None for any other."""
    last = re.split(r"[/:]", address.rstrip("/"))[-1].removesuffix(".git")
    return _REPOSITORIES.get(normal(last))


def image_of(name: str) -> Image | None:
    """The family of an image by its name without tag; None for any other image."""
    lower = name.lower().replace("_", "-")
    return next((image for pattern, image in _IMAGES if pattern.search(lower)), None)


def may_name_a_package(data: bytes) -> bool:
    """Whether one of the names occurs in some bytes of a file at all."""
    lower = data.lower().replace(b"_", b"-").decode("latin-1")
    return any(word in lower for word in _WORDS)
