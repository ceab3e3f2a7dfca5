"""Addresses that scripts name in their text: of data, of scripts, and of the pages that they show. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from incremental.base.urls import host_of, registered_domain
from incremental.parse.references import Resolver
from incremental.parse.scripts import MOST_SCRIPT_CHARS, Scripts

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
    resolver, own = Resolver(base_url), _site(base_url)
    found: dict[str, int] = {}
    for text in texts:
        cut = text[:MOST_SCRIPT_CHARS]
        for pattern, worth in ((_ASKED, 2), (_LIKE_DATA, 1)):
            for match in pattern.finditer(cut):
                reference = next(filter(None, match.groups()), "")
                rank = _rank(reference)
                target = resolver.resolve(reference) if rank else None
                if target is None or target == base_url or _site(target) != own:
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
    resolver, own = Resolver(base_url), _site(base_url)
    targets = dict.fromkeys(filter(None, map(resolver.resolve, scripts.files)))
    near = [target for target in targets if _site(target) == own]
    return sorted(near, key=lambda one: bool(_FRAMEWORK.search(one)))[:most]


def routes(texts: Sequence[str]) -> list[str]:
    """Return the folders below which the scripts build addresses from a slug or a number."""
    found = (match[1].rstrip("/") for text in texts for match in _ROUTE.finditer(text))
    return list(
        dict.fromkeys(one for one in found if "api" not in one and one.count("/") <= _MOST_FOLDERS)
    )


def _site(url: str) -> str:
    return registered_domain(host_of(url)) + f":{urlsplit(url).port or ''}"


def folder_for(page_url: str, folders: Sequence[str]) -> str:
    """Return the folder of the slugs of the list at *page_url*: one that its scripts name, else its own."""
    path = urlsplit(page_url).path.rstrip("/")
    own = [one for one in folders if one and one.rstrip("s") == path.rstrip("s")]
    below = [one for one in folders if path and one.startswith(f"{path}/")]
    if own or below:
        return (own or below)[0]
    named = [one for one in folders if one]
    return named[0] if len(named) == 1 else path
