"""Shell scripts: which commands they run, and what is known, assumed and unknown of their words."""

from __future__ import annotations

from eaglelint.location import MappedText
from eaglelint.readers.shell import Command, Setting, python_heredocs, read_commands
from eaglelint.readers.words import Word


def commands(script: str, name: str = "show") -> list[Command]:
    """The commands of a script that run the program `name`."""
    items = read_commands(MappedText.whole("run.sh", script), script="scripts/run.sh")
    return [item for item in items if isinstance(item, Command) and item.words and item.words[0].content == name]


def words(script: str, name: str = "show") -> list[Word]:
    """The arguments of the only command that runs `name`."""
    (command,) = commands(script, name)
    return list(command.words[1:])


def values(script: str) -> list[object]:
    """The arguments of the only command `show`: their text, None for what is not known."""
    return [word.value().value for word in words(script)]


def settings(script: str) -> list[tuple[str, object]]:
    items = read_commands(MappedText.whole("run.sh", script))
    return [(item.name, item.word.value().value) for item in items if isinstance(item, Setting)]


class TestKnownAssumedUnknown:
    def test_a_default_is_assumed_and_says_whose_it_is(self) -> None:
        (word,) = words("show ${DRAFT:-heads/a}")
        assert word.value().value == "heads/a"
        assert word.value().assumed == "default of $DRAFT"

    def test_a_variable_that_takes_a_default_is_assumed_where_it_is_used(self) -> None:
        script = 'DRAFT="${DRAFT:-heads/a}"\nshow "x/$DRAFT"'
        value = words(script)[0].value()
        assert (value.value, value.assumed) == ("x/heads/a", "default of $DRAFT")
        assert value.where.line == 2
        assert value.defined is not None
        assert value.defined.line == 1

    def test_a_default_counts_for_nothing_when_the_file_assigns_the_variable(self) -> None:
        value = words("DRAFT=mine\nshow ${DRAFT:-heads/a}")[0].value()
        assert (value.value, value.assumed) == ("mine", "")

    def test_what_only_the_outside_knows_is_unknown(self) -> None:
        assert values('show "$1" "$HOME/x" "$(date)" "${UNSET}"') == [None, None, None, None]

    def test_a_default_for_a_parameter_is_assumed(self) -> None:
        value = words("MODEL=${1:-Qwen/Qwen3-8B}\nshow $MODEL")[0].value()
        assert (value.value, value.assumed) == ("Qwen/Qwen3-8B", "default of parameter 1")

    def test_an_unquoted_unknown_may_be_any_number_of_words(self) -> None:
        assert [word.many for word in words('show $UNSET "$UNSET" ${A[@]} "$@"')] == [True, False, True, True]

    def test_a_value_that_is_set_when_empty_is_assumed(self) -> None:
        value = words('if [ -z "$TOPK" ]; then TOPK=1; fi\nshow $TOPK')[0].value()
        assert (value.value, value.assumed) == ("1", "default of $TOPK")

    def test_a_colon_command_sets_defaults(self) -> None:
        value = words(': "${PORT:=8000}"\nshow "$PORT"')[0].value()
        assert (value.value, value.assumed) == ("8000", "default of $PORT")

    def test_a_required_variable_is_not_known(self) -> None:
        assert values(': "${DRAFT:?path of the drafter}"\nshow "$DRAFT" "${TARGET:?}"') == [None, None]

    def test_arithmetic_on_a_default_is_assumed(self) -> None:
        value = words("N=${N:-3}\nshow $((N + 1))")[0].value()
        assert (value.value, value.assumed) == ("4", "default of $N")

    def test_the_folder_of_the_script_is_known(self) -> None:
        script = 'HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"\nshow "$HERE/../heads/a"'
        assert values(script) == ["scripts/../heads/a"]

    def test_an_entry_of_a_map_is_known_by_its_key_alone(self) -> None:
        script = 'declare -A M=([a]=1)\nshow "${M[a]}" "${M[$K]}" "${M[b]}"'
        assert values(script) == ["1", None, None]
        assert [word.many for word in words('declare -A M=([a]=1)\nshow "${M[@]}"')] == [True]

    def test_an_element_at_an_unknown_index_makes_the_array_unknown(self) -> None:
        assert values('A[i]=5\nshow "${A[1]}"') == [None]
        assert values('A=(1 2); A[$N]=5\nshow "${A[0]}"') == [None]


