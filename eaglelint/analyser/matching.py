"""`match` statements: which case a subject takes, with three-valued patterns."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import libcst as cst

from eaglelint.analyser.comparing import compare
from eaglelint.analyser.operations import truth
from eaglelint.analyser.values import Unknown, V

if TYPE_CHECKING:
    from eaglelint.analyser.interpreter import Flow, Interpreter
    from eaglelint.analyser.scope import Frame


def match(run: Interpreter, node: cst.Match, frame: Frame) -> Flow:
    """Execute the first case that fits; a case that may fit is taken both ways, with the cases after it as the rest."""
    subject = run.evaluate(node.subject, frame)
    return _cases(run, subject, node.cases, frame)


def _cases(run: Interpreter, subject: V, cases: Any, frame: Frame) -> Flow:
    for number, case in enumerate(cases):
        verdict = fits(run, subject, case.pattern, frame)
        if verdict is not False and case.guard is not None:
            guard = truth(run.evaluate(case.guard, frame))
            verdict = False if guard is False else verdict if guard else Unknown("match")
        if verdict is True:
            return run.statement(case.body, frame)
        if isinstance(verdict, Unknown):
            rest = partial(_cases, run, subject, cases[number + 1 :], frame) if number + 1 < len(cases) else None
            return run.both(case.body, rest, frame, verdict)
    return None


def fits(run: Interpreter, subject: V, pattern: Any, frame: Frame) -> V:
    """Whether a subject fits a pattern: True, False or Unknown. Names in the pattern are bound."""
    if isinstance(pattern, cst.MatchValue):
        return compare("Equal", subject, run.evaluate(pattern.value, frame))
    if isinstance(pattern, cst.MatchSingleton):
        return compare("Is", subject, run.evaluate(pattern.value, frame))
    if isinstance(pattern, cst.MatchOr):
        doubt: V = False
        for element in pattern.patterns:
            verdict = fits(run, subject, element.pattern, frame)
            if verdict is True:
                return True
            if isinstance(verdict, Unknown):
                doubt = verdict
        return doubt
    if isinstance(pattern, cst.MatchAs):
        verdict = fits(run, subject, pattern.pattern, frame) if pattern.pattern is not None else True
        if pattern.name is not None and verdict is not False:
            run.assign(pattern.name, subject, frame, None)
        return verdict
    return Unknown("match")
