"""Which releases a file installs: an exact release, a range, any, or a reason why it can not be told."""

from __future__ import annotations

from pathlib import Path

import pytest

from eaglelint.errors import DocumentError
from eaglelint.facts import EnginePin
from eaglelint.kinds import kind_of
from eaglelint.project import Source
from eaglelint.readers.pins import read_pins


def pins(path: str, text: str) -> list[EnginePin]:
    return list(read_pins(Source(path, kind_of(path) or "text", Path(path), text.encode())))


def said(path: str, text: str) -> list[str]:
    """Each pin in short: `sglang ==0.5.9`, `vllm` for any, `vllm ?` for unknown; `~` for assumed, `[unit]`."""
    return [
        f"{pin.package} {'?' if pin.unknown else pin.specifier}".strip()
        + (" ~" if pin.assumed else "")
        + (f" [{pin.unit}]" if pin.unit else "")
        for pin in pins(path, text)
    ]


def requirement(line: str) -> EnginePin:
    [pin] = pins("requirements.txt", line + "\n")
    return pin


def image(reference: str) -> EnginePin:
    [pin] = pins("Dockerfile", f"FROM {reference}\n")
    return pin


class TestRequirements:
    @pytest.mark.parametrize(
        ("line", "package", "specifier", "exact"),
        [
            ("sglang==0.5.9", "sglang", "==0.5.9", "0.5.9"),
            ("sglang[all]==0.5.9.post1", "sglang", "==0.5.9.post1", "0.5.9.post1"),
            ("vllm == 0.11.0rc1", "vllm", "==0.11.0rc1", "0.11.0rc1"),
            ("vllm==0.11.0+cu128", "vllm", "==0.11.0", "0.11.0"),
            ("vllm===0.11.0", "vllm", "==0.11.0", "0.11.0"),
            ("vllm>=0.10,<0.12", "vllm", "<0.12,>=0.10", ""),
            ("vllm~=0.11.0", "vllm", "~=0.11.0", ""),
            ("vllm==0.11.*", "vllm", "==0.11.*", ""),
            ("sglang", "sglang", "", ""),
            ("TensorRT_LLM==1.2.0", "tensorrt-llm", "==1.2.0", "1.2.0"),
            ("nvidia-modelopt[hf]>=0.45", "modelopt", ">=0.45", ""),
            ("speculators==0.6.0", "speculators", "==0.6.0", "0.6.0"),
            ("llama_cpp_python==0.3.1", "llama-cpp-python", "==0.3.1", "0.3.1"),
            ("sglang==0.5.9 --hash=sha256:abc --hash=sha256:def", "sglang", "==0.5.9", "0.5.9"),
            ("sglang==0.5.9  # pinned by hand", "sglang", "==0.5.9", "0.5.9"),
            ("https://x.example/wheels/vllm-0.11.0-cp38-abi3-manylinux1_x86_64.whl", "vllm", "==0.11.0", "0.11.0"),
            ("vllm @ https://x.example/vllm-0.11.0%2Bcu128-cp38-abi3-linux_x86_64.whl", "vllm", "==0.11.0", "0.11.0"),
            ("vllm @ git+https://github.com/vllm-project/vllm@v0.11.0", "vllm", "==0.11.0", "0.11.0"),
            ("-e git+https://github.com/sgl-project/sglang.git@v0.5.9#egg=sglang[all]", "sglang", "==0.5.9", "0.5.9"),
        ],
    )
    def test_versions(self, line: str, package: str, specifier: str, exact: str) -> None:
        pin = requirement(line)
        assert (pin.package, pin.specifier, pin.exact) == (package, specifier, exact)
        assert (pin.unknown, pin.assumed, pin.source, pin.unit) == ("", "", "requirements", "")

    @pytest.mark.parametrize(
        ("line", "package", "reason"),
        [
            ("tokenspeed @ git+https://github.com/x/tokenspeed@f4d8ec6e#subdirectory=python", "tokenspeed", "f4d8ec6e"),
            ("git+https://github.com/sgl-project/SpecForge.git", "specforge", "no tag"),
            ("git+ssh://git@github.com/vllm-project/vllm.git@main", "vllm", "at main"),
            ("git+https://github.com/NVIDIA/TensorRT-Model-Optimizer@release/0.45", "modelopt", "release/0.45"),
            ("git+https://github.com/ROCm/ATOM", "atom", "no tag"),
            ("vllm @ file:///wheels/vllm", "vllm", "address"),
            ("vllm==${VLLM_VERSION}", "vllm", "not known here"),
            ("vllm=0.11", "vllm", "no valid requirement"),
        ],
    )
    def test_what_tells_no_release(self, line: str, package: str, reason: str) -> None:
        pin = requirement(line)
        assert (pin.package, pin.specifier, pin.exact) == (package, "", "")
        assert reason in pin.unknown

    @pytest.mark.parametrize(
        "line",
        [
            "# sglang==0.5.9",
            "sglang-router==0.2.0",
            "vllm-ascend==0.11.0",
            "my-vllm==1.0",
            "atom==0.11.0",
            "-r vllm.txt",
            "--extra-index-url https://vllm.example/whl",
            "vllm==0.11.0; sys_platform == 'darwin'",
            "vllm==0.11.0; python_version < '3'",
            "torch==2.9.0",
            "",
        ],
    )
    def test_other_lines(self, line: str) -> None:
        assert pins("requirements.txt", line) == []

    def test_markers(self) -> None:
        assert requirement("vllm==0.11.0; sys_platform == 'linux'").assumed == ""
        assert requirement("vllm==0.11.0; python_version < '3.12'").assumed == 'only where python_version < "3.12"'

    def test_lines_that_go_on(self) -> None:
        [pin] = pins("requirements.txt", "torch\nsglang \\\n  ==0.5.9 \\\n  --hash=sha256:abc\n")
        assert (pin.exact, pin.where.line, pin.where.end_line) == ("0.5.9", 2, 3)

    def test_a_place_is_the_requirement(self) -> None:
        [pin] = pins("requirements.txt", "torch\r\n  vllm==0.11.0  # x\r\n")
        assert pin.where[1:5] == (2, 3, 2, 15)

    def test_constraints(self) -> None:
        assert [pin.source for pin in pins("constraints.txt", "vllm==0.11.0")] == ["constraints"]


