"""What a message says: title and text from a template, in a sandbox.

Texts of sites are hostile: control and direction characters are taken out, lines cut, and a template
sees plain values only. Messages are plain text; services show them as such.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from incremental.errors import SettingsError
from incremental.plain_text import one_line

if TYPE_CHECKING:
    from jinja2.sandbox import ImmutableSandboxedEnvironment

MAX_TITLE = 200
MAX_BODY = 30_000
MAX_PAGES = 100
"""Pages listed in one message; of more it says how many there are."""
MAX_TEMPLATE = 4_000
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


@dataclass(frozen=True, slots=True)
class ListedPage:
    """One page of an event, as a template sees it."""

    title: str
    url: str


@dataclass(frozen=True, slots=True)
class ToldPage:
    """A page as a template sees it."""

    title: str
    url: str
    site: str
    found_at: str
    """ISO 8601, UTC."""
    topic: str = ""
    verdict: str = ""
    score: float | None = None
    older: int = 0
    """How many older pages a list gained, when it is such an event; *url* is the list then."""
    articles: tuple[ListedPage, ...] = ()
    """The first of them, for templates that list them."""


@dataclass(frozen=True, slots=True)
class Message:
    """Plain text, ready to be handed over."""

    title: str
    body: str


def compose(pages: Sequence[ToldPage], title: str, body: str) -> Message:
    """Write the message for *pages* with two templates; empty = the usual ones.

    Raises:
        SettingsError: a template is wrong, or does what it may not.
    """
    shown = [_plain(page) for page in pages[:MAX_PAGES]]
    values = {"pages": shown, "count": len(pages)}
    head = one_line(_render("title", title or DEFAULT_TITLE, values), MAX_TITLE)
    text = _render("body", body or DEFAULT_BODY, values).strip()
    return Message(head or f"{len(pages)} new pages", text[:MAX_BODY])


def check_template(field: str, template: str) -> None:
    """Refuse a template that cannot be used, before anything depends on it.

    Raises:
        SettingsError: names the field and what is wrong.
    """
    if len(template) > MAX_TEMPLATE:
        raise SettingsError(field, template[:40] + "...", f"at most {MAX_TEMPLATE} characters")
    listed = (ListedPage("A title", "https://example.org/"),)
    sample = ToldPage(
        "A title", "https://example.org/", "example.org", "2026-01-01T00:00:00Z", articles=listed
    )
    _render(field, template, {"pages": [sample], "count": 1})


def _plain(page: ToldPage) -> ToldPage:
    return ToldPage(
        title=one_line(page.title, MAX_TITLE) or page.url[:MAX_TITLE],
        url=one_line(page.url, 2_000),
        site=one_line(page.site, MAX_TITLE),
        found_at=page.found_at,
        topic=one_line(page.topic, MAX_TITLE),
        verdict=page.verdict,
        score=page.score,
        older=page.older,
        articles=tuple(map(_listed, page.articles[:MAX_PAGES])),
    )


def _listed(one: ListedPage) -> ListedPage:
    url = one_line(one.url, 2_000)
    return ListedPage(one_line(one.title, MAX_TITLE) or url[:MAX_TITLE], url)


def _render(field: str, template: str, values: Mapping[str, Any]) -> str:
    from jinja2 import TemplateError  # noqa: PLC0415 - an extra

    try:
        return _environment().from_string(template).render(values)
    except (TemplateError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
        raise SettingsError(field, template[:40], f"the template fails: {error}") from None


@cache
def _environment() -> ImmutableSandboxedEnvironment:
    """Return where templates run: no attributes that begin with an underscore, no endless ranges."""
    from jinja2 import StrictUndefined  # noqa: PLC0415 - an extra
    from jinja2.sandbox import ImmutableSandboxedEnvironment  # noqa: PLC0415 - likewise

    return ImmutableSandboxedEnvironment(undefined=StrictUndefined, autoescape=False)
