"""Index Chinese pages anew: words of traditional and of simplified characters meet from now on.

Only what the index holds is changed, by its own record of it; no page is read again. Going down leaves
the words as they are: an earlier version finds those pages by simplified words alone.
"""

import re
import zlib

from peewee import SqliteDatabase

_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
_BLOCKS = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF))
_BATCH = 500
_ROWS = """
SELECT page_text.page_id, news.id, page_text.words
FROM page_text JOIN news ON news.page_id = page_text.page_id
WHERE page_text.words IS NOT NULL AND page_text.page_id > {mark}
ORDER BY page_text.page_id LIMIT {limit}
"""


def up(migrator, db):
    """Fold the words of every told page, and put those that differ into the index again."""
    mark = "?" if isinstance(db, SqliteDatabase) else "%s"
    table, last = None, -1
    while rows := db.execute_sql(_ROWS.format(mark=mark, limit=_BATCH), (last,)).fetchall():
        for page, news, packed in rows:
            words = zlib.decompress(packed).decode()
            if _HAN.search(words):
                table = table or _simplified_forms()
                folded = words.translate(table)
                if folded != words:
                    _index_anew(db, page, news, words, folded)
        last = rows[-1][0]


def down(migrator, db):
    """Leave the words."""


def _index_anew(db, page, news, words, folded):
    head, _, body = words.partition("\n")
    new_head, _, new_body = folded.partition("\n")
    packed = zlib.compress(folded.encode())
    if isinstance(db, SqliteDatabase):
        db.execute_sql(
            "INSERT INTO news_words(news_words, rowid, title, body) VALUES ('delete', ?, ?, ?)",
            (news, head, body),
        )
        db.execute_sql(
            "INSERT INTO news_words(rowid, title, body) VALUES (?, ?, ?)",
            (news, new_head, new_body),
        )
        db.execute_sql("UPDATE page_text SET words = ? WHERE page_id = ?", (packed, page))
        return
    db.execute_sql(
        "UPDATE news_words SET words = %s::tsvector WHERE news_id = %s",
        (_vector(new_head.split(), new_body.split()), news),
    )
    db.execute_sql("UPDATE page_text SET words = %s WHERE page_id = %s", (packed, page))


def _vector(head, body):
    places = {}
    for place, word in enumerate(head, 1):
        places.setdefault(word, []).append(f"{place}A")
    for place, word in enumerate(body, len(head) + 2):
        places.setdefault(word, []).append(str(place))
    return " ".join(f"'{word}':{','.join(at[:255])}" for word, at in places.items())


def _simplified_forms():
    import opencc  # noqa: PLC0415 - stores without Chinese do without it

    characters = [chr(number) for first, last in _BLOCKS for number in range(first, last + 1)]
    forms = opencc.OpenCC("t2s").convert("\n".join(characters)).split("\n")
    pairs = zip(characters, forms, strict=True)
    return {ord(one): form for one, form in pairs if one != form and len(form) == 1}