class TestImages:
    @pytest.mark.parametrize(
        ("reference", "package", "exact"),
        [
            ("lmsysorg/sglang:v0.5.9", "sglang", "0.5.9"),
            ("lmsysorg/sglang:v0.5.9-cu124", "sglang", "0.5.9"),
            ("docker.io/lmsysorg/sglang:v0.5.9.post1-rocm700-mi35x", "sglang", "0.5.9.post1"),
            ("mirror.example:5000/hub/lmsysorg/sglang:v0.5.9@sha256:abc", "sglang", "0.5.9"),
            ("rocm/sgl-dev:v0.5.6-rocm700", "sglang", "0.5.6"),
            ("vllm/vllm-openai:v0.24.0", "vllm", "0.24.0"),
            ("vllm/vllm-openai:v0.11.0rc2-aarch64", "vllm", "0.11.0rc2"),
            ("rocm/vllm:rocm6.4.1_vllm_0.9.1_20250715", "vllm", "0.9.1"),
            ("nvcr.io/nvidia/tensorrt-llm/release:1.2.0rc5", "tensorrt-llm", "1.2.0rc5"),
            ("openmmlab/lmdeploy:v0.10.1-cu12", "lmdeploy", "0.10.1"),
        ],
    )
    def test_releases(self, reference: str, package: str, exact: str) -> None:
        pin = image(reference)
        assert (pin.package, pin.specifier, pin.exact) == (package, f"=={exact}", exact)
        assert (pin.unknown, pin.assumed, pin.source) == ("", "", "image")

    @pytest.mark.parametrize(
        ("reference", "reason"),
        [
            ("lmsysorg/sglang", "no tag"),
            ("lmsysorg/sglang:latest", '"latest"'),
            ("lmsysorg/sglang:dev-cu13", '"dev-cu13"'),
            ("vllm/vllm-openai:nightly-0123abcd", "names no release"),
            ("vllm/vllm-openai:v0.11.0-dev", "names no release"),
            ("vllm/vllm-openai:gptoss", "names no release"),
            ("vllm/vllm-openai@sha256:0123", "digest"),
            ("vllm/vllm-openai:$TAG", "not known here"),
            ("nvcr.io/nvidia/vllm:25.09-py3", "date"),
        ],
    )
    def test_what_tells_no_release(self, reference: str, reason: str) -> None:
        pin = image(reference)
        assert (pin.specifier, pin.exact) == ("", "")
        assert reason in pin.unknown

    def test_a_tag_of_two_numbers_is_a_range(self) -> None:
        pin = image("public.ecr.aws/deep-learning-containers/vllm:0.11-gpu-py312")
        assert (pin.specifier, pin.exact) == ("==0.11.*", "")

    def test_the_tag_of_someone_elses_image_is_assumed_to_mean_the_same(self) -> None:
        pin = image("registry.example/team/sglang:v0.5.9")
        assert (pin.exact, pin.assumed != "") == ("0.5.9", True)

    @pytest.mark.parametrize(
        "reference", ["python:3.12", "lmsysorg/sglang-router:v0.2.0", "nvidia/cuda:12.8.1-runtime", "$IMAGE", "scratch"]
    )
    def test_other_images(self, reference: str) -> None:
        assert pins("Dockerfile", f"FROM {reference} AS vllm\n") == []


