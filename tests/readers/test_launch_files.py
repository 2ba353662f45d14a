"""Launches of Dockerfiles, compose files, Kubernetes objects, workflows, options files, makefiles and service units."""

from __future__ import annotations

from pathlib import Path

import pytest

from eaglelint.errors import DocumentError
from eaglelint.facts import EnvironmentSetting, Launch, ScriptRun, Value
from eaglelint.project import Source
from eaglelint.readers.launch import Fact, python_code, read_launches


def source(kind: str, text: str) -> Source:
    return Source(f"x.{kind}", kind, Path(f"x.{kind}"), text.encode())


def facts(kind: str, text: str) -> list[Fact]:
    return list(read_launches(source(kind, text)))


def launches(kind: str, text: str) -> list[Launch]:
    return [fact for fact in facts(kind, text) if isinstance(fact, Launch)]


def launch(kind: str, text: str) -> Launch:
    (found,) = launches(kind, text)
    return found


def runs(kind: str, text: str) -> list[str]:
    return [fact.script for fact in facts(kind, text) if isinstance(fact, ScriptRun)]


def settings(kind: str, text: str) -> list[tuple[str, object]]:
    return [(fact.name, fact.value.value) for fact in facts(kind, text) if isinstance(fact, EnvironmentSetting)]


def of(value: Value | None) -> object:
    return None if value is None else value.value


def value(found: Launch, name: str) -> object:
    argument = found.get(name)
    return None if argument is None else argument.value.value


class TestDockerfile:
    def test_exec_form(self) -> None:
        text = 'FROM a\nENTRYPOINT ["sglang", "serve"]\nCMD ["--model-path", "t", \\\n  # comment\n  "--tp", "8"]\n'
        found = launch("dockerfile", text)
        assert (found.engine, found.form, found.unit, of(found.target)) == ("sglang", "dockerfile", "", "t")
        argument = found.get("tp_size")
        assert argument is not None
        assert argument.where.line == 5

    def test_json_in_an_exec_form(self) -> None:
        text = 'FROM a\nCMD ["vllm", "serve", "t", "--speculative-config", "{\\"model\\": \\"d\\"}"]\n'
        found = launch("dockerfile", text)
        assert of(found.draft) == "d"
        argument = found.get("speculative_config.model")
        assert argument is not None
        assert text[argument.value.where.start :].startswith('\\"d\\"')

    def test_shell_form_with_variables(self) -> None:
        text = "FROM a\nARG DRAFT=d\nENV TARGET=t\nCMD vllm serve $TARGET --spec-model $DRAFT \\\n  --port 1\n"
        found = launch("dockerfile", text)
        assert of(found.target) == "t"
        assert found.draft is not None
        assert (found.draft.value, found.draft.assumed) == ("d", "default of ARG DRAFT")
        assert value(found, "port") == "1"

    def test_an_exec_form_replaces_no_variables(self) -> None:
        assert of(launch("dockerfile", 'FROM a\nENV T=t\nCMD ["vllm", "serve", "$T"]\n').target) == "$T"

    def test_a_shell_as_entry_point(self) -> None:
        text = 'FROM a\nENTRYPOINT ["/bin/bash", "-lc"]\nCMD ["export X=1 && vllm serve t"]\n'
        assert of(launch("dockerfile", text).target) == "t"

    def test_arguments_for_the_entry_point_of_the_base_image(self) -> None:
        found = launch("dockerfile", 'FROM vllm/vllm-openai:v0.20.0\nCMD ["--model", "t"]\n')
        assert (found.engine, of(found.target)) == ("vllm", "t")
        assert not launches("dockerfile", 'FROM python:3.12\nCMD ["--model", "t"]\n')

    def test_the_last_command_counts(self) -> None:
        text = 'FROM a\nCMD ["vllm", "serve", "one"]\nCMD ["vllm", "serve", "two"]\n'
        assert of(launch("dockerfile", text).target) == "two"

    def test_each_stage_is_a_unit(self) -> None:
        text = 'FROM a AS one\nENTRYPOINT ["vllm", "serve"]\nCMD ["t"]\nFROM one AS two\nCMD ["u"]\n'
        assert [(found.unit, of(found.target)) for found in launches("dockerfile", text)] == [
            ("one", "t"),
            ("two", "u"),
        ]

    def test_what_is_run_to_build_an_image(self) -> None:
        text = "FROM a\nENV A=1\nRUN export B=2 && \\\n    python patch.py\nRUN <<EOF\npython other.py\nEOF\n"
        assert runs("dockerfile", text) == ["patch.py", "other.py"]
        assert settings("dockerfile", text) == [("A", "1"), ("B", "2")]

    def test_comments_and_other_instructions_start_nothing(self) -> None:
        text = 'FROM a\n# CMD ["vllm", "serve", "t"]\nLABEL cmd="vllm serve t"\nHEALTHCHECK CMD curl vllm\n'
        assert not launches("dockerfile", text)

    def test_python_in_here_documents(self) -> None:
        text = "FROM a\nRUN python3 - <<'EOF'\nx = 1\nEOF\n"
        assert [code.text for code in python_code(source("dockerfile", text))] == ["x = 1\n"]

    def test_a_script_that_is_copied_from_a_here_document(self) -> None:
        text = (
            "FROM base\nENV DRAFT=heads/a\nARG TARGET=t\nCOPY --chmod=755 <<'EOF' /opt/start.sh\n"
            'vllm serve $TARGET --speculative-config "{\\"model\\": \\"$DRAFT\\"}"\nEOF\n'
            "COPY <<EOF /opt/notes.txt\nvllm serve x\nEOF\n"
        )
        found = launch("dockerfile", text)
        assert (of(found.target), of(found.draft), found.where.line) == (None, "heads/a", 5)

    def test_what_is_copied_into_it(self) -> None:
        text = 'FROM a\nCOPY heads/a /models/draft\nCMD ["vllm", "serve", "t"]\n'
        assert launch("dockerfile", text).mounts == (("heads/a", "/models/draft"),)


