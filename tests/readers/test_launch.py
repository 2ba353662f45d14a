"""Launches, script runs and environment settings of shell scripts, and of words that others evaluated."""

from __future__ import annotations

from pathlib import Path

import pytest

from eaglelint.facts import Argument, EnvironmentSetting, Launch, ScriptRun, Unreadable, Value
from eaglelint.location import Location
from eaglelint.project import Source
from eaglelint.readers.launch import Fact, from_keywords, from_words, python_code, read_launches, with_options

HERE = Location("call.py", 3, 1, 3, 9, 20, 28)


def facts(text: str, path: str = "serve.sh", kind: str = "shell") -> list[Fact]:
    return list(read_launches(Source(path, kind, Path(path), text.encode())))


def launches(text: str) -> list[Launch]:
    return [fact for fact in facts(text) if isinstance(fact, Launch)]


def launch(text: str) -> Launch:
    (found,) = launches(text)
    return found


def runs(text: str) -> list[ScriptRun]:
    return [fact for fact in facts(text) if isinstance(fact, ScriptRun)]


def value(found: Launch, *names: str) -> object:
    argument = found.get(*names)
    return None if argument is None else argument.value.value


def of(value: Value | None) -> object:
    return None if value is None else value.value


class TestEngines:
    @pytest.mark.parametrize(
        ("command", "engine", "target", "draft"),
        [
            ("python -m sglang.launch_server --model-path t --speculative-draft-model-path d", "sglang", "t", "d"),
            ("python3.11 -u -m sglang.launch_server --model t --speculative-draft-model d", "sglang", "t", "d"),
            ("sglang serve --model-path=t --speculative-draft-model-path=d", "sglang", "t", "d"),
            ("$PYTHON -m sglang.launch_server --model-path t --speculative-draft d", "sglang", "t", "d"),
            ("python /opt/sglang/python/sglang/launch_server.py --model-path t", "sglang", "t", None),
            ('vllm serve t --speculative-config \'{"model": "d"}\'', "vllm", "t", "d"),
            ('/opt/venv/bin/vllm serve --enforce-eager t -sc \'{"model": "d"}\'', "vllm", "t", "d"),
            ("vllm serve t --spec-model d --spec-method eagle3 --spec-tokens 3", "vllm", "t", "d"),
            ("vllm serve --model t --speculative-config.model d", "vllm", "t", "d"),
            ("python -m vllm.entrypoints.openai.api_server --model t", "vllm", "t", None),
            ("trtllm-serve t --backend pytorch --extra_llm_api_options o.yaml", "tensorrt-llm", "t", None),
            ("trtllm-serve serve t --tp_size 4", "tensorrt-llm", "t", None),
            ("ts serve --model t --speculative-draft-model-path d", "tokenspeed", "t", "d"),
            ("tokenspeed serve t --speculative-draft-model-path d", "tokenspeed", "t", "d"),
            ("llama-server -m t -md d --draft-max 8", "llama.cpp", "t", "d"),
            ("llama-server -hf a/b -hfd c/d", "llama.cpp", "a/b", "c/d"),
            ("lmdeploy serve api_server t --speculative-draft-model d", "lmdeploy", "t", "d"),
            ("python -m atom.entrypoints.openai_server --model t --method eagle3 -tp 8", "atom", "t", None),
        ],
    )
    def test_a_command_that_starts_an_engine(self, command: str, engine: str, target: str, draft: str | None) -> None:
        found = launch(command)
        assert (found.engine, found.form, of(found.target), of(found.draft)) == (engine, "shell", target, draft)
        assert found.complete

    @pytest.mark.parametrize(
        "text",
        [
            "# python -m sglang.launch_server --model-path t",
            "echo python -m sglang.launch_server --model-path t",
            'echo "vllm serve t"',
            "pgrep -f sglang.launch_server",
            'pkill -f "python -m sglang.launch_server"',
            "ps aux | grep 'vllm serve' | awk '{print $2}' | xargs kill",
            "pip install vllm sglang",
            "docker pull vllm/vllm-openai:v0.20.0",
            "curl localhost:8000/v1/models  # vllm serve",
            "cat > serve.sh <<EOF\nvllm serve t\nEOF",
            "printf 'vllm serve t\\n' > serve.sh",
            "vllm bench serve --model t",
            "vllm --version",
            "python -m sglang_router.launch_router --worker-urls http://a",
            "trtllm-serve disaggregated -c config.yaml",
            "wait_for_server vllm serve",
            "log vllm serve t",
            "CMD='vllm serve t'",
            "ts '%H:%M'",
        ],
    )
    def test_text_that_only_speaks_of_a_launch(self, text: str) -> None:
        assert not launches(text)

    def test_a_server_in_a_container_whose_image_is_the_engine(self) -> None:
        found = launch("docker run --gpus all -p 8000:8000 vllm/vllm-openai:v0.20.0 --model t --dtype bfloat16")
        assert (found.engine, of(found.target), value(found, "dtype")) == ("vllm", "t", "bfloat16")
        assert not launches("docker run --rm redis:7 --port 6379")

    def test_a_step_that_an_unknown_program_runs(self) -> None:
        assert launch("run_step serve python -m sglang.launch_server --model-path t").engine == "sglang"
        assert of(launch("retry 3 vllm serve t").target) == "t"

    @pytest.mark.parametrize(
        "before",
        [
            *("$PREFIX", '"$RUNNER"', "${DEBUG:+strace}", "trtllm-llmapi-launch", "$ENVS $MORE"),
            *('env "$NAME=$GPU"', "env A=1 ${X:+X=$X} B=$Y", "env $VARS C=1", '"$NAME"=3 D=1'),
        ],
    )
    def test_what_is_not_known_before_a_launch(self, before: str) -> None:
        found = launch(f"{before} vllm serve t --port 1")
        assert (found.engine, of(found.target), value(found, "port")) == ("vllm", "t", "1")

    def test_a_program_that_is_not_known_is_told_no_launch_later_on(self) -> None:
        assert launches('"$KILLER" -f vllm serve') == []

    def test_every_branch_of_a_script_is_a_launch(self) -> None:
        text = 'if [ "$1" = a ]; then\n  vllm serve t\nelse\n  sglang serve --model-path t\nfi'
        assert [found.engine for found in launches(text)] == ["vllm", "sglang"]


