"""What stands on standard error while a run goes on: with --verbose every decision, on a terminal a progress bar."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pytest

from eaglelint import catalog, watch
from eaglelint.cli.following import Progress, Verbose, follower


def lay_out(folder: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")


def said(stderr: str, word: str) -> dict[str, str]:
    """The lines that begin with a word, as path and reason."""
    start = f"eaglelint: {word}: "
    lines = (line.removeprefix(start) for line in stderr.splitlines() if line.startswith(start))
    return dict(line.split(": ", 1) for line in lines)


class TestVerbose:
    def test_why_a_file_is_not_read(self, eaglelint, tmp_path: Path):
        lay_out(
            tmp_path,
            {
                "a.py": "x = 1\n", "cpp/kernel.cu": "", "out/run.py": "", "old/b.py": "", "notes": "no script",
                "env/pyvenv.cfg": "", "env/lib.py": "", "node_modules/c.py": "", "skip.py": "",
                ".gitignore": "out/\nskip.py\n", "eaglelint.toml": 'exclude = ["old/"]\n',
            },
        )  # fmt: skip
        if os.name != "nt":
            (tmp_path / "link.py").symlink_to("a.py")
            (tmp_path / "away").symlink_to("/")
        stderr = eaglelint("check", "--verbose").stderr
        reasons = said(stderr, "not read")
        expected = {
            "cpp/kernel.cu": "of no kind that is read",
            "notes": "of no kind that is read",
            "out": "a .gitignore leaves it out",
            "skip.py": "a .gitignore leaves it out",
            "old": "the configuration excludes it",
            "env": "a virtual environment",
            "node_modules": "never a project's own",
        }
        if os.name != "nt":
            expected |= {
                "link.py": "a link to a.py, which is read under that name",
                "away": "a link that leads out of the project",
            }
        assert {path: reasons.get(path) for path in expected} == expected
        assert said(stderr, "read")["a.py (python)"] == "nothing that is looked for"

    def test_what_files_say_and_what_belongs_together(self, eaglelint, tmp_path: Path):
        lay_out(tmp_path, dict(catalog.load("EGL401").examples.wrong[0].files))
        stderr = eaglelint("check", "--verbose").stderr
        read = said(stderr, "read")
        assert read["head/config.json (json)"] == "config of a drafter"
        assert read["requirements.txt (requirements)"] == "pin"
        assert read["serve.sh (shell)"] == "launch"
        assert "concatenation" in read["collect.py (python)"]
        links = [line.removeprefix("eaglelint:   ") for line in stderr[stderr.index("linked: head ") :].splitlines()]
        assert "declared: [2, 20, 37] in /eagle_config/eagle_aux_hidden_state_layer_ids at head/config.json:5" in links
        assert "trained: concatenated at collect.py:9" in links
        assert "served: SGLang 0.5.18 at requirements.txt:1 by serve.sh:2" in links

    def test_the_report_is_the_same(self, eaglelint, broken: Path):
        assert eaglelint("check", "--verbose").stdout == eaglelint("check").stdout
        assert eaglelint("check").stderr == ""

    @pytest.mark.skipif(os.name == "nt", reason="no such names")
    def test_names_of_files_send_nothing_to_the_terminal(self, eaglelint, tmp_path: Path):
        (tmp_path / "a\x1b[31m\n.py").write_text("")
        assert "\x1b" not in eaglelint("check", "--verbose").stderr


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class TestProgress:
    def test_a_run_that_is_soon_over_shows_nothing(self):
        terminal = Terminal()
        with watch.listening(Progress(terminal, Clock())):
            assert list(watch.each("reading", "abc")) == ["a", "b", "c"]
            watch.listener().linked([])
        assert terminal.getvalue() == ""

    def test_a_long_one_shows_how_far_it_is_and_leaves_nothing(self):
        terminal, clock = Terminal(), Clock()
        with watch.listening(Progress(terminal, clock)):
            for number, _ in enumerate(watch.each("reading", range(10))):
                clock.now += 0.3
                if number == 9:
                    assert "reading" in terminal.getvalue()
                    assert " 90%" in terminal.getvalue()
            watch.listener().linked([])
        assert terminal.getvalue().endswith("\x1b[1A\x1b[2K")

    def test_each_part_has_its_bar(self):
        terminal, clock = Terminal(), Clock()
        with watch.listening(Progress(terminal, clock)):
            clock.now = 5
            list(watch.each("reading", range(3)))
            list(watch.each("running", range(3)))
            watch.listener().linked([])
        assert terminal.getvalue().count("\x1b[1A\x1b[2K") == 2

    def test_it_is_for_terminals_only(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setattr(sys, "stderr", Terminal())
        assert isinstance(follower(verbose=False), Progress)
        assert isinstance(follower(verbose=True), Verbose)
        monkeypatch.setenv("TERM", "dumb")
        assert type(follower(verbose=False)) is watch.Listener
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setattr(sys, "stderr", io.StringIO())
        assert type(follower(verbose=False)) is watch.Listener


def test_nobody_listens_once_the_run_is_over():
    with watch.listening(Verbose()) as _:
        assert isinstance(watch.listener(), Verbose)
    assert type(watch.listener()) is watch.Listener
