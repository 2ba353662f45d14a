"""Renaming a variable: through its scope and nowhere else, also in code inside a string; refused when in doubt."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from eaglelint.fixing.edits import Refused, applied, merged
from eaglelint.fixing.renaming import rename
from eaglelint.location import MappedText
from eaglelint.project import Source


def renamed(code: str, name: str, *new: str, kind: str = "python", others: dict[str, str] | None = None) -> str:
    """The code with the variable renamed whose place is marked by `<name>` once."""
    text = textwrap.dedent(code)
    start = text.index(f"<{name}>")
    text = text.replace(f"<{name}>", name, 1)
    source = Source("dump.py" if kind == "python" else "dump.sh", kind, Path("x"), text.encode())
    where = MappedText.whole(source.path, text).location(start, start + len(name))
    sources = {source.path: source}
    for path, content in (others or {}).items():
        sources[path] = Source(path, "python", Path(path), content.encode())
    return applied(text, merged(rename(source, where, new or ("layer2_out",), sources)))


def test_every_use_in_the_function_is_renamed_and_nothing_else():
    code = '''
        def take(states):
            <embed> = states[3]
            keep = {"embed": embed, "x": embed.embed}
            print(f"{embed} embed", call(embed=embed), [embed for _ in keep])
            return lambda: embed

        def other(embed_tokens):
            embedding = embed_tokens
            return embedding
        '''
    assert renamed(code, "embed") == textwrap.dedent('''
        def take(states):
            layer2_out = states[3]
            keep = {"embed": layer2_out, "x": layer2_out.embed}
            print(f"{layer2_out} embed", call(embed=layer2_out), [layer2_out for _ in keep])
            return lambda: layer2_out

        def other(embed_tokens):
            embedding = embed_tokens
            return embedding
        ''')


def test_the_same_name_in_another_function_is_another_variable():
    code = '''
        def one(states):
            <embed> = states[3]
            return embed

        def two(states):
            embed = states[0]
            return embed
        '''
    after = renamed(code, "embed")
    assert after.count("layer2_out") == 2
    assert "embed = states[0]\n    return embed" in after


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("def f(<embed>):\n    return embed\n", "parameter"),
        ("def f(s):\n    <embed> = s[3]\n    def g(embed):\n        return embed\n    return embed\n", "parameter"),
        ("def f(s):\n    <embed> = s[3]\n    return locals()\n", "by name"),
        ("def f(s):\n    <embed> = s[3]\n    print(f'{embed=}')\n", "shown by its name"),
        ("def f(s):\n    global embed\n    <embed> = s[3]\n", "import"),
        ("class A:\n    <embed> = 3\n", "attribute"),
        ("def f(s):\n    <embed> = s[3]\n    layer2_out = 4\n    return embed\n", "taken"),
        ("from x import embed as <embed>\n", "several scopes"),
    ],
)  # fmt: skip
def test_what_could_mean_something_else_is_refused(code: str, reason: str):
    with pytest.raises(Refused, match=reason):
        renamed(code, "embed")


def test_the_second_name_is_taken_when_the_first_is_not_free():
    code = "def f(s):\n    <embed> = s[3]\n    layer2_out = s[4]\n    return embed, layer2_out\n"
    assert "layer3_in = s[3]" in renamed(code, "embed", "layer2_out", "layer3_in")


def test_a_module_s_variable_that_another_file_takes_is_refused():
    code = "<embed> = states[3]\nprint(embed)\n"
    assert renamed(code, "embed").count("layer2_out") == 2
    with pytest.raises(Refused, match=r"use\.py may take"):
        renamed(code, "embed", others={"use.py": "from dump import embed\n"})


def test_code_in_a_string():
    code = '''
        PATCH = """\\
        def forward(self, x):
            for i, layer in enumerate(self.layers):
                if i == 3:
                    <embed> = x.clone()
                    torch.save(embed, "embed.pt")
        """
        '''
    after = renamed(code, "embed")
    assert 'layer2_out = x.clone()' in after
    assert 'torch.save(layer2_out, "embed.pt")' in after


def test_code_in_a_string_whose_other_part_uses_the_name_is_refused():
    code = '''
        FIRST = """
            <embed> = x.clone()
        """
        SECOND = """
            keep.append(embed)
        """
        '''
    with pytest.raises(Refused, match="another part"):
        renamed(code, "embed")


def test_python_in_a_heredoc():
    code = """
        python3 - <<'EOF'
        def take(states):
            <embed> = states[3]
            return embed
        EOF
        """
    assert renamed(code, "embed", kind="shell").count("layer2_out") == 2
