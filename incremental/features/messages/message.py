"""What is told: title and body of a message, with HTML beside them for mails, and JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incremental.base.plain_text import one_line
from incremental.base.texts import Words
from incremental.interfaces.explain.backfill import address, subject
from incremental.interfaces.results.schema import change_result, page_json, plain, utc
from store.answers.announced import AnnouncedPage
from store.crawl.backfills import BackfillEvent
from store.enums import TopicVerdict
from store.watched_changes import WatchedChangeRow

if TYPE_CHECKING:
    from jinja2 import Template

MAX_TITLE = 200
MAX_URL = 2_000
MAX_BODY = 30_000
# Pages listed in one message; the rest is counted.
MAX_PAGES = 100
# For testing channels.
SAMPLE = AnnouncedPage(
    *(0, 0, "https://example.org/", "Hubwatch can reach this channel", "", "example.org", 0),
    *(0.0, None, None, None, None, "known"),
)
# Changed lines of one page in a message; the rest is counted.
MAX_LINES = 20
_MAX_LINE = 500
_VERSION = 1
_MAX_EXCERPT = 300
_MAIL = Path(__file__).with_name("templates") / "mail.html"


@dataclass(frozen=True, slots=True)
class Item:
    """What is told of a page, a backfill event or a change: to programs as facts, to people as texts.

    The texts are cleaned, one line each, cut.
    """

    kind: str
    """``page``, ``backfill``, ``changed`` or ``test``."""
    facts: Mapping[str, Any]
    """For programs; texts are as the site sent them."""
    title: str
    url: str
    site: str
    excerpt: str = ""
    lines: tuple[str, ...] = ()
    """Of a change, with their signs."""
    topic: str = ""
    """That of the channel, else the one of the page's highest score that is not irrelevant; empty = none."""
    doubtful: bool = False
    irrelevant_url: str = ""
    """Leads to a button that marks the page as not relevant; empty = there is none."""


def _item(kind: str, facts: Mapping[str, Any], **more: Any) -> Item:  # noqa: ANN401 - fields of an item
    # Texts from sites are untrusted: control and direction characters are removed, lines cut.
    link = one_line(facts["url"], MAX_URL)
    name = one_line(facts["title"], MAX_TITLE) or link[:MAX_TITLE]
    return Item(kind, facts, name, link, one_line(facts["site"], MAX_TITLE), **more)


def of_page(
    page: AnnouncedPage, topic: str = "", irrelevant_url: str = "", kind: str = "page"
) -> Item:
    """Return an announced page, with the verdict of the channel's *topic*."""
    facts = page_json(page)
    verdicts = [one["verdict"] for one in facts["topics"] if one["topic"] == topic]
    return _item(
        kind,
        facts,
        excerpt=one_line(facts["excerpt"], _MAX_EXCERPT),
        topic=one_line(topic or best_topic(page), MAX_TITLE),
        doubtful=verdicts[:1] == [TopicVerdict.DOUBTFUL],
        irrelevant_url=irrelevant_url,
    )


def of_change(change: WatchedChangeRow) -> Item:
    """Return a change of a watched page."""
    facts = plain(change_result(change))
    more = len(facts["lines"]) - MAX_LINES
    lines = [*facts["lines"][:MAX_LINES], *([f"… {more} more"] if more > 0 else [])]
    return _item("changed", facts, lines=tuple(one_line(line, _MAX_LINE) for line in lines))


def of_event(event: BackfillEvent, pages: Sequence[AnnouncedPage]) -> Item:
    """Return a backfill event with its first *pages*; its address is that of the list."""
    facts = {
        "title": subject(event),
        "url": address(event),
        "site": event.site,
        "found_at": utc(event.found_at // 1),
        "articles": [{"title": one.name, "url": one.url} for one in pages],
        "pages": event.pages,
    }
    return _item("backfill", facts)


def for_programs(item: Item, hook: str, key: str) -> bytes:
    """Return the JSON object that the program or address of a *hook* gets."""
    name = {"changed": "change", "test": "page"}.get(item.kind, item.kind)
    fields = {"version": _VERSION, "kind": item.kind, "key": key, "hook": hook, name: item.facts}
    return json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def best_topic(page: AnnouncedPage) -> str:
    """Return the topic of a page's highest score that is not irrelevant; empty = none."""
    marks = [mark for mark in page.topics if mark.verdict != TopicVerdict.IRRELEVANT]
    return max(marks, key=lambda mark: mark.score).topic if marks else ""


@dataclass(frozen=True, slots=True)
class Message:
    """Ready to send. Title and body are plain text."""

    title: str
    body: str
    html: str = ""
    """The body for mails."""


def compose(items: Sequence[Item], *, language: str = "en") -> Message:
    """Return the message for *items*. *language* is that of the HTML."""
    shown, count = items[:MAX_PAGES], len(items)
    changed = sum(one.kind == "changed" for one in items)
    parts = [_entry(one, alone=count == 1) for one in shown]
    if count > len(shown):
        parts.append(f"and {count - len(shown)} more")
    title = _headline(items[0]) if count == 1 else counted(count - changed, changed)
    html = _mail().render(pages=shown, more=count - len(shown), t=Words(language))
    return Message(one_line(title, MAX_TITLE), "\n\n".join(parts)[:MAX_BODY], html)


def _headline(item: Item) -> str:
    return f"Changed: {item.title}" if item.kind == "changed" else item.title


def _entry(item: Item, *, alone: bool) -> str:
    site = f"{item.site} (perhaps on topic)" if item.doubtful else item.site
    return "\n".join([*([] if alone else [_headline(item)]), item.url, site, *item.lines])


def counted(new: int, changed: int) -> str:
    """Return ``3 new pages, 1 changed page``."""
    parts = [(new, "new"), (changed, "changed")]
    said = [f"{n} {kind} {'page' if n == 1 else 'pages'}" for n, kind in parts if n]
    return ", ".join(said) or "0 new pages"


@cache
def _mail() -> Template:
    """Return the template of mails, which escapes what it is given."""
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415 - an extra

    environment = Environment(
        undefined=StrictUndefined, autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(_MAIL.read_text(encoding="utf-8"))
