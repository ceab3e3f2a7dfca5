"""Title and body of a message, from sandboxed templates.

Messages are plain text. Mails are HTML beside it, unless their channel has a template of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incremental.base.errors import SettingsError
from incremental.base.plain_text import one_line
from incremental.base.texts import Words
from incremental.features.messages.settings import GroupBy
from incremental.interfaces.explain.backfill import address, subject
from incremental.interfaces.results.schema import change_result, page_json, utc
from store.answers.announced import AnnouncedPage
from store.crawl.backfills import BackfillEvent
from store.enums import TopicVerdict
from store.watched_changes import WatchedChangeRow

if TYPE_CHECKING:
    from jinja2 import Template
    from jinja2.sandbox import ImmutableSandboxedEnvironment

MAX_TITLE = 200
MAX_URL = 2_000
MAX_BODY = 30_000
# Pages listed in one message; the rest is counted.
MAX_PAGES = 100
MAX_TEMPLATE = 4_000
# For testing templates and channels.
SAMPLE = AnnouncedPage(
    *(0, 0, "https://example.org/", "Hubwatch can reach this channel", "", "example.org", 0),
    *(0.0, None, None, None, None, "known"),
)
DEFAULT_TITLE = """\
{% if count == 1 %}{% if pages[0].kind == "changed" %}Changed: {% endif %}{{ pages[0].title }}
{% else %}{{ counted }}{% endif %}"""
DEFAULT_BODY = """\
{% macro entry(page) %}{% if count > 1 %}{% if page.kind == "changed" %}Changed: {% endif %}{{ page.title }}
{% endif %}{{ page.url }}
{{ page.site }}{% if page.verdict == "doubtful" %} (perhaps on topic){% endif %}
{% for line in page.lines %}{{ line }}
{% endfor %}{% endmacro -%}
{% for group in groups -%}
{% if group.name %}[{{ group.name }}]

{% endif %}{% for page in group.pages -%}
{{ entry(page) }}
{%- if not loop.last %}
{% endif %}{% endfor %}{% if not loop.last %}
{% endif %}{% endfor %}{% if count > pages|length %}
and {{ count - pages|length }} more
{% endif %}"""
OTHER_TOPICS = "Other pages"
# Changed lines of one page in a message; the rest is counted.
MAX_LINES = 20
_MAX_LINE = 500
_MAX_EXCERPT = 300
_MAIL = Path(__file__).with_name("templates") / "mail.html"


TemplatePage = dict[str, Any]
"""A page as templates see it; see :func:`of_page`, :func:`of_event` and :func:`of_change`."""
_NO_CHANGE: TemplatePage = {"kind": "page", "added": (), "removed": (), "lines": ()}


def of_page(page: AnnouncedPage, topic: str = "", irrelevant_url: str = "") -> TemplatePage:
    """Return an announced page for templates, with the verdict of the channel's topic.

    *found_at* is ISO 8601, UTC. *older* and *articles* are used by backfill events only, *added*,
    *removed* and *lines* by changes. *best_topic* is that of its highest score that is not irrelevant.
    *irrelevant_url* leads to a button that marks it as not relevant; empty = there is none.
    """
    facts = page_json(page)
    marks: list[dict[str, Any]] = [one for one in facts["topics"] if one["topic"] == topic]
    mark = marks[0] if marks else {}
    return {name: facts[name] for name in ("title", "url", "site", "excerpt")} | {
        "found_at": utc(page.found_at // 1),
        "irrelevant_url": irrelevant_url,
        "topic": topic,
        "verdict": mark.get("verdict", ""),
        "score": mark.get("score"),
        "older": 0,
        "articles": (),
        **_NO_CHANGE,
        "best_topic": best_topic(page),
    }


def of_change(change: WatchedChangeRow, page: AnnouncedPage, topic: str = "") -> TemplatePage:
    """Return a change of a watched page for templates; *found_at* is when it was noticed."""
    result = change_result(change)
    more = len(result.lines) - MAX_LINES
    return of_page(page, topic) | {
        **{name: getattr(result, name) for name in ("title", "url", "site", "added", "removed")},
        "kind": "changed",
        "excerpt": "",
        "found_at": utc(change.at // 1),
        "lines": [*result.lines[:MAX_LINES], *([f"… {more} more"] if more > 0 else [])],
    }


def best_topic(page: AnnouncedPage) -> str:
    """Return the topic of a page's highest score that is not irrelevant; empty = none."""
    marks = [mark for mark in page.topics if mark.verdict != TopicVerdict.IRRELEVANT]
    return max(marks, key=lambda mark: mark.score).topic if marks else ""


