"""Runs a shell script abstractly: which simple commands, with which words, in which environment."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from eaglelint.location import Location
from eaglelint.readers.branches import merge, settled, tested
from eaglelint.readers.builtins import PRINTERS, SILENT, builtin, forget_assigned, output_of
from eaglelint.readers.commands import (
    Command,
    Setting,
    Simple,
    Span,
    Text,
    assignment,
    is_assignment,
    parse,
    simple_commands,
    stdin_of,
    words_of,
)
from eaglelint.readers.expansion import expand, expand_one
from eaglelint.readers.parameters import Scope
from eaglelint.readers.quoting import mask
from eaglelint.readers.sourced import sourced
from eaglelint.readers.words import Script, Variable, Word, joined, script_of, unknown
from eaglelint.readers.wrappers import unwrap
from eaglelint.readers.written import reads_code

#: Statements that are executed before the rest of a script is passed over.
_MOST_STATEMENTS = 8_000
_DEEPEST = 16
_MOST_ITEMS = 8
_NAME = re.compile(r"[A-Za-z_]\w*")
_DECLARATIONS = frozenset({"export", "declare", "typeset", "local", "readonly"})
_SIMPLE = frozenset(
    {"command", "variable_assignment", "variable_assignments", "declaration_command", "unset_command", "test_command"}
)
_NAMES = re.compile(r"\$\{?([A-Za-z_]\w*)")
_LEAVES = re.compile(r"\b(?:break|continue)\b")
_TESTS = re.compile(r"\s*(?:!\s*)?(?:\[|\(\(|(?:test|command|which|type|hash|grep|true|false|lsof|nvidia-smi|pgrep)\b)")


class Interpreter:
    """One run. `items` are the commands and settings that were met, each once; `own` the commands of the text itself,
    without those of command substitutions."""

    def __init__(self) -> None:
        self.items: list[Command | Setting] = []
        self.own: list[Command] = []
        self._seen: set[object] = set()
        self._fuel = _MOST_STATEMENTS
        self._depth = 0
        self._called: set[tuple[int, int]] = set()
        self._running: frozenset[str] = frozenset()
        self._capturing = False
        self._source = ""
        self._sourced: dict[str, Script] = {}
        self._muted = 0
        self._piped: Word | None = None

    def read(self, script: Script, scope: Scope) -> list[Command | Setting]:
        """Run a script, then every function that it defines and never calls."""
        scope.substitute = self.substitute
        paths = self.run(script, [scope])
        for path in paths[:1]:
            for body, text in list(path.functions.values()):
                own = text.script not in self._sourced.values()
                if own and (body.start_byte, id(text)) not in self._called:
                    self._called.add((body.start_byte, id(text)))
                    inner = path.copy()
                    inner.positional = None
                    self._block([body], text, [inner])
        return self.items

    def read_words(self, command: Command, scope: Scope) -> list[Command | Setting]:
        """Run one command whose words are given."""
        scope.substitute = self.substitute
        self._start(command, scope)
        return self.items

    def run(self, script: Script, paths: list[Scope]) -> list[Scope]:
        """Run a text on each path; the paths that go on after it."""
        if self._depth >= _DEEPEST:
            return paths
        text = parse(script)
        outer, self._source = self._source, script.text.text
        self._depth += 1
        for node in text.root.named_children:
            paths = self._statement(node, text, paths)
            if all(path.dead for path in paths):  # what follows is only reached where a test fails
                for path in paths:
                    path.dead = ""
        self._depth -= 1
        self._source = outer
        return paths

    def substitute(self, script: Script, scope: Scope, where: Location) -> Word:
        """The output of a command substitution, when it is one of those that print what they are given."""
        first = _NAME.match(script.text.text.lstrip())
        if first is not None and first[0] in SILENT and not scope.functions.get(first[0]):
            return unknown(where)
        inner = Interpreter()
        inner._capturing = True
        inner._fuel, inner._depth = self._fuel, self._depth + 1
        inner._called, inner._running = self._called, self._running
        child = scope.copy()
        child.substitute = inner.substitute
        inner.run(script, [child])
        self._fuel = inner._fuel
        for item in inner.items:
            self._add(item)
        if "|" in mask(script.text.text).text:
            return unknown(where)
        return output_of(inner.own, child, where) or unknown(where)

    def _block(self, nodes: Sequence[Any], text: Text, paths: list[Scope]) -> list[Scope]:
        for node in nodes:
            live = [path for path in paths if not path.dead]
            if not live:
                break
            paths = [*self._statement(node, text, live), *(path for path in paths if path.dead)]
        return paths

    def _statement(self, node: Any, text: Text, paths: list[Scope]) -> list[Scope]:
        self._fuel -= 1
        if self._fuel < 0 or self._depth > _DEEPEST:
            return paths
        kind = node.type
        if kind in _SIMPLE:
            return self._simple(node, text, paths)
        if kind == "redirected_statement":
            body = node.child_by_field_name("body")
            if body is None or body.type in _SIMPLE:
                return self._simple(node, text, paths)
            return self._statement(body, text, paths)
        if kind == "comment":
            return paths
        if kind == "list":
            return self._list(node, text, paths)
        if kind == "pipeline":
            return self._pipeline(node, text, paths)
        if kind == "subshell":
            self._block(node.named_children, text, [path.copy() for path in paths])
            return paths
        if kind == "if_statement":
            return self._if(node, text, paths)
        if kind == "case_statement":
            return self._case(node, text, paths)
        if kind in ("for_statement", "c_style_for_statement", "while_statement"):
            return self._loop(node, text, paths)
        if kind == "function_definition":
            name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
            if name is not None and body is not None:
                for path in paths:
                    path.functions[text.masked[name.start_byte : name.end_byte]] = (body, text)
            return paths
        if kind == "ERROR" and not any(child.type in _SIMPLE for child in node.named_children):
            return self._simple(node, text, paths)
        return self._block(node.named_children, text, paths)

    def _list(self, node: Any, text: Text, paths: list[Scope]) -> list[Scope]:
        """`a && b`, `a || b`: b is a branch after a test and after `||`, else it is taken to run."""
        children = [child for child in node.children if child.is_named]
        if len(children) < 2:
            return self._block(children, text, paths)
        left, right = children[0], children[-1]
        paths = self._statement(left, text, paths)
        source = text.source(left)
        operator = next((child.type for child in node.children if child.type in ("&&", "||")), "&&")
        if operator == "&&" and not _TESTS.match(source):
            return self._block([right], text, paths)
        branch = self._block([right], text, [path.copy() for path in paths])
        return merge([*branch, *paths], tested(source) | settled(paths))

    def _pipeline(self, node: Any, text: Text, paths: list[Scope]) -> list[Scope]:
        """Each command of a pipeline on its own copy; what `cat <<EOF` prints is read by the next command."""
        given: Word | None = None
        for child in node.named_children:
            before = len(self.items)
            self._piped = given
            self._statement(child, text, [path.copy() for path in paths])
            self._piped = None
            new = [item for item in self.items[before:] if isinstance(item, Command)]
            only = new[-1] if len(new) == 1 else None
            given = only.stdin if only is not None and [w.content for w in only.words] == ["cat"] else None
        return paths

    def _if(self, node: Any, text: Text, paths: list[Scope]) -> list[Scope]:
        outcomes: list[Scope] = []
        defaults: set[str] = set(settled(paths))
        clauses = [node, *(child for child in node.children if child.type in ("elif_clause", "else_clause"))]
        for clause in clauses:
            children = [child for child in clause.children if child.type not in ("elif_clause", "else_clause")]
            then = next((index for index, child in enumerate(children) if child.type == "then"), -1)
            for condition in (child for child in children[: max(then, 0)] if child.is_named):
                paths = self._statement(condition, text, paths)
                defaults |= tested(text.source(condition))
            body = [child for child in children[then + 1 :] if child.is_named]
            outcomes.extend(self._block(body, text, [path.copy() for path in paths]))
        if clauses[-1].type != "else_clause":
            outcomes.extend(paths)
        return merge(outcomes, defaults)

    def _case(self, node: Any, text: Text, paths: list[Scope]) -> list[Scope]:
        outcomes: list[Scope] = []
        complete = empty = False
        value = node.child_by_field_name("value")
        for item in (child for child in node.named_children if child.type == "case_item"):
            patterns = item.children_by_field_name("value")
            complete = complete or any(text.source(pattern) == "*" for pattern in patterns)
            empty = empty or any(text.source(pattern) in ('""', "''") for pattern in patterns)
            body = [child for child in item.named_children if child not in patterns]
            outcomes.extend(self._block(body, text, [path.copy() for path in paths]))
        asked = frozenset(_NAMES.findall(text.source(value))) if value is not None and empty else frozenset()
        return merge(outcomes if complete else [*outcomes, *paths], asked | settled(paths))

    def _loop(self, node: Any, text: Text, paths: list[Scope]) -> list[Scope]:
        """A body that runs for each known item (a few), else once, or not at all."""
        body = node.child_by_field_name("body")
        if body is None:
            return paths
        variable = node.child_by_field_name("variable")
        if node.type == "while_statement":
            conditions = node.children_by_field_name("condition")
            paths = self._block(conditions, text, paths)
        for path in paths:
            forget_assigned(text.script.text[node.start_byte : body.start_byte], path)
        before = [path.copy() for path in paths]
        spans = [(value.start_byte, value.end_byte) for value in node.children_by_field_name("value")]
        if variable is None or node.type != "for_statement":
            return merge([*before, *self._block([body], text, paths)], settled(before))
        name = text.masked[variable.start_byte : variable.end_byte]
        outcomes: list[Scope] = []
        left_early = _LEAVES.search(text.source(body)) is not None
        for path in paths:
            words = [word for span in spans for word in expand(text.script, *span, path)]
            listed = bool(words) and not any(word.many for word in words)
            where = text.script.text.location(node.start_byte, node.end_byte)
            some = words[:_MOST_ITEMS] if listed else [unknown(where)]
            after = [path]
            for word in some:
                for inner in after:
                    inner.variables[name] = Variable((word,))
                after = self._block([body], text, after)
                outcomes.extend([path.copy() for path in after] if left_early else ())
            outcomes.extend(after)
        if not left_early and outcomes and spans and len(outcomes) == len(before):
            return outcomes
        return merge([*before, *outcomes], frozenset() if left_early else settled(before))

    def _simple(self, node: Any, text: Text, paths: list[Scope]) -> list[Scope]:
        for simple in simple_commands(node.start_byte, node.end_byte, text):
            whole = not node.has_error
            paths = [after for path in paths for after in self._execute(simple, text, path, whole)]
        return paths

    def _execute(self, simple: Simple, text: Text, path: Scope, whole: bool) -> list[Scope]:
        script = text.script
        first = script.text.text[slice(*simple.words[0])] if simple.words else ""
        if first == "let" or first.startswith("(("):
            forget_assigned(script.text[simple.start : simple.end], path)
            return [path]
        if first in _DECLARATIONS:
            self._declare(first, simple.words[1:], text, path)
            return [path]
        if (first in SILENT or (first in PRINTERS and not self._capturing)) and first not in path.functions:
            return [path]
        before = [assignment(span, script, path) for span in simple.assignments]
        if not simple.words:
            for name, variable in before:
                self._assign(name, variable, path)
            return [path]
        own = tuple((name, variable.words[0]) for name, variable in before if variable.words)
        command = Command(
            tuple(words_of(simple, script, path)),
            script.text.location(simple.start, simple.end),
            own,
            stdin_of(simple, script, path) or self._piped,
            expand_one(script, *simple.output, path) if simple.output is not None else None,
            whole=whole,
        )
        return self._start(command, path)

    def _start(self, command: Command, path: Scope) -> list[Scope]:
        """Run a command: a builtin, a function, a script of its own, or a program."""
        if not command.words:
            return [path]
        name = command.words[0].content
        if name in ("source", ".") and len(command.words) > 1:
            return self._include(command, path)
        if name == "eval" or name in path.functions:
            return self._eval(command, path) if name == "eval" else self._call(name, command, path)
        if builtin(command.words, command.stdin, path):
            return [path]
        found = unwrap(command.words)
        own = (*command.environment, *found.environment)
        for variable, word in own:
            self._add(Setting(variable, word))
        environment = tuple({**dict(path.environment()), **dict(own)}.items())
        code = script_of(found.code) if found.code is not None else None
        if found.code is None and command.stdin is not None and reads_code(found.words, command, self._source):
            code = script_of(command.stdin)
        if code is not None:
            child = path.child(found.words[1:] if found.words and found.code is not None else None)
            for variable, word in own:
                child.variables[variable] = Variable((word,))
                child.exported.add(variable)
            self.run(code, [child])
        if code is None or command.stdin is not None:
            inner = replace(command, words=found.words, environment=environment, image=found.image, mounts=found.mounts)
            self.own.append(inner)
            self._add(inner)
        if name == "exec" and len(command.words) > 1:
            path.dead = "exit"
        return [path]

    def _eval(self, command: Command, path: Scope) -> list[Scope]:
        words = command.words[1:]
        code = script_of(joined(words, command.where)) if words else None
        return [path] if code is None else self.run(code, [path])

    def _include(self, command: Command, path: Scope) -> list[Scope]:
        """A script that is sourced: what it sets and defines; what it starts is found in the file itself."""
        found = sourced(command.words[1], path)
        if found is None or found[0] in self._sourced:
            return [path]
        outer, path.script = path.script, found[0]
        self._sourced[found[0]] = script = Script(found[1])
        self._muted += 1
        paths = self.run(script, [path])
        self._muted -= 1
        for after in paths:
            after.script, after.dead = outer, "" if after.dead == "return" else after.dead
        return paths

    def _call(self, name: str, command: Command, path: Scope) -> list[Scope]:
        """Run the body of a function with the words of the call as its parameters; one that runs is not run again."""
        body, text = path.functions[name]
        if self._depth >= _DEEPEST or name in self._running:
            return [path]
        self._called.add((body.start_byte, id(text)))
        outer, hidden = path.positional, path.local_names
        before = dict(path.variables)
        words = command.words[1:]
        path.positional = words
        path.local_names = set()
        outside, self._running = self._running, self._running | {name}
        self._depth += 1
        paths = self._block([body], text, [path])
        self._depth -= 1
        self._running = outside
        for after in paths:
            for local in after.local_names or ():
                if local in before:
                    after.variables[local] = before[local]
                else:
                    after.variables.pop(local, None)
            after.positional, after.local_names = outer, hidden
            after.dead = "" if after.dead == "return" else after.dead
        return paths

    def _assign(self, name: str, variable: Variable, path: Scope) -> None:
        path.assign(name, variable)
        if name in path.exported and variable.words:
            self._add(Setting(name, variable.words[0]))

    def _declare(self, kind: str, spans: Sequence[Span], text: Text, path: Scope) -> None:
        """`export`, `declare`, `local`, `readonly` with their names and assignments."""
        source = text.script.text.text
        exported, mapping = kind == "export", False
        for span in spans:
            written = source[slice(*span)]
            if written.startswith("-"):
                exported = exported or (kind != "export" and "x" in written)
                mapping = mapping or (kind != "export" and "A" in written)
                continue
            match = _NAME.match(written)
            if match is None:
                continue
            name = match[0]
            if path.local_names is not None and (kind == "local" or (kind in ("declare", "typeset") and not exported)):
                path.local_names.add(name)
                if not is_assignment(text.script, span):
                    path.variables.pop(name, None)
            if exported:
                path.exported.add(name)
            if is_assignment(text.script, span):
                self._assign(*assignment(span, text.script, path), path)
            elif mapping:
                everything = unknown(text.script.text.location(*span), many=True)
                path.assign(name, Variable((everything,), array=True, entries=()))
            elif exported and (value := path.variables.get(name)) is not None and value.words:
                self._add(Setting(name, value.words[0]))

    def _add(self, item: Command | Setting) -> None:
        if not self._muted and item.identity not in self._seen:
            self._seen.add(item.identity)
            self.items.append(item)
