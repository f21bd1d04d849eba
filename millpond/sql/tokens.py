"""A cursor over a statement's tokens, for the statements that PostgreSQL has and sqlglot does not parse."""

from __future__ import annotations

import re
from typing import ClassVar

from sqlglot.dialects.postgres import Postgres
from sqlglot.errors import TokenError
from sqlglot.tokens import Token, TokenType

from millpond.errors import MillpondError, SqlState

PARAMETER = re.compile(
    r"""
    ( [eE]'(?:[^'\\]|\\.|'')*+(?:'|\Z) | '(?:[^']|'')*+(?:'|\Z) | "(?:[^"]|"")*+(?:"|\Z)   # what hides a parameter
    | \$((?:[^\W\d]\w*+)?+)\$(?:.*?\$\2\$|.*+) | --[^\n]*+ | /\*(?:.*?\*/|.*+) | \w[\w$]*+ )
    | \$([0-9]{1,9})
    """,
    re.VERBOSE | re.DOTALL,
)
"""Matches a parameter, its number in group 3, or what may hide one.

Whole words are taken, and what has no end hides all that follows: nothing is looked at twice, however long a text is.
"""

_MARK = "\x02"


class ParameterTokens(Postgres.Tokenizer):
    """PostgreSQL's tokens, and a mark that begins a parameter."""

    SINGLE_TOKENS: ClassVar[dict[str, TokenType]] = {**Postgres.Tokenizer.SINGLE_TOKENS, _MARK: TokenType.PARAMETER}
    KEYWORDS: ClassVar[dict[str, TokenType]] = {**Postgres.Tokenizer.KEYWORDS, "CURRENT_ROLE": TokenType.CURRENT_ROLE}


class _PlainPostgres(Postgres):
    """PostgreSQL's tokens, all of them: sqlglot would take what follows EXPLAIN or SHOW as one string."""

    class Tokenizer(ParameterTokens):
        COMMANDS: ClassVar[set[TokenType]] = set()


def marked(text: str) -> str:
    """The text with a mark for the dollar of each parameter, since sqlglot takes `$1,$` for a quote.

    >>> marked("VALUES ($1,$2,'$3')")
    "VALUES (\\x021,\\x022,'$3')"
    """
    if "$" not in text:
        return text
    return PARAMETER.sub(lambda match: f"{_MARK}{match[3]}" if match[3] else match[0], text)


def tokenize(text: str) -> list[Token]:
    """The tokens of a text in PostgreSQL's dialect."""
    try:
        return _PlainPostgres().tokenize(marked(text))
    except TokenError as error:
        raise _unterminated(text) from error


_WHOLE = re.compile(
    r"""--[^\n]* | /\*.*?\*/ | [eE]'(?:[^'\\]|''|\\.)*+' | '(?:[^']|'')*+' | "(?:[^"]|"")*+" | \$(\w*)\$.*?\$\1\$
    | [a-zA-Z_0-9]{2,} | [^'"/$eE-]""",
    re.DOTALL | re.VERBOSE,
)
"""A comment, quotation, word or other character that is whole."""

_OPENINGS = (
    (re.compile(r"[eE]?'"), "quoted string"),
    (re.compile('"'), "quoted identifier"),
    (re.compile(r"/\*"), "/* comment"),
    (re.compile(r"\$\w*\$"), "dollar-quoted string"),
)


def _unterminated(text: str) -> MillpondError:
    """The error for the first quotation or comment that does not end.

    >>> print(_unterminated("SELECT 'a' || 'b").message)
    unterminated quoted string at or near "'b"
    """
    place = 0
    while place < len(text):
        whole = _WHOLE.match(text, place)
        opened = None if whole else next((what for opening, what in _OPENINGS if opening.match(text, place)), None)
        if opened is not None:
            message = f'unterminated {opened} at or near "{text[place:]}"'
            return MillpondError(SqlState.SYNTAX_ERROR, message, position=place + 1)
        place = whole.end() if whole else place + 1
    return syntax_error(text, None)


def syntax_error(text: str, token: Token | None) -> MillpondError:
    """`syntax error at or near "x"`, with its position."""
    if token is None:
        return MillpondError(SqlState.SYNTAX_ERROR, "syntax error at end of input", position=len(text) + 1)
    near = text[token.start : token.end + 1]
    return MillpondError(SqlState.SYNTAX_ERROR, f'syntax error at or near "{near}"', position=token.start + 1)


class TokenCursor:
    """Reads tokens one by one; words are compared without regard to case.

    >>> cursor = TokenCursor("SHOW Stream_Scan")
    >>> cursor.accept("SHOW"), cursor.identifier(), cursor.at_end
    (True, 'stream_scan', True)
    """

    def __init__(self, text: str, start: int = 0) -> None:
        self.text = text
        self._tokens = tokenize(text)
        self._index = start

    @property
    def token(self) -> Token | None:
        return self._tokens[self._index] if self._index < len(self._tokens) else None

    @property
    def at_end(self) -> bool:
        return self.token is None

    @property
    def position(self) -> int:
        """The 1-based position of the next token."""
        return self.token.start + 1 if self.token else len(self.text) + 1

    @property
    def end_of_last(self) -> int:
        """Where in the text the token that was read last ends."""
        return self._tokens[self._index - 1].end + 1 if self._index else 0

    def error(self) -> MillpondError:
        return syntax_error(self.text, self.token)

    def next(self) -> Token:
        token = self.token
        if token is None:
            raise self.error()
        self._index += 1
        return token

    def accept(self, *words: str) -> bool:
        """Skip the words if they come next."""
        ahead = self._tokens[self._index : self._index + len(words)]
        if [_word(token) for token in ahead] != [word.upper() for word in words]:
            return False
        self._index += len(words)
        return True

    def expect(self, *words: str) -> None:
        for word in words:
            if not self.accept(word):
                raise self.error()

    def end(self) -> None:
        """Nothing but a semicolon may follow."""
        self.accept(";")
        if not self.at_end:
            raise self.error()

    def identifier(self) -> str:
        """A name, folded to lower case unless it is quoted."""
        token = self.next()
        if self.text[token.start] == '"':
            return token.text
        if not (token.text[:1].isalpha() or token.text[:1] == "_"):
            self._index -= 1
            raise self.error()
        return token.text.lower()

    def string(self) -> str:
        """A string literal."""
        token = self.next()
        if token.token_type not in (TokenType.STRING, TokenType.NATIONAL_STRING, TokenType.HEREDOC_STRING):
            self._index -= 1
            raise self.error()
        return token.text

    def skip_parentheses(self) -> tuple[int, int]:
        """Skip a balanced `( ... )`; returns where it starts and ends in the text."""
        first = self.next()
        if first.token_type is not TokenType.L_PAREN:
            self._index -= 1
            raise self.error()
        depth = 1
        while depth:
            token = self.next()
            depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        return first.start, token.end + 1


def _word(token: Token) -> str:
    """The token as a keyword; a quoted name or a string is none."""
    quoted = token.token_type in (TokenType.STRING, TokenType.IDENTIFIER)
    return "" if quoted else token.text.upper()
