"""Words as bash makes them: what is read from a script is what bash passes to the program, on scripts written here."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eaglelint.location import MappedText
from eaglelint.readers.shell import Command, read_commands

BASH = shutil.which("bash")
pytestmark = pytest.mark.skipif(BASH is None, reason="bash is not installed")


def by_bash(script: str) -> list[list[str]]:
    """The words of every call of `show`, as bash passes them."""
    prelude = 'show() { printf "%s\\0" "$#" "$@"; }\n'
    assert BASH is not None
    run = subprocess.run([BASH, "-c", prelude + script], capture_output=True, timeout=20, env={}, cwd="/", check=False)
    fields = run.stdout.decode().split("\0")[:-1]
    calls: list[list[str]] = []
    while fields:
        count = int(fields.pop(0))
        calls.append(fields[:count])
        fields = fields[count:]
    return calls


def by_reading(script: str) -> list[list[str]]:
    """The words of every command `show`, as they are read; an unknown word fails the test."""
    found = []
    for item in read_commands(MappedText.whole("script.sh", script)):
        if isinstance(item, Command) and item.words[0].content == "show":
            assert all(word.known for word in item.words), script
            found.append([word.content for word in item.words[1:]])
    return found


SCRIPTS = [
    "show a 'b c' \"d e\" f\\ g",
    "show \\\n  --one 1 \\\n  --two 2",
    'show "a \\"b\\" \\$c \\\\ \\n" \'\\"\'',
    "show $'tab\\tend' $'\\x41\\101\\u0042' $'it\\'s'",
    "X=1; show $X \"${X}\" '$X' a${X}b",
    "X='a  b'; show $X \"$X\" p$X",
    "X=''; show $X \"$X\" a",
    'X="--flag value"; Y="$X --more"; show $Y',
    'A=(one "two three" # comment\n  four)\nshow "${A[@]}" ${A[0]} "${A[1]}" ${A[@]}',
    'A=(1 2); A+=(3 \'4 5\'); B=("${A[@]}" 6); show "${B[@]}"',
    'A=(); show "${A[@]}" end',
    'A=(a b); show "${A[*]}" "pre${A[@]}post"',
    "X=base; X+=more; show $X",
    'show "${UNSET:-default value}" ${UNSET:-two words} "${UNSET-d}"',
    'X=set; show "${X:-default}" "${X:+alternative}" end',
    'show "${NEW:=assigned}" "$NEW"',
    'P=/models/org/name.tar.gz; show "${P##*/}" "${P%/*}" "${P%%.*}" "${P#/}" "${P%.gz}" "${P/org/other}" "${P//a/b}"',
    'X=abc; show "${X^^}" "${X,,}"',
    "N=3; show $((N + 1)) $((N * (2 + N))) $((7 / 2)) $((10 % 4))",
    'X=$(printf \'{"a": [%s], "b": %d}\' "1, 2" 7); show "$X"',
    'X=$(echo one two); show "$X" $X',
    'X=$(cat <<EOF\n{"a": "it\'s"}\nEOF\n); show "$X"',
    "X=1\nY=$(cat <<'EOF'\n$X stays\nEOF\n)\nshow \"$Y\"",
    'f() { show "$1" "$@"; }\nf a "b c"',
    "f() { local x=in; show $x; }; x=out; f; show $x",
    'run() { "$@"; }\nrun show a "b c"',
    'outer() { inner "$@" last; }; inner() { show "$@"; }; outer \'a b\'',
    'set -- a b c; shift; show "$@" $1',
    'for x in a "b c"; do show $x; done',
    'C="show a b"; $C c',
    'C=\'show "a b"\'; eval "$C" c',
    'X=1; if [ -n "$X" ]; then show yes; fi',
    "X=1 && Y=2 && show $X $Y",
    "{ show in braces; }; (show in a subshell)",
    "X=outer; ( X=inner ); show $X",
    "show a 2>&1 z; show b 2>/dev/null c",
    "show one | cat; show a & wait",
    "show a#b '#' # comment",
    'show --json={\\"a\\":1} --x=\'{"a":1}\'',
    'show "a\\\nb" c\\\nd',
    "read -r -d '' X <<'EOF' || true\n{\"a\":\n 1}\nEOF\nshow \"$X\"",
    "readonly R=1; export E=2; declare D=3; show $R $E $D",
    "X=`echo back`; show $X",
    "printf -v X '%s-%s' a b; show $X",
    "if true; then\n  show 0\nfi\nshow done",
    "cat <<EOF >/dev/null; show after\nit's \"unbalanced\nEOF\nshow last",
    "case x in x) show yes ;; esac",
    "D=$(cd / && pwd); show $D",
    "show $(dirname /a/b/c) $(basename /a/b/c.py)",
    'A=(--x \'{"k": "v w"}\'); show "${A[@]}"',
    'U="${A1:-a}${B1:-b}"; show $U',
    "show {a} }b{ @x %y",
    """X=$(cat <<<"a b" |\n  cat); show c; f() { show d; }; f""",
    'D=$(cd -- / && pwd); show "${E:-$(cd -- "${D}" && pwd)}" "${F:-"g h" ${G:-"i"}}"',
    'E=""; A=("$E" x "" "${E}"); show "${A[@]}" end',
    'declare -A M=([a]=1 ["b c"]=\'2 3\'); M[d]=4; K=d; show "${M[a]}" ${M["b c"]} "${M[$K]}" end',
    'A[0]=x; A[1]="y z"; A[${#A[@]}]=w; A[0]=v; show "${A[@]}" "${A[1]}"',
    'X=; show "${X-e}" "${X:-d}" end',
    "f() { local X=${X:-d}; show $X; }; X=1; f",
    'A=(a ""); show ${A[@]} "${A[@]}" "p${A[@]}"',
]


@pytest.mark.parametrize("script", SCRIPTS)
def test_words_are_those_of_bash(script: str) -> None:
    expected = by_bash(script)
    assert expected
    assert by_reading(script) == expected


PIECES = st.sampled_from(
    [
        *("a", "b ", " ", "  c", "--x", "=", "1", "é", "/", "{", "}", ":", "\\ ", "\\$", "\\\\", "\\\n"),
        *("'q r'", "''", '"d e"', '""', '"$X"', "${X}", '"${A[@]}"', "${Z:-z z}", '"${Z:-z z}"'),
        *("$'t\\tt'", '"a\\"b"', "'$X'", '"\\$X"', '"${Z:-"i j"}"', "${A[1]}", '"p${A[0]}s"', "$((N+1))", "\\'"),
    ]
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(PIECES, min_size=1, max_size=8))
def test_words_of_any_mixture_are_those_of_bash(pieces: list[str]) -> None:
    script = "X='x  y'; A=('a b' c); N=2\nshow " + "".join(pieces) + "\n"
    assert by_reading(script) == by_bash(script)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(alphabet="ab '\"\\$(){}`\n#;&|<>[]=*~-\u00e9\t", max_size=40))
def test_any_text_can_be_read(text: str) -> None:
    for item in read_commands(MappedText.whole("script.sh", text)):
        words = item.words if isinstance(item, Command) else (item.word,)
        for word in words:
            assert 0 <= word.where.start <= word.where.end <= len(text)
