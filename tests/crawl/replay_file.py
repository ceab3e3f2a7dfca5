"""Makes small replay files in the format of the recorded websites."""

from __future__ import annotations

import lzma
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path

from fake_web import DAY, HOUR, START, page

HOST = "https://recorded.example"
END = START + 10 * DAY
T0 = START + 2 * DAY
Bodies = Sequence[tuple[float, float | None, str]]
"""From, to (None = to the end) and what was served."""

_TABLES = """
CREATE TABLE site(base_url, first_ts, last_ts);
CREATE TABLE page(id INTEGER PRIMARY KEY, url, path, bodies);
CREATE TABLE version(page_id, valid_from, valid_to, start, length);
"""


def write_replay(path: Path, pages: Mapping[str, Bodies]) -> Path:
    """Write a recording of ten days from START."""
    with sqlite3.connect(path) as db:
        db.executescript(_TABLES)
        db.execute("INSERT INTO site VALUES (?, ?, ?)", (HOST + "/", START, END))
        for number, (place, versions) in enumerate(pages.items(), 1):
            bodies = [body.encode() for _, _, body in versions]
            row = (number, HOST + place, place.lstrip("/"), lzma.compress(b"".join(bodies)))
            db.execute("INSERT INTO page VALUES (?, ?, ?, ?)", row)
            start = 0
            for (since, until, _), body in zip(versions, bodies, strict=True):
                version = (number, since, until, start, len(body))
                db.execute("INSERT INTO version VALUES (?, ?, ?, ?, ?)", version)
                start += len(body)
    db.close()
    return path


def small_site(folder: Path) -> tuple[Path, Path]:
    """Write a site whose home page shows a new story every day, and what there was to find."""
    stories = [f"/story-of-the-day-number-{n}.html" for n in range(10)]
    born = [START if n < 3 else START + n * DAY + HOUR for n in range(10)]
    homes: list[tuple[float, float | None, str]] = []
    moments = sorted(set(born))
    for since, until in zip(moments, [*moments[1:], None], strict=True):
        out = [story for story, at in zip(stories, born, strict=True) if at <= since]
        homes.append((since, until, page(*out[::-1])))
    pages: dict[str, Bodies] = {"/": homes}
    text = "A story that goes on for some time. " * 20
    pages |= {
        s: [(at, None, page(title=s, text=text))] for s, at in zip(stories, born, strict=True)
    }
    pages["/old.html"] = [(START, START + DAY, page())]
    replay = write_replay(folder / "small.sqlite", pages)
    truth = folder / "truth" / "small.tsv"
    truth.parent.mkdir()
    rows = ["url\tkind\tpublished\tlinked\tgone\tscored"]
    rows += [
        f"{HOST}{story}\tarticle\t{at}\t{at}\t\t{int(at < END - DAY)}"
        for story, at in zip(stories, born, strict=True)
        if at > T0
    ]
    truth.write_text("\n".join(rows) + "\n")
    return replay, truth
