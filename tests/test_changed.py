"""Changed lines: what differs from a commit, found without running anything that the repository could name."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eaglelint import changed
from eaglelint.changed import changed_lines, since, touching
from eaglelint.errors import UsageError
from eaglelint.facts import Step
from eaglelint.findings import Finding
from eaglelint.location import LineMap, Location


def git(*arguments: str) -> str:
    identity = {
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@b",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@b",
    }
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["git", *arguments], check=True, capture_output=True, encoding="utf-8", env={**os.environ, **identity, **quiet}
    )
    return done.stdout.strip()


def commit(message: str = "m") -> str:
    git("add", "--all")
    git("commit", "--quiet", "--allow-empty", "--message", message)
    return git("rev-parse", "HEAD")


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    git("init", "--quiet", "--initial-branch", "main")
    Path("a.py").write_text("".join(f"line {n}\n" for n in range(1, 11)))
    commit()
    return tmp_path


def edit(path: str, old: str, new: str) -> None:
    Path(path).write_text(Path(path).read_text().replace(old, new))


def at(path: str, first: int, last: int | None = None) -> Location:
    """The place of some lines."""
    lines = LineMap(path, Path(path).read_text())
    return lines.location(lines.span(first)[0], lines.span(last or first)[1] - 1)


def touched(path: str, revision: str = "HEAD", lines: int = 10) -> list[int]:
    changes = since(revision)
    return [n for n in range(1, lines + 1) if changes.touches(at(path, n))]


class TestLines:
    def changed(self, old: str, new: str) -> set[int]:
        return set(changed_lines([c.encode() for c in old], [c.encode() for c in new]))

    def test_what_is_the_same_has_none(self):
        assert self.changed("abc", "abc") == set()
        assert self.changed("", "") == set()

    def test_lines_that_are_replaced_or_added(self):
        assert self.changed("abcd", "aXcd") == {2}
        assert self.changed("abcd", "aXbcYd") == {2, 5}
        assert self.changed("", "abc") == {1, 2, 3}

    def test_where_lines_are_gone_the_lines_around_the_gap(self):
        assert self.changed("abcd", "abd") == {2, 3}
        assert self.changed("abcd", "bcd") == {1}
        assert self.changed("abcd", "abc") == {3}
        assert self.changed("abc", "") == set()

    @given(st.lists(st.sampled_from("abc"), max_size=12), st.lists(st.sampled_from("abcX"), max_size=12))
    def test_what_is_left_stood_there_in_that_order(self, old: list[str], new: list[str]):
        changed = self.changed("".join(old), "".join(new))
        assert changed <= set(range(1, len(new) + 1))
        assert {n for n, line in enumerate(new, 1) if line == "X"} <= changed
        rest = iter(old)
        assert all(line in rest for n, line in enumerate(new, 1) if n not in changed)
        assert bool(changed) == (old != new) or not new

    def test_large_changes_are_compared_line_by_line(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(changed, "_EXACT", 3)
        assert self.changed("xabcx", "xaYcZx") == {3, 5}


def test_nothing_has_changed():
    assert touched("a.py") == []


def test_edits_that_are_not_committed_count_and_those_that_are_staged():
    edit("a.py", "line 3", "other")
    assert touched("a.py") == [3]
    git("add", "a.py")
    assert touched("a.py") == [3]


def test_lines_after_an_insertion_have_not_changed():
    edit("a.py", "line 3\n", "line 3\nnew\n")
    assert touched("a.py", lines=11) == [4]


def test_a_place_of_several_lines_is_touched_by_any_of_them():
    edit("a.py", "line 5", "other")
    changes = since("HEAD")
    assert changes.touches(at("a.py", 3, 6))
    assert not changes.touches(at("a.py", 6, 9))


def test_a_place_that_is_a_whole_file_is_touched_by_any_of_its_lines():
    assert not since("HEAD").touches(Location("a.py"))
    edit("a.py", "line 9", "other")
    assert since("HEAD").touches(Location("a.py"))


def test_a_new_file_has_changed_as_a_whole_tracked_or_not():
    Path("b.py").write_text("x\n" * 10)
    assert touched("b.py") == list(range(1, 11))
    git("add", "b.py")
    assert touched("b.py") == list(range(1, 11))


def test_a_file_that_only_moved_has_not_changed():
    git("mv", "a.py", "b.py")
    assert touched("b.py") == []


def test_a_copy_of_a_file_is_new():
    Path("b.py").write_bytes(Path("a.py").read_bytes())
    assert touched("b.py") == list(range(1, 11))


def test_line_ends_are_no_change():
    Path("a.py").write_bytes(Path("a.py").read_bytes().replace(b"\n", b"\r\n"))
    assert touched("a.py") == []


@pytest.mark.parametrize("name", ["a b.py", "-a.py", "größe.py", ":(glob)x.py", 'q"uote\\.py', "HEAD:x"])
def test_any_name_of_a_file(name: str):
    Path(name).write_text("1\n2\n")
    commit()
    edit(name, "2", "3")
    assert touched(name, lines=2) == [2]


def test_a_branch_is_compared_from_where_it_parted():
    git("switch", "--quiet", "--create", "feature")
    edit("a.py", "line 3", "feature")
    commit()
    git("switch", "--quiet", "main")
    edit("a.py", "line 9", "main")
    commit()
    git("switch", "--quiet", "feature")
    assert touched("a.py", "main") == [3]
    assert touched("a.py", "HEAD~1") == [3]
    assert touched("a.py", git("rev-parse", "--short", "main~1")) == [3]


def test_from_a_folder_of_the_repository(repository: Path, monkeypatch: pytest.MonkeyPatch):
    (repository / "sub").mkdir()
    Path("sub/b.py").write_text("1\n2\n")
    commit()
    edit("sub/b.py", "2", "3")
    monkeypatch.chdir(repository / "sub")
    assert touched("b.py", lines=2) == [2]
    assert touched("../a.py") == []


def test_what_lies_outside_has_not_changed(repository: Path, tmp_path_factory: pytest.TempPathFactory):
    other = tmp_path_factory.mktemp("other") / "b.py"
    other.write_text("1\n")
    assert not since("HEAD").touches(Location(os.path.relpath(other), 1, 1, 1, 2, 0, 1))


def test_files_of_a_submodule_change_by_commits_of_their_own(tmp_path_factory: pytest.TempPathFactory):
    other = tmp_path_factory.mktemp("other")
    git("clone", "--quiet", ".", str(other))
    git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "third/party")
    commit()
    edit("third/party/a.py", "line 3", "other")
    assert touched("third/party/a.py") == []


def test_of_a_large_file_the_size_counts(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(changed, "_LARGEST", 16)
    edit("a.py", "line 3", "LINE 3")
    assert touched("a.py") == []
    edit("a.py", "line 4", "line four")
    assert touched("a.py") == list(range(1, 11))


def test_a_file_that_git_lfs_keeps_elsewhere():
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 4\n"
    Path("w.safetensors").write_text(pointer)
    commit()
    Path("w.safetensors").write_text("abcd")
    assert not since("HEAD").touches(Location("w.safetensors"))
    Path("w.safetensors").write_text("abcde")
    assert since("HEAD").touches(Location("w.safetensors"))


class TestFindings:
    def test_one_that_touches_by_any_of_its_places_stays(self):
        Path("b.py").write_text("1\n2\n")
        commit()
        edit("a.py", "line 3", "other")
        here = Finding("EGL401", "error", "m", at("a.py", 3))
        by_trace = Finding("EGL401", "error", "m", at("b.py", 1), related=(Step(at("a.py", 3), "captured"),))
        elsewhere = Finding("EGL401", "error", "m", at("a.py", 4), related=(Step(at("b.py", 2), "captured"),))
        assert touching([here, by_trace, elsewhere], since("HEAD")) == [here, by_trace]

    def test_a_failure_of_eaglelint_stays(self):
        failure = Finding("EGL005", "warning", "m", at("a.py", 1))
        assert touching([failure], since("HEAD")) == [failure]

    def test_what_stands_at_no_line_stays(self):
        folder = Finding("EGL001", "warning", "the folder can not be listed", Location("gone"))
        assert touching([folder], since("HEAD")) == [folder]


@pytest.mark.parametrize("revision", ["--output=x", "-O", "", " ", "a\nb", "HEAD\0"])
def test_what_is_no_revision_never_reaches_git(revision: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(changed, "_run", lambda *arguments: pytest.fail(f"git was run: {arguments}"))
    with pytest.raises(UsageError, match="is not a revision"):
        since(revision)


def test_an_unknown_revision():
    with pytest.raises(UsageError, match="the repository has no commit 'nowhere'"):
        since("nowhere")
    with pytest.raises(UsageError, match="has no commit"):
        since("HEAD:a.py")  # a file, not a commit


def test_outside_of_a_repository(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path_factory.mktemp("plain"))
    with pytest.raises(UsageError, match=r"needs a git repository around the current folder \(fatal: not a git"):
        since("HEAD")


def test_without_git(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", os.pathsep.join((".", "", "/nowhere")))
    with pytest.raises(UsageError, match=r"there is none on \$PATH"):
        since("HEAD")


@pytest.mark.skipif(os.name == "nt", reason="programs of a shell")
def test_nothing_that_the_repository_names_is_run(repository: Path):
    trap, mark = repository / "trap", repository / "ran"
    trap.write_text(f"#!/bin/sh\necho \"$0 $@\" >> '{mark}'\ncat\n")
    trap.chmod(0o755)
    Path(".gitattributes").write_text("* filter=evil diff=evil\n")
    commit()
    for key in (
        "core.fsmonitor", "core.pager", "core.sshCommand", "core.askPass", "core.editor", "diff.external",
        "filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "diff.evil.textconv", "diff.evil.command",
        "core.gitProxy", "gpg.program",
    ):  # fmt: skip
        git("config", key, str(trap))
    for hook in ("post-index-change", "fsmonitor-watchman", "reference-transaction", "post-checkout"):
        (repository / ".git/hooks").mkdir(exist_ok=True)
        (repository / ".git/hooks" / hook).symlink_to(trap)
    edit("a.py", "line 3", "other")
    assert touched("a.py") == [3]
    assert not mark.exists(), mark.read_text()
    subprocess.run(["git", "status"], capture_output=True, check=False)
    assert mark.exists(), "the trap does not work"


@pytest.mark.skipif(os.name == "nt", reason="programs of a shell")
def test_a_git_in_the_folder_that_is_checked_is_not_run(repository: Path, monkeypatch: pytest.MonkeyPatch):
    (repository / "git").write_text("#!/bin/sh\ntouch ran\n")
    (repository / "git").chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join((".", os.environ["PATH"])))
    since("HEAD")
    assert not (repository / "ran").exists()