class TestOrder:
    def test_a_variable_holds_what_was_assigned_last(self) -> None:
        assert [command.words[1].content for command in commands("X=1\nshow $X\nX=2\nshow $X")] == ["1", "2"]

    def test_a_value_that_differs_between_branches_is_unknown(self) -> None:
        assert values("if a; then X=1; else X=2; fi\nshow $X") == [None]

    def test_a_value_that_branches_agree_on_is_known(self) -> None:
        assert values("if a; then X=1; else X=1; fi\nshow $X") == ["1"]

    def test_a_value_that_only_one_branch_sets_is_unknown(self) -> None:
        assert values("X=1\nif a; then X=2; fi\nshow $X") == [None]

    def test_a_limit_for_a_value_from_outside_is_no_default(self) -> None:
        for test in ('[ "$X" -gt 64 ]', "(( X > 64 ))", '[ "$MODE" = fast ]', '[[ $X == all ]]'):
            assert values(f'X=$N; if {test}; then X=64; fi\nshow "$X"') == [None]
            assert values(f'{test} && X=64\nshow "$X"') == [None]
        assert values('X=$N; case "$M" in a) X=64 ;; esac\nshow "$X"') == [None]

    def test_a_value_that_is_set_when_there_is_none_is_a_default(self) -> None:
        for test in ('[ -z "$X" ]', '[[ ! $X ]]', '[ "$X" = "" ]', '[[ -z ${X:-} ]]', "[ ! -v X ]", 'test -z "$X"'):
            (word,) = words(f'X=$N; if {test}; then X=64; fi\nshow "$X"')
            assert (word.value().value, word.assumed) == ("64", "default of $X")
        (word,) = words('case "$X" in "") X=64 ;; esac\nshow "$X"')
        assert (word.value().value, word.assumed) == ("64", "default of $X")

    def test_a_branch_that_ends_the_script_does_not_count(self) -> None:
        assert values("X=1\nif a; then X=2; exit 1; fi\nshow $X") == ["1"]

    def test_commands_of_all_branches_are_read(self) -> None:
        found = commands("if a; then show 1; elif b; then show 2; else show 3; fi")
        assert [command.words[1].content for command in found] == ["1", "2", "3"]

    def test_what_runs_after_a_test_is_a_branch(self) -> None:
        assert values('X=1\n[ -n "$Y" ] && X=2\nshow $X') == [None]
        assert values("X=1\ncd /tmp && X=2\nshow $X") == ["2"]

    def test_a_list_option_that_a_branch_adds_leaves_the_rest_known(self) -> None:
        script = 'A=(--x 1)\nif a; then A+=(--fast); fi\nA+=(--y 2)\nshow "${A[@]}"'
        found = words(script)
        assert [word.content for word in found] == ["--x", "1", "--fast", "--y", "2", ""]
        assert found[-1].many

    def test_lists_that_branches_make_differently_are_kept_apart(self) -> None:
        script = 'A=(--x)\ncase $M in\n  a) A+=(--a) ;;\n  *) A+=(--b) ;;\nesac\nshow "${A[@]}"'
        found = [[word.content for word in command.words[1:]] for command in commands(script)]
        assert found == [["--x", "--a"], ["--x", "--b"]]

    def test_text_that_a_branch_adds_to_leaves_the_rest_known(self) -> None:
        script = 'C="show $1 --a 1"; if [ "$X" = y ]; then C="$C --b $2"; fi\n'
        for use in ('eval "$C --c"', 'bash -c "$C --c" &', 'D="$C"; eval "$D --c &"'):
            found = words(script + use)
            assert [word.value().value for word in found if word.content] == [None, "--a", "1", "--b", None, "--c"]
            assert any(word.many and not word.content for word in found)

    def test_text_that_a_branch_adds_to_is_unknown_where_it_is_one_word(self) -> None:
        assert values('C="--a 1"; if [ "$X" = y ]; then C="$C --b"; fi\nshow "$C"') == [None]

    def test_an_option_loop_makes_values_assumed(self) -> None:
        script = (
            "DRAFT=heads/a\nwhile [[ $# -gt 0 ]]; do\n"
            '  case "$1" in --draft) DRAFT="$2"; shift 2 ;; *) shift ;; esac\ndone\nshow "$DRAFT"'
        )
        value = words(script)[0].value()
        assert (value.value, value.assumed) == ("heads/a", "default of $DRAFT")

    def test_a_loop_over_known_items_runs_for_each(self) -> None:
        assert [c.words[1].content for c in commands("for tp in 2 4; do show $tp; done")] == ["2", "4"]

    def test_a_loop_that_may_be_left_early_leaves_what_differs_unknown(self) -> None:
        assert values('for x in a b; do [ "$x" = "$1" ] && break; done\nshow $x') == [None]
        assert values('for x in a b; do [ "$x" = "$1" ] && continue; y=1; done\nshow $y') == [None]

    def test_what_arithmetic_sets_is_unknown(self) -> None:
        for change in ("((x++))", "(( x += 4 ))", "let x=5", 'let "x+=2"', "for ((x = 0; x < 3; x++)); do :; done"):
            assert values(f'x=1; {change}\nshow "$x"') == [None], change
        assert values('x=1; if (( x == 1 || x <= 2 )); then :; fi\nshow "$x"') == ["1"]

    def test_a_loop_over_unknown_items_runs_once(self) -> None:
        (command,) = commands("for f in $(ls); do show $f; done")
        assert not command.words[1].known

    def test_a_function_runs_where_it_is_called(self) -> None:
        script = 'serve() { show "$MODEL" "$1"; }\nMODEL=a\nserve x\nMODEL=b\nserve y'
        found = [[word.content for word in command.words[1:]] for command in commands(script)]
        assert found == [["a", "x"], ["b", "y"]]

    def test_a_function_that_nothing_calls_is_read_with_unknown_parameters(self) -> None:
        assert values('serve() { show "$1" x; }') == [None, "x"]

    def test_locals_end_with_their_function(self) -> None:
        assert values("f() { local X=in; }\nX=out\nf\nshow $X") == ["out"]

    def test_parameters_of_an_inner_script(self) -> None:
        assert values("bash -c 'show \"$@\" \"$1\"' -- a 'b c'") == ["a", "b c", "a"]

    def test_an_array_that_is_read_from_a_string(self) -> None:
        assert values('IDS="1 17 32"\nread -r -a LIST <<< "$IDS"\nshow "${LIST[@]}"') == ["1", "17", "32"]
        assert values('read -r LINE\nshow "$LINE"') == [None]

    def test_a_script_that_calls_itself_ends(self) -> None:
        assert commands("f() { show 1; f; }\nf")