class TestArguments:
    def test_names_are_the_engines_own_and_spellings_as_written(self) -> None:
        found = launch("sglang serve --model-path t --tp 8 --speculative-algo EAGLE3 --speculative-num-steps=3")
        assert [(a.name, a.spelling, a.value.value) for a in found.arguments] == [
            ("model_path", "--model-path", "t"),
            ("tp_size", "--tp", "8"),
            ("speculative_algorithm", "--speculative-algo", "EAGLE3"),
            ("speculative_num_steps", "--speculative-num-steps", "3"),
        ]

    def test_short_and_dotted_options(self) -> None:
        found = launch("vllm serve t -tp 8 -O3 -O.level=2 --speculative-config.num_speculative_tokens 3 -q fp8")
        assert [(a.name, a.spelling, a.value.value) for a in found.arguments] == [
            ("tensor_parallel_size", "-tp", "8"),
            ("compilation_config", "-O", "3"),
            ("compilation_config.level", "-O.level", 2),
            ("speculative_config.num_speculative_tokens", "--speculative-config.num_speculative_tokens", 3),
            ("quantization", "-q", "fp8"),
        ]

    def test_flags_take_no_value(self) -> None:
        found = launch("vllm serve --trust-remote-code --no-enable-prefix-caching t --enable-chunked-prefill=False")
        assert of(found.target) == "t"
        assert value(found, "trust_remote_code") is True
        assert value(found, "no_enable_prefix_caching") is True
        assert value(found, "enable_chunked_prefill") == "False"

    def test_negative_numbers_are_values(self) -> None:
        assert value(launch("sglang serve --model-path t --chunked-prefill-size -1"), "chunked_prefill_size") == "-1"

    def test_lists(self) -> None:
        found = launch("sglang serve --model-path t --return-aux-hidden-state-layer-ids 1 17 32 --cuda-graph-bs 1 2")
        assert value(found, "return_aux_hidden_state_layer_ids") == [1, 17, 32]
        assert value(found, "cuda_graph_bs") == ["1", "2"]
        found = launch("ts serve t --eagle3-layers-to-capture 1,17,32")
        assert value(found, "eagle3_layers_to_capture") == [1, 17, 32]

    def test_of_repeated_arguments_the_last_counts(self) -> None:
        found = launch("sglang serve --model-path t --tp 4 --tp-size 8")
        assert value(found, "tp_size") == "8"
        assert len(found.arguments) == 3

    def test_an_argument_that_is_not_known_is_no_wrong_value(self) -> None:
        found = launch('sglang serve --model-path "$MODEL" --tp $TP --speculative-draft-model-path "$1"')
        assert found.target is not None
        assert not found.target.known
        assert found.draft is not None
        assert not found.draft.known
        assert found.complete

    @pytest.mark.parametrize("rest", ["$EXTRA", '"$@"', '"${ARGS[@]}"', '${X:+--x "$X"}', '"$MAYBE_AN_OPTION"', "--$F"])
    def test_words_that_are_not_known_make_a_launch_incomplete(self, rest: str) -> None:
        found = launch(f"sglang serve --model-path t --disable-radix-cache {rest}")
        assert not found.complete
        assert of(found.target) == "t"

    def test_a_default_stays_a_default(self) -> None:
        found = launch('DRAFT="${DRAFT:-heads/a}"\nsglang serve --model-path t --speculative-draft-model-path "$DRAFT"')
        assert found.draft is not None
        assert (found.draft.value, found.draft.assumed) == ("heads/a", "default of $DRAFT")

    def test_an_option_that_is_a_default_is_assumed(self) -> None:
        argument = launch("sglang serve --model-path t ${CACHE:---disable-radix-cache}").get("disable_radix_cache")
        assert argument is not None
        assert (argument.value.value, argument.value.assumed) == (True, "default of $CACHE")

    def test_places(self) -> None:
        found = launch("set -e\nexec python3 -m sglang.launch_server \\\n  --model-path t \\\n  --tp-size=8\n")
        assert found.where[:3] == ("serve.sh", 2, 1)
        argument = found.get("tp_size")
        assert argument is not None
        assert (argument.where[1:5], argument.value.where[1:5]) == ((4, 3, 4, 12), (4, 13, 4, 14))

    def test_elements_of_a_list_stand_where_they_are_written(self) -> None:
        found = launch('ARGS=(\n  --model-path t\n  --tp 8\n)\nsglang serve "${ARGS[@]}"')
        argument = found.get("tp_size")
        assert found.where.line == 5
        assert argument is not None
        assert argument.where.line == 3

    def test_the_environment_of_a_launch(self) -> None:
        found = launch("export A=1\nCUDA_VISIBLE_DEVICES=0 vllm serve t")
        assert {name: of(value) for name, value in found.environment} == {"A": "1", "CUDA_VISIBLE_DEVICES": "0"}


