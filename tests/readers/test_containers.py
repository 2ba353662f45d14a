"""Dockerfiles: instructions on one line, build stages, and the values of variables where they are used."""

from __future__ import annotations

from eaglelint.location import MappedText
from eaglelint.readers.containers import Dockerfile, Instruction, read_dockerfile

TEXT = """\
# syntax=docker/dockerfile:1
ARG TAG=v0.5.9
FROM lmsysorg/sglang:${TAG} AS base
ENV ONE=1 TWO="tag ${TAG}" THREE='$ONE' \\
    # a comment between
    FOUR=a\\ b

ENV FIVE six seven
ARG TAG
ARG VLLM=0.19.$ONE
RUN --mount=type=cache,target=/root/.cache \\
    pip install "vllm==${VLLM}" \\

    && echo done

from BASE as serve
RUN <<EOF
pip install x
EOF
RUN python3 - <<'PY' > log && ls
print(1)
PY
CMD ["serve"]
FROM scratch
"""


def read(text: str) -> Dockerfile:
    return read_dockerfile(MappedText.whole("Dockerfile", text))


def runs(dockerfile: Dockerfile) -> list[Instruction]:
    return [instruction for instruction in dockerfile.instructions if instruction.name == "RUN"]


class TestInstructions:
    def test_names_and_stages(self) -> None:
        found = [(i.name, i.stage) for i in read(TEXT).instructions]
        assert found == [
            *[("ARG", -1), ("FROM", 0), ("ENV", 0), ("ENV", 0), ("ARG", 0), ("ARG", 0), ("RUN", 0)],
            *[("FROM", 1), ("RUN", 1), ("RUN", 1), ("CMD", 1), ("FROM", 2)],
        ]

    def test_lines_are_joined_and_flags_and_comments_left_out(self) -> None:
        run = runs(read(TEXT))[0]
        assert run.text.text.split() == ["pip", "install", '"vllm==${VLLM}"', "&&", "echo", "done"]
        assert (run.where.line, run.where.end_line) == (11, 14)

    def test_characters_keep_their_places(self) -> None:
        run = runs(read(TEXT))[0]
        start = run.text.text.index("vllm")
        assert run.text.location(start, start + 4)[1:3] == (12, 18)

    def test_here_documents(self) -> None:
        _, script, python = runs(read(TEXT))
        assert script.script.text == "pip install x"
        assert script.script.location(0, 3).line == 18
        assert python.script.text == "python3 - <<'PY' > log && ls\nprint(1)\nPY\n"
        assert (python.where.line, python.where.end_line) == (20, 22)

    def test_another_escape_character(self) -> None:
        dockerfile = read("# escape=`\nFROM x\nRUN a `\n    b\nRUN c\\\nRUN d\n")
        assert [" ".join(i.text.text.split()) for i in runs(dockerfile)] == ["a b", "c\\", "d"]

    def test_what_ends_in_the_middle(self) -> None:
        assert [i.name for i in read("FROM x\nRUN a \\\n").instructions] == ["FROM", "RUN"]
        assert runs(read("FROM x\nRUN <<EOF\necho"))[0].script.text == ""
        assert read("").instructions == ()
        assert read("\\\n\\\n").instructions == ()

    def test_windows_line_ends(self) -> None:
        [run] = runs(read("FROM x\r\nRUN a \\\r\n  b\r\n"))
        assert run.text.text.split() == ["a", "b"]


class TestStages:
    def test_images_and_parents(self) -> None:
        base, serve, scratch = read(TEXT).stages
        assert (base.image.value, base.image.assumed) == ("lmsysorg/sglang:v0.5.9", "default of ARG TAG")
        assert base.image.where[1:3] == (3, 6)
        assert (serve.name, serve.parent, scratch.parent) == ("serve", 0, None)

    def test_units(self) -> None:
        dockerfile = read(TEXT)
        assert [dockerfile.unit(stage.number) for stage in dockerfile.stages] == ["base", "serve", "stage 2"]
        assert dockerfile.family(1) == [1, 0]
        assert read("FROM x AS only\n").unit(0) == ""

    def test_a_variable_without_a_value(self) -> None:
        assert not read("FROM lmsysorg/sglang:$TAG\n").stages[0].image.known
        stage = read("FROM lmsysorg/sglang:${TAG:-v0.5.9}\n").stages[0]
        assert (stage.image.value, stage.image.assumed) == ("lmsysorg/sglang:v0.5.9", "default of $TAG")

    def test_a_later_stage_of_the_same_name_counts(self) -> None:
        assert read("FROM a AS x\nFROM b AS x\nFROM x\n").stages[2].parent == 1


class TestVariables:
    def test_what_an_instruction_sees(self) -> None:
        dockerfile = read(TEXT)
        seen = {name: (value.value, value.assumed) for name, value in dockerfile.variables(runs(dockerfile)[0]).items()}
        assert seen["ONE"] == ("1", "")
        assert seen["THREE"] == ("$ONE", "")
        assert seen["FOUR"] == ("a b", "")
        assert seen["FIVE"] == ("six seven", "")
        assert seen["TAG"] == ("v0.5.9", "default of ARG TAG")
        assert seen["VLLM"] == ("0.19.1", "default of ARG VLLM")

    def test_an_argument_from_above_is_only_seen_where_it_is_asked_for(self) -> None:
        dockerfile = read(TEXT)
        assert not dockerfile.variables(runs(dockerfile)[0])["TWO"].known

    def test_a_stage_inherits_the_environment_and_not_the_arguments(self) -> None:
        dockerfile = read(TEXT)
        seen = dockerfile.variables(runs(dockerfile)[1])
        assert "ONE" in seen
        assert "VLLM" not in seen

    def test_nothing_that_comes_later(self) -> None:
        dockerfile = read("FROM x\nRUN a\nENV LATE=1\n")
        assert dockerfile.variables(runs(dockerfile)[0]) == {}