class TestScriptsInScripts:
    def test_a_command_string_is_read_where_it_is_written(self) -> None:
        (command,) = commands('CMD="show --tp 8"\n\n$CMD --more')
        assert [(word.content, word.where.line) for word in command.words] == [
            ("show", 1),
            ("--tp", 1),
            ("8", 1),
            ("--more", 3),
        ]

    def test_eval_parses_again(self) -> None:
        assert values('CMD="show --x \'{\\"a\\": 1}\'"\neval "$CMD"') == ["--x", '{"a": 1}']

    def test_a_script_for_bash_sees_what_the_outer_one_replaces(self) -> None:
        script = 'MODEL=${MODEL:-m}\nbash -lc "\n  show $MODEL \\$INNER\n"'
        first, second = words(script)
        assert (first.value().value, first.value().assumed) == ("m", "default of $MODEL")
        assert first.where.line == 3
        assert not second.known

    def test_an_inner_script_does_not_see_variables_that_are_not_exported(self) -> None:
        assert values("X=1\nbash -c 'show \"$X\"'") == [None]
        assert values("export X=1\nbash -c 'show \"$X\"'") == ["1"]

    def test_wrappers_are_taken_off(self) -> None:
        for wrapper in (
            "exec",
            "nohup",
            "env A=b",
            "sudo -u me env -u X",
            "CUDA_VISIBLE_DEVICES=0",
            "timeout -k 5 60",
            "taskset -c 0-3",
            "numactl -N 0 -m 0",
            "numactl --cpunodebind=0",
            "srun -N1 --mpi none --exclusive",
            "mpirun -np 2 --allow-run-as-root -x A=b",
            "uv run --with vllm --python 3.12",
            "poetry run",
            "conda run -n env --no-capture-output",
            "docker run --rm -it --gpus all -p 80:80 -v /a:/b -e A=1 repo/image:1",
            "docker exec -it -e A=b box",
            "kubectl exec -n ns pod -c box --",
            "singularity exec --nv -B /a:/b image.sif",
            "nsys profile -o out --trace=cuda",
            "ssh -p 22 host",
            "tmux new-session -d -s name",
            "screen -dmS name",
        ):
            (command,) = commands(f"{wrapper} show --a 1")
            assert [word.content for word in command.words] == ["show", "--a", "1"], wrapper

    def test_the_image_and_the_folders_of_a_container_are_kept(self) -> None:
        (command,) = commands('docker run -v "$PWD/heads:/models:ro" org/engine:1.2 show --a')
        assert command.image is not None
        assert command.image.content == "org/engine:1.2"
        assert command.mounts == (("./heads", "/models"),)

    def test_a_here_document_for_a_shell_is_a_script(self) -> None:
        assert values("ssh host\nbash <<'EOF'\nshow a\nEOF") == ["a"]

    def test_a_here_document_for_a_batch_system_is_a_script(self) -> None:
        assert [c.words[1].content for c in commands("M=a\nsbatch -N 1 <<EOF\n#!/bin/bash\nshow $M\nEOF")] == ["a"]
        assert not commands("sbatch job.sh <<EOF\nshow a\nEOF")

    def test_a_script_that_is_written_and_named_again_is_run(self) -> None:
        for script in (
            "cat > /tmp/serve.sh <<'EOF'\nshow a $1\nEOF\nbash /tmp/serve.sh b",
            "tee serve.sh >/dev/null <<'EOF'\nshow a $1\nEOF\nscp serve.sh host:",
            "cat > entry <<EOF\n#!/usr/bin/env bash\nshow a $1\nEOF",
        ):
            (command,) = commands(script)
            assert [word.value().value for word in command.words[1:]] == ["a", None]

    def test_a_here_document_for_anything_else_is_no_script(self) -> None:
        assert not commands("cat > serve.sh <<EOF\nshow a\nEOF")
        assert not commands("printf 'show a\\n' > serve.sh")


