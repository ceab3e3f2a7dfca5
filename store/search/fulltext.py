"""Full-text index over announced pages: SQLite's FTS5 or PostgreSQL's tsvector.

Rows have the ids of the news list, so results come out in list order and the newest are found without
scanning the rest.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

from peewee import SQL, Database

from store.database import is_sqlite
from store.database.statements import run_many
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
    """Remove an announced page. *words* must be what was indexed: SQLite keeps no copy."""
    if is_sqlite(database):
        head, body = _parts(words)
        statement = (
            "INSERT INTO news_words(news_words, rowid, title, body) VALUES ('delete', ?, ?, ?)"
        )
        _run(database, statement, news_id, head, body)
        return
    _run(database, "DELETE FROM news_words WHERE news_id = %s", news_id)


def _run(database: Database, statement: str, *values: object) -> Any:  # noqa: ANN401 - a driver's cursor
    return database.execute_sql(statement, values)  # type: ignore[no-untyped-call]  # peewee's stubs lack it


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


def is_searchable(phrases: Sequence[Phrase]) -> bool:
    """Return whether anything is searched for; exclusions alone find nothing."""
    return any(not phrase.excluded for phrase in phrases)


def found_news(
    database: Database,
    phrases: Sequence[Phrase],
    between: tuple[int | None, int | None] = (None, None),
    *,
    newest: bool = True,
    most: int | None = None,
) -> SQL:
    """Return a subquery: ids of announced pages that match, *between* inclusive bounds.

    With *most*, that many at most, newest or oldest. Both databases read them in id order without scanning
    the rest, SQLite straight from the index.
    """
    column, asked, value = _asked(database, phrases)
    mark = "?" if is_sqlite(database) else "%s"
    conditions, values = [asked], [value]
    for sign, bound in ((">=", between[0]), ("<=", between[1])):
        if bound is not None:
            conditions.append(f"{column} {sign} {mark}")
            values.append(bound)
    order = f" ORDER BY {column} {'DESC' if newest else 'ASC'} LIMIT {most:d}" if most else ""
    where = " AND ".join(conditions)
    return SQL(f"(SELECT {column} FROM news_words WHERE {where}{order})", values)  # noqa: S608 - names of ours


def news_ids(
    database: Database,
    phrases: Sequence[Phrase],
    between: tuple[int | None, int | None],
    *,
    newest: bool,
    most: int,
) -> list[int]:
    """Return the ids that :func:`found_news` selects, in id order."""
    found = found_news(database, phrases, between, newest=newest, most=most)
    return [row for (row,) in _run(database, found.sql[1:-1], *found.params).fetchall()]


def count_news(database: Database, phrases: Sequence[Phrase], *, most: int) -> int:
    """Count the announced pages that match, up to *most*."""
    _, asked, value = _asked(database, phrases)
    inner = f"SELECT 1 AS one FROM news_words WHERE {asked} LIMIT {most:d}"  # noqa: S608 - names of ours
    statement = f"SELECT COUNT(*) FROM ({inner}) AS found"  # noqa: S608 - likewise
    return int(_run(database, statement, value).fetchone()[0])


def stands_in(database: Database, phrases: Sequence[Phrase], news_id: str) -> SQL:
    """Return a condition: the page of the outer query's row matches.

    *news_id* is the quoted name of that query's column.
    """
    column, asked, value = _asked(database, phrases)
    inner = f"SELECT 1 FROM news_words WHERE {column} = {news_id} AND {asked}"  # noqa: S608 - names of ours
    return SQL(f"EXISTS ({inner})", [value])


def has_any(
    database: Database, words: Sequence[str], news_id: str, *, negated: bool = False
) -> SQL:
    """Return a condition: the page of the outer query's row has one of these words or phrases, or none.

    *news_id* is as in :func:`stands_in`.
    """
    column, asked, value = _any_asked(database, words)
    if not value:
        return SQL("1 = 1" if negated else "1 = 0")
    inner = f"SELECT 1 FROM news_words WHERE {column} = {news_id} AND {asked}"  # noqa: S608 - names of ours
    return SQL(f"{'NOT ' if negated else ''}EXISTS ({inner})", [value])


def found_any(database: Database, words: Sequence[str]) -> SQL:
    """Return a subquery: ids of announced pages that have one of these words or phrases."""
    column, asked, value = _any_asked(database, words)
    if not value:
        return SQL("(SELECT 0 WHERE 1 = 0)")
    return SQL(f"(SELECT {column} FROM news_words WHERE {asked})", [value])  # noqa: S608 - names of ours


def count_any(database: Database, words: Sequence[str], *, most: int) -> int:
    """Count the announced pages that have one of these words or phrases, up to *most*."""
    _, asked, value = _any_asked(database, words)
    if not value:
        return 0
    inner = f"SELECT 1 AS one FROM news_words WHERE {asked} LIMIT {most:d}"  # noqa: S608 - names of ours
    statement = f"SELECT COUNT(*) FROM ({inner}) AS found"  # noqa: S608 - likewise
    return int(_run(database, statement, value).fetchone()[0])


def _any_asked(database: Database, words: Sequence[str]) -> tuple[str, str, str]:
    """Return the id column, the condition that one of *words* stands there, and its value; empty = none."""
    if is_sqlite(database):
        alternatives = [" AND ".join(map(_fts5, phrases)) for phrases in _each(words)]
        return "rowid", "news_words MATCH ?", " OR ".join(f"({one})" for one in alternatives)
    value = " | ".join(f"({' & '.join(map(_lexemes, one))})" for one in _each(words))
    return "news_id", "words @@ %s::tsquery", value


def _each(words: Sequence[str]) -> list[list[Phrase]]:
    """Return the phrases of each word or phrase; one that holds no letter or digit is left out."""
    found = map(read_word, words)
    return [phrases for phrases in found if phrases]


def _asked(database: Database, phrases: Sequence[Phrase]) -> tuple[str, str, Any]:
    """Return the id column, the condition on the words, and its value."""
    if is_sqlite(database):
        return "rowid", "news_words MATCH ?", _match(phrases)
    query = " & ".join(("!" if p.excluded else "") + _lexemes(p) for p in phrases)
    return "news_id", "words @@ %s::tsquery", query


# What a user typed reaches neither engine as syntax, only as quoted words.
def _match(phrases: Sequence[Phrase]) -> str:
    wanted = " AND ".join(map(_fts5, (p for p in phrases if not p.excluded)))
    unwanted = " OR ".join(map(_fts5, (p for p in phrases if p.excluded)))
    return f"({wanted}) NOT ({unwanted})" if unwanted else wanted


def _fts5(phrase: Phrase) -> str:
    return f'"{" ".join(phrase.words)}"' + (" *" if phrase.prefix else "")


def _lexemes(phrase: Phrase) -> str:
    *first, last = (f"'{word}'" for word in phrase.words)
    return f"({' <-> '.join((*first, last + (':*' if phrase.prefix else '')))})"
