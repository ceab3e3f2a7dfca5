"""Finding a site, page or topic by name or number."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from incremental.base.errors import InputError, NotFoundError
from incremental.base.texts import Text
from incremental.base.urls import canonical_key, host_of, normalize, typed_address
from store import Store
from store.answers import PageDetail
from store.enums import LabelOrigin, PageLabel
from store.topics.values import TopicRow
from store.values import SiteRow

_MOST_CHARS = 80


def find_sites(store: Store, names: Sequence[str]) -> list[SiteRow]:
    """Return the sites called *names*: names, seed URLs, ids, or hosts of one site; no names = all.

    Raises:
        NotFoundError: no such site.
        InputError: the name is ambiguous.
    """
    rows = store.read.sites()
    return [_find_site(rows, name) for name in names] if names else rows


def _find_site(rows: Sequence[SiteRow], name: str) -> SiteRow:
    """Return one site: by exact id or name first, then by page, then by host."""
    url = normalize(name if "://" in name else f"https://{name}") or name
    host = host_of(url).removeprefix("www.")
    is_host = "://" not in name and urlsplit(url).path in ("", "/")
    rules: tuple[Callable[[SiteRow], bool], ...] = (
        lambda row: str(row.id) == name,
        lambda row: name in (row.name, row.seed_url),
        lambda row: canonical_key(row.seed_url) == canonical_key(url),
        lambda row: is_host and host_of(row.seed_url).removeprefix("www.") == host,
    )
    same = next(filter(None, ([row for row in rows if rule(row)] for rule in rules)), [])
    if not same:
        raise NotFoundError(unknown("site", name, sorted(row.name for row in rows)))
    if len(same) > 1:
        choices = ", ".join(f"{row.name} (id {row.id})" for row in same)
        raise InputError("site", name, Text("input.ambiguous", choices=choices))
    return same[0]


def unknown(kind: str, name: str, known: Sequence[str]) -> Text:
    """Return that nothing of this kind has the name, and which names there are."""
    if not known:
        return Text(f"missing.no_{kind}", name=name)
    return Text(f"missing.{kind}", name=name, known=", ".join(known))


def site_numbered(store: Store, site_id: int) -> SiteRow:
    """Return a site by its id, or raise :class:`NotFoundError`."""
    row = store.read.site(site_id)
    if row is None:
        raise NotFoundError(Text("missing.site_id", id=site_id))
    return row


def page_numbered(store: Store, page_id: int, *, most: int = 100) -> PageDetail:
    """Return a page by its id, with *most* entries of its history, or raise :class:`NotFoundError`."""
    detail = store.answers.page(page_id, most=most)
    if detail is None:
        raise NotFoundError(Text("input.page_unknown"))
    return detail


def web_address(text: str) -> str:
    """Return a typed URL in fetch form, or raise :class:`InputError`: it is no web address."""
    url = typed_address(text)
    if url is None:
        raise InputError("url", text[:200], Text("input.not_an_address"))
    return url


def find_page(store: Store, url: str) -> dict[str, Any]:
    """Return the page of a URL.

    Raises:
        InputError: not a web address.
        NotFoundError: the page was never seen.
    """
    address = web_address(url)
    found = store.read.find_page(address, canonical_key(address))
    if not found:
        raise NotFoundError(Text("missing.page", url=url[:200]))
    return found[0]


def find_topic(store: Store, name: str) -> TopicRow:
    """Return a topic by its name, or raise :class:`NotFoundError`."""
    row = store.topics.topic(name.strip())
    if row is None:
        known = [one.name for one in store.topics.topics()]
        raise NotFoundError(unknown("topic", name[:_MOST_CHARS], known))
    return row


def check_tag(store: Store, tag: str) -> None:
    """Raise :class:`NotFoundError` for a tag that no site and no topic has."""
    tags = store.tags.tags()
    if all(one.name != tag for one in tags):
        raise NotFoundError(unknown("tag", tag[:_MOST_CHARS], [one.name for one in tags]))


def topic_numbered(store: Store, topic_id: int) -> TopicRow:
    """Return a topic by its id, or raise :class:`NotFoundError`."""
    for row in store.topics.topics():
        if row.id == topic_id:
            return row
    raise NotFoundError(Text("missing.topic_id", id=topic_id))


def cached_bodies(store: Store, url: str) -> Iterator[tuple[str, bytes]]:
    """Yield the pages of a URL that are in the page cache: each with its own URL, and its body."""
    for page in store.read.find_page(url, canonical_key(url)):
        body = cached_body(store, page)
        if body is not None:
            yield str(page["url"]), body


def cached_body(store: Store, page: Mapping[str, Any]) -> bytes | None:
    """Return a page's cached body, as a hub or else as a page; *page* has its columns."""
    hub = store.read.hub(page["id"])
    digests = (hub.body_md5 if hub is not None else None, page["body_md5"])
    bodies = (store.cache.get(page["url"], digest) for digest in digests if digest)
    return next((body for body in bodies if body is not None), None)


def called_article(store: Store, key: str) -> bool:
    """Whether a user called the page with a canonical key an article, which outranks what is found now."""
    labels = store.read.labels_of(key)
    return any((one.label, one.origin) == (PageLabel.ARTICLE, LabelOrigin.USER) for one in labels)
