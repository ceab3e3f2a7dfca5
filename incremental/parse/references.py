"""From an attribute's value to an absolute URL, as browsers do it.

Sloppy references follow the WHATWG URL standard, section 4.4.
Canonicalization happens elsewhere.
"""

import re
from functools import lru_cache
from urllib.parse import quote, urljoin, urlsplit

from incremental.parse.text import storable

_C0_AND_SPACE = "".join(map(chr, range(0x21)))
_REMOVED = str.maketrans("", "", "\t\n\r")
_SCHEME = re.compile(r"([a-z][a-z0-9+.\-]*):", re.IGNORECASE)
_UNSAFE = re.compile(r"[\x00-\x20\x7f\x85\xa0\u2028\u2029]")
_PLAIN_HOST = re.compile(r"[a-z0-9_](?:[a-z0-9_.\-]*[a-z0-9_.])?(?::[0-9]{0,4})?", re.IGNORECASE)
# Escapes of non-ASCII bytes are letters of a host name.
_SOUND_HOST = re.compile(r"(?:[^\s<>^|%]|%[89a-fA-F][0-9a-fA-F])+")
_WEB = ("http", "https")
_MAX_PORT = 65_535


class Resolver:
    """Resolves the references of one page against its base URL."""

    def __init__(self, base_url: str, *, max_chars: int = 4_096, charset: str = "utf-8") -> None:
        self._max_chars = max_chars
        self._charset = charset
        self._base = base_url
        try:
            parts = urlsplit(base_url)
        except ValueError:
            self._scheme, self._origin = "", ""
            return
        self._scheme = parts.scheme.lower()
        self._origin = f"{parts.scheme}://{parts.netloc}"

    def resolve(self, reference: str | None) -> str | None:
        """Return the absolute http(s) URL, or None: another scheme, no host, malformed or too long.

        Also None for mere fragments.
        """
        # "<": markup that a missing quote swallowed.
        if reference is None or len(reference) > self._max_chars or "<" in reference:
            return None
        cleaned = _clean(reference)
        # A fragment that looks like a route (#/x, #!x) is a page of its own.
        if not cleaned or (cleaned[0] == "#" and cleaned[1:2] not in ("/", "!")):
            return None
        absolute = self._absolute(cleaned)
        if absolute is None or len(absolute) > self._max_chars:
            return None
        absolute = absolute if absolute.isascii() else self._encode_query(storable(absolute))
        return _with_sound_host(absolute)

    def _absolute(self, reference: str) -> str | None:
        scheme = _SCHEME.match(reference)
        if scheme:
            return self._with_scheme(scheme[1].lower(), reference[scheme.end() :])
        if reference.startswith("//"):
            return f"{self._scheme}://{reference.lstrip('/')}" if self._scheme in _WEB else None
        if reference[0] == "/" and "/." not in reference:
            return self._origin + reference
        return self._joined(reference)

    def _with_scheme(self, scheme: str, rest: str) -> str | None:
        if scheme not in _WEB:
            return None
        if not rest.startswith("//") and scheme == self._scheme:
            return self._absolute(rest) if rest else None
        # http:/host and https:///host have a host.
        return f"{scheme}://{rest.lstrip('/')}"

    def _joined(self, reference: str) -> str | None:
        try:
            # urljoin would take a colon in the first segment for a scheme.
            return urljoin(self._base, reference)
        except ValueError:
            return None

    def _encode_query(self, url: str) -> str:
        """Percent-encode a query in the page's charset."""
        if self._charset in {"utf-8", "utf-16le", "utf-16be"} or "?" not in url:
            return url
        head, _, tail = url.partition("?")
        query, mark, fragment = tail.partition("#")
        try:
            # The page's server expects its own charset.
            raw = query.encode(self._charset, "xmlcharrefreplace")
        except LookupError:
            return url
        # A bare "#" would begin the fragment. ASCII stays as written, escapes included.
        raw = _REFERENCE.sub(rb"%26%23\1%3B", raw)
        return f"{head}?{quote(raw, safe=_ASCII)}{mark}{fragment}"


# What a charset lacks.
_REFERENCE = re.compile(rb"&#(\d+);")
_ASCII = bytes(range(0x21, 0x7F)).decode()


def _clean(reference: str) -> str:
    # Surrounding white space and inner tabs and line ends go, and a backslash is a slash.
    cleaned = reference.strip(_C0_AND_SPACE).translate(_REMOVED)
    if "\\" in cleaned:
        end = min((at for at in map(cleaned.find, "?#") if at >= 0), default=len(cleaned))
        cleaned = cleaned[:end].replace("\\", "/") + cleaned[end:]
    if _UNSAFE.search(cleaned):
        cleaned = _UNSAFE.sub(lambda found: quote(found[0]), cleaned)
    return cleaned


def _with_sound_host(url: str) -> str | None:
    scheme, mark, rest = url.partition("://")
    if not mark or scheme.lower() not in _WEB:
        return None
    end = min((at for at in map(rest.find, "/?#") if at >= 0), default=len(rest))
    return url if _is_sound(rest[:end]) else None


@lru_cache(maxsize=4_096)
def _is_sound(authority: str) -> bool:
    """Return whether urllib, and so all later code, accepts it."""
    if _PLAIN_HOST.fullmatch(authority):
        return True
    try:
        parts = urlsplit(f"http://{authority}/")
        host, port = parts.hostname, parts.port
    except ValueError:
        return False
    sound_port = port is None or port <= _MAX_PORT
    return host is not None and sound_port and _SOUND_HOST.fullmatch(host) is not None