class TestCompose:
    def test_a_command_of_one_string(self) -> None:
        text = (
            "services:\n  llm:\n    image: a\n    command: >-\n      vllm serve t\n"
            '      --speculative-config \'{"model": "d"}\'\n      --dtype "$$X"\n'
        )
        found = launch("yaml", text)
        assert (found.form, found.unit, of(found.target), of(found.draft)) == ("compose", "llm", "t", "d")
        assert value(found, "dtype") == "$X"
        argument = found.get("speculative_config.model")
        assert argument is not None
        assert argument.where.line == 6

    def test_a_list_after_an_entry_point(self) -> None:
        text = (
            "services:\n  llm:\n    image: a\n    entrypoint: [python3, -m, sglang.launch_server]\n    command:\n"
            "      - --model-path\n      - t\n      - --tp\n      - 8\n    volumes: ['./heads:/models:ro']\n"
        )
        found = launch("yaml", text)
        assert (found.engine, of(found.target), value(found, "tp_size")) == ("sglang", "t", "8")
        assert found.mounts == (("./heads", "/models"),)

    def test_a_script_for_bash(self) -> None:
        text = (
            "services:\n  llm:\n    image: a\n    command:\n      - /bin/bash\n      - -c\n      - |\n"
            "        export X=1\n        vllm serve t \\\n          --port $$PORT\n    environment:\n      - PORT=80\n"
        )
        found = launch("yaml", text)
        assert found.where.line == 9
        assert value(found, "port") == "80"

    def test_variables_of_the_caller(self) -> None:
        text = (
            "services:\n  llm:\n    image: a\n"
            "    command: vllm serve ${TARGET:-t} --speculative-config.model ${DRAFT} --port ${PORT:?}\n"
        )
        found = launch("yaml", text)
        assert found.target is not None
        assert (found.target.value, found.target.assumed) == ("t", "default of $TARGET")
        assert found.draft is not None
        assert not found.draft.known

    def test_the_image_as_the_program(self) -> None:
        text = "services:\n  llm:\n    image: vllm/vllm-openai:v0.20.0\n    command: t --max-model-len 8192\n"
        assert of(launch("yaml", text).target) == "t"
        other = text.replace("vllm/vllm-openai:v0.20.0", "nginx")
        assert not launches("yaml", other + "# vllm\n")

    def test_a_program_instead_of_the_images_own(self) -> None:
        text = "services:\n  llm:\n    image: vllm/vllm-openai:v1\n    entrypoint: /start.sh\n    command: t --port 1\n"
        assert not launches("yaml", text)

    def test_environment(self) -> None:
        text = (
            "services:\n  llm:\n    image: a\n    environment:\n      LAYERS: 1,2\n      N: 3\n      TOKEN:\n"
            "      D: ${D:-x}\n    command: python dump.py\n"
        )
        assert settings("yaml", text) == [("LAYERS", "1,2"), ("N", "3"), ("TOKEN", None), ("D", "x")]
        assert runs("yaml", text) == ["dump.py"]

    def test_merged_services(self) -> None:
        text = (
            "x-llm: &llm\n  image: a\n  command: [vllm, serve, t]\n"
            "services:\n  one:\n    <<: *llm\n  two:\n    <<: *llm\n    command: [vllm, serve, u]\n"
        )
        found = [(f.unit, of(f.target)) for f in launches("yaml", text) if f.form == "compose" and f.unit]
        assert found == [("one", "t"), ("two", "u")]


