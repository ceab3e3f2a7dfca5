"""Full-text index over announced pages: SQLite's FTS5 or PostgreSQL's tsvector.

Rows have the ids of the news list, so results come out in list order and the newest are found without
scanning the rest.
"""

import zlib
from collections.abc import Sequence

from peewee import SQL, Database

from store.database import is_sqlite
from store.database.statements import run_many, run_sql
from store.search.words import MAX_WORDS, Phrase, index_words, read_word

_TITLE_WORDS = 200


def words_of(title: str, text: str) -> bytes:
    """Return the words to index for a page: title, line break, text."""
    # Split here, not by an engine's tokenizer: both databases find the same pages.
    head = index_words(title)[:_TITLE_WORDS]
    body = index_words(text)[: MAX_WORDS - len(head)]
    return zlib.compress(f"{' '.join(head)}\n{' '.join(body)}".encode())


def _parts(words: bytes) -> tuple[str, str]:
    head, _, body = zlib.decompress(words).decode().partition("\n")
    return head, body


def index_words_of(database: Database, pages: Sequence[tuple[int, bytes]]) -> None:
    """Add announced pages to the index, where they must not be yet: ids of the news list, with words."""
    parts = [(news_id, *_parts(words)) for news_id, words in pages]
    if is_sqlite(database):
        run_many(database, "INSERT INTO news_words(rowid, title, body) VALUES (?, ?, ?)", parts)
        return
    vectors = [(one, _vector(head.split(), body.split())) for one, head, body in parts]
    statement = "INSERT INTO news_words (news_id, words) VALUES (%s, %s::tsvector)"
    run_many(database, statement, vectors)


def unindex_words_of(database: Database, news_id: int, words: bytes) -> None:
    """Remove an announced page. *words* must be the indexed ones: SQLite keeps no copy."""
    if is_sqlite(database):
        head, body = _parts(words)
        statement = (
            "INSERT INTO news_words(news_words, rowid, title, body) VALUES ('delete', ?, ?, ?)"
        )
        run_sql(database, statement, (news_id, head, body))
        return
    run_sql(database, "DELETE FROM news_words WHERE news_id = %s", (news_id,))


def _vector(head: Sequence[str], body: Sequence[str]) -> str:
    """Write a tsvector. Words consist of letters, digits and marks, so quoting is enough."""
    places: dict[str, list[str]] = {}
    for place, word in enumerate(head, 1):
        places.setdefault(word, []).append(f"{place}A")
    # A gap, so that no phrase runs from a title into the text.
    for place, word in enumerate(body, len(head) + 2):
        places.setdefault(word, []).append(str(place))
    # PostgreSQL keeps at most 256 positions per word.
    return " ".join(f"'{word}':{','.join(at[:255])}" for word, at in places.items())


class Match:
    """The announced pages that have some words; see :func:`all_of` and :func:`any_of`."""

    def __init__(self, database: Database, value: str) -> None:
        """*value* is in the language of the engine; an empty one matches nothing."""
        self._db = database
        self._column, asked, self._mark = (
            ("rowid", "news_words MATCH ?", "?")
            if is_sqlite(database)
            else ("news_id", "words @@ %s::tsquery", "%s")
        )
        self._asked, self._values = (asked, [value]) if value else ("1 = 0", [])

    def ids(
        self,
        between: tuple[int | None, int | None] = (None, None),
        *,
        newest: bool = True,
        most: int | None = None,
    ) -> SQL:
        """Return a subquery: the ids of the pages, *between* inclusive bounds.

        With *most*, that many at most, newest or oldest. Both databases read them in id order without
        scanning the rest, SQLite straight from the index.
        """
        conditions = [self._asked]
        values: list[object] = [*self._values]
        for sign, bound in ((">=", between[0]), ("<=", between[1])):
            if bound is not None:
                conditions.append(f"{self._column} {sign} {self._mark}")
                values.append(bound)
        direction = "DESC" if newest else "ASC"
        order = f" ORDER BY {self._column} {direction} LIMIT {most:d}" if most else ""
        where = " AND ".join(conditions)
        return SQL(f"(SELECT {self._column} FROM news_words WHERE {where}{order})", values)  # noqa: S608 - names of ours

    def listed(self, between: tuple[int, int], *, newest: bool, most: int) -> list[int]:
        """Return the ids that :meth:`ids` selects, in id order."""
        found = self.ids(between, newest=newest, most=most)
        return [row for (row,) in run_sql(self._db, found.sql[1:-1], found.params).fetchall()]

    def is_few(self, most: int) -> bool:
        """Return whether at most so many pages match."""
        inner = f"SELECT 1 AS one FROM news_words WHERE {self._asked} LIMIT {most + 1:d}"  # noqa: S608 - names of ours
        statement = f"SELECT COUNT(*) FROM ({inner}) AS found"  # noqa: S608 - likewise
        return int(run_sql(self._db, statement, self._values).fetchone()[0]) <= most

    def holds(self, news_id: str, *, negated: bool = False) -> SQL:
        """Return a condition: the page of the outer query's row matches, or does not.

        *news_id* is the quoted name of that query's column.
        """
        inner = f"SELECT 1 FROM news_words WHERE {self._column} = {news_id} AND {self._asked}"  # noqa: S608 - names of ours
        return SQL(f"{'NOT ' if negated else ''}EXISTS ({inner})", self._values)


def all_of(database: Database, phrases: Sequence[Phrase]) -> Match:
    """Return the pages that a search finds; exclusions alone find nothing."""
    if all(phrase.excluded for phrase in phrases):
        return Match(database, "")
    if is_sqlite(database):
        return Match(database, _match(phrases))
    return Match(database, " & ".join(("!" if p.excluded else "") + _lexemes(p) for p in phrases))


def any_of(database: Database, words: Sequence[str]) -> Match:
    """Return the pages that have one of these words or phrases."""
    if is_sqlite(database):
        alternatives = [" AND ".join(map(_fts5, phrases)) for phrases in _each(words)]
        return Match(database, " OR ".join(f"({one})" for one in alternatives))
    alternatives = [" & ".join(map(_lexemes, phrases)) for phrases in _each(words)]
    return Match(database, " | ".join(f"({one})" for one in alternatives))


def _each(words: Sequence[str]) -> list[list[Phrase]]:
    """Return the phrases of each word or phrase; those without a letter or digit are omitted."""
    found = map(read_word, words)
    return [phrases for phrases in found if phrases]


# User input reaches neither engine as syntax, only as quoted words.
def _match(phrases: Sequence[Phrase]) -> str:
    wanted = " AND ".join(map(_fts5, (p for p in phrases if not p.excluded)))
    unwanted = " OR ".join(map(_fts5, (p for p in phrases if p.excluded)))
    return f"({wanted}) NOT ({unwanted})" if unwanted else wanted


def _fts5(phrase: Phrase) -> str:
    return f'"{" ".join(phrase.words)}"' + (" *" if phrase.prefix else "")


def _lexemes(phrase: Phrase) -> str:
    *first, last = (f"'{word}'" for word in phrase.words)
    return f"({' <-> '.join((*first, last + (':*' if phrase.prefix else '')))})"