class TestDockerfiles:
    def test_arguments_are_assumed(self) -> None:
        text = "ARG TAG=v0.5.9-cu124\nFROM lmsysorg/sglang:${TAG}\n"
        assert said("Dockerfile", text) == ["sglang ==0.5.9 ~"]
        assert pins("Dockerfile", text)[0].assumed == "default of ARG TAG"

    def test_installs(self) -> None:
        text = 'FROM python:3.12\nENV V=0.5.9\nARG W=0.11.0\nRUN pip install "sglang[all]==$V" && \\\n'
        text += "    uv pip install --system -U vllm==${W} speculators\n"
        assert said("Dockerfile", text) == ["sglang ==0.5.9", "vllm ==0.11.0 ~", "speculators"]
        assert [pin.where.line for pin in pins("Dockerfile", text)] == [4, 5, 5]

    def test_here_documents_and_commands_that_only_speak_of_it(self) -> None:
        text = "FROM x\nRUN <<EOF\npip install vllm==0.11.0\nEOF\n"
        text += "RUN echo pip install vllm==0.10.0\n# RUN pip install vllm\n"
        assert said("Dockerfile", text) == ["vllm ==0.11.0"]

    def test_a_stage_has_what_it_starts_from(self) -> None:
        text = "FROM lmsysorg/sglang:v0.5.9 AS base\nRUN pip install speculators==0.6.0\n"
        text += "FROM base AS serve\nFROM vllm/vllm-openai:v0.24.0\n"
        assert said("docker/serve.Dockerfile", text) == [
            *["sglang ==0.5.9 [base]", "speculators ==0.6.0 [base]"],
            *["sglang ==0.5.9 [serve]", "speculators ==0.6.0 [serve]"],
            "vllm ==0.24.0 [stage 2]",
        ]


