"""Code that changes code: the text of a file, read, edited and written back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eaglelint.analyser.file_values import FileText
from eaglelint.analyser.strings import source_str
from eaglelint.analyser.values import FuncV, ListV, SourceStr, Unknown, V, note_of

if TYPE_CHECKING:
    from eaglelint.analyser.calls import CallSite
    from eaglelint.analyser.interpreter import Interpreter


def edited(text: FileText, kind: str, old: V, new: V) -> FileText:
    """The file with one more edit."""
    if not isinstance(new, str):
        return text
    return FileText(text.path, (*text.edits, (kind, old, new)), text.text, text.note or note_of(new))


def method(run: Interpreter, owner: FileText, name: str, site: CallSite) -> V:
    """A str method of the text of a file."""
    if name == "replace":
        made = edited(owner, "replace", site.get(0, "old"), site.get(1, "new"))
        run.world.touched.append(made)
        return made
    if name in ("strip", "rstrip", "lstrip", "expandtabs", "decode", "encode"):
        return owner
    if name in ("splitlines", "split"):
        return ListV([owner], True)
    if name == "join":
        return owner
    if name in ("partition", "rpartition"):
        return (owner, site.get(0, "sep"), owner)
    return Unknown(name)


def substitute(run: Interpreter, site: CallSite) -> V:
    """re.sub(pattern, replacement, text)"""
    text, new = site.get(2, "string"), site.get(1, "repl")
    if isinstance(text, FileText) and isinstance(new, FuncV):
        new = run.call_function(new, [Unknown("match")], {})
    if isinstance(text, FileText):
        made = edited(text, "replace", site.get(0, "pattern"), new)
        run.world.touched.append(made)
        return made
    return Unknown("re.sub") if not isinstance(text, str) else text


def written(run: Interpreter, path: V, text: V, site: CallSite) -> None:
    """Text was written to a file: code that the analyser reads as well."""
    from eaglelint.analyser.files import path_of

    if isinstance(text, FileText):
        run.world.patched.append(FileText(path_of(path), text.edits, text.text, text.note))
    elif isinstance(text, SourceStr) and "\n" in text:
        run.world.patched.append(FileText(path_of(path), (("whole", "", text),), None, text.note))


def read(run: Interpreter, path: V, site: CallSite) -> V:
    """The text of a file: known when the file is in scope."""
    from eaglelint.analyser.files import path_of

    text = path_of(path)
    source = run.world.source_text(text)
    if source is not None and not text.endswith(".py"):
        return source_str(source)
    return FileText(text, (), source)
