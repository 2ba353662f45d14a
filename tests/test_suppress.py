"""Which findings are kept: comments, exceptions, selection."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from eaglelint.errors import UsageError
from eaglelint.facts import Step
from eaglelint.findings import Finding
from eaglelint.kinds import kind_of
from eaglelint.location import LineMap, Location
from eaglelint.project import Source
from eaglelint.settings import ExceptionSettings, Settings
from eaglelint.suppress import configured, reported, suppress


def source(path: str, text: str) -> Source:
    return Source(path, kind_of(path) or "text", Path(path), text.encode())


def at(path: str, line: int, end_line: int | None = None) -> Location:
    return Location(path, line, 1, end_line or line, 2)


def judged(files: Mapping[str, str], *findings: Finding, settings: Settings | None = None) -> tuple[int, list[str]]:
    """How many findings are left, and what is said about suppressions."""
    sources = [source(path, text) for path, text in files.items()]
    verdict = suppress(findings, sources, settings or Settings())
    assert len(verdict.kept) + len(verdict.suppressed) == len(findings)
    return len(verdict.kept), [f"{f.where.path}:{f.where.line} {f.message}" for f in verdict.unused]


def found(path: str, line: int, rule: str = "EGL001", **more: object) -> Finding:
    return Finding(rule, "warning", "m", at(path, line), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("path", "comment"),
    [
        ("a.py", "x = 1  # eaglelint: ignore[EGL001] known"),
        ("a.py", "x = 1  # eaglelint: ignore[unreadable-source]"),
        ("a.py", "x = 1  # noqa: E501  # eaglelint:ignore[ EGL002, egl001 ] two rules"),
        ("a.py", "PATCH = '''x = 1  # eaglelint: ignore[EGL001]'''"),
        ("serve.sh", "python x.py # eaglelint: ignore[EGL001]"),
        ("compose.yaml", "image: x # eaglelint: ignore[EGL001]"),
        ("pyproject.toml", "x = 1 # eaglelint: ignore[EGL001]"),
        ("Dockerfile", "FROM x # eaglelint: ignore[EGL001]"),
        ("requirements.txt", "sglang==0.5.9 # eaglelint: ignore[EGL001]"),
        ("fix.patch", "+    x = 1  # eaglelint: ignore[EGL001]"),
        ("README.md", "text <!-- eaglelint: ignore[EGL001] -->"),
        ("a.ipynb", '"x = 1  # eaglelint: ignore[EGL001]\\n",'),
    ],
)
def test_a_comment_accepts_the_finding_on_its_line(path: str, comment: str):
    assert judged({path: f"first\n{comment}\n"}, found(path, 2))[0] == 0
    assert judged({path: f"first\n{comment}\n"}, found(path, 1))[0] == 1


def test_a_comment_names_rules_and_accepts_no_others():
    assert judged({"a.py": "x  # eaglelint: ignore[EGL002]"}, found("a.py", 1))[0] == 1


def test_any_line_of_any_place_of_the_finding_will_do():
    files = {"a.py": "x = [\n  1,  # eaglelint: ignore[EGL001]\n]\n", "b.sh": "x # eaglelint: ignore[EGL001]\n"}
    inside = Finding("EGL001", "warning", "m", at("a.py", 1, 3))
    elsewhere = found("c.json", 1, related=(Step(at("b.sh", 1), "served here"),))
    assert judged(files, inside, elsewhere) == (0, [])


@pytest.mark.parametrize(
    ("text", "covered"),
    [
        ("# eaglelint: ignore[EGL001] why\nx = 1\ny = 2\n", {1, 2}),
        ("# eaglelint: ignore[EGL001] why\n# and more\nx = 1\ny = 2\n", {1, 2, 3}),
        ("# eaglelint: ignore[EGL001]\nserve \\\n  --draft x \\\n  --steps 3\nnext\n", {1, 2, 3, 4}),
        ("x = 1  # eaglelint: ignore[EGL001]\ny = 2\n", {1}),
        ("# eaglelint: ignore[EGL001]\nx = 1", {1, 2}),
    ],
)
def test_a_comment_of_its_own_holds_for_what_stands_below(text: str, covered: set[int]):
    lines = range(1, text.count("\n") + 2)
    assert {line for line in lines if judged({"a.sh": text}, found("a.sh", line))[0] == 0} == covered


def test_a_string_in_json_is_no_comment():
    assert judged({"a.json": '{"x": "# eaglelint: ignore[EGL001]"}'}, found("a.json", 1)) == (1, [])


def test_an_unused_comment_is_said():
    assert judged({"a.py": "x\ny = 1  # eaglelint: ignore[EGL001]\n"}) == (
        0,
        ["a.py:2 ignore[EGL001] suppresses nothing: EGL001 is not reported at this line"],
    )


def test_of_several_names_the_unused_one_is_said():
    files = {"a.py": "y = 1  # eaglelint: ignore[EGL001, EGL002]\n"}
    assert judged(files, found("a.py", 1)) == (
        0,
        ["a.py:1 ignore[EGL002] suppresses nothing: EGL002 is not reported at this line"],
    )


def test_an_unknown_or_missing_name_is_said():
    assert judged({"a.py": "y = 1  # eaglelint: ignore[unreadable-sauce]\n"})[1] == [
        "a.py:1 unknown rule 'unreadable-sauce'; did you mean EGL001 (unreadable-source)?"
    ]
    for comment in ("ignore", "ignore[]"):
        [message] = judged({"a.py": f"y = 1  # eaglelint: {comment}\n"})[1]
        assert "names no rule" in message


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("README.md", "Write `# eaglelint: ignore[EGL001]` beside it."),
        ("a.py", '"""Write # eaglelint: ignore[EGL001] beside it."""'),
        ("a.sh", 'echo "use # eaglelint: ignore[EGL001]"'),
        ("broken.py", "x = (\n# eaglelint: ignore[EGL001]\n'"),
    ],
)
def test_a_text_about_comments_is_no_unused_comment(path: str, text: str):
    assert judged({path: text}) == (0, [])