class TestJson:
    def test_each_key_is_an_argument(self) -> None:
        text = 'vllm serve t --speculative-config \'{"method": "eagle3", "model": "d", "x": {"y": [1, 2]}}\''
        found = launch(text)
        assert value(found, "speculative_config") == {"method": "eagle3", "model": "d", "x": {"y": [1, 2]}}
        assert value(found, "speculative_config.method") == "eagle3"
        assert value(found, "speculative_config.x.y") == [1, 2]
        argument = found.get("speculative_config.model")
        assert argument is not None
        assert argument.spelling == "model"
        assert text[argument.where.start : argument.where.end] == '"model"'
        assert text[argument.value.where.start : argument.value.where.end] == '"d"'

    def test_places_on_lines_of_their_own(self) -> None:
        found = launch('vllm serve t \\\n  --speculative-config \'{\n    "method": "eagle3",\n    "model": "d"}\'')
        argument = found.get("speculative_config.model")
        assert argument is not None
        assert argument.where[1:3] == (4, 5)

    def test_escaped_json_with_variables(self) -> None:
        text = 'D=${D:-d}\nvllm serve t --speculative-config "{\\"method\\": \\"eagle3\\", \\"model\\": \\"$D\\"}"'
        found = launch(text)
        assert value(found, "speculative_config.method") == "eagle3"
        assert found.draft is not None
        assert (found.draft.value, found.draft.assumed, found.draft.where.line) == ("d", "default of $D", 2)

    def test_json_in_a_variable_is_read_where_it_is_written(self) -> None:
        text = 'SPEC=\'{"method": "eagle3"}\'\n\nvllm serve t --speculative-config "$SPEC"'
        argument = launch(text).get("speculative_config.method")
        assert argument is not None
        assert text[argument.where.start : argument.where.end] == '"method"'

    def test_json_from_printf_and_from_a_here_document(self) -> None:
        for spec in ('$(printf \'{"model": "%s"}\' d)', '$(cat <<EOF\n{"model": "d"}\nEOF\n)'):
            assert of(launch(f'SPEC={spec}\nvllm serve t --speculative-config "$SPEC"').draft) == "d"

    def test_an_unknown_part_leaves_the_rest_known(self) -> None:
        found = launch(
            'vllm serve t --speculative-config "{\\"method\\": \\"eagle3\\", \\"model\\": \\"$1\\", \\"n\\": $N}"'
        )
        assert value(found, "speculative_config.method") == "eagle3"
        assert found.draft is not None
        assert not found.draft.known
        number = found.get("speculative_config.n")
        assert number is not None
        assert not number.value.known

    def test_unknown_json_may_hold_any_key(self) -> None:
        found = launch('vllm serve t --speculative-config "$(cat spec.json)"')
        assert not found.complete

    @pytest.mark.parametrize("spec", ["{'method': 'eagle3'}", '{"method": "eagle3",}', '{"method": eagle3}', "eagle3"])
    def test_json_that_is_broken_is_said(self, spec: str) -> None:
        text = f"vllm serve t \\\n  --speculative-config '{spec}'".replace("'{'", "\"{'").replace("'}'", "'}\"")
        (unreadable,) = [fact for fact in facts(text) if isinstance(fact, Unreadable)]
        assert unreadable.where.line == 2
        assert "--speculative-config" in unreadable.reason
        assert not launch(text).complete

    def test_other_braces_are_no_json(self) -> None:
        found = facts("vllm serve t --chat-template '{{ messages }}'")
        assert [type(fact) for fact in found] == [Launch]