class TestText:
    def test_comments_are_no_commands(self) -> None:
        assert not commands("# show a\ntrue # show b")

    def test_a_comment_between_joined_lines_ends_the_command(self) -> None:
        assert values("show --a 1 \\\n  # --b 2 \\\n  --c 3") == ["--a", "1"]

    def test_a_comment_in_an_array_does_not_end_it(self) -> None:
        assert values('A=(--a 1 # first\n  # --b 2\n  --c 3)\nshow "${A[@]}"') == ["--a", "1", "--c", "3"]

    def test_line_ends_of_windows_are_line_ends(self) -> None:
        assert values("X=1\r\nshow --a \\\r\n  $X\r\n") == ["--a", "1"]

    def test_the_place_of_a_word_is_in_the_outer_file(self) -> None:
        outer = MappedText.whole("outer.yaml", "run: |\n  show \\\n    --a 1\n")
        kept = [i for i in range(7, len(outer)) if not (outer.text[i] == " " and outer.text[i - 1] in "\n ")]
        inner = outer.pick("".join(outer.text[i] for i in kept), [*kept, len(outer)])
        (command,) = read_commands(inner)
        assert isinstance(command, Command)
        assert command.words[2].where[:3] == ("outer.yaml", 3, 9)

    def test_text_that_is_no_script_gives_no_error(self) -> None:
        for text in ("if", "fi fi", "((", "'", '"${', "x() {", "case x in", "\x00\x01", "<<EOF", "é" * 10):
            read_commands(MappedText.whole("x.sh", text))