def test_a_rule_that_is_off_leaves_its_comments_alone():
    files = {"a.py": "y = 1  # eaglelint: ignore[EGL001]\n"}
    assert judged(files, settings=Settings(ignore=("EGL001",))) == (0, [])
    assert judged(files, settings=Settings(select=("EGL002",))) == (0, [])


def test_an_internal_error_can_not_be_hidden():
    assert judged({"a.py": "y = 1  # eaglelint: ignore[EGL005]\n"}, found("a.py", 1, "EGL005"))[0] == 1


CONFIG = '{\n  "a": {"ids": [1, 2]},\n  "b": [3]\n}\n'


def place(words: str) -> Location:
    start = CONFIG.index(words)
    return LineMap("d/config.json", CONFIG).location(start, start + len(words))


@pytest.mark.parametrize(
    ("path", "pointer", "words", "kept"),
    [
        ("d/config.json", "", "[3]", 0),
        ("d/", "/b", "[3]", 0),
        ("d/config.json", "/b", '"b"', 0),
        ("d/config.json", "/a", "[1, 2]", 0),
        ("d/config.json", "/a/ids", "[1, 2]", 0),
        ("d/config.json", "/b", "[1, 2]", 1),
        ("d/config.json", "/c", "[3]", 1),
        ("e/config.json", "", "[3]", 1),
    ],
)
def test_an_exception_accepts_by_path_pointer_and_rule(path: str, pointer: str, words: str, kept: int):
    settings = Settings(exceptions=(ExceptionSettings(path, "unreadable-source", pointer),))
    finding = Finding("EGL001", "warning", "m", place(words))
    assert judged({"d/config.json": CONFIG}, finding, settings=settings)[0] == kept
    other = Finding("EGL002", "warning", "m", place(words))
    assert judged({"d/config.json": CONFIG}, other, settings=settings)[0] == 1


def test_an_unused_exception_is_said_where_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("eaglelint.toml").write_text('[[exceptions]]\npath = "d/"\nrule = "EGL001"\npointer = "/b"\n')
    from eaglelint.configuration import load

    assert judged({"d/config.json": CONFIG}, settings=load(["."]))[1] == [
        "eaglelint.toml:1 this exception accepts nothing: EGL001 is not reported in d/ at /b"
    ]
    assert judged({"other.json": CONFIG}, settings=load(["."]))[1] == []


@pytest.mark.parametrize(
    ("settings", "on"),
    [
        (Settings(), True),
        (Settings(select=("EGL001",)), True),
        (Settings(select=("EGL0",)), True),
        (Settings(select=("unreadable-source",)), True),
        (Settings(select=("EGL002",)), False),
        (Settings(ignore=("EGL0",)), False),
        (Settings(ignore=("egl001",)), False),
        (Settings(select=("EGL001",), ignore=("EGL0",)), True),
        (Settings(select=("EGL0",), ignore=("EGL001",)), False),
        (Settings(select=("EGL002",), extend_select=("EGL001",)), True),
        (Settings(extend_select=("EGL001",), ignore=("EGL0",)), True),
    ],
)
def test_the_closest_name_decides_which_rules_are_on(settings: Settings, on: bool):
    assert reported("EGL001", settings) is on


def test_internal_errors_are_reported_unless_they_are_named():
    assert reported("EGL005", Settings(select=("EGL001",)))
    assert reported("EGL005", Settings(ignore=("EGL0",)))
    assert not reported("EGL005", Settings(ignore=("internal-error",)))


def test_severity_and_per_file_ignores():
    settings = Settings(per_file_ignores={"old/": ("EGL001",)}, severity={"unreadable-source": "info"})
    kept = list(configured([found("old/a.py", 1), found("a.py", 1), found("old/a.py", 1, "EGL002")], settings))
    assert [(finding.where.path, finding.rule, finding.severity) for finding in kept] == [
        ("a.py", "EGL001", "info"),
        ("old/a.py", "EGL002", "warning"),
    ]


def test_an_unknown_rule_is_no_selection():
    from eaglelint.catalog import check_selector

    with pytest.raises(UsageError, match="unknown rule 'EGL9'"):
        check_selector("EGL9")
    check_selector("egl0")