class TestKubernetes:
    TEXT = (
        "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n    - name: server\n      image: a\n      env:\n"
        "        - name: DRAFT\n          value: d\n        - name: TOKEN\n          valueFrom: {x: y}\n"
        "      command: [vllm, serve]\n      args:\n        - t\n"
        '        - \'--speculative-config={"model": "$(DRAFT)"}\'\n        - --port=$(PORT)\n'
    )

    def test_command_and_arguments(self) -> None:
        found = launch("yaml", self.TEXT)
        assert (found.form, found.unit, of(found.target), of(found.draft)) == ("kubernetes", "server", "t", "d")
        assert value(found, "port") == "$(PORT)"
        assert settings("yaml", self.TEXT) == [("DRAFT", "d"), ("TOKEN", None)]

    def test_arguments_for_the_program_of_the_image(self) -> None:
        text = self.TEXT.replace("      command: [vllm, serve]\n", "").replace("image: a", "image: vllm/vllm-openai:v1")
        assert of(launch("yaml", text).target) == "t"
        assert not launches("yaml", text.replace("vllm/vllm-openai:v1", "vllm/other:v1"))

    def test_a_template_is_said(self) -> None:
        with pytest.raises(DocumentError):
            facts("yaml", "{{ if .Values.vllm }}\ncommand: [vllm, serve, t]\n{{ end }}\n")


