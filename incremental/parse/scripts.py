"""The scripts of a page, and the outline of the page without them. They are read as text and never run."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from lxml import etree

from incremental.parse.shell import Outline, is_mount
from incremental.parse.text import fold

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
    """Data scripts: id (else type) and text."""
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