class TestManifests:
    def test_lists_of_pyproject(self) -> None:
        text = """\
[project]
name = "vllm"
dependencies = [
    "sglang[all]==0.5.9",
]
[project.optional-dependencies]
serve = ["vllm>=0.11"]
[dependency-groups]
dev = ["transformers", {include-group = "x"}]
[tool.uv]
override-dependencies = ["vllm==0.11.0"]
constraint-dependencies = ["vllm<0.12"]
[tool.hatch.envs.train]
dependencies = ["speculators==0.6.0"]
[tool.other]
dependencies = ["vllm==9"]
"""
        assert sorted(said("pyproject.toml", text)) == [
            *["sglang ==0.5.9", "speculators ==0.6.0", "transformers", "vllm <0.12", "vllm ==0.11.0", "vllm >=0.11"],
        ]
        by_line = {pin.where.line: (pin.package, pin.source) for pin in pins("pyproject.toml", text)}
        assert by_line[4] == ("sglang", "project")
        assert by_line[12] == ("vllm", "constraints")

    @pytest.mark.parametrize(
        ("written", "specifier"),
        [
            ('"0.5.9"', "==0.5.9"),
            ('"^0.5.9"', "<0.6,>=0.5.9"),
            ('"^1.2"', "<2,>=1.2"),
            ('"^0.0.3"', "<0.0.4,>=0.0.3"),
            ('"~0.5.9"', "<0.6,>=0.5.9"),
            ('"~0.5.9.post1"', "<0.6,>=0.5.9.post1"),
            ('"0.5.*"', "==0.5.*"),
            ('">=0.5,<0.6"', "<0.6,>=0.5"),
            ('"*"', ""),
            ('{version = "0.5.9", extras = ["all"]}', "==0.5.9"),
            ('{git = "https://github.com/sgl-project/sglang", tag = "v0.5.9"}', "==0.5.9"),
        ],
    )
    def test_poetry(self, written: str, specifier: str) -> None:
        for table in ("tool.poetry.dependencies", "tool.poetry.group.serve.dependencies"):
            [pin] = pins("pyproject.toml", f"[{table}]\npython = '^3.11'\nsglang = {written}\n")
            assert (pin.specifier, pin.unknown, pin.where.line) == (specifier, "", 3)

    def test_versions_that_can_not_be_told(self) -> None:
        text = '[tool.poetry.dependencies]\nvllm = "^0.9 || ^0.11"\nsglang = {path = "../sglang"}\n'
        text += 'speculators = {git = "https://x/speculators", branch = "main"}\n'
        assert said("pyproject.toml", text) == ["vllm ?", "sglang ?", "speculators ?"]

    def test_sources_of_uv_go_before_versions(self) -> None:
        head = '[project]\ndependencies = ["vllm>=0.10", "sglang==0.5.9"]\n[tool.uv.sources]\n'
        git = 'vllm = { git = "https://github.com/vllm-project/vllm", rev = "0123abcd" }\n'
        assert said("pyproject.toml", head + git) == ["vllm ?", "sglang ==0.5.9"]
        assert said("pyproject.toml", head + git.replace('rev = "0123abcd"', 'tag = "v0.11.0"'))[0] == "vllm ==0.11.0"
        assert said("pyproject.toml", head + 'vllm = { index = "cu128" }\n')[0] == "vllm >=0.10"

    def test_lock_files(self) -> None:
        uv = '[[package]]\nname = "sglang"\nversion = "0.5.20"\nsource = { registry = "https://x" }\n\n'
        uv += '[[package]]\nname = "vllm"\nversion = "0.11.1.dev1"\n'
        uv += 'source = { git = "https://github.com/vllm-project/vllm?rev=main#0123abc" }\n\n'
        uv += '[[package]]\nname = "specforge"\nversion = "0.2.0"\nsource = { editable = "." }\n\n'
        uv += '[[package]]\nname = "demo"\nversion = "1"\ndependencies = [\n    { name = "vllm" },\n]\n'
        assert said("uv.lock", uv) == ["sglang ==0.5.20", "vllm ?", "specforge ?"]
        assert [pin.where.line for pin in pins("uv.lock", uv)] == [3, 8, 13]
        poetry = '[[package]]\nname = "vllm"\nversion = "0.11.0"\n\n[package.dependencies]\ntransformers = ">=4"\n\n'
        poetry += '[[package]]\nname = "sglang"\nversion = "0.5.9"\n\n[package.source]\ntype = "git"\n'
        poetry += 'resolved_reference = "0123abc"\n'
        assert said("poetry.lock", poetry) == ["vllm ==0.11.0", "sglang ?"]
        pipfile = '{"default": {"vllm": {"version": "==0.11.0"}}, "develop": {"torch": {}}}'
        assert said("Pipfile.lock", pipfile) == ["vllm ==0.11.0"]

    def test_pipfile_and_pixi(self) -> None:
        assert said("Pipfile", '[packages]\nvllm = "==0.11.0"\nsglang = "*"\n') == ["vllm ==0.11.0", "sglang"]
        assert said("pixi.toml", '[pypi-dependencies]\nvllm = { version = ">=0.11" }\n') == ["vllm >=0.11"]

    @pytest.mark.parametrize(
        ("entry", "expected"),
        [
            ("vllm=0.11.0", "vllm ==0.11.0.*"),
            ("vllm==0.11.0", "vllm ==0.11.0"),
            ("conda-forge::transformers>=4.57", "transformers >=4.57"),
            ("vllm=0.11.0=py312_0", "vllm ==0.11.0"),
            ("vllm", "vllm"),
        ],
    )
    def test_conda_environments(self, entry: str, expected: str) -> None:
        text = f"name: x\ndependencies:\n  - python=3.12\n  - {entry}\n  - pip:\n      - sglang==0.5.9\n"
        assert said("environment.yml", text) == [expected, "sglang ==0.5.9"]

    def test_setup_files(self) -> None:
        cfg = (
            "[metadata]\nname = vllm\n[options]\ninstall_requires =\n    sglang[all]==0.5.9\n    # vllm==1\n    torch\n"
        )
        cfg += "[options.extras_require]\nserve = vllm>=0.11\ntrain =\n    speculators==0.6.0\n"
        assert said("setup.cfg", cfg) == ["sglang ==0.5.9", "vllm >=0.11", "speculators ==0.6.0"]
        py = 'setup(name="vllm", install_requires=["sglang==0.5.9", \'torch\'],  # "vllm==1"\n'
        py += '      extras_require={"serve": ["vllm >= 0.11"]}, url="x/vllm?a=1", about="""vllm == fast""")\n'
        assert said("setup.py", py) == ["sglang ==0.5.9", "vllm >=0.11"]
        assert said("train.py", py) == []

    def test_the_header_of_a_script(self) -> None:
        text = '#!/usr/bin/env -S uv run\n# /// script\n# requires-python = ">=3.11"\n# dependencies = [\n'
        text += '#   "vllm==0.11.0",\n# ]\n# ///\nimport vllm\n'
        [pin] = pins("run.py", text)
        assert (pin.exact, pin.where[1:3]) == ("0.11.0", (5, 5))

    def test_a_lock_file_without_packages(self) -> None:
        assert pins("uv.lock", 'version = 1\nname = "vllm"\n') == []

    def test_a_broken_manifest_is_said(self) -> None:
        with pytest.raises(DocumentError):
            pins("pyproject.toml", '[project]\ndependencies = ["vllm==0.11.0"\n')