class TestWorkflows:
    def test_steps_with_expressions(self) -> None:
        text = (
            "on: push\nenv:\n  TARGET: t\njobs:\n  bench:\n    env:\n      DRAFT: d\n    steps:\n      - run: date\n"
            "      - name: serve\n        run: |\n          vllm serve $TARGET \\\n"
            '            --speculative-config \'{"model": "${{ env.DRAFT }}", "n": ${{ matrix.n }}}\' &\n'
            "          python bench.py --url ${{ secrets.URL }}\n"
        )
        found = launch("yaml", text)
        assert (found.form, found.unit, of(found.target), of(found.draft)) == ("workflow", "bench", "t", "d")
        number = found.get("speculative_config.n")
        assert number is not None
        assert (number.value.known, number.where.line) == (False, 13)
        assert runs("yaml", text) == ["bench.py"]

    def test_python_steps(self) -> None:
        text = (
            "jobs:\n  a:\n    steps:\n      - shell: python\n        run: |\n          import vllm\n          x = 1\n"
        )
        assert not facts("yaml", text)
        assert [code.text for code in python_code(source("yaml", text))] == ["import vllm\nx = 1\n"]

    def test_scripts_of_other_runners(self) -> None:
        gitlab = "serve:\n  variables: {T: t}\n  script:\n    - pip install vllm\n    - vllm serve $T\n"
        assert of(launch("yaml", gitlab).target) == "t"
        assert of(launch("yaml", "resources: {}\nrun: |\n  cd x\n  vllm serve t\n").target) == "t"

    def test_the_script_of_an_action_is_not_for_a_shell(self) -> None:
        step = "- uses: actions/github-script@v7\n        with:\n          script: |\n            say(`vllm serve x`)\n"
        assert not facts("yaml", f"jobs:\n  a:\n    steps:\n      {step}")

    def test_lines_of_a_list_are_one_script(self) -> None:
        text = "s:\n  variables: {P: 1}\n  script:\n    - export T=t\n    - >-\n      vllm serve $T\n      --port $P\n"
        found = launch("yaml", text)
        assert (of(found.target), value(found, "port"), found.where.line) == ("t", "1", 6)

    def test_words_of_a_container_whose_image_stands_elsewhere(self) -> None:
        text = "command: [vllm, serve]\nargs:\n  - t\n  - --port\n  - 1\n"
        for image in ("", "image: {repository: vllm/vllm-openai, tag: v0.12.0}\n"):
            found = launch("yaml", image + text)
            assert (of(found.target), value(found, "port")) == ("t", "1")

    def test_prose_is_no_script(self) -> None:
        assert not facts("yaml", "description: vllm serve t\nnotes:\n  - vllm serve t\n")


class TestOptionsFiles:
    def test_tensorrt_llm(self) -> None:
        text = (
            "cuda_graph_config:\n  max_batch_size: 8\nspeculative_config:\n  decoding_type: Eagle3\n"
            "  speculative_model_dir: d\n  eagle3_layers_to_capture: [1, 17, 32]\n"
        )
        found = launch("yaml", text)
        assert (found.engine, found.form, found.where.line, of(found.draft)) == ("tensorrt-llm", "yaml", 3, "d")
        argument = found.get("speculative_config.eagle3_layers_to_capture")
        assert argument is not None
        assert (argument.value.value, argument.where.line) == ([1, 17, 32], 6)

    def test_vllm(self) -> None:
        found = launch("yaml", "model: t\nspeculative-config:\n  method: eagle3\n  model: d\n")
        assert (found.engine, of(found.target), of(found.draft)) == ("vllm", "t", "d")
        found = launch("yaml", 'model: t\nspeculative-config: \'{"num_speculative_tokens": 3, "model": "d"}\'\n')
        assert of(found.draft) == "d"

    def test_sglang(self) -> None:
        text = "a:\n  b:\n    model-path: t\n    speculative-algorithm: EAGLE3\n    speculative-draft-model-path: d\n"
        found = launch("yaml", text)
        assert (found.engine, of(found.target), of(found.draft)) == ("sglang", "t", "d")

    @pytest.mark.parametrize(
        "text",
        [
            "model: t\ntraining:\n  speculative: true\n",
            "speculative_config: eagle3\n",
            "model_path: t\nspeculative: {model: d}\n",
            "description: speculative_algorithm\n",
        ],
    )
    def test_other_files_about_speculative_decoding(self, text: str) -> None:
        assert not launches("yaml", text)


