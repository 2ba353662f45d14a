"""Which fixes are made in one pass: those with edits that are allowed, stand for themselves and break nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from eaglelint.errors import UnreadableSource
from eaglelint.findings import Edit, Finding
from eaglelint.fixing.edits import Refused, applied, encoded, merged
from eaglelint.fixing.guarding import guard
from eaglelint.fixing.renaming import rename
from eaglelint.location import Location
from eaglelint.project import Source


class Planned(NamedTuple):
    """A finding and the edits that its fix takes."""

    finding: Finding
    edits: tuple[Edit, ...]


class Plan(NamedTuple):
    """What a pass changes: the fixes, the new bytes by path, and the findings that are refused, with the reason.

    `originals` are the bytes that the new ones were made from. The file may have changed since.
    """

    fixes: tuple[Planned, ...]
    files: Mapping[str, bytes]
    refused: tuple[tuple[Finding, str], ...]
    originals: Mapping[str, bytes]

    def place_after(self, where: Location) -> tuple[str, int]:
        """Where a place of before stands after this plan, by its start."""
        edits = {edit for fix in self.fixes for edit in fix.edits if edit.path == where.path}
        moved = sum(len(edit.text) - (edit.end - edit.start) for edit in edits if edit.end <= where.start)
        return where.path, where.start + moved


def fixable(finding: Finding, unsafe: bool) -> bool:
    """Whether a finding has a fix that eaglelint can make, and may: unsafe ones are made only when asked for."""
    fix = finding.fix
    return fix is not None and fix.automatic and (unsafe or fix.applicability == "safe")


def edits_of(finding: Finding, sources: Mapping[str, Source]) -> tuple[Edit, ...]:
    """The edits of one fix, with those of a renaming worked out; raises Refused."""
    if finding.fix is None:
        return ()
    if finding.fix.edits or not finding.fix.rename:
        return finding.fix.edits
    source = sources.get(finding.where.path)
    if source is None:
        raise Refused("the file is not at hand")
    return rename(source, finding.where, finding.fix.rename, sources)


def plan(findings: Iterable[Finding], sources: Mapping[str, Source], *, unsafe: bool = False) -> Plan:
    """The fixes that can be made together, in the order of the findings; one that collides waits for the next pass."""
    fixes: list[Planned] = []
    refused: list[tuple[Finding, str]] = []
    chosen: dict[str, tuple[Edit, ...]] = {}
    files: dict[str, bytes] = {}
    originals: dict[str, bytes] = {}
    for finding in findings:
        if not fixable(finding, unsafe):
            continue
        try:
            edits = edits_of(finding, sources)
            if not edits:
                continue
            try:
                changed = _with(chosen, edits)
            except Refused:
                continue  # it collides with a fix of this pass, and is looked at again in the next
            contents = {path: _bytes(sources, path, changed[path]) for path in {edit.path for edit in edits}}
        except Refused as error:
            refused.append((finding, str(error)))
            continue
        fixes.append(Planned(finding, edits))
        chosen.update(changed)
        files.update({path: new for path, (_, new) in contents.items()})
        originals.update({path: old for path, (old, _) in contents.items()})
    return Plan(tuple(fixes), files, tuple(refused), originals)


def _with(chosen: Mapping[str, tuple[Edit, ...]], edits: Iterable[Edit]) -> dict[str, tuple[Edit, ...]]:
    """The edits of the files that `edits` touch, together with those that are chosen already; raises Refused."""
    together: dict[str, list[Edit]] = {}
    for edit in edits:
        together.setdefault(edit.path, list(chosen.get(edit.path, ()))).append(edit)
    return {path: merged(parts) for path, parts in together.items()}


def _bytes(sources: Mapping[str, Source], path: str, edits: tuple[Edit, ...]) -> tuple[bytes, bytes]:
    """The bytes of a file before and after its edits, when they change nothing else; raises Refused."""
    source = sources.get(path)
    if source is None:
        raise Refused(f"{path} is not among the files that were read")
    try:
        text = source.text.text
    except UnreadableSource as error:
        raise Refused(error.reason) from None
    new = applied(text, edits)
    guard(source, new, edits)
    return encoded(source, text), encoded(source, new)
