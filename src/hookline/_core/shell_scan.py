"""Shell text read character by character: its simple commands, and the variables that the shell puts in.

Quotes, comments, here-documents, substitutions, arithmetic, arrays and the patterns of `case` are told from commands.
Text that is none of a shell raises ValueError.
"""

import re
from dataclasses import dataclass, field

DEEPEST = 40  # substitutions within substitutions: more than anybody writes by hand
_NAME = re.compile(r"[A-Za-z_]\w*")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*(\[[^]]*\])?\+?=")
_UNSET_IS_MEANT = re.compile(r":?[-=+?]")
_OPERATOR = re.compile(r"&>>?|<<<|<<-?|<>|>>|>\||[<>]&?")
_RUN = re.compile(r"[^\s'\"\\$`#;&|<>()]+")  # signs that are nothing but themselves
_QUOTED_RUN = re.compile(r"[^\"\\$`]+")
_ESCAPED_IN_QUOTES = ("$", "`", '"', "\\", "\n")
_EMPTY = re.compile(r"\(\s*\)")
_DELIMITER = re.compile(r"[ \t]*((?:'[^']*'|\"[^\"]*\"|\\.|[^\s;&|<>()'\"\\])+)")


@dataclass(slots=True)
class Found:
    """What stands in a text so far. `reads` are all that are put in, `sets` those that it gives a value itself."""

    commands: list[tuple[str, ...]] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)
    reads: dict[str, None] = field(default_factory=dict)
    sets: set[str] = field(default_factory=set)
    functions: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _Level:
    """One list of commands: the text itself, or what stands in parentheses or backticks."""

    end: str
    words: list[str] = field(default_factory=list)
    word: str | None = None
    target: str = ""  # the operator whose target the next word is
    cases: list[bool] = field(default_factory=list)  # of each `case` that is open: whether a pattern is next

    @property
    def in_test(self) -> bool:
        """Whether this is within `[[ ... ]]`, where parentheses and bars are no commands'."""
        return "[[" in self.words and "]]" not in self.words