class TestScriptRuns:
    @pytest.mark.parametrize(
        ("command", "script"),
        [
            ("python dump/states.py --aux 1 2", "dump/states.py"),
            ("python3 -u -X dev ./states.py --aux 1 2", "./states.py"),
            ("./states.py --aux 1 2", "./states.py"),
            ("python -m dump.states --aux 1 2", "dump.states"),
            ("torchrun --standalone --nproc_per_node 8 train.py --aux 1 2", "train.py"),
            ("torchrun --nproc_per_node=8 -m pkg.train --aux 1 2", "pkg.train"),
            ("python -m torch.distributed.run --nproc-per-node 8 train.py --aux 1 2", "train.py"),
            ("accelerate launch --config_file a.yaml train.py --aux 1 2", "train.py"),
            ("CUDA_VISIBLE_DEVICES=0 nohup uv run train.py --aux 1 2 &", "train.py"),
            ("uv run -m pkg.train --aux 1 2", "pkg.train"),
            ('srun -N 2 python "$REPO/tools/train.py" --aux 1 2', "tools/train.py"),
        ],
    )
    def test_a_command_that_runs_a_script(self, command: str, script: str) -> None:
        (run,) = runs(command)
        assert run.script == script
        assert [word.value for word in run.words] == ["--aux", "1", "2"]

    @pytest.mark.parametrize(
        "command",
        [
            "python",
            "python -c 'x'",
            "python -m pip install x",
            "python3 - < x",
            'python "$SCRIPT"',
            "cat train.py",
            "# python x.py",
        ],
    )
    def test_a_command_that_runs_none(self, command: str) -> None:
        assert not runs(command)

    def test_words_that_are_not_known(self) -> None:
        (run,) = runs('python dump.py --out "$OUT" $MORE')
        assert [(word.value, word.known) for word in run.words] == [("--out", True), (None, False), (None, False)]

    def test_a_run_has_its_environment(self) -> None:
        (run,) = runs("export LAYERS=1,2\nOUT=x python dump.py")
        assert {name: of(value) for name, value in run.environment} == {"LAYERS": "1,2", "OUT": "x"}


