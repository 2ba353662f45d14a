"""Python code and pieces cut out of it, parsed with the place of each node in the file that holds it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import textwrap

import libcst as cst
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eaglelint.analyser.fragments import FragmentError, block_around, parse, parse_module, syntax_error
from eaglelint.analyser.ladder import UNKNOWN
from eaglelint.location import MappedText, join

EXAMPLES = int(os.environ.get("EAGLELINT_EXAMPLES", "100"))

FORWARD = '''\
class LlamaModel(nn.Module):
    """Decoder."""

    def forward(
        self,
        positions: torch.Tensor,
        forward_batch: ForwardBatch,
    ) -> torch.Tensor:
        """Run it.

        With capture.
        """
        aux_hidden_states = []
        for i in range(self.start_layer, self.end_layer):
            if i in self.layers_to_capture:
                aux_hidden_states.append(
                    hidden_states + residual,
                )
            elif i == 0:
                pass
            hidden_states, residual = self.layers[i](
                positions,
                hidden_states,
                residual,
            )
        if not aux_hidden_states:
            return hidden_states

        return hidden_states, aux_hidden_states
'''


def whole(text: str) -> MappedText:
    return MappedText.whole("patch.py", text)


def cut(first: int, last: int) -> MappedText:
    """The lines `first` to `last` (1-based) of FORWARD as a text of their own file."""
    return whole("".join(FORWARD.splitlines(keepends=True)[first - 1 : last]))


def nodes(module: cst.CSTNode, kind: type[cst.CSTNode]) -> list[cst.CSTNode]:
    found = [module] if isinstance(module, kind) else []
    for child in module.children:
        found += nodes(child, kind)
    return found


class TestWholeFiles:
    def test_every_node_knows_its_place_in_the_file(self) -> None:
        fragment = parse_module(whole(FORWARD))
        assert (fragment.exact, fragment.how, fragment.inserted) == (True, "as is", ())
        (call,) = [node for node in nodes(fragment.module, cst.Call) if "append" in fragment.source(node).text]
        assert fragment.location(call)[:5] == ("patch.py", 16, 17, 18, 18)
        assert fragment.source(call).text.startswith("aux_hidden_states.append(\n")

    @pytest.mark.parametrize(
        ("before", "after"),
        [("\ufeff", ""), ("\f\n", ""), ("x = 1\r", ""), ("\r\n\r\n", "\r\n"), ("é = '\U0001f600'\n", "")],
    )
    def test_bytes_that_shift_columns_do_not_shift_places(self, before: str, after: str) -> None:
        text = f"{before}tap(layers[2]){after}"
        fragment = parse_module(whole(text))
        assert fragment.exact
        (call,) = nodes(fragment.module, cst.Call)
        assert text[fragment.location(call).start : fragment.location(call).end] == "tap(layers[2])"

    def test_code_in_a_literal_points_into_the_outer_file(self) -> None:
        outer = whole("NEW = 'tap(2)'\n")
        (call,) = nodes(parse_module(outer[7:13]).module, cst.Call)
        fragment = parse_module(outer[7:13])
        (call,) = nodes(fragment.module, cst.Call)
        assert fragment.location(call)[:3] == ("patch.py", 1, 8)

    def test_newer_syntax_than_that_of_the_running_python(self) -> None:
        assert parse_module(whole("type X[T = int] = list[T]\nx = f'{d['a']}'\n")).exact

    @pytest.mark.parametrize(
        ("code", "line", "reason"),
        [
            ("x = 1\nrun([1, 17, 32]\nx = 2\ny = 3\n", 2, "never closed"),
            ("x = 1\ndef f(:\n    pass\n", 2, "invalid syntax"),
            ("print 'a'\n", 1, "print"),
            ("if 1:\n  x\n y\n", 3, "unindent"),
            ("x = '''abc\n\n", 1, "unterminated"),
            ("a = 1\nb = $\n", 2, "invalid"),
            ("def f():\n    pass\n\n  y = 2\n", 4, "unindent"),
            ("x = f'{d['a']}'\ntype X = int\n\nfoo bar\n", 4, "invalid syntax"),
            ("x = 1\n\0", 1, "null bytes"),
            ("\ud800 = 1\n", 1, "surrogates"),
        ],
    )
    def test_what_can_not_be_read_has_a_place_and_a_reason(self, code: str, line: int, reason: str) -> None:
        with pytest.raises(FragmentError, match=reason) as caught:
            parse_module(whole(code))
        assert caught.value.where.line == line
        assert caught.value.where.path == "patch.py"

    @pytest.mark.parametrize(
        "code",
        [
            "x = (\n" + "'line\\n'\n" * 900 + ")\n",
            "x = y" + " + a" * 900 + "\n",
            "if 1:\n    pass\n" + "elif 1:\n    pass\n" * 900,
        ],
        ids=["a patch of many literals", "a long sum", "a long ladder"],
    )
    def test_code_as_deep_as_is_admitted_has_places(self, code: str) -> None:
        before = sys.getrecursionlimit()
        fragment = parse_module(whole(code + "last = 1\n"))
        assert fragment.location(fragment.module.body[-1]).line == code.count("\n") + 1
        assert sys.getrecursionlimit() == before

    def test_an_empty_file_is_code(self) -> None:
        assert parse_module(whole("")).exact


@pytest.mark.parametrize(
    "code",
    [
        "'(' * 20000",
        "'(' * 20000 + ')' * 20000",
        "'-' * 20000 + '1'",
        "'x' + '.a' * 20000",
        "'x' + '()' * 20000",
        "'lambda: ' * 20000 + '1'",
        "'if 1:\\n pass\\n' + 'elif 1:\\n pass\\n' * 20000",
        '"f\'" + "{1:" * 20000 + "}" * 20000 + "\'"',
    ],
)
def test_code_made_to_exhaust_the_stack_does_not_end_the_process(code: str) -> None:
    program = textwrap.dedent(f"""
        from eaglelint.analyser.fragments import FragmentError, parse, parse_module
        from eaglelint.location import MappedText
        text = MappedText.whole("a.py", {code} + chr(10))
        try:
            parse_module(text)
        except FragmentError as error:
            print(error.reason, parse(text))
    """)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "the code nests too deeply None\n"


class TestLadder:
    def test_code_as_it_is(self) -> None:
        fragment = parse(whole("if i in LAYERS:\n    aux.append(h)\n"))
        assert fragment is not None
        assert (fragment.how, fragment.exact) == ("as is", True)

    def test_indented_code_is_dedented_and_keeps_its_columns(self) -> None:
        fragment = parse(cut(15, 18))
        assert fragment is not None
        assert fragment.how == "dedented"
        (append,) = nodes(fragment.module, cst.Call)
        assert fragment.location(append)[:3] == ("patch.py", 2, 17)

    @pytest.mark.parametrize(("first", "last"), [(a, b) for a in range(13, 29) for b in range(a, 29)])
    def test_no_line_of_a_layer_loop_is_lost_wherever_it_is_cut(self, first: int, last: int) -> None:
        text = cut(first, last)
        fragment = parse(text)
        if not text.text.strip():
            assert fragment is None
            return
        assert fragment is not None
        assert fragment.how != "trimmed"
        assert fragment.exact
        kept = [character for n, character in enumerate(fragment.text.text) if not fragment.was_inserted(n)]
        assert "".join("".join(kept).split()) == "".join(text.text.split())

    def test_what_was_inserted_is_known(self) -> None:
        fragment = parse(whole("        aux.append(h)\n    return x\n"))
        assert fragment is not None
        inserted = [fragment.text.text[start:end] for start, end in fragment.inserted]
        assert inserted == ["if 1:\n    if 1:\n"]
        assert fragment.was_inserted(0)
        assert not fragment.was_inserted(fragment.text.text.index("aux"))

    @pytest.mark.parametrize(
        ("code", "completed"),
        [
            ("for i in layers:\n", "for i in layers:\n    pass\n"),
            ("for i in layers:", "for i in layers:\n    pass\n"),
            ("    if a:\n    b()\n", "if 1:\n    if a:\n        pass\n    b()\n"),
            ("else:\n    a()\n", f"if {UNKNOWN}:\n    pass\nelse:\n    a()\n"),
            ("  a()\nelse:\n  b()\n", f"if {UNKNOWN}:\n  a()\nelse:\n  b()\n"),
            ("  a()\nexcept X:\n  b()\n", "try:\n  a()\nexcept X:\n  b()\n"),
            ("finally:\n  b()\n", "try:\n    pass\nfinally:\n  b()\n"),
            ("try:\n    a()\n", "try:\n    a()\nfinally:\n    pass\n"),
            ("try:\n    a()\nb()\n", "try:\n    a()\nfinally:\n    pass\nb()\n"),
            ("def f():\n  try:\n    a()\nb()\n", "def f():\n  try:\n    a()\n  finally:\n      pass\nb()\n"),
            ("@torch.no_grad()\n", f"@torch.no_grad()\ndef {UNKNOWN}(): pass\n"),
            ("a\n    b\n", "a\nif 1:\n    b\n"),
            ("x = layer(\n    h,\n", f"x = layer(\n    h,\n*{UNKNOWN})\n"),
            ("x = layer(\n    h,  # stream\n", f"x = layer(\n    h,  # stream\n*{UNKNOWN})\n"),
            ("x = layer(h", f"x = layer(h, *{UNKNOWN})\n"),
            ("x = layer(h +", f"x = layer(h + {UNKNOWN}, *{UNKNOWN})\n"),
            ("x = (h", f"x = (h + {UNKNOWN})\n"),
            ("x = layer(h\n  if a", f"x = layer(h\n  if a else {UNKNOWN}, *{UNKNOWN})\n"),
            ("x = [{'a': 1,", f"x = [{{'a': 1,**{UNKNOWN}}}]\n"),
            ("from a import (b,", f"from a import (b,{UNKNOWN})\n"),
            ("def f(self, x", f"def f(self, x, **{UNKNOWN}):\n    pass\n"),
            ("if a and (b or", f"if a and (b or {UNKNOWN}):\n    pass\n"),
            ("    h)\n", f"if 1:\n    {UNKNOWN}(    h)\n"),
            ("    x=h)[0]\n", f"if 1:\n    {UNKNOWN}(    x=h)[0]\n"),
            ("    h,\n)\n", f"{UNKNOWN}(    h,\n)\n"),
            ("  self, x\n) -> y:\n  a\n", f"def {UNKNOWN}(  self, x\n) -> y:\n  a\n"),
            ("  x: int,\n):\n  a\n", f"def {UNKNOWN}(  x: int,\n):\n  a\n"),
            ("  a,\n):\n  b\n", f"if {UNKNOWN}(  a,\n):\n  b\n"),
            ("  or b\n):\n  c\n", f"if {UNKNOWN}({UNKNOWN}   or b\n):\n  c\n"),
            ("  a, h]\n)\n", f"{UNKNOWN}([  a, h]\n)\n"),
            ("        a)\n    b\n", f"if 1:\n    {UNKNOWN}(        a)\n    b\n"),
        ],
    )
    def test_what_was_cut_off_is_completed(self, code: str, completed: str) -> None:
        fragment = parse(whole(code))
        assert fragment is not None
        assert (fragment.text.text, fragment.how) == (completed, "completed")
        assert fragment.module.code == completed

    def test_text_that_is_no_code_at_the_ends_is_left_out(self) -> None:
        text = whole("the end of a docstring.\n    '''\n    for i in LAYERS:\n        a(i)\n    b()\n    c()\n")
        fragment = parse(text)
        assert fragment is not None
        assert fragment.how == "trimmed"
        assert fragment.location(fragment.module.body[0]).line == 3

    def test_a_stretch_that_must_be_kept_is_kept(self) -> None:
        code = "some words in front\n" * 6 + "x = layers_to_capture\n" + "and words after it\n" * 4
        assert parse(whole(code)) is None
        at = code.index("layers_to_capture")
        fragment = parse(whole(code), (at, at + 17))
        assert fragment is not None
        assert fragment.text.text == "x = layers_to_capture\n"

    def test_the_function_around_the_stretch_is_kept_when_all_else_fails(self) -> None:
        code = "what is\n" * 300 + FORWARD + "what is\n" * 300
        at = code.index("layers_to_capture")
        fragment = parse(whole(code), (at, at + 5))
        assert fragment is not None
        assert fragment.text.text.startswith("if 1:\n    def forward(")
        assert fragment.text.text.rstrip().endswith("return hidden_states, aux_hidden_states")

    @pytest.mark.parametrize(
        "text", ["", "\n  \n", "#!/bin/bash\nset -e\nfor f in *.py; do\n  echo $f\ndone\n", "'" * 7]
    )
    def test_what_is_no_code_is_none(self, text: str) -> None:
        assert parse(whole(text)) is None

    def test_text_of_two_files_points_into_both(self) -> None:
        anchor = MappedText.whole("anchors.py", "ANCHOR = '    x = layer(h)'\n")
        patch = whole("NEW = '''    aux.append(h)\n'''\n")
        fragment = parse(join([patch[9:27], anchor[10:26]]))
        assert fragment is not None
        first, second = nodes(fragment.module, cst.Call)
        assert str(fragment.location(first)) == "patch.py:1"
        assert str(fragment.location(second)) == "anchors.py:1"


class TestBlocks:
    def test_the_innermost_function_by_indentation(self) -> None:
        at = FORWARD.index("aux_hidden_states.append")
        start, end = block_around(FORWARD, at, at + 3)
        assert FORWARD[start:end].startswith("    def forward(\n")
        assert end == len(FORWARD)

    def test_the_function_ends_where_the_next_begins(self) -> None:
        code = "class A:\n    def f(\n        self,\n    ):\n        a = 1\n\n        b = 2\n\n"
        code += "    # next\n    def g(self):\n        pass\n"
        start, end = block_around(code, code.index("a = 1"), code.index("a = 1") + 1)
        assert code[start:end].startswith("    def f(")
        assert code[start:end].rstrip().endswith("# next")

    def test_a_statement_outside_of_all_functions_is_its_own_block(self) -> None:
        code = "a = 1\nLAYERS = [2]\nb = 2\n"
        start, end = block_around(code, code.index("["), code.index("]"))
        assert code[start:end] == "LAYERS = [2]\n"


def test_code_without_a_mistake_has_no_syntax_error() -> None:
    assert syntax_error("x = 1\n") is None


WORDS = ["if", "else", "x", "def", "for", "try:", "except", "lambda", "f'", "0x", "é", "'", '"', "'''"]
SIGNS = [":", "(", ")", "[", "]", "{", "}", ",", "=", "+", "@", "#"]
BLANKS = ["\n", "\n    ", "\n\t", "\r", "\r\n", "\f", "\\", "\\\n", "\0", "\ud800", " "]


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.lists(st.sampled_from(WORDS + SIGNS + BLANKS), max_size=25).map("".join))
def test_no_text_at_all_breaks_the_reading(text: str) -> None:
    fragment = parse(whole(text), (0, min(3, len(text))))
    if fragment is not None:
        assert fragment.text.origin[-1] <= len(text)
        for node in fragment.module.body:
            assert fragment.location(node).end <= len(text)
    with contextlib.suppress(FragmentError):
        parse_module(whole(text))
