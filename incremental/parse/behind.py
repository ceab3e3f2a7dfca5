"""What lies behind a shell: the list that its state or its JSON holds, or where else to ask. Pure.

::

    a page              -> shell? -> lists in its states, else files and addresses to ask
    a JSON answer       -> its lists
    a script file       -> addresses to ask, and the folders of the pages that it shows
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from incremental.base.urls import domain_and_port
from incremental.parse.embedded import states
from incremental.parse.hub_way import Listing
from incremental.parse.json_lists import MIN_ITEMS, find_lists, links_of
from incremental.parse.page import Link
from incremental.parse.references import Resolver
from incremental.parse.scripts import MOST_SCRIPT_CHARS, Scripts, read_scripts
from incremental.parse.shell import ShellSign, shell_sign
from incremental.parse.text import read_json

_MOST_FOUND = 50
_MOST_FOLDERS = 6

# What a script asks for: the first argument of a call, or the url of its options.
_ASKED = re.compile(
    r"""(?:\bfetch|\baxios(?:\.get)?|\.getJSON|\.get|\$http(?:\.get)?|\$fetch|useFetch|ajax|request"""
    r"""|\.open)\s*\(\s*(?:["']GET["']\s*,\s*)?["'`]([^"'`\s<>\\]{2,300})["'`]"""
    r"""|\b(?:url|api|endpoint|dataUrl|src|source)\s*[:=]\s*["'`]([^"'`\s<>\\]{2,300})["'`]""",
    re.IGNORECASE,
)
# Any string that looks like an address of data.
_LIKE_DATA = re.compile(
    r"""["'`]((?:https?://[^"'`\s<>\\/]++)?/?[\w./~-]*(?:\.json|\bapi/|/wp-json/|/ajax/|/rest/|/data/)"""
    r"""[^"'`\s<>\\]{0,200})["'`]""",
    re.IGNORECASE,
)
_NO_DATA = re.compile(
    r"\.(?:js|mjs|css|map|png|jpe?g|gif|svg|webp|ico|woff2?|ttf|html?|php\d?|wasm)(?:$|[?#])"
    r"|manifest|/login|/logout|/auth|/user|/session|/token|/track|/analytic|/collect|/event"
    r"|/log(?:s|ging)?\b|sentry|telemetry|config|/i18n|locale|translation|\$\{|[{}]|/:\w",
    re.IGNORECASE,
)
_NEWSWORTHY = re.compile(
    r"news|article|post|press|release|blog|stor(?:y|ies)|notice|announce|tender|list|feed|item"
    r"|entr|content|publication|report|update|latest|search|documents?|events?",
    re.IGNORECASE,
)
_FRAMEWORK = re.compile(
    r"polyfill|vendor|framework|runtime|jquery|react|vue|angular|bootstrap|gtag|gtm|analytics"
    r"|recaptcha|cookie|consent|sentry|font|cdn-cgi",
    re.IGNORECASE,
)
# "/news/:slug", "/news/[slug]", `/news/${item.slug}`, "/news/".concat(e.slug)
_ROUTE = re.compile(
    r"""["'`](/[\w\-./]{0,80}?)(?:/:|/\[|/?\$\{[\w$.?]{0,40}?\.?|/?["'`]\s*(?:\+|\.concat\()\s*"""
    r"""(?:[\w$]{1,40}\.){0,3})(slug|id|path|alias|handle|key)\b"""
)


def data_addresses(texts: Sequence[str], base_url: str, most: int) -> list[str]:
    """Return addresses of the page's own site that its scripts seem to ask for data, likeliest first."""
    resolver, own = Resolver(base_url), domain_and_port(base_url)
    found: dict[str, int] = {}
    for text in texts:
        cut = text[:MOST_SCRIPT_CHARS]
        for pattern, worth in ((_ASKED, 2), (_LIKE_DATA, 1)):
            for match in pattern.finditer(cut):
                reference = next(filter(None, match.groups()), "")
                rank = _rank(reference)
                target = resolver.resolve(reference) if rank else None
                if target is None or target == base_url or domain_and_port(target) != own:
                    continue
                found[target] = max(found.get(target, 0), rank + worth)
                if len(found) >= _MOST_FOUND:
                    break
    return sorted(found, key=lambda one: -found[one])[:most]


def _rank(reference: str) -> int:
    """Return how much an address looks like one of data; 0 = not at all."""
    if _NO_DATA.search(reference) or reference.startswith(("#", "data:", "blob:")):
        return 0
    like_data = _LIKE_DATA.fullmatch(f'"{reference}"') is not None
    if not like_data and not reference.startswith(("/", "http", "./", "../")):
        return 0
    return 1 + 2 * like_data + 2 * (_NEWSWORTHY.search(reference) is not None)


def script_files(scripts: Scripts, base_url: str, most: int) -> list[str]:
    """Return the page's own script files, those of the site itself before those of libraries."""
    resolver, own = Resolver(base_url), domain_and_port(base_url)
    targets = dict.fromkeys(filter(None, map(resolver.resolve, scripts.files)))
    near = [target for target in targets if domain_and_port(target) == own]
    return sorted(near, key=lambda one: bool(_FRAMEWORK.search(one)))[:most]


def routes(texts: Sequence[str]) -> list[str]:
    """Return the folders below which the scripts build addresses from a slug or a number."""
    found = (match[1].rstrip("/") for text in texts for match in _ROUTE.finditer(text))
    return list(
        dict.fromkeys(one for one in found if "api" not in one and one.count("/") <= _MOST_FOLDERS)
    )


def folder_for(page_url: str, folders: Sequence[str]) -> str:
    """Return the folder of the slugs of the list at *page_url*: one that its scripts name, else its own."""
    path = urlsplit(page_url).path.rstrip("/")
    own = [one for one in folders if one and one.rstrip("s") == path.rstrip("s")]
    below = [one for one in folders if path and one.startswith(f"{path}/")]
    if own or below:
        return (own or below)[0]
    named = [one for one in folders if one]
    return named[0] if len(named) == 1 else path


MOST_ADDRESSES = 6
MOST_FILES = 3


@dataclass(frozen=True, slots=True)
class Behind:
    """What was found behind a shell."""

    sign: ShellSign | None = None
    """By what the page is a shell; None for a JSON answer or a script."""
    listing: Listing | None = None
    """None = no list was found."""
    links: tuple[Link, ...] = ()
    by_slug: bool = False
    """The list has slugs only, and no script said below which folder."""
    addresses: tuple[str, ...] = ()
    """Of data, likeliest first."""
    files: tuple[str, ...] = ()
    """The page's own scripts."""
    folders: tuple[str, ...] = ()
    """Below which the scripts build addresses of pages."""


def behind_page(
    html: str, url: str, known: Listing | None = None, folders: Sequence[str] = ()
) -> Behind | None:
    """Return what lies behind the page at *url*; None = it is no shell.

    *known* is what was found before; *folders* are those that its scripts name.
    """
    scripts = read_scripts(html)
    sign = shell_sign(scripts.outline)
    if sign is None:
        return None
    folders = (*folders, *routes(scripts.code))
    lists = (
        _listed(value, url, folders, known if known and known.name == name else None, name)
        for name, value in states(scripts)
    )
    return replace(
        next(filter(None, lists), Behind()),
        sign=sign,
        addresses=tuple(data_addresses(scripts.code, url, MOST_ADDRESSES)),
        files=tuple(script_files(scripts, url, MOST_FILES)),
        folders=folders,
    )


def behind_json(
    text: str, url: str, known: Listing | None = None, folders: Sequence[str] = ()
) -> Behind:
    """Return the lists of a JSON answer to a script of the page at *url*."""
    return _listed(read_json(text), url, folders, known, "") or Behind()


def behind_script(text: str, url: str) -> Behind:
    """Return what a script of the page at *url* would ask for."""
    return Behind(
        addresses=tuple(data_addresses([text], url, MOST_ADDRESSES)), folders=tuple(routes([text]))
    )


def _listed(
    value: object, url: str, folders: Sequence[str], known: Listing | None, name: str
) -> Behind | None:
    """Return where the lists of *value* are, their links, and whether their folder is a guess."""
    folder = known.folder if known is not None else folder_for(url, folders)
    # A known list may be short, or empty between two terms.
    least = 1 if known is not None else MIN_ITEMS
    lists = [
        one
        for one in find_lists(value, url, folder=folder, least=least)
        if len(one.links) >= MIN_ITEMS or (known is not None and one.place == known.place)
    ]
    if not lists:
        return None
    by_slug = known is None and not folders and lists[0].by_slug
    listing = Listing(name, lists[0].place, folder)
    return Behind(listing=listing, links=links_of(lists), by_slug=by_slug)