class TestDeployments:
    def test_services_of_compose(self) -> None:
        text = """\
services:
  stable:
    image: lmsysorg/sglang:v0.5.9
  canary:
    image: "lmsysorg/sglang:${SGLANG_TAG:-v0.5.17}"
  other:
    image: vllm/vllm-openai:${TAG}
  cache:
    image: redis:7
"""
        assert said("compose.yaml", text) == ["sglang ==0.5.9 [stable]", "sglang ==0.5.17 ~ [canary]", "vllm ? [other]"]
        assert [pin.where[1:3] for pin in pins("compose.yaml", text)] == [(3, 12), (5, 12), (7, 12)]

    def test_containers_of_kubernetes(self) -> None:
        text = "kind: Pod\nspec:\n  initContainers:\n  - {name: get, image: busybox}\n  containers:\n"
        text += "  - name: server\n    image: vllm/vllm-openai:v0.24.0\n---\nkind: Pod\nspec: {containers: [{name: b, "
        text += "image: lmsysorg/sglang}]}\n"
        assert said("k8s.yaml", text) == ["vllm ==0.24.0 [server]", "sglang ? [b]"]

    def test_jobs_of_workflows(self) -> None:
        text = """\
on: push
env:
  VLLM: 0.20.2
jobs:
  unit:
    container: vllm/vllm-openai:v0.24.0
    steps:
      - run: |
          pip install "sglang==0.5.9"
          pip install vllm==${{ env.VLLM }} speculators==$SPECULATORS
        env: {SPECULATORS: "0.6.0"}
  matrix:
    container:
      image: lmsysorg/sglang:${{ matrix.tag }}
    steps:
      - run: pip install vllm==${{ matrix.vllm }}
      - uses: docker://vllm/vllm-openai:v0.25.1
"""
        assert said(".github/workflows/x.yml", text) == [
            "vllm ==0.24.0 [unit]",
            "sglang ==0.5.9 [unit]",
            "vllm ==0.20.2 [unit]",
            "speculators ==0.6.0 [unit]",
            "sglang ? [matrix]",
            "vllm ? [matrix]",
            "vllm ==0.25.1 [matrix]",
        ]
        assert [pin.where.line for pin in pins("x.yml", text)][1:3] == [9, 10]

    def test_other_files_that_run_things(self) -> None:
        assert said("values.yaml", "image:\n  repository: vllm/vllm-openai\n  tag: v0.24.0\n") == ["vllm ==0.24.0"]
        assert said(".gitlab-ci.yml", "a:\n  image: {name: 'lmsysorg/sglang:v0.5.9'}\n") == ["sglang ==0.5.9"]
        sky = "resources:\n  image_id: docker:lmsysorg/sglang:v0.5.9\nsetup: |\n  uv pip install vllm==0.11.0\n"
        assert said("sky.yaml", sky) == ["sglang ==0.5.9", "vllm ==0.11.0"]
        assert said("ray.yaml", "runtime_env:\n  pip: [vllm==0.11.0]\n") == ["vllm ==0.11.0"]
        assert said("pod.json", '{"containers": [{"name": "a", "image": "vllm/vllm-openai:v0.24.0"}]}') == [
            "vllm ==0.24.0 [a]"
        ]

    @pytest.mark.parametrize(
        "text",
        [
            "image: {a: 1}\nmodel: vllm/vllm-openai:v0.24.0\n",
            "engine: sglang\nsglang: {version: 0.5.9}\n",
            "note: we pip install vllm==0.11.0 by hand\n",
            "steps: [{uses: vllm/vllm-openai@v0.24.0}]\n",
        ],
    )
    def test_what_runs_nothing(self, text: str) -> None:
        assert said("x.yaml", text) == []


