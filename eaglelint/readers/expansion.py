"""Shell expansion: a stretch of source text to the words that the shell would make of it, as far as the file tells.

Bash rules: single quotes verbatim; in double quotes only \\$ \\` \\" \\\\ and backslash-newline are escapes; unquoted
expansions are split at white space; `"${A[@]}"` gives one word an element. `${X:-d}` is d, assumed, unless the file
assigns X.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from eaglelint.location import Location, MappedText
from eaglelint.readers.parameters import Scope, parameter
from eaglelint.readers.quoting import end_of_brace, end_of_parenthesis, stretches
from eaglelint.readers.words import HOLE, Part, Script, Word, joined, unknown

#: What values may grow to by being put into others, `A=$A$A`: characters of a word, places in it, words of an array.
_LONGEST = 8_000
_MOST_PARTS = 1_000
_MOST_WORDS = 2_000
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]|[@*#?$!-]")
#: Characters that mean nothing to the shell, and those that mean nothing in double quotes.
_PLAIN = re.compile(r"[A-Za-z0-9_./:=@%+-]+")
_PLAIN_QUOTED = re.compile(r"[A-Za-z0-9_./:=@%+,{}\[\]() \n-]+")
_SEQUENCE = re.compile(r"\{\w+\.\.\w+(?:\.\.\w+)?\}")
_CODE = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|([0-7]{1,3}))")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "v": "\v"}


def expand(script: Script, start: int, end: int, scope: Scope) -> list[Word]:
    """The words that the source text from `start` to `end`, one shell word, stands for."""
    return _Expander(script, scope).word(start, end)


def expand_one(script: Script, start: int, end: int, scope: Scope) -> Word:
    """The single word that an assignment takes: nothing is split. An empty stretch gives an empty word."""
    words = _Expander(script, scope, splitting=False).word(start, end)
    where = script.text.location(start, end)
    return joined(words, where) if words else Word("", where, script.text[start:start])


def expand_document(script: Script, start: int, end: int, scope: Scope) -> Word:
    """The content of an unquoted here-document, in which quotes mean nothing."""
    expander = _Expander(script, scope)
    expander.begin(start)
    expander.quoted(start, end, "")
    expander.flush(end)
    return expander.words[0] if expander.words else Word("", script.text.location(start, end), script.text[start:start])


def split(text: MappedText, insertions: Mapping[str, Word]) -> list[Word]:
    """The words of a text without a shell, as compose and systemd split it: quotes and backslashes, no `$`."""
    script = Script(text, insertions)
    words: list[Word] = []
    for start, end in stretches(text.text):
        if len(words) > _MOST_WORDS:
            return [*words, unknown(text.location(start, len(text)), many=True)]
        words.extend(_Expander(script, Scope(), dollars=False).word(start, end))
    return words


def verbatim(text: MappedText, insertions: Mapping[str, Word]) -> Word:
    """A text as one word in which only insertions are replaced."""
    expander = _Expander(Script(text, insertions), Scope(), splitting=False, dollars=False)
    expander.begin(0)
    expander.started = True
    for index, char in enumerate(text.text):
        expander.literal(char, index)
    expander.flush(len(text))
    return expander.words[0]


class _Expander:
    """Builds words from left to right over one stretch of source text."""

    def __init__(self, script: Script, scope: Scope, *, splitting: bool = True, dollars: bool = True) -> None:
        self.script, self.scope = script, scope
        self.text, self.source = script.text, script.text.text
        self.splitting, self.dollars = splitting, dollars
        self.words: list[Word] = []
        self.begin(0)

    def begin(self, start: int) -> None:
        """Start a new word at an offset of the source."""
        self.start = start
        self.chars: list[str] = []
        self.origin: list[int] = []
        self.written: list[int] = []
        self.parts: list[Part] = []
        self.started = self.many = self.outside = False
        self.alone: Word | None = None
        self.braces = ""

    def flush(self, end: int) -> None:
        """Close the current word, if there is one."""
        if not (self.chars or self.started or self.many):
            return
        content = "".join(self.chars)
        where = self.text.location(self.start, end)
        if self.alone is not None and self.alone.content == content:
            word = self.alone
        elif self.splitting and (self.braces.startswith("{,") or (self.braces and _SEQUENCE.search(content))):
            word = unknown(where, many=True)
        elif self.text.runs:  # of several files: the place of the whole has to do
            word = Word(content, where, None, tuple(self.parts), self.many, self.outside)
        else:
            last, lines = self.text.origin[end], self.text.lines
            mapped = MappedText(content, [*self.origin, last], lines)
            defined = None if self.written == self.origin else MappedText(content, [*self.written, last], lines)
            word = Word(content, where, mapped, tuple(self.parts), self.many, self.outside, defined)
        if self.script.assumed:
            word = replace(word, parts=(*word.parts, Part(0, len(content), word.where, self.script.assumed)))
        self.words.append(word)

    def word(self, start: int, end: int) -> list[Word]:
        """The words that one source word gives."""
        self.begin(start)
        index = start
        while index < end:
            index = self.step(index, end)
        self.flush(end)
        return self.words

    def step(self, index: int, end: int) -> int:
        """Decode what starts at an unquoted offset; the offset after it."""
        plain = _PLAIN.match(self.source, index, end)
        if plain is not None:
            return self.literals(index, plain.end())
        char = self.source[index]
        if char == "\\":
            if index + 1 < end and self.source[index + 1] != "\n":
                self.literal(self.source[index + 1], index + 1)
            return index + 2
        if char == "'":
            close = self.source.find("'", index + 1, end)
            close = end if close < 0 else close
            self.started = True
            if self.script.insertions:
                for place in range(index + 1, close):
                    self.literal(self.source[place], place)
            else:
                self.literals(index + 1, close)
            return close + 1
        if char == '"' or (self.dollars and self.source.startswith('$"', index)):
            self.started = True
            return self.quoted(index + (1 if char == '"' else 2), end, '"')
        if self.dollars and self.source.startswith("$'", index):
            return self.ansi(index + 2, end)
        if self.dollars and char in "$`":
            return self.dollar(index, end, quoted=False)
        if char in self.script.insertions:
            word = self.script.insertions[char]
            if self.splitting and any(blank in " \t\n" for blank in word.content):
                self.add_fields(word, index, index + 1)
            else:
                self.embed(word, index, index + 1, word.where)
            return index + 1
        if self.dollars and self.source.startswith(("<(", ">("), index):
            close = end_of_parenthesis(self.source, index + 2, end)
            self.embed(unknown(self.text.location(index, close)), index, close)
            return close
        if self.dollars and (char == "{" or (self.braces and char in ",}")):
            self.braces += char
        self.literal(char, index)
        return index + 1

    def literal(self, char: str, index: int) -> None:
        """Add one character that stands in the source, or the word that an outer language put in its place."""
        inserted = self.script.insertions.get(char)
        if inserted is not None:
            one = inserted.content or not inserted.many
            self.embed(inserted if one else unknown(inserted.where), index, index + 1, inserted.where)
            return
        self.chars.append(char)
        self.origin.append(self.text.origin[index])
        self.written.append(self.text.origin[index])
        self.started = True
        self.alone = None

    def literals(self, start: int, end: int) -> int:
        """Add the characters of a stretch of the source as they stand; the offset after it."""
        if start < end:
            self.chars.extend(self.source[start:end])
            places = self.text.origin[start:end]
            self.origin.extend(places)
            self.written.extend(places)
            self.started = True
            self.alone = None
        return end

    def quoted(self, index: int, end: int, closing: str) -> int:
        """Decode as in double quotes up to `closing` (or the end when it is ""); the offset after it."""
        special = "$`\\\n" + closing
        while index < end:
            plain = _PLAIN_QUOTED.match(self.source, index, end)
            if plain is not None:
                index = self.literals(index, plain.end())
                continue
            char = self.source[index]
            if closing and char == closing:
                return index + 1
            if (
                char == "\\"
                and index + 1 < end
                and (self.source[index + 1] in special or self.source[index + 1] == "\n")
            ):
                if self.source[index + 1] != "\n":
                    self.literal(self.source[index + 1], index + 1)
                index += 2
            elif char in "$`" and self.dollars:
                index = self.dollar(index, end, quoted=True)
            else:
                self.literal(char, index)
                index += 1
        return end

    def ansi(self, index: int, end: int) -> int:
        """Decode `$'...'`, whose escapes are those of C; the offset after it."""
        self.started = True
        while index < end and self.source[index] != "'":
            char, width = self.source[index], 1
            if char == "\\" and index + 1 < end:
                code = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|([0-7]{1,3}))").match(
                    self.source, index
                )
                if code is not None:
                    char, width = chr(int(code[1] or code[2] or code[3], 8 if code[3] else 16)), len(code[0])
                else:
                    char, width = _ESCAPES.get(self.source[index + 1], self.source[index + 1]), 2
            self.literal(char, index)
            index += width
        return index + 1

    def dollar(self, index: int, end: int, *, quoted: bool) -> int:
        """Decode the expansion that starts at `$` or a backquote; the offset after it."""
        source = self.source
        if source.startswith("$((", index):
            close = end_of_parenthesis(source, index + 2, end)
            where = self.text.location(index, close)
            self.add([self.scope.arithmetic(source[index + 3 : close - 2], where)], index, close, quoted)
            return close
        if source[index] == "`" or source.startswith("$(", index):
            if source[index] == "`":
                close = source.find("`", index + 1, end) + 1 or end
                inner = self.text[index + 1 : close - 1]
            else:
                close = end_of_parenthesis(source, index + 2, end)
                inner = self.text[index + 2 : close - 1]
            where = self.text.location(index, close)
            run = self.scope.substitute
            script = Script(inner, self.script.insertions, self.script.assumed)
            output = unknown(where, many=not quoted) if run is None else run(script, self.scope, where)
            if not quoted and output.content == HOLE:
                output = replace(output, many=True)
            self.add([output], index, close, quoted)
            return close
        if source.startswith("${", index):
            close = end_of_brace(source, index + 2, end, quoted)
            first, last = index + 2, close - 1
        else:
            name = _NAME.match(source, index + 1, end)
            if name is None:
                self.literal("$", index)
                return index + 1
            close = name.end()
            first, last = index + 1, close

        def default(start: int, stop: int) -> list[Word]:
            inner = _Expander(self.script, self.scope, splitting=self.splitting and not quoted)
            if not quoted:
                return inner.word(start, stop)
            inner.begin(start)
            inner.unquote(start, stop)
            inner.flush(stop)
            return inner.words

        where = self.text.location(index, close)
        words, elements = parameter(self.text, first, last, self.scope, quoted, default, where)
        if elements and not words and quoted and not self.chars:
            self.started = False
        self.add(words, index, close, quoted, elements)
        return close

    def unquote(self, index: int, end: int) -> None:
        """Decode a default that stands in double quotes, where only inner double quotes still quote."""
        while index < end:
            if self.source[index] == '"':
                self.started = True
                index = self.quoted(index + 1, end, '"')
            else:
                stop = index
                while stop < end and self.source[stop] != '"':
                    if self.source[stop] == "\\":
                        stop += 2
                    elif self.source.startswith("$(", stop):
                        stop = end_of_parenthesis(self.source, stop + 2, end)
                    elif self.source.startswith("${", stop):
                        stop = end_of_brace(self.source, stop + 2, end, True)
                    else:
                        stop += 1
                self.quoted(index, min(stop, end), "")
                index = stop

    def add(self, words: list[Word], start: int, end: int, quoted: bool, elements: bool = False) -> None:
        """Add what an expansion gave: no word, one, or the elements of an array, which stay where they are written."""
        if len(self.words) + len(words) > _MOST_WORDS:
            words = [unknown(self.text.location(start, end), many=True)]
        for number, word in enumerate(words):
            if number:
                self.next_word(end)
            self.started = self.started or (quoted and bool(word.content or not word.many))
            if not quoted and self.splitting and any(char in " \t\n" for char in word.content):
                self.add_fields(word, start, end)
            else:
                self.embed(word, start, end, written=elements)

    def add_fields(self, word: Word, start: int, end: int) -> None:
        """Add an unquoted value with blanks, as the words that it is split into."""
        if word.content[0].isspace():
            self.next_word(start)
        for number, piece in enumerate(word.fields()):
            if number:
                self.next_word(end)
            self.embed(piece, start, end, written=True)
        if word.content[-1].isspace():
            self.next_word(end)

    def next_word(self, at: int) -> None:
        self.flush(at)
        self.begin(at)

    def embed(self, word: Word, start: int, end: int, where: Location | None = None, *, written: bool = False) -> None:
        """Put a word into the current one. Alone it is kept with its own places, `written` where it is defined."""
        where = where or self.text.location(start, end)
        if len(self.chars) + len(word.content) > _LONGEST or len(self.parts) + len(word.parts) > _MOST_PARTS:
            self.begin(self.start)  # nothing of the whole is known: as much again would be added to the rest
            word = unknown(word.where)
        if word.many and word.content == "":
            self.flush(end)
            self.words.append(word)
            self.begin(end)
            return
        first = not self.chars and not self.parts
        self.alone = word if first and written else None
        self.many = word.many and first
        self.outside = self.outside or word.outside
        content = word.content or (HOLE if word.many else "")
        at = len(self.chars)
        inner = [part for part in word.parts if (part.start, part.end) != (0, len(content))]
        whole = next((part for part in word.parts if part not in inner and part.defined is not None), None)
        defined = whole.defined if whole is not None and whole.assumed else None if word.where == where else word.where
        assumed = ", ".join(dict.fromkeys(p.assumed for p in word.parts if p.assumed and p not in inner))
        self.parts.append(Part(at, at + len(content), where, assumed, defined))
        for part in inner:
            self.parts.append(part._replace(start=part.start + at, end=part.end + at))
        self.chars.extend(content)
        self.origin.extend([where.start] * len(content))
        source = word.written
        here = source is not None and source.text == content and source.lines is self.text.lines
        self.written.extend(source.origin[:-1] if here and source is not None else [where.start] * len(content))
