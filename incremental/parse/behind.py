"""What lies behind a shell: the list that its state or its JSON holds, or where else to ask. Pure.

::

    a page              -> shell? -> lists in its states, else files and addresses to ask
    a JSON answer       -> its lists
    a script file       -> addresses to ask, and the folders of the pages that it shows

Whether a page is only a shell, whose scripts draw what people see::

    no script, or links, or text of its own    a page like any other, however short
    an empty element for an application        shell: <div id="root"></div>
    its noscript text asks for JavaScript      shell
    nothing at all but scripts                 shell
    else                                       a page like any other: an empty list, an error

Pages carry states for their scripts (``__NEXT_DATA__``, ``__INITIAL_STATE__``, data scripts). They are read
as text, and no script is run. What is no JSON (a function's result) is not found.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import chain, islice
from typing import Any
from urllib.parse import urlsplit

from lxml import etree

from incremental.base.urls import domain_and_port
from incremental.parse.hub_way import Listing
from incremental.parse.json_lists import MIN_ITEMS, find_lists, links_of
from incremental.parse.page import Link
from incremental.parse.references import Resolver
from incremental.parse.text import fold, read_json

# A menu of the server's and a line in the footer are no content yet.
MOST_LINKS = 5
MOST_TEXT_CHARS = 400
# "Loading ..." and the like; an error says more.
_BARE_CHARS = 16
# Where frameworks put what they draw: React, Next, Gatsby, Vue, Nuxt, Angular, Svelte, Quasar, Ember, Blazor.
_MOUNTS = frozenset(
    {
        *("root", "app", "__next", "___gatsby", "__nuxt", "__layout", "main-app", "app-root"),
        *("react-root", "reactroot", "vue-app", "svelte", "q-app", "ember-app", "application"),
        *("appmount", "app-mount", "root-app", "app-container", "react-app", "spa", "blazor-app"),
    }
)
_ASKS_FOR_SCRIPTS = re.compile(r"java\s*-?script|脚本|腳本|скрипт", re.IGNORECASE)


class ShellSign(StrEnum):
    """By what a shell was recognised."""

    MOUNT = "mount"
    """An empty element that an application fills."""
    NOSCRIPT = "noscript"
    """It asks for JavaScript."""
    SCRIPTS = "scripts"
    """It has nothing but scripts."""


@dataclass(frozen=True, slots=True)
class Outline:
    """What a page has of its own, before any script ran."""

    links: int = 0
    """Distinct targets of its links, except fragments of the same page."""
    text_chars: int = 0
    """Visible text without title, scripts and noscript."""
    scripts: int = 0
    """Scripts that run: of files, or in the page."""
    script_files: int = 0
    mount: bool = False
    """It has an empty element for an application."""
    noscript: str = ""
    """Text for browsers without scripts, cut."""


def shell_sign(page: Outline) -> ShellSign | None:
    """Return by what *page* is a shell; None = it is none."""
    if not page.scripts or page.links > MOST_LINKS or page.text_chars > MOST_TEXT_CHARS:
        return None
    if page.mount:
        return ShellSign.MOUNT
    if _ASKS_FOR_SCRIPTS.search(page.noscript):
        return ShellSign.NOSCRIPT
    bare = page.links == 0 and page.text_chars <= _BARE_CHARS and page.script_files > 0
    return ShellSign.SCRIPTS if bare else None


def is_mount(name: str) -> bool:
    """Return whether an element of this id or name is one that applications fill."""
    return name.lower() in _MOUNTS


# One script; the rest of a longer one is not searched.
MOST_SCRIPT_CHARS = 4_000_000
MOST_SCRIPTS = 200
_MOST_DATA = 20
_MOST_NOSCRIPT_CHARS = 500
_MOST_MOUNTS = 20
# "Loading ..." is no content of an element.
_LOADING_CHARS = 40

_DATA_TYPES = frozenset({"application/json", "application/ld+json", "text/json"})
_CODE_TYPES = frozenset({"", "module", "text/javascript", "application/javascript", "text/babel"})
_HIDDEN = ("script", "style", "noscript", "template", "title", "svg", "head")


@dataclass(slots=True)
class Scripts:
    """The scripts of a page, as far as they are kept."""

    outline: Outline = field(default_factory=Outline)
    data: list[tuple[str, str]] = field(default_factory=list)
    """Scripts that hold data: their id, or type if they have none, and their text."""
    code: list[str] = field(default_factory=list)
    """Scripts in the page."""
    files: list[str] = field(default_factory=list)
    """Addresses of script files, as written."""


def read_scripts(text: str) -> Scripts:
    """Return the scripts of an HTML page and its outline without them; never raises because of it."""
    parser = etree.HTMLParser(
        encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True
    )
    content = text[:MOST_SCRIPT_CHARS].encode("utf-8", "replace")
    try:
        root = etree.fromstring(content, parser)
    except etree.XMLSyntaxError:
        root = None
    found = Scripts()
    if root is None:
        return found
    # What follows </html> is beside it in the tree.
    root.extend(list(root.itersiblings()))
    scripts = sum(_keep(script, found) for script in root.iter("script"))
    noscript = _noscript(root)
    etree.strip_elements(root, *_HIDDEN, with_tail=False)
    mounts = (one for one in root.iter("*") if is_mount(one.get("id", "")) or is_mount(one.tag))
    found.outline = Outline(
        links=len(set(_links(root))),
        text_chars=sum(len(fold(text)) for text in root.itertext()),
        scripts=scripts,
        script_files=len(found.files),
        mount=any(map(_is_empty, islice(mounts, _MOST_MOUNTS))),
        noscript=noscript,
    )
    return found


def _keep(script: Any, found: Scripts) -> bool:  # noqa: ANN401 - lxml is untyped
    """Keep a script; return whether it is one that runs."""
    kind = script.get("type", "").partition(";")[0].strip().lower()
    source, text = script.get("src", "").strip(), script.text or ""
    if kind in _DATA_TYPES and text.strip() and len(found.data) < _MOST_DATA:
        found.data.append((script.get("id") or kind, text))
    if kind not in _CODE_TYPES:
        return False
    if source and len(found.files) < MOST_SCRIPTS:
        found.files.append(source)
    elif text.strip() and len(found.code) < MOST_SCRIPTS:
        found.code.append(text)
    return True


def _noscript(root: Any) -> str:  # noqa: ANN401 - likewise
    """Return the beginning of what is said to readers without scripts."""
    # Broken pages nest it thousands of times: the outermost has the text of all that are within.
    some = islice(root.iter("noscript"), _MOST_NOSCRIPT_CHARS)
    outer = (one for one in some if next(one.iterancestors("noscript"), None) is None)
    texts = (fold(text, _MOST_NOSCRIPT_CHARS) for one in outer for text in one.itertext())
    return fold(" ".join(islice(texts, _MOST_NOSCRIPT_CHARS)), _MOST_NOSCRIPT_CHARS)


def _links(element: Any) -> Iterator[str]:  # noqa: ANN401 - likewise
    """Yield the targets of links, except fragments of the same page."""
    targets = (link.get("href", "").strip() for link in element.iter("a"))
    return (one for one in targets if one and not one.lower().startswith(("#", "javascript:")))


def _is_empty(mount: Any) -> bool:  # noqa: ANN401 - likewise
    shown = sum(len(fold(text)) for text in mount.itertext(with_tail=False))
    return shown <= _LOADING_CHARS and next(_links(mount), None) is None


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


MOST_STATES = 20
_MOST_PARTS = 200_000
_MOST_DEPTH = 60

# window.__STATE__ = {...}, self["__DATA__"] = JSON.parse("..."), var initialData = {...}
_ASSIGNED = re.compile(
    r"""(?:(?:window|self|globalThis)\s*(?:\.\s*|\[\s*["'])|(?:var|let|const)\s+)"""
    r"""([A-Za-z_$][\w$]{2,60})(?:["']\s*\])?\s*=\s*(JSON\s*\.\s*parse\s*\(\s*)?(?=["'{\[])"""
)
_STATE_NAME = re.compile(
    r"data|state|list|items|posts|articles|news|props|initial|preload|json|store|results|__",
    re.IGNORECASE,
)
_JS_STRING = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'""", re.DOTALL)
_UNDEFINED = re.compile(r"(?<=[:\[,])\s*(?:undefined|NaN|void 0)(?=\s*[,}\]])")


def states(scripts: Scripts) -> Iterator[tuple[str, Any]]:
    """Yield the values that the page carries, with their names.

    States of frameworks come first, then data scripts, then linked data.
    """
    named = [one for one in scripts.data if one[0].startswith("__")]
    others = sorted(
        (one for one in scripts.data if one not in named), key=lambda one: "ld+json" in one[0]
    )
    assigned = (found for code in scripts.code for found in _assigned(code))
    return chain(_values(named), islice(assigned, MOST_STATES), _values(others))


def _values(data: Iterable[tuple[str, str]]) -> Iterator[tuple[str, Any]]:
    read = ((name, read_json(text)) for name, text in data)
    values = ((name, _whole(value) if name == "__NUXT_DATA__" else value) for name, value in read)
    return (found for found in values if found[1] is not None)


def _whole(parts: Any) -> Any:  # noqa: ANN401 - a value of JSON
    """Return the value that Nuxt 3 writes as a list of parts that name each other by place."""
    left = _MOST_PARTS if isinstance(parts, list) else 0

    def part(place: Any, depth: int) -> Any:  # noqa: ANN401 - likewise
        nonlocal left
        left -= 1
        # A place below 0 stands for what JSON lacks.
        if (
            left < 0
            or depth > _MOST_DEPTH
            or type(place) is not int
            or place not in range(len(parts))
        ):
            return None
        one = parts[place]
        if isinstance(one, dict):
            return {key: part(inner, depth + 1) for key, inner in one.items()}
        if not isinstance(one, list):
            return one
        if not one or not isinstance(one[0], str):
            return [part(inner, depth + 1) for inner in one]
        # Its kind, then its text (of dates) or place.
        inner = one[1] if len(one) > 1 else None
        return inner if one[0] == "Date" else part(inner, depth + 1)

    return part(0, 0)


def _assigned(code: str) -> Iterator[tuple[str, Any]]:
    end = tries = 0
    for found in _ASSIGNED.finditer(code[:MOST_SCRIPT_CHARS]):
        if found.start() < end or not _STATE_NAME.search(found[1]):
            continue
        tries += 1
        if tries > MOST_STATES:
            return
        value, end = _literal(code, found.end(), parsed=found[2] is not None)
        if isinstance(value, dict | list):
            yield found[1], value


def _literal(code: str, start: int, *, parsed: bool) -> tuple[Any, int]:
    """Return the object that is written at *start*, or in the string there, and where it ends."""
    if code[start] in "\"'":
        string = _JS_STRING.match(code, start)
        if string is None or not parsed:
            return None, start
        return read_json(_unescaped(string[0])), string.end()
    try:
        value, end = json.JSONDecoder(strict=False).raw_decode(code, start)
    except (ValueError, RecursionError):
        # Values that JSON does not know.
        rest = _UNDEFINED.sub("null", code[start:])
        try:
            value, _ = json.JSONDecoder(strict=False).raw_decode(rest)
        except (ValueError, RecursionError):
            return None, start
        return value, start + 1
    return value, end


def _unescaped(string: str) -> str:
    inner = string[1:-1]
    if string[0] == "'":
        inner = inner.replace("\\'", "'").replace('"', '\\"').replace('\\\\"', '\\"')
    inner = re.sub(r"\\x([0-9a-fA-F]{2})", r"\\u00\1", inner)
    try:
        value = json.loads(f'"{inner}"', strict=False)
    except ValueError:
        return ""
    return value if isinstance(value, str) else ""


def data_addresses(texts: Sequence[str], base_url: str) -> list[str]:
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
    return sorted(found, key=lambda one: -found[one])[:MOST_ADDRESSES]


def _rank(reference: str) -> int:
    """Return how much an address looks like one of data; 0 = not at all."""
    if _NO_DATA.search(reference) or reference.startswith(("#", "data:", "blob:")):
        return 0
    like_data = _LIKE_DATA.fullmatch(f'"{reference}"') is not None
    if not like_data and not reference.startswith(("/", "http", "./", "../")):
        return 0
    return 1 + 2 * like_data + 2 * (_NEWSWORTHY.search(reference) is not None)


def script_files(scripts: Scripts, base_url: str) -> list[str]:
    """Return the page's own script files, those of the site itself before those of libraries."""
    resolver, own = Resolver(base_url), domain_and_port(base_url)
    targets = dict.fromkeys(filter(None, map(resolver.resolve, scripts.files)))
    near = [target for target in targets if domain_and_port(target) == own]
    return sorted(near, key=lambda one: bool(_FRAMEWORK.search(one)))[:MOST_FILES]


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
        addresses=tuple(data_addresses(scripts.code, url)),
        files=tuple(script_files(scripts, url)),
        folders=folders,
    )


def behind_json(
    text: str, url: str, known: Listing | None = None, folders: Sequence[str] = ()
) -> Behind:
    """Return the lists of a JSON answer to a script of the page at *url*."""
    return _listed(read_json(text), url, folders, known, "") or Behind()


def behind_script(text: str, url: str) -> Behind:
    """Return what a script of the page at *url* would ask for."""
    return Behind(addresses=tuple(data_addresses([text], url)), folders=tuple(routes([text])))


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
