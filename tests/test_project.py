"""Discovery: which files a run looks at, and what it says of those it can not look at."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from eaglelint.errors import UnreadableSource, UsageError
from eaglelint.project import Project, Source, discover
from eaglelint.settings import Settings

Write = Callable[..., None]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is the current directory; the temporary folder above it holds no repository."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def write(here: Path) -> Write:
    def write_files(*names: str, **contents: str) -> None:
        for name in names:
            file = here / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(contents.get("text", "x\n"))

    return write_files


def paths(project: Project) -> list[str]:
    return [source.path for source in project.sources]


def source(content: bytes, kind: str = "python", path: str = "a.py") -> Source:
    return Source(path, kind, Path(path), content)


class TestWhatIsRead:
    def test_files_of_known_kinds_sorted_by_path(self, write: Write) -> None:
        write("b.py", "a/z.sh", "a/config.json", "notes.txt", "logo.png", "a.b/c.py")
        assert paths(discover(["."])) == ["a.b/c.py", "a/config.json", "a/z.sh", "b.py"]

    def test_hidden_folders_such_as_workflows_are_read(self, write: Write) -> None:
        write(".github/workflows/serve.yml")
        assert paths(discover(["."])) == [".github/workflows/serve.yml"]

    def test_other_peoples_folders_are_not(self, write: Write) -> None:
        write(".git/hooks/a.py", ".venv/a.py", "lib/site-packages/a.py", "node_modules/a.json", "__pycache__/a.py")
        write("myenv/pyvenv.cfg", "myenv/a.py", "ours.py")
        assert paths(discover(["."])) == ["ours.py"]

    def test_unless_they_are_named(self, write: Write) -> None:
        write(".venv/lib/site-packages/sglang/llama.py", ".venv/pyvenv.cfg")
        assert paths(discover([".venv/lib/site-packages/sglang"])) == [".venv/lib/site-packages/sglang/llama.py"]
        assert paths(discover([".venv"])) == []

    def test_scripts_without_an_ending(self, write: Write) -> None:
        write("serve", text="#!/bin/bash\n")
        write("LICENSE", text="Apache\n")
        assert [(s.path, s.kind) for s in discover(["."]).sources] == [("serve", "shell")]

    def test_several_paths_that_overlap_count_once(self, write: Write) -> None:
        write("a/b.py", "c.py")
        assert paths(discover(["a", ".", "a/b.py"])) == ["a/b.py", "c.py"]

    def test_paths_outside_the_current_directory(self, here: Path, write: Write) -> None:
        (here.parent / "other").mkdir()
        (here.parent / "other" / "x.py").write_text("x")
        project = discover([str(here.parent / "other")])
        assert paths(project) == ["../other/x.py"]
        assert project.root == here.parent / "other"

    def test_a_named_file_of_an_unknown_kind_is_text(self, here: Path, write: Write) -> None:
        write("serve.txt", text="python -m sglang.launch_server\n")
        (here / "blob.xyz").write_bytes(b"\0\1")
        kinds = {s.path: s.kind for s in discover(["serve.txt", "blob.xyz"]).sources}
        assert kinds == {"serve.txt": "text", "blob.xyz": "binary"}

    def test_an_empty_folder_has_nothing(self, here: Path) -> None:
        assert discover(["."]) == Project(here, ())


class TestIgnoreFiles:
    def test_patterns_of_nested_files(self, write: Write) -> None:
        write(".gitignore", text="out/\n*.log.py\n/top.py\n")
        write("sub/.gitignore", text="!keep.log.py\nlocal.py\n")
        write("out/a.py", "a.log.py", "top.py", "sub/top.py", "sub/keep.log.py", "sub/local.py", "local.py")
        assert paths(discover(["."])) == ["local.py", "sub/keep.log.py", "sub/top.py"]

    def test_a_file_can_not_come_back_from_an_ignored_folder(self, write: Write) -> None:
        write(".gitignore", text="out/\n!out/keep.py\n")
        write("out/keep.py")
        assert paths(discover(["."])) == []

    def test_a_named_path_is_never_ignored(self, write: Write) -> None:
        write(".gitignore", text="out/\nsecret.py\n")
        write("out/run/config.json", "secret.py")
        assert paths(discover(["out/run", "secret.py"])) == ["out/run/config.json", "secret.py"]

    def test_files_above_a_named_folder_count_too(self, write: Write) -> None:
        write(".gitignore", text="*.gen.py\n")
        write("src/a.py", "src/a.gen.py")
        assert paths(discover(["src"])) == ["src/a.py"]

    def test_files_above_the_repository_do_not(self, here: Path, write: Write) -> None:
        (here.parent / ".gitignore").write_text("*.py\n")
        (here / ".git").mkdir()
        write("a.py")
        assert paths(discover(["."])) == ["a.py"]

    def test_lines_that_are_no_patterns_are_passed_over(self, here: Path, write: Write) -> None:
        (here / ".gitignore").write_bytes(b"!\n\xff\xfe\nfoo/**bar[\nb.py\n")
        write("a.py", "b.py")
        assert paths(discover(["."])) == ["a.py"]


class TestConfiguration:
    def settings(self, here: Path, **values: tuple[str, ...]) -> Settings:
        return Settings(**values).placed("eaglelint.toml", str(here))  # type: ignore[arg-type]

    def test_exclude_holds_for_named_paths_as_well(self, here: Path, write: Write) -> None:
        write("vendor/a.py", "b.py")
        settings = self.settings(here, exclude=("vendor/",))
        assert paths(discover([".", "vendor/a.py"], settings=settings)) == ["b.py"]

    def test_include_keeps_only_what_it_names(self, here: Path, write: Write) -> None:
        write("train/a.py", "train/b.sh", "c.py")
        assert paths(discover(["."], settings=self.settings(here, include=("*.py",)))) == ["c.py", "train/a.py"]


class TestLinks:
    def test_no_link_leads_out_of_the_project(self, here: Path, write: Write) -> None:
        (here.parent / "elsewhere").mkdir()
        (here.parent / "elsewhere" / "x.py").write_text("x")
        (here / "out").symlink_to(here.parent / "elsewhere")
        (here / "x.py").symlink_to(here.parent / "elsewhere" / "x.py")
        write("a.py")
        assert paths(discover(["."])) == ["a.py"]

    def test_a_loop_ends(self, here: Path, write: Write) -> None:
        write("a/b.py")
        (here / "a" / "up").symlink_to(here)
        (here / "self").symlink_to(here / "self")
        assert paths(discover(["."])) == ["a/b.py"]

    def test_a_second_name_is_said_and_not_read_twice(self, here: Path, write: Write) -> None:
        write("runs/epoch_3/config.json")
        (here / "latest").symlink_to("runs/epoch_3")
        (here / "c.json").symlink_to("runs/epoch_3/config.json")
        project = discover(["."])
        assert paths(project) == ["runs/epoch_3/config.json"]
        assert project.links == (("c.json", "runs/epoch_3/config.json"), ("latest", "runs/epoch_3"))

    def test_a_link_to_what_nothing_else_leads_to_is_followed(self, here: Path, write: Write) -> None:
        write("cache/blobs/3f2a90", text="{}")
        (here / "cache" / "snapshot").mkdir()
        (here / "cache" / "snapshot" / "config.json").symlink_to("../blobs/3f2a90")
        write(".gitignore", text="/store/\n")
        write("store/drafter/config.json")
        (here / "drafter").symlink_to("store/drafter")
        assert paths(discover(["."])) == ["cache/snapshot/config.json", "drafter/config.json"]

    def test_a_link_into_a_folder_of_others_is_not(self, here: Path, write: Write) -> None:
        write(".venv/lib/a.py")
        (here / "lib").symlink_to(".venv/lib")
        assert paths(discover(["."])) == []

    def test_a_broken_link_is_nothing(self, here: Path) -> None:
        (here / "gone.py").symlink_to("nowhere.py")
        assert discover(["."]) == Project(here, ())


class TestWhatCanNotBeRead:
    def test_a_missing_path_is_the_callers_mistake(self, here: Path) -> None:
        with pytest.raises(UsageError, match=r"no such file or folder: nowhere/at all"):
            discover(["nowhere/at all"])

    def test_pipes_are_passed_over_and_refused_by_name(self, here: Path) -> None:
        os.mkfifo(here / "pipe.py")
        assert paths(discover(["."])) == []
        with pytest.raises(UsageError, match=r"neither a file nor a folder: pipe\.py"):
            discover(["pipe.py"])

    def test_a_folder_without_permission_is_said(
        self, here: Path, write: Write, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write("locked/a.py", "open/b.py")
        scandir = os.scandir

        def refuse(path: str) -> object:
            if path.endswith("locked"):
                raise PermissionError(13, "Permission denied", path)
            return scandir(path)

        monkeypatch.setattr("os.scandir", refuse)
        project = discover(["."])
        assert paths(project) == ["open/b.py"]
        assert [(u.where.path, u.reason) for u in project.unreadable] == [
            ("locked", "the folder can not be listed: permission denied")
        ]

    @pytest.mark.parametrize(("text", "evidence"), [("layers_to_capture = [1]\n", True), ("pass\n", False)])
    def test_a_huge_file_is_said_and_not_read(self, here: Path, text: str, evidence: bool) -> None:
        (here / "huge.py").write_text(text + "#" * (9 << 20))
        project = discover(["."])
        assert project.sources == ()
        assert [(u.where.path, u.evidence) for u in project.unreadable] == [("huge.py", evidence)]
        assert "9 MiB large" in project.unreadable[0].reason

    def test_large_tensors_are_left_to_their_readers(self, here: Path) -> None:
        with (here / "model.safetensors").open("wb") as stream:
            stream.truncate(300 << 20)
        found = discover(["."]).sources
        assert [s.kind for s in found] == ["binary"]
        with pytest.raises(UnreadableSource, match="larger than"):
            _ = found[0].data

    def test_a_file_that_vanished(self, write: Write, here: Path) -> None:
        write("a.py")
        project = discover(["."])
        (here / "a.py").unlink()
        with pytest.raises(UnreadableSource, match=r"a\.py:1: no such file"):
            _ = project.sources[0].text


class TestText:
    def test_utf8_with_line_ends_as_they_are(self) -> None:
        text = source("é = 1\r\ny = 2".encode()).text
        assert text.text == "é = 1\r\ny = 2"
        assert text.location(7, 8)[:3] == ("a.py", 2, 1)

    def test_a_byte_order_mark_is_no_text(self) -> None:
        assert source(b"\xef\xbb\xbfx = 1", "shell").text.text == "x = 1"
        assert source(b"\xef\xbb\xbfx = 1", "python").text.text == "x = 1"

    def test_but_json_readers_must_see_it(self) -> None:
        assert source(b"\xef\xbb\xbf{}", "json", "config.json").text.text == "\ufeff{}"

    def test_a_coding_line_counts_for_python_alone(self) -> None:
        assert source(b"# -*- coding: latin-1 -*-\nx = '\xe9'").text.text.endswith("'é'")
        with pytest.raises(UnreadableSource):
            _ = source(b"# -*- coding: latin-1 -*-\nx='\xe9'", "shell").text

    @pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
    def test_wrong_bytes_have_a_place(self, mark: bytes) -> None:
        with pytest.raises(UnreadableSource) as caught:
            _ = source(mark + "ä\nä = '".encode() + b"\xff'").text
        assert caught.value.where[:3] == ("a.py", 2, 6)
        assert caught.value.reason == "not UTF-8: byte 0xff"

    @pytest.mark.parametrize("name", [b"klingon", b"hex", b"punycode"])
    def test_a_coding_line_without_sense(self, name: bytes) -> None:
        with pytest.raises(UnreadableSource) as caught:
            _ = source(b"#!/usr/bin/python\n# coding: " + name + b"\n").text
        assert caught.value.where.line == 2

    def test_utf16_is_named(self) -> None:
        with pytest.raises(UnreadableSource, match="UTF-16"):
            _ = source("x".encode("utf-16")).text

    def test_a_source_travels_between_processes(self) -> None:
        original = source(b"x = 1")
        _ = original.text
        assert pickle.loads(pickle.dumps(original)) == original
