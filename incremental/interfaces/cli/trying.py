"""A page tried by topics: ``topic test``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from shlex import quote
from typing import Annotated, Any

import typer
from rich.table import Column, Table

from incremental.base.clock import SystemClock
from incremental.base.errors import NotFoundError
from incremental.base.lookup import find_topic
from incremental.base.readable_urls import readable
from incremental.daemon.assembly import make_fetcher, make_reader
from incremental.interfaces.cli.common import (
    console,
    now,
    open_store,
    printed_json,
    safe,
    say,
    settings_of,
    wants_json,
)
from incremental.interfaces.cli.topic import open_models
from incremental.interfaces.explain.topic import explain_page
from incremental.visit.once import ReadPage, read_page

SHOWN_WORDS = 8
# Longer than any line.
_WHOLE = 10_000
_SOURCES = {"cache": "as it is in the cache", "fetched": "fetched now, not recorded"}
_VERDICTS = {"doubtful": "doubtful (listed, and marked as such)"}
# A shift by the user's corrections below this moves no verdict that anybody would notice.
_LEAST_SHIFT = 0.05


def try_out(
    context: typer.Context,
    url: Annotated[str, typer.Argument(metavar="URL", help="Any page.")],
    *,
    of: Annotated[
        list[str], typer.Option("--topic", metavar="NAME", help="Only this topic; may be repeated.")
    ] = [],  # noqa: B006 - Typer's way
) -> None:
    """Judge a page by topics, and say what speaks for and against it.

    A page that is not cached is fetched if its robots.txt allows; nothing is recorded.
    """
    settings, _ = settings_of(context)
    with open_store(context) as store:
        rows = [find_topic(store, name) for name in of] or store.topics.topics()
        if not rows:
            raise NotFoundError("no topic yet; create one: hubwatch topic add NAME --keyword WORD")
        fetcher = make_fetcher(settings, SystemClock())
        with make_reader(settings, workers=1) as reader:
            read = read_page(store, settings, url, fetcher.fetch, now=now(), read=reader)
        fetcher.close()
        with open_models(context, store) as models:
            text, all_of_it = read.text, wants_json(context)
            found = [
                explain_page(store, models, row, text, by_method=all_of_it)
                for row in rows
                if text is not None
            ]
    answer = {"url": read.url, "source": read.source, "problem": read.problem, "topics": found}
    if printed_json(context, answer):
        pass
    elif read.text is None:
        say(f"hubwatch: {readable(read.url)}: {read.problem}")
    else:
        _print(read, found)
    if read.text is None:
        raise typer.Exit(1)


def _print(read: ReadPage, found: Iterable[Mapping[str, Any]]) -> None:
    problem = f": {read.problem}" if read.problem else ""
    out = console()
    out.print(safe(f"{readable(read.url)}, {_SOURCES[read.source]}{problem}"))
    for facts in found:
        out.print()
        out.print(safe(headline(facts)), style="bold")
        # A grid wraps and never cuts.
        grid = Table.grid(Column(no_wrap=True), Column(overflow="fold"), padding=(0, 2, 0, 0))
        for label, text in reasons(facts):
            grid.add_row(safe(label), safe(text, _WHOLE))
        out.print(grid)
    say("every method's score: --json")


def headline(facts: Mapping[str, Any]) -> str:
    """Return the verdict in a line."""
    name = f"{facts['topic']} (paused)" if facts["state"] == "paused" else facts["topic"]
    if facts["verdict"] is None:
        return f"{name}: not judged, {facts['why']}"
    # Rounded down: 0.496 is not the 0.50 that is asked for.
    score = round(facts["score"] * 10_000) // 100 / 100
    verdict = _VERDICTS.get(facts["verdict"], facts["verdict"])
    return f"{name}: {verdict}, score {score:.2f}; relevant from 0.50"


def reasons(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what speaks for and against a page as (label, text); nothing if it was not judged."""
    if facts["verdict"] is None:
        return []
    lines = [
        ("for it", _words(facts["terms"]) or "none of the topic's words"),
        ("against it", _lacking(facts["missing_terms"])),
        ("your marks", _shift(facts["views"].get("corrections", 0.0))),
        ("nearest example", _nearest(facts)),
        ("nearest passage", f"“{facts['passage']}”" if facts["passage"] else ""),
        *(("note", warning) for warning in facts["warnings"]),
        ("if that is wrong", _way_out(facts)),
    ]
    return [(label, text) for label, text in lines if text]


def _words(terms: Iterable[Mapping[str, Any]]) -> str:
    return ", ".join([one["word"] for one in terms][:SHOWN_WORDS])


def _lacking(terms: Iterable[Mapping[str, Any]]) -> str:
    words = _words(terms)
    return f"it lacks {words}" if words else ""


def _shift(shift: float) -> str:
    if abs(shift) < _LEAST_SHIFT:
        return ""
    return "pages that you marked " + ("raise its score" if shift > 0 else "lower its score")


def _nearest(facts: Mapping[str, Any]) -> str:
    example = facts["nearest_example"]
    # Of no likeness, or of opposites, people would read a number as a fault.
    if example is None or facts["nearest_cosine"] <= 0:
        return ""
    return f"{readable(example)}, similarity {facts['nearest_cosine']:.2f} (1 = identical)"


def _way_out(facts: Mapping[str, Any]) -> str:
    other = "irrelevant" if facts["verdict"] == "relevant" else "relevant"
    return f"hubwatch {other} {quote(facts['url'])} --topic {quote(facts['topic'])}"