def of_event(event: BackfillEvent, pages: Sequence[AnnouncedPage]) -> TemplatePage:
    """Return a backfill event for templates: *url* is the list, *articles* its first pages."""
    return {
        "title": subject(event),
        "url": address(event),
        "site": event.site,
        "found_at": utc(event.found_at // 1),
        "topic": "",
        "verdict": "",
        "score": None,
        "older": event.pages,
        "articles": [{"title": one.name, "url": one.url} for one in pages],
        **_NO_CHANGE,
        "kind": "backfill",
        "excerpt": "",
        "irrelevant_url": "",
        "best_topic": "",
    }


@dataclass(frozen=True, slots=True)
class Message:
    """Ready to send. Title and body are plain text."""

    title: str
    body: str
    html: str = ""
    """The body for mails; empty = the channel has a template of its own."""


def compose(
    pages: Sequence[TemplatePage],
    title: str,
    body: str,
    *,
    group_by: GroupBy = "",
    language: str = "en",
) -> Message:
    """Render the message for *pages*; empty templates = defaults. Several pages are grouped.

    *language* is that of the HTML.

    Raises:
        SettingsError: a template is invalid, or violates the sandbox.
    """
    # Templates see plain values only.
    shown = [_plain(page) for page in pages[:MAX_PAGES]]
    changed = sum(page["kind"] == "changed" for page in pages)
    values: dict[str, Any] = {
        "pages": shown,
        "count": len(pages),
        "counted": counted(len(pages) - changed, changed),
        "groups": grouped(shown, group_by if len(pages) > 1 else ""),
    }
    head = one_line(_render("title", title or DEFAULT_TITLE, values), MAX_TITLE)
    text = _render("body", body or DEFAULT_BODY, values).strip()
    html = "" if body else _mail().render(**values, t=Words(language))
    return Message(head or values["counted"], text[:MAX_BODY], html)


def counted(new: int, changed: int) -> str:
    """Return ``3 new pages, 1 changed page``."""
    parts = [(new, "new"), (changed, "changed")]
    said = [f"{n} {kind} {'page' if n == 1 else 'pages'}" for n, kind in parts if n]
    return ", ".join(said) or "0 new pages"


def grouped(pages: Sequence[TemplatePage], group_by: GroupBy) -> list[dict[str, Any]]:
    """Return groups with ``name`` and ``pages``; the largest first, pages of no topic last."""
    if not group_by:
        return [{"name": "", "pages": list(pages)}]
    key = "site" if group_by == "site" else "best_topic"
    groups: dict[str, list[TemplatePage]] = {}
    for page in pages:
        groups.setdefault(page[key], []).append(page)
    ordered = sorted(groups.items(), key=lambda group: (not group[0], -len(group[1])))
    return [{"name": name or OTHER_TOPICS, "pages": members} for name, members in ordered]


def check_template(field: str, template: str) -> None:
    """Raise SettingsError for an invalid template."""
    if len(template) > MAX_TEMPLATE:
        raise SettingsError(field, template[:40] + "...", f"at most {MAX_TEMPLATE} characters")
    sample = of_page(SAMPLE) | {"articles": [{"title": SAMPLE.title, "url": SAMPLE.url}]}
    groups = grouped([sample], "")
    values = {"pages": [sample], "count": 1, "counted": counted(1, 0), "groups": groups}
    _render(field, template, values)


def _plain(page: TemplatePage) -> TemplatePage:
    """Return a page with its texts cleaned: one line each, cut."""
    # Texts from sites are untrusted: control and direction characters are removed, lines cut.
    url = one_line(page["url"], MAX_URL)
    return page | {
        "url": url,
        "title": one_line(page["title"], MAX_TITLE) or url[:MAX_TITLE],
        "site": one_line(page["site"], MAX_TITLE),
        "excerpt": one_line(page["excerpt"], _MAX_EXCERPT),
        "topic": one_line(page["topic"], MAX_TITLE),
        "best_topic": one_line(page["best_topic"], MAX_TITLE),
        **{
            name: [one_line(line, _MAX_LINE) for line in page[name]]
            for name in ("added", "removed", "lines")
        },
        "articles": [
            one | {"url": link, "title": one_line(one["title"], MAX_TITLE) or link[:MAX_TITLE]}
            for one in page["articles"][:MAX_PAGES]
            for link in [one_line(one["url"], MAX_URL)]
        ],
    }


def _render(field: str, template: str, values: Mapping[str, Any]) -> str:
    from jinja2 import TemplateError  # noqa: PLC0415 - an extra

    try:
        return _environment().from_string(template).render(values)
    except (TemplateError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
        raise SettingsError(field, template[:40], f"the template fails: {error}") from None


@cache
def _mail() -> Template:
    """Return the template of mails, which escapes what it is given."""
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415 - an extra

    environment = Environment(
        undefined=StrictUndefined, autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(_MAIL.read_text(encoding="utf-8"))


@cache
def _environment() -> ImmutableSandboxedEnvironment:
    """Return the sandbox for templates."""
    from jinja2 import StrictUndefined  # noqa: PLC0415 - an extra
    from jinja2.sandbox import ImmutableSandboxedEnvironment  # noqa: PLC0415 - likewise

    # No attributes that begin with an underscore, no huge ranges.
    return ImmutableSandboxedEnvironment(undefined=StrictUndefined, autoescape=False)