class Scanner:
    """Reads one text, from the beginning to the end."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0
        self._documents: list[tuple[str, bool]] = []
        self.found = Found()

    def scan(self) -> Found:
        """All of it. Raises ValueError where a quote or a parenthesis is never closed, or closes none."""
        self._list("")
        return self.found

    def _list(self, end: str) -> None:
        self._deeper()
        level = _Level(end)
        while self._at < len(self._text):
            sign = self._text[self._at]
            if sign == end and level.word == "esac":
                self._end_word(level)
            if sign == end and not (sign == ")" and level.cases):
                break
            self._sign(level, sign)
        else:
            if end:
                raise ValueError(f"no closing {end}")
        self._end_command(level)
        self._at += bool(end)
        self._depth -= 1

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise ValueError("too deep")

    def _sign(self, level: _Level, sign: str) -> None:
        if run := _RUN.match(self._text, self._at):
            self._at = run.end()
            level.word = (level.word or "") + run[0]
        elif sign in " \t\r":
            self._at += 1
            self._end_word(level)
        elif sign == "#" and level.word is None:
            self._at = self._or_end(self._text.find("\n", self._at))
        elif operator := _OPERATOR.match(self._text, self._at):
            self._redirect(level, operator[0])
        elif sign in ";&|\n":
            self._separator(level, sign)
        elif sign == "(":
            self._open(level)
        elif sign == ")":
            self._close_pattern(level)
        else:
            level.word = (level.word or "") + self._piece(sign)

    def _or_end(self, at: int) -> int:
        return len(self._text) if at < 0 else at

    def _separator(self, level: _Level, sign: str) -> None:
        if level.in_test and sign in "&|":
            self._at += 1
            self._end_word(level)
            return
        self._end_command(level)
        self._at += 1
        if sign == ";" and self._text[self._at : self._at + 1] in (";", "&") and level.cases:
            self._at += 1
            level.cases[-1] = True
        if sign == "\n":
            for delimiter, is_plain in self._documents:
                self._document(delimiter, is_plain=is_plain)
            self._documents.clear()

    def _end_word(self, level: _Level) -> None:
        word, level.word = level.word, None
        if word is None:
            return
        if level.target:
            if level.target == "<":
                self.found.inputs.append(word)
            level.target = ""
            return
        level.words.append(word)
        if word == "in" and level.words[-3:-2] == ["case"]:
            level.words.clear()
            level.cases.append(True)
        elif level.cases and level.words == ["esac"]:
            level.words.clear()
            level.cases.pop()

    def _end_command(self, level: _Level) -> None:
        self._end_word(level)
        level.target = ""
        if level.words and not (level.cases and level.cases[-1]):
            self.found.commands.append(tuple(level.words))
        level.words.clear()

    def _open(self, level: _Level) -> None:
        """What a parenthesis begins: an array, a function, arithmetic, commands of their own, or part of a pattern."""
        if level.word is not None and _ASSIGNED.fullmatch(level.word):
            self._at += 1
            level.word += self._array()
        elif (level.word is not None or level.words) and (empty := _EMPTY.match(self._text, self._at)):
            self._at = empty.end()
            self._end_word(level)
            self.found.functions.update(level.words[-1:])
            level.words.clear()
        elif level.cases and level.cases[-1]:
            self._at += 1
        elif level.word is not None or level.in_test:
            self._at += 1
            level.word = (level.word or "") + self._until(")")
        elif self._text.startswith("((", self._at) and level.words in ([], ["for"]):
            self._at += 2
            self._arithmetic()
            level.words = level.words or ["let"]
        else:
            self._at += 1
            self._list(")")

    def _close_pattern(self, level: _Level) -> None:
        if not level.cases or not level.cases[-1]:
            raise ValueError("no opening (")
        self._at += 1
        level.word = None
        level.words.clear()
        level.cases[-1] = False

    def _array(self) -> str:
        begin = self._at
        self._until(")")
        return self._text[begin : self._at]

    def _until(self, end: str) -> str:
        """Up to the sign that closes, of which there may be more within."""
        self._deeper()
        told = ""
        while self._at < len(self._text):
            sign = self._text[self._at]
            if sign == end:
                self._at += 1
                self._depth -= 1
                return told
            if sign == "(":
                self._at += 1
                told += f"({self._until(')')})"
            else:
                told += self._piece(sign)
        raise ValueError(f"no closing {end}")

    def _arithmetic(self) -> None:
        for name in re.findall(r"([A-Za-z_]\w*)\s*(?:[-+*/%]?=(?!=)|\+\+|--)", self._until(")")):
            self.found.sets.add(name)
        if not self._text.startswith(")", self._at):
            raise ValueError("no closing ))")
        self._at += 1

    def _piece(self, sign: str) -> str:
        """The next piece of a word, as it is without its quotes."""
        self._at += 1
        match sign:
            case "\\":
                escaped = self._text[self._at : self._at + 1]
                self._at += 1
                return "" if escaped == "\n" else escaped or sign
            case "'":
                return self._plain("'")
            case '"':
                return self._quoted('"')
            case "$":
                return self._dollar()
            case "`":
                self._list("`")
                return "$()"
            case _:
                return sign

    def _plain(self, end: str) -> str:
        begin = self._at
        closing = self._text.find(end, begin)
        if closing < 0:
            raise ValueError(f"no closing {end}")
        self._at = closing + 1
        return self._text[begin:closing]

    def _quoted(self, end: str) -> str:
        """Up to the closing quote, or to the end where *end* is empty: only `$`, backticks and `\\` count in it."""
        told: list[str] = []
        while self._at < len(self._text):
            sign = self._text[self._at]
            if sign == end:
                self._at += 1
                return "".join(told)
            if run := _QUOTED_RUN.match(self._text, self._at):
                self._at = run.end()
                told.append(run[0])
            elif sign == '"' or (sign == "\\" and self._text[self._at + 1 : self._at + 2] not in _ESCAPED_IN_QUOTES):
                self._at += 1
                told.append(sign)
            else:
                told.append(self._piece(sign))
        if end:
            raise ValueError(f"no closing {end}")
        return "".join(told)

    def _dollar(self) -> str:
        begin = self._at - 1
        rest = self._text[self._at : self._at + 2]
        if rest == "((":
            self._at += 2
            self._arithmetic()
        elif rest[:1] == "(":
            self._at += 1
            self._list(")")
        elif rest[:1] == "{":
            self._at += 1
            self._braced()
        elif rest[:1] == "'":
            self._at += 1
            self._ansi()
            return ""
        elif name := _NAME.match(self._text, self._at):
            self._at = name.end()
            self.found.reads[name[0]] = None
        return self._text[begin : self._at]

    def _ansi(self) -> None:
        found = re.compile(r"(?:[^'\\]|\\.)*'", re.DOTALL).match(self._text, self._at)
        if found is None:
            raise ValueError("no closing '")
        self._at = found.end()

    def _braced(self) -> None:
        name = _NAME.match(self._text, self._at)
        self._at = self._at if name is None else name.end()
        meant = _UNSET_IS_MEANT.match(self._text, self._at)
        if name is not None and meant is None:
            self.found.reads[name[0]] = None
        elif name is not None and meant is not None and meant[0].endswith("="):
            self.found.sets.add(name[0])
        self._until("}")

    def _redirect(self, level: _Level, operator: str) -> None:
        if operator in ("<", ">") and self._text.startswith("(", self._at + 1):
            self._at += 2
            self._list(")")
            level.word = (level.word or "") + "$()"
            return
        if level.word is not None and level.word.isdigit():
            level.word = None  # the number of what is redirected
        self._end_word(level)
        self._at += len(operator)
        if operator in ("<<", "<<-"):
            self._delimiter()
        else:
            level.target = operator

    def _delimiter(self) -> None:
        found = _DELIMITER.match(self._text, self._at)
        if found is None:
            raise ValueError("a here-document without its delimiter")
        self._at = found.end()
        self._documents.append((re.sub(r"['\"\\]", "", found[1]), re.search(r"['\"\\]", found[1]) is not None))

    def _document(self, delimiter: str, *, is_plain: bool) -> None:
        closing = re.compile(rf"^\t*{re.escape(delimiter)}$", re.MULTILINE).search(self._text, self._at)
        end = len(self._text) if closing is None else closing.end()
        if not is_plain:
            inner = Scanner(self._text[self._at : end if closing is None else closing.start()])
            inner._depth, inner.found = self._depth + 1, self.found
            inner._quoted("")
        self._at = end