class TestShell:
    @pytest.mark.parametrize(
        ("command", "expected"),
        [
            ("pip install vllm==0.19.1", ["vllm ==0.19.1"]),
            ("pip3 install -q -U 'sglang[all]>=0.5.3rc0'", ["sglang >=0.5.3rc0"]),
            ("sudo -H python3 -m pip install --no-cache-dir sglang==0.5.9 vllm", ["sglang ==0.5.9", "vllm"]),
            ("VLLM_USE_PRECOMPILED=1 uv pip install vllm --torch-backend=auto", ["vllm"]),
            ("uv pip install --index-url https://x -r vllm.txt sglang==0.5.9", ["sglang ==0.5.9"]),
            ("uv add vllm==0.11.0", ["vllm ==0.11.0"]),
            ("uv tool install vllm@0.11.0", ["vllm ==0.11.0"]),
            ("poetry add sglang==0.5.9", ["sglang ==0.5.9"]),
            ("conda install -c conda-forge vllm=0.11 -y", ["vllm ==0.11.*"]),
            ("pip install -e git+https://github.com/vllm-project/vllm@v0.11.0#egg=vllm", ["vllm ==0.11.0"]),
            ("git clone -b v0.5.9 https://github.com/sgl-project/sglang.git", ["sglang ==0.5.9"]),
            ("git clone --depth 1 --branch=v0.11.0 git@github.com:vllm-project/vllm.git x", ["vllm ==0.11.0"]),
            ("docker run --rm --gpus all -v $PWD:/w lmsysorg/sglang:v0.5.9 python3 -m x", ["sglang ==0.5.9"]),
            ("srun --container-image=vllm/vllm-openai:v0.24.0 vllm serve x", ["vllm ==0.24.0"]),
            ("apptainer pull docker://lmsysorg/sglang:v0.5.9", ["sglang ==0.5.9"]),
            ("V=0.11.0; pip install vllm==$V", ["vllm ==0.11.0"]),
            ("pip install vllm==${V:-0.11.0}", ["vllm ==0.11.0 ~"]),
            ("pip install vllm==$V", ["vllm ?"]),
            ("IMAGE=${IMAGE:-lmsysorg/sglang:v0.5.9}\ndocker run $IMAGE serve", ["sglang ==0.5.9 ~"]),
            # A bare `>` sends the output to a file named `=0.11`.
            ("pip install vllm>=0.11", ["vllm"]),
        ],
    )
    def test_commands(self, command: str, expected: list[str]) -> None:
        assert said("install.sh", f"#!/bin/bash\nset -e\n{command}\n") == expected

    @pytest.mark.parametrize(
        "command",
        [
            "# pip install vllm==0.11.0",
            "echo 'pip install vllm==0.11.0'",
            "pip uninstall -y vllm",
            "pip show vllm",
            "pip install -r requirements-vllm.txt",
            "pip install sglang-router==0.2.0",
            "pip install -e ./vllm",
            "git clone https://github.com/sgl-project/sglang.git",
            "docker ps | grep vllm/vllm-openai:v0.24.0",
            "pkill -f vllm",
            "vllm serve x",
        ],
    )
    def test_what_installs_nothing(self, command: str) -> None:
        assert said("install.sh", f"{command}\n") == []

    def test_recipes_of_make_and_units_of_systemd(self) -> None:
        makefile = 'V ?= 0.5.9\nW := 0.12.0\na:\n\tpip install "sglang[all]==$(V)" && pip install vllm==$(W)\n'
        assert [(p.package, p.exact, p.assumed) for p in pins("Makefile", makefile)] == [
            ("sglang", "0.5.9", "default of $(V)"),
            ("vllm", "0.12.0", ""),
        ]
        unit = "[Service]\nExecStart=/usr/bin/docker run --rm \\\n  lmsysorg/sglang:v0.5.9 sglang serve\n"
        assert [(p.package, p.exact, p.where.line) for p in pins("s.service", unit)] == [("sglang", "0.5.9", 3)]

    def test_the_place_is_the_word(self) -> None:
        [pin] = pins("a.sh", "set -e\npip install \\\n  'vllm==0.19.1'\n")
        assert (pin.where[1:3], pin.source) == ((3, 3), "install")


class TestAnyFile:
    @pytest.mark.parametrize("path", ["a.py", "README.md", "fix.patch", "notes.txt", "a.service"])
    def test_kinds_that_install_nothing(self, path: str) -> None:
        assert pins(path, "pip install vllm==0.11.0\n") == []

    def test_each_pin_once(self) -> None:
        assert len(pins("environment.yml", "dependencies:\n  - pip:\n    - vllm==0.11.0\n")) == 1