class TestMakefile:
    def test_recipes_with_variables(self) -> None:
        text = (
            "MODEL ?= t\nDRAFT := d\nARGS = --tp 8 \\\n  --speculative-draft-model-path $(DRAFT)\n\n.PHONY: serve\n"
            "serve: install\n\t@echo starting\n\t@python -m sglang.launch_server \\\n\t  --model-path $(MODEL) \\\n"
            "\t  $(ARGS) --port $$PORT --host ${HOST}\n"
        )
        found = launch("makefile", text)
        assert found.where.line == 9
        assert found.target is not None
        assert (found.target.value, found.target.assumed) == ("t", "default of $(MODEL)")
        assert (of(found.draft), value(found, "tp_size")) == ("d", "8")
        argument = found.get("tp_size")
        assert argument is not None
        assert argument.where.line == 3
        for name in ("port", "host"):
            unknown = found.get(name)
            assert unknown is not None
            assert not unknown.value.known

    def test_a_variable_of_several_lines(self) -> None:
        text = (
            "D := heads/a\ndefine SPEC\n--speculative-draft-model-path $(D) \\\n--page-size 16\nendef\n"
            "define STEP =\n\t@echo serving\n\t@sglang serve --model-path t $(SPEC)\nendef\n"
            "a:\n\tsglang serve --model-path s $(SPEC)\nb:\n\t$(STEP)\n"
        )
        found = launches("makefile", text)
        assert [(of(one.target), of(one.draft), value(one, "page_size")) for one in found] == [
            ("s", "heads/a", "16"),
            ("t", "heads/a", "16"),
        ]

    def test_quotes_in_variables(self) -> None:
        text = 'SPEC = \'{"method": "eagle3", "model": "d"}\'\nserve:\n\tvllm serve t --speculative-config $(SPEC)\n'
        found = launch("makefile", text)
        assert of(found.draft) == "d"
        argument = found.get("speculative_config.model")
        assert argument is not None
        assert argument.where.line == 1

    def test_values_that_are_not_settled(self) -> None:
        text = "ifeq ($(A),1)\nT = a\nelse\nT = b\nendif\nD = $(shell cat d)\nserve:\n\tvllm serve $(T) --model $(D)\n"
        found = launch("makefile", text)
        assert found.target is not None
        assert not found.target.known

    def test_what_is_no_recipe(self) -> None:
        assert not facts("makefile", "# \tvllm serve t\nCMD = vllm serve t\nserve:\n\techo $(CMD)\n")

    def test_a_command_in_a_variable(self) -> None:
        assert of(launch("makefile", "CMD = vllm serve t\nserve:\n\t$(CMD) --port 1\n").target) == "t"

    def test_exports(self) -> None:
        assert settings("makefile", "export LAYERS = 1,2\nX = 1\nexport X\nrun:\n\tpython x.py\n") == [
            ("LAYERS", "1,2"),
            ("X", "1"),
        ]


class TestSystemd:
    def test_a_service(self) -> None:
        text = (
            '[Service]\nEnvironment=TARGET=t "DRAFT=heads/d"\nEnvironmentFile=/etc/x\n'
            'ExecStart=-/opt/bin/vllm serve ${TARGET} \\\n# comment\n  --speculative-config \'{"model": "a"}\' \\\n'
            "  --port $PORT --served-model-name %i\n"
        )
        found = launch("systemd", text)
        assert (found.engine, of(found.target), of(found.draft)) == ("vllm", "t", "a")
        assert settings("systemd", text) == [("TARGET", "t"), ("DRAFT", "heads/d")]
        for name in ("port", "served_model_name"):
            unknown = found.get(name)
            assert unknown is not None
            assert not unknown.value.known

    def test_a_shell(self) -> None:
        assert of(launch("systemd", "[Service]\nExecStart=/bin/sh -c 'cd /x && vllm serve t'\n").target) == "t"

    def test_what_is_switched_off(self) -> None:
        assert not launches("systemd", "[Service]\n# ExecStart=vllm serve t\nDescription=vllm serve t\n")
        assert not launches("systemd", "[Service]\nExecStart=vllm serve t\nExecStart=\n")