class TestEnvironment:
    def test_exports_and_assignments_before_commands_are_settings(self) -> None:
        script = "export A=1 B\nB=2 show\nC=3\nexport C\ndeclare -x D=4\nE=5\nreadonly F=6\nenv G=7 show"
        assert settings(script) == [("A", "1"), ("B", "2"), ("C", "3"), ("D", "4"), ("G", "7")]

    def test_everything_is_exported_under_set_a(self) -> None:
        assert settings("set -a\nA=1\nset +a\nB=2") == [("A", "1")]

    def test_a_value_that_is_not_known_is_said_to_be_unknown(self) -> None:
        assert settings("export A=$(hostname)") == [("A", None)]

    def test_a_command_has_its_own_variables_and_the_exported_ones(self) -> None:
        (command,) = commands("export A=1\nX=9\nB=2 show")
        assert [(name, word.content) for name, word in command.environment] == [("A", "1"), ("B", "2")]


class TestPythonInShell:
    def code(self, script: str) -> list[str]:
        return [text.text for text in python_heredocs(MappedText.whole("run.sh", script))]

    def test_here_documents_for_python(self) -> None:
        for start in ("python - <<'EOF'", "python3 <<EOF", 'exec python3 -u - "$A" <<-EOF', "cat <<'EOF' | python3 -"):
            assert self.code(f"{start}\nx = 1\nEOF") == ["x = 1\n"], start

    def test_code_that_is_written_to_a_file_or_given_as_a_word(self) -> None:
        assert self.code("cat > patch.py <<'EOF'\nx = 1\nEOF") == ["x = 1\n"]
        assert self.code("python -c 'import a; a.b()'") == ["import a; a.b()"]

    def test_other_here_documents_are_no_python(self) -> None:
        assert not self.code("cat <<EOF\nx = 1\nEOF")
        assert not self.code("cat > config.json <<EOF\n{}\nEOF")
        assert not self.code("# python - <<EOF\n# x = 1\n# EOF")

    def test_tabs_before_the_lines_of_an_indented_one_are_taken_off(self) -> None:
        assert self.code("python - <<-EOF\n\tif x:\n\t    y\n\tEOF") == ["if x:\n    y\n"]

    def test_variables_are_replaced_when_the_delimiter_is_not_quoted(self) -> None:
        assert self.code("N=3\npython - <<EOF\nx = $N\ny = \\$N\nEOF") == ["x = 3\ny = $N\n"]
        assert self.code("N=3\npython - <<'EOF'\nx = $N\nEOF") == ["x = $N\n"]

    def test_an_unknown_variable_is_a_name_that_python_does_not_know(self) -> None:
        assert self.code("python - <<EOF\nx = [$IDS]\ny = '$IDS'\nEOF") == ["x = [UNKNOWN]\ny = '$UNKNOWN'\n"]

    def test_the_code_knows_its_lines(self) -> None:
        text = MappedText.whole("run.sh", "set -e\npython - <<'EOF'\nx = 1\ny = 2\nEOF\n")
        (code,) = python_heredocs(text)
        assert code.location(code.text.index("y"), len(code)).line == 4

    def test_quotes_inside_do_not_lead_the_rest_astray(self) -> None:
        script = "python - <<'EOF'\n# it's \"one\nEOF\nshow after"
        assert values(script) == ["after"]
