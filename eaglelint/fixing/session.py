"""`check --fix`: passes of fixing and checking in memory until nothing is left to fix; files are written at the end."""

from __future__ import annotations

import difflib
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from eaglelint.findings import Finding
from eaglelint.fixing.planning import Plan, Planned, plan
from eaglelint.fixing.writing import write
from eaglelint.run import Result, check
from eaglelint.settings import Settings

#: A fix can bring up the next (another binding of a name): so many passes are made at most.
_PASSES = 10
#: Rules about what can not be read.
_UNREADABLE = ("EGL001", "EGL002", "EGL005")


@dataclass
class Fixed:
    """What fixing did: the result afterwards, what was fixed, and what was not, with reasons.

    `files` are the new bytes of what changed, by path, and `originals` those that were read.
    """

    result: Result
    before: Result
    files: Mapping[str, bytes]
    originals: dict[str, bytes] = field(default_factory=dict)
    fixed: list[Finding] = field(default_factory=list)
    refused: list[tuple[Finding, str]] = field(default_factory=list)

    def diff(self) -> str:
        """The changes as a unified diff that `patch -p1` and `git apply` take."""
        return "".join(self._diffs())

    def _diffs(self) -> Iterator[str]:
        for path, data in sorted(self.files.items()):
            old = self.originals[path].decode("utf-8", "replace").splitlines(keepends=True)
            new = data.decode("utf-8", "replace").splitlines(keepends=True)
            for line in difflib.unified_diff(old, new, _quoted(f"a/{path}"), _quoted(f"b/{path}")):
                yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"

    def write(self) -> list[str]:
        """Replace the files that changed; returns what could not be written, in words. Others are written all the same.

        A file that somebody changed since it was read is left as it is.
        """
        problems = []
        for path, data in sorted(self.files.items()):
            source = self.before.sources[path]
            try:
                if Path(source.file).read_bytes() != self.originals[path]:
                    problems.append(f"{path} changed while it was checked and is left as it is")
                    continue
                write(source.file, data)
            except OSError as error:
                problems.append(f"can not write {path}: {(error.strerror or str(error)).lower()}")
        return problems


def _quoted(path: str) -> str:
    """A path as git writes it into a diff: in quotes with escapes when a character would break the line."""
    if path.isprintable() and not set('"\\') & set(path):
        return path
    return '"' + "".join(c if c.isprintable() and c not in '"\\' else _octal(c) for c in path) + '"'


def _octal(character: str) -> str:
    return "".join(f"\\{byte:03o}" for byte in character.encode("utf-8", "surrogateescape"))


def fix(paths: Sequence[str], settings: Settings, *, unsafe: bool = False) -> Fixed:
    """Fix what can be fixed under `paths`, in memory: nothing is written until `Fixed.write`."""
    result = check(paths, settings)
    done = Fixed(result, result, {})
    files: dict[str, bytes] = {}
    never: set[tuple[str, str, str]] = set()
    for _ in range(_PASSES):
        open_ = [finding for finding in result.findings if _key(finding) not in never]
        step = plan(open_, result.sources, unsafe=unsafe)
        for finding, reason in step.refused:
            never.add(_key(finding))
            done.refused.append((finding, reason))
        if not step.fixes:
            break
        kept, after = _proven(paths, settings, files, result, step, unsafe)
        for item in step.fixes:
            if item not in kept.fixes:
                never.add(_key(item.finding))
                done.refused.append((item.finding, "the finding would still be there, or others like it"))
        if not kept.fixes:
            continue
        for path in kept.files:
            done.originals.setdefault(path, kept.originals[path])
        files.update(kept.files)
        done.fixed += [item.finding for item in kept.fixes]
        result = after
    done.result = result
    done.files = {path: data for path, data in files.items() if data != done.originals[path]}
    return done


def _proven(
    paths: Sequence[str], settings: Settings, files: Mapping[str, bytes], before: Result, step: Plan, unsafe: bool
) -> tuple[Plan, Result]:
    """As much of a pass as makes its findings go away and brings no others up; the result with it."""

    def tried(one: Plan) -> Result | None:
        after = check(paths, settings, contents={**files, **one.files})
        gone = all(_is_gone(item, one, after) for item in one.fixes)
        return after if gone and not _worse(before, after, one) else None

    after = tried(step)
    if after is None and len(step.fixes) > 1:
        alone = [plan([item.finding], before.sources, unsafe=unsafe) for item in step.fixes]
        good = [one.fixes[0].finding for one in alone if tried(one) is not None]
        step = plan(good, before.sources, unsafe=unsafe)
        after = tried(step) if good else None
    return (step, after) if after is not None else (Plan((), {}, (), {}), before)


def _is_gone(item: Planned, step: Plan, after: Result) -> bool:
    """Whether the finding is no longer at its place."""
    place = step.place_after(item.finding.where)
    return not any(
        finding.rule == item.finding.rule and (finding.where.path, finding.where.start) == place
        for finding in after.findings
    )


def _worse(before: Result, after: Result, step: Plan) -> bool:
    """Whether something can not be read any more, or a rule that was fixed finds more than before.

    Other findings may come up: a server that drafts at last may lack an argument for it.
    """
    rules = {*_UNREADABLE, *(item.finding.rule for item in step.fixes)}
    counts = [Counter(f.rule for f in result.findings if f.rule in rules) for result in (before, after)]
    more = any(number > counts[0][rule] for rule, number in counts[1].items())
    return more or len(after.tracebacks) > len(before.tracebacks)


def _key(finding: Finding) -> tuple[str, str, str]:
    return finding.rule, os.path.normpath(finding.where.path), finding.message
