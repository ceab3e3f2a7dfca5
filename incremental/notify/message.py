"""Title and body of a message, from sandboxed templates.

Messages are plain text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from incremental.errors import SettingsError
from incremental.explain.backfill import address, subject
from incremental.plain_text import one_line
from incremental.results.schema import page_json, utc
from store.announced import AnnouncedPage
from store.backfills import BackfillEvent

if TYPE_CHECKING:
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
DEFAULT_TITLE = (
    "{% if pages|length == 1 %}{{ pages[0].title }}{% else %}{{ count }} new pages{% endif %}"
)
DEFAULT_BODY = """\
{% for page in pages -%}
{% if pages|length > 1 %}{{ page.title }}
{% endif %}{{ page.url }}
{{ page.site }}{% if page.verdict == "grey" %} (perhaps on topic){% endif %}
{% if not loop.last %}
{% endif %}{% endfor %}{% if count > pages|length %}
and {{ count - pages|length }} more
{% endif %}"""


TemplatePage = dict[str, Any]
"""A page as templates see it; see :func:`of_page` and :func:`of_event`."""


def of_page(page: AnnouncedPage, topic: str = "") -> TemplatePage:
    """Return an announced page for templates, with the verdict of the channel's topic.

    *found_at* is ISO 8601, UTC. *older* and *articles* are used by backfill events only.
    """
    facts = page_json(page)
    marks: list[dict[str, Any]] = [one for one in facts["topics"] if one["topic"] == topic]
    mark = marks[0] if marks else {}
    return {name: facts[name] for name in ("title", "url", "site")} | {
        "found_at": utc(page.found_at // 1),
        "topic": topic,
        "verdict": mark.get("verdict", ""),
        "score": mark.get("score"),
        "older": 0,
        "articles": (),
    }


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
    }


@dataclass(frozen=True, slots=True)
class Message:
    """Plain text, ready to send."""

    title: str
    body: str


def compose(pages: Sequence[TemplatePage], title: str, body: str) -> Message:
    """Render the message for *pages*; empty templates = defaults.

    Raises:
        SettingsError: a template is invalid, or violates the sandbox.
    """
    # Templates see plain values only.
    shown = [_plain(page) for page in pages[:MAX_PAGES]]
    values = {"pages": shown, "count": len(pages)}
    head = one_line(_render("title", title or DEFAULT_TITLE, values), MAX_TITLE)
    text = _render("body", body or DEFAULT_BODY, values).strip()
    return Message(head or f"{len(pages)} new pages", text[:MAX_BODY])


def check_template(field: str, template: str) -> None:
    """Raise SettingsError for an invalid template."""
    if len(template) > MAX_TEMPLATE:
        raise SettingsError(field, template[:40] + "...", f"at most {MAX_TEMPLATE} characters")
    sample = of_page(SAMPLE) | {"articles": [{"title": SAMPLE.title, "url": SAMPLE.url}]}
    _render(field, template, {"pages": [sample], "count": 1})


def _plain(page: TemplatePage) -> TemplatePage:
    """Return a page with its texts cleaned: one line each, cut."""
    # Texts from sites are untrusted: control and direction characters are removed, lines cut.
    url = one_line(page["url"], MAX_URL)
    return page | {
        "url": url,
        "title": one_line(page["title"], MAX_TITLE) or url[:MAX_TITLE],
        "site": one_line(page["site"], MAX_TITLE),
        "topic": one_line(page["topic"], MAX_TITLE),
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
def _environment() -> ImmutableSandboxedEnvironment:
    """Return the sandbox for templates."""
    from jinja2 import StrictUndefined  # noqa: PLC0415 - an extra
    from jinja2.sandbox import ImmutableSandboxedEnvironment  # noqa: PLC0415 - likewise

    # No attributes that begin with an underscore, no huge ranges.
    return ImmutableSandboxedEnvironment(undefined=StrictUndefined, autoescape=False)