class TestEnvironment:
    def test_settings_of_a_script(self) -> None:
        found = [fact for fact in facts("export LAYERS=1,2 DIR=$(mktemp -d)") if isinstance(fact, EnvironmentSetting)]
        assert [(fact.name, fact.value.value, fact.value.known) for fact in found] == [
            ("LAYERS", "1,2", True),
            ("DIR", None, False),
        ]

    def test_lines_of_an_env_file(self) -> None:
        text = "# python\nLAYERS=1,2\nNAME='a b'\nexport X=1\n"
        found = [fact for fact in facts(text, "deploy/.env", "text") if isinstance(fact, EnvironmentSetting)]
        assert [(fact.name, fact.value.value) for fact in found] == [("LAYERS", "1,2"), ("NAME", "a b"), ("X", "1")]


class TestEvaluatedWords:
    def test_words_from_python(self) -> None:
        words = ["python", "-m", "sglang.launch_server", "--model-path", "t", "--tp", 8]
        found = from_words([*(Value(word, HERE) for word in words), Value("--port", HERE), None], HERE, "python")
        assert isinstance(found, Launch)
        assert (found.engine, found.form, found.where, of(found.target)) == ("sglang", "python", HERE, "t")
        assert value(found, "tp_size") == "8"
        assert found.complete

    def test_json_from_python(self) -> None:
        words = ["vllm", "serve", "t", "--speculative-config", '{"method": "eagle3", "model": "d"}']
        found = from_words([Value(word, HERE) for word in words], HERE, "python", unit="job")
        assert isinstance(found, Launch)
        assert found.unit == "job"
        assert found.draft == Value("d", HERE)

    def test_scripts_and_other_commands(self) -> None:
        found = from_words([Value(word, HERE) for word in ("torchrun", "train.py", "-x")], HERE, "python")
        assert isinstance(found, ScriptRun)
        assert found.script == "train.py"
        assert from_words([Value("ls", HERE)], HERE) is None
        assert from_words([None, None], HERE) is None
        assert from_words([], HERE) is None

    def test_keywords(self) -> None:
        pairs = [
            ("model", Value("t", HERE), HERE),
            ("speculative_config", Value({"method": "eagle3", "model": "d"}, HERE, assumed="default of --x"), HERE),
        ]
        found = from_keywords("vllm", pairs, HERE)
        assert (found.form, of(found.target), of(found.draft)) == ("python", "t", "d")
        assert found.get("speculative_config.method") == Argument(
            "speculative_config.method",
            "speculative_config.method",
            Value("eagle3", HERE, assumed="default of --x"),
            HERE,
        )

    def test_keywords_that_are_dotted_keep_their_places(self) -> None:
        there = HERE._replace(line=4)
        pairs = [
            ("speculative_config", Value({"model": "d"}, HERE), HERE),
            ("speculative_config.model", Value("d", there), there),
        ]
        found = from_keywords("vllm", pairs, HERE)
        assert [(a.name, a.where.line) for a in found.arguments] == [
            ("speculative_config", 3),
            ("speculative_config.model", 4),
        ]

    def test_keywords_have_no_aliases(self) -> None:
        found = from_keywords("sglang", [("speculative_algo", Value("EAGLE3", HERE), HERE)], HERE)
        assert found.get("speculative_algorithm") is None

    def test_an_options_file_completes_a_launch(self) -> None:
        options = from_keywords(
            "tensorrt-llm", [("speculative_config.speculative_model", Value("d", HERE), HERE)], HERE
        )
        found = with_options(launch("trtllm-serve t --extra_llm_api_options o.yaml"), options)
        assert (of(found.target), of(found.draft), found.form) == ("t", "d", "shell")


