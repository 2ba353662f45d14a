"""How the engines are started: their programs and modules, and how their command lines are read.

Only what is needed to tell the words of a command line apart stands here; which arguments a release knows is data of
`rules/arguments`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from eaglelint.readers.words import Word
from eaglelint.readers.wrappers import program


@dataclass(frozen=True)
class Grammar:
    """How one engine's command line is read.

    `target` and `draft` are the arguments that name the models, the decisive one last. `positional`: the first free
    word is the target. `aliases` maps other spellings (normalised) to the argument's own name, `short` those with one
    dash. `flags` never take a value, `lists` take several, `integers` are lists of layer ids. `json` holds JSON.
    """

    engine: str
    target: tuple[str, ...]
    draft: tuple[str, ...] = ()
    positional: bool = False
    aliases: Mapping[str, str] = field(default_factory=dict)
    short: Mapping[str, str] = field(default_factory=dict)
    flags: frozenset[str] = frozenset()
    lists: frozenset[str] = frozenset()
    integers: frozenset[str] = frozenset()
    json: frozenset[str] = frozenset()

    def name_of(self, spelling: str) -> str:
        """The normalised name of an option as written, with its dashes."""
        if not spelling.startswith("--"):
            head, dot, rest = spelling[1:].partition(".")
            return self.short.get(head, head) + dot + rest.replace("-", "_")
        name = spelling[2:].replace("-", "_")
        head, dot, rest = name.partition(".")
        return self.aliases.get(head, head) + dot + rest

    def is_flag(self, name: str) -> bool:
        """Whether an argument takes no value: known ones, and what is named like a switch."""
        return name in self.flags or name.startswith(("no_", "disable_", "enable_", "skip_"))


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PARALLEL = {
    "tp": "tp_size",
    "tensor_parallel_size": "tp_size",
    "pp": "pp_size",
    "pipeline_parallel_size": "pp_size",
    "dp": "dp_size",
    "data_parallel_size": "dp_size",
    "ep": "ep_size",
    "expert_parallel_size": "ep_size",
}
_SGLANG_DRAFT = {
    "speculative_algo": "speculative_algorithm",
    "speculative_alg": "speculative_algorithm",
    "speculative_draft": "speculative_draft_model_path",
    "speculative_draft_model": "speculative_draft_model_path",
}

SGLANG = Grammar(
    "sglang",
    target=("model_path",),
    draft=("speculative_draft_model_path",),
    aliases={**_PARALLEL, **_SGLANG_DRAFT, "model": "model_path"},
    flags=_words("trust_remote_code show_time_cost log_requests torch_compile"),
    lists=_words(
        "cuda_graph_bs cuda_graph_bs_decode lora_paths return_aux_hidden_state_layer_ids debug_tensor_dump_layers"
    ),
    integers=_words("return_aux_hidden_state_layer_ids spec_capture_aux_layer_ids"),
    json=_words("json_model_override_args"),
)

VLLM = Grammar(
    "vllm",
    target=("model",),
    draft=("speculative_model", "speculative_config.model"),
    positional=True,
    aliases={
        "spec_method": "speculative_config.method",
        "spec_model": "speculative_config.model",
        "spec_tokens": "speculative_config.num_speculative_tokens",
    },
    short={
        "tp": "tensor_parallel_size",
        "pp": "pipeline_parallel_size",
        "dp": "data_parallel_size",
        "dpn": "data_parallel_rank",
        "dpl": "data_parallel_size_local",
        "dpa": "data_parallel_address",
        "dpp": "data_parallel_rpc_port",
        "dpb": "data_parallel_backend",
        "dcp": "decode_context_parallel_size",
        "q": "quantization",
        "n": "nnodes",
        "r": "node_rank",
        "O": "compilation_config",
        "cc": "compilation_config",
        "sc": "speculative_config",
        "ac": "attention_config",
    },
    flags=_words(
        "trust_remote_code enforce_eager headless async_scheduling calculate_kv_scales return_tokens_as_token_ids "
        "use_v2_block_manager ray_workers_use_nsight data_parallel_hybrid_lb data_parallel_external_lb "
        "fully_sharded_loras allow_credentials use_tqdm_on_load language_model_only"
    ),
    lists=_words("served_model_name lora_modules api_key middleware prompt_adapters cudagraph_capture_sizes"),
    json=_words("speculative_config hf_overrides kv_transfer_config compilation_config override_generation_config"),
)

TENSORRT = Grammar(
    "tensorrt-llm",
    target=("model",),
    draft=("speculative_config.speculative_model", "speculative_config.speculative_model_dir"),
    positional=True,
    aliases={"config": "extra_llm_api_options"},
    flags=_words("trust_remote_code fail_fast_on_attention_window_too_large"),
    integers=_words("speculative_config.eagle3_layers_to_capture"),
)

TOKENSPEED = Grammar(
    "tokenspeed",
    target=("model_path", "model"),
    draft=("speculative_draft_model_path",),
    positional=True,
    aliases=_SGLANG_DRAFT,
    flags=_words("trust_remote_code"),
    integers=_words("eagle3_layers_to_capture"),
)

LLAMA_CPP = Grammar(
    "llama.cpp",
    target=("hf_repo", "model"),
    draft=("hf_repo_draft", "model_draft", "spec_draft_hf", "spec_draft_model"),
    short={
        "m": "model",
        "md": "model_draft",
        "hf": "hf_repo",
        "hfr": "hf_repo",
        "hfd": "hf_repo_draft",
        "hfrd": "hf_repo_draft",
        "c": "ctx_size",
        "cd": "ctx_size_draft",
    },
)

LMDEPLOY = Grammar(
    "lmdeploy",
    target=("model_path",),
    draft=("speculative_draft_model",),
    positional=True,
    flags=_words("trust_remote_code eager_mode"),
)

ATOM = Grammar("atom", target=("model",), draft=("draft_model",), short={"tp": "tensor_parallel_size"})
RTP_LLM = Grammar(
    "rtp-llm",
    target=("checkpoint_path",),
    draft=("sp_checkpoint_path",),
    integers=_words("eagle3_aux_hidden_state_layer_ids"),
)
MLX_VLM = Grammar("mlx-vlm", target=("model",), draft=("draft_model",))

#: The grammars by engine.
GRAMMARS = {
    grammar.engine: grammar
    for grammar in (SGLANG, VLLM, TENSORRT, TOKENSPEED, LLAMA_CPP, LMDEPLOY, ATOM, RTP_LLM, MLX_VLM)
}

#: Programs and modules that start an engine, with the words that must follow their name.
_PROGRAMS: dict[str, tuple[Grammar, tuple[tuple[str, ...], ...]]] = {
    "sglang": (SGLANG, (("serve",),)),
    "vllm": (VLLM, (("serve",),)),
    "trtllm-serve": (TENSORRT, (("serve",), ())),
    "tokenspeed": (TOKENSPEED, (("serve",),)),
    "ts": (TOKENSPEED, (("serve",),)),
    "llama-server": (LLAMA_CPP, ((),)),
    "lmdeploy": (LMDEPLOY, (("serve", "api_server"),)),
    "mlx_vlm.server": (MLX_VLM, ((),)),
}
_MODULES: dict[str, tuple[Grammar, tuple[tuple[str, ...], ...]]] = {
    "sglang.launch_server": (SGLANG, ((),)),
    "sglang.cli.main": (SGLANG, (("serve",),)),
    "vllm.entrypoints.openai.api_server": (VLLM, ((),)),
    "vllm.entrypoints.api_server": (VLLM, ((),)),
    "vllm.entrypoints.cli.main": (VLLM, (("serve",),)),
    "vllm": (VLLM, (("serve",),)),
    "tensorrt_llm.commands.serve": (TENSORRT, (("serve",), ())),
    "tokenspeed.cli": (TOKENSPEED, (("serve",),)),
    "tokenspeed": (TOKENSPEED, (("serve",),)),
    "lmdeploy": (LMDEPLOY, (("serve", "api_server"),)),
    "atom.entrypoints.openai_server": (ATOM, ((),)),
    "rtp_llm.start_server": (RTP_LLM, ((),)),
    "mlx_vlm.server": (MLX_VLM, ((),)),
}
_OTHER_COMMANDS = {"trtllm-serve": _words("disaggregated disaggregated_mpi_worker mm_embedding_serve")}
#: Images whose entry point is the engine: what of their name tells it, without registry and tag.
_IMAGES = (("vllm-openai", VLLM), ("vllm-cpu-release-repo", VLLM), ("llama.cpp", LLAMA_CPP))
_SCRIPTS = {f"{name.replace('.', '/')}.py": name for name in _MODULES if name.count(".")}
_PYTHON = re.compile(r"(?:python|pypy)(?:\d[\d.]*)?(?:\.exe)?|uv-python")
_PYTHON_VALUES = frozenset({"-X", "-W", "--check-hash-based-pycs"})


def recognise(words: Sequence[Word]) -> tuple[Grammar, int] | None:
    """The engine that a command starts and the index of its first argument; None for any other command."""
    if not words:
        return None
    name = program(words[0])
    module = python_target(words)
    if module is not None:
        found, index = module
        found = next((_SCRIPTS[path] for path in _SCRIPTS if found.endswith("/" + path)), found)
        return _matched(_MODULES.get(found), words, index)
    if words[0].many or (name in _OTHER_COMMANDS and len(words) > 1 and words[1].content in _OTHER_COMMANDS[name]):
        return None
    return _matched(_PROGRAMS.get(name), words, 1)


def _matched(
    entry: tuple[Grammar, tuple[tuple[str, ...], ...]] | None, words: Sequence[Word], index: int
) -> tuple[Grammar, int] | None:
    if entry is None:
        return None
    for following in entry[1]:
        if tuple(word.content for word in words[index : index + len(following)]) == following:
            return entry[0], index + len(following)
    return None


def python_target(words: Sequence[Word]) -> tuple[str, int] | None:
    """The module or script that a Python command runs, and the index of its first argument.

    The interpreter may be a variable that nothing sets (`$PYTHON -m module`).
    """
    name = program(words[0])
    anything = not words[0].known and len(words) > 1 and words[1].content == "-m"
    if not _PYTHON.fullmatch(name) and not anything:
        return None
    index = 1
    while index < len(words):
        content = words[index].content
        if content in ("-c", "-") or words[index].many:
            return None
        if content.startswith("-") and not content.startswith("--") and content.endswith("m"):
            at = index + 1
            return (words[at].content, at + 1) if at < len(words) and words[at].known else None
        if not content.startswith("-"):
            return content, index + 1
        index += 2 if content in _PYTHON_VALUES else 1
    return None


def engine_of_image(image: str) -> Grammar | None:
    """The engine that a container of this image runs when it is given arguments alone."""
    name = image.rsplit("@", 1)[0].rsplit("/", 1)[-1]
    base, _, tag = name.partition(":")
    for part, grammar in _IMAGES:
        if part in base and (grammar is not LLAMA_CPP or tag.startswith("server")):
            return grammar
    return None