def test_python_code_in_a_shell_script() -> None:
    source = Source("a.sh", "shell", Path("a.sh"), b"python - <<'EOF'\nx = 1\nEOF\n")
    assert [code.text for code in python_code(source)] == ["x = 1\n"]


def test_files_of_other_kinds_start_nothing() -> None:
    assert not facts("vllm serve t", "notes.md", "markdown")
    assert not facts("vllm serve t", "x.py", "python")
    assert not facts("vllm serve t", "notes.txt", "text")


class TestSourcedFiles:
    def read(self, folder: Path, files: dict[str, str], name: str = "scripts/run.sh") -> list[Launch]:
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        source = Source(name, "shell", folder / name)
        return [fact for fact in read_launches(source) if isinstance(fact, Launch)]

    @pytest.mark.parametrize(
        ("line", "path"),
        [
            ("source common.sh", "scripts/common.sh"),
            ('. "$(dirname "$0")/common.sh"', "scripts/common.sh"),
            ('D=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd); source "$D/../lib/x.sh"', "lib/x.sh"),
            ("cd lib && . ./x.sh", "lib/x.sh"),
            ("set -a; source .env; set +a", ".env"),
        ],
    )
    def test_what_a_sourced_file_sets_is_known(self, tmp_path: Path, line: str, path: str) -> None:
        script = f'{line}\nvllm serve t --port $P "${{A[@]}}"\n'
        (found,) = self.read(tmp_path, {path: "P=1\nA=(--dtype bf16)\nreturn\n", "scripts/run.sh": script})
        assert (value(found, "port"), value(found, "dtype")) == ("1", "bf16")
        dtype = found.get("dtype")
        assert dtype is not None
        assert (dtype.where.path, dtype.where.line) == (path, 2)

    def test_functions_of_a_sourced_file_run_where_they_are_called(self, tmp_path: Path) -> None:
        library = "serve() { vllm serve \"$1\"; }\nunused() { vllm serve u; }\nvllm serve own\n"
        (found,) = self.read(tmp_path, {"scripts/lib.sh": library, "scripts/run.sh": "source lib.sh\nserve t\n"})
        assert (of(found.target), found.where.path) == ("t", "scripts/lib.sh")

    @pytest.mark.parametrize(
        "line", ["source /etc/x.sh", 'source "$1"', "source ${F:-x.sh}", "source ../../x.sh", "source no.sh"]
    )
    def test_what_is_not_looked_at(self, tmp_path: Path, line: str) -> None:
        (tmp_path / "x.sh").write_text("P=1\n")
        script = f"{line}\nvllm serve t --port $P\n"
        (found,) = self.read(tmp_path / "a", {"scripts/run.sh": script, "scripts/x.sh": "P=1"})
        assert value(found, "port") is None

    def test_files_that_source_each_other_and_links(self, tmp_path: Path) -> None:
        script = "source a.sh\nvllm serve t --port $P\n"
        (found,) = self.read(tmp_path, {"scripts/run.sh": script, "scripts/a.sh": "source run.sh\nsource a.sh\nP=1\n"})
        assert value(found, "port") == "1"
        (tmp_path / "scripts/a.sh").unlink()
        (tmp_path / "scripts/a.sh").symlink_to(tmp_path / "elsewhere.sh")
        (tmp_path / "elsewhere.sh").write_text("P=1\n")
        (found,) = self.read(tmp_path, {"scripts/run.sh": "source a.sh\nvllm serve t --port $P\n# again\n"})
        assert value(found, "port") is None

    def test_a_text_that_is_not_on_disk_sources_nothing(self) -> None:
        assert value(launch("source common.sh\nvllm serve t --port $P"), "port") is None
