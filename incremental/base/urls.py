"""Canonical URLs: which addresses mean the same page, and which of them to fetch.

Two forms are kept apart, because they answer two questions:

- the *fetch form* (:func:`normalize`) is what a request is sent to: lower-case scheme and
  host, IDN as punycode, no default port, no fragment, no dot segments, consistent percent
  escapes (paper 004, section 1.4; RFC 3986, section 6.2);
- the *canonical key* (:func:`canonical_key`) is what the store compares: the fetch form without scheme,
  tracking parameters, session ids, default file name and trailing slash, its query sorted.

Nothing here reads the network, the store or the clock.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import unquote, urljoin, urlsplit

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

import idna

# Longer ones are refused: servers and stores choke on them, and only traps need them.
MAX_URL_LENGTH = 2_000

_DEFAULT_PORTS = {"http": 80, "https": 443}
_DEFAULT_FILES = re.compile(
    r"/(?:index|default|home|main)\.(?:html?|shtml|php\d?|aspx?|jspx?|cfm|do|cgi)$", re.IGNORECASE
)
# Parameters that say where a visitor came from, never what the page is. Sources: the lists of
# courlan and of the ClearURLs project, kept to names that no site we know uses for content.
_TRACKING = re.compile(
    r"""^(?:utm_\w+|mtm_\w+|pk_\w+|piwik_\w+|matomo_\w+|hsa_\w+|at_(?:campaign|medium|custom\d)
    |fbclid|gclid|gclsrc|dclid|gbraid|wbraid|msclkid|yclid|twclid|ttclid|igshid|igsh|mc_[ce]id
    |_hs(?:enc|mi)|__hs\w+|_ga|_gl|vero_(?:id|conv)|wickedid|oly_(?:anon|enc)_id|mkt_tok
    |spm|scm|share_(?:token|from|source|medium|plat|tag)|from_source|wxfrom|isappinstalled
    |ref_(?:src|url)|referrer|cmpid|ncid|s_cid|trk(?:info)?|xtor)$""",
    re.VERBOSE | re.IGNORECASE,
)
_SESSION = re.compile(
    r"^(?:jsessionid|phpsessid|aspsessionid\w*|cfid|cftoken|zenid|osCsid"
    r"|(?P<vague>sessionid|session_id|sid))$",
    re.IGNORECASE,
)
_SESSION_VALUE = re.compile(r"^[0-9a-zA-Z._!-]{12,}$")
# A date, a number or a headline may be the id of a story, or of a session of a conference.
_RANDOM = re.compile(r"(?=(?:[^0-9]*[0-9]){3})(?=(?:[^a-zA-Z]*[a-zA-Z]){3}).*[0-9a-zA-Z]{12}")
_PATH_SESSION = re.compile(
    r";(?:jsessionid|phpsessid|sid)=[^/?;]*|/\([SXF]\([0-9a-z]{10,}\)\)", re.IGNORECASE
)
_FOREIGN = re.compile(r"(?:%[89A-Fa-f][0-9A-Fa-f])+")
# In fetch form already: nothing to escape or decode, no port that is a default, no dot segment, no fragment.
_IN_FETCH_FORM = re.compile(
    r"https?://(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
    r"(?::(?!80/|443/)(?:[1-9][0-9]{1,3}|[1-5][0-9]{4}))?"
    r"(?:/(?!\.)[A-Za-z0-9_~!$&'()*+,;=:@.-]*)+"
    r"(?:\?[A-Za-z0-9_~!$&()*+,;=:@/?.-]+)?"
)
_PLAIN_HOST = re.compile(r"https?://([a-z0-9.-]+)(?::[0-9]*)?(?:[/?#]|$)")
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_ESCAPE = re.compile(r"%([0-9a-fA-F]{2})")


def normalize(url: str, base: str | None = None) -> str | None:
    """Return the fetch form of *url*, or None when it is no usable http(s) URL.

    *url* may be relative when *base* is given. Applying it twice changes nothing.
    """
    if len(url) > MAX_URL_LENGTH:
        return None
    return _normalize(url if base is None else _join(base, url))


def typed_address(text: str) -> str | None:
    """Return what a person typed in fetch form; without a scheme, a host with a dot begins an address.

    None if it is no web address.
    """
    typed = text.strip()
    if "://" in typed:
        return normalize(typed)
    url = normalize(f"https://{typed}")
    is_mail = "@" in re.split(r"[/?#]", typed, maxsplit=1)[0]
    return url if url is not None and not is_mail and may_be_host(host_of(url)) else None


def may_be_host(name: str) -> bool:
    """Whether a name can be a host: lists of addresses contain all kinds of lines."""
    is_named = "." in name or ":" in name or name == "localhost"
    whole = "" not in name.split(".") and re.fullmatch(r"[\w.:-]+", name, re.ASCII) is not None
    return is_named and whole


def _join(base: str, url: str) -> str:
    try:
        return urljoin(base, url.strip())
    except ValueError:
        return ""


@lru_cache(maxsize=4_096)
def _normalize(url: str) -> str | None:
    """Do the work of :func:`normalize`; cached, because a site's links recur on every visit."""
    # Most are, and what follows would return them as they are, in ten times the time.
    if _IN_FETCH_FORM.fullmatch(url):
        return url
    return _rewritten(url)


def _rewritten(url: str) -> str | None:
    from w3lib.url import safe_url_string  # noqa: PLC0415 - a tenth of what a quick command takes

    try:
        parts = urlsplit(safe_url_string(_with_ascii_host(url.strip())))
        port = parts.port
    except (ValueError, UnicodeError):
        return None
    scheme = parts.scheme.lower()
    host = _host(parts.hostname)
    if scheme not in _DEFAULT_PORTS or not host:
        return None
    netloc = host if port in (None, _DEFAULT_PORTS[scheme]) else f"{host}:{port}"
    # Escapes first: ``%2E%2E`` is a dot segment as well.
    path = _without_dots(_even_escapes(parts.path or "/"))
    query = f"?{_even_escapes(parts.query)}" if parts.query else ""
    result = f"{scheme}://{netloc}{path}{query}"
    return result if len(result) <= MAX_URL_LENGTH else None


def _host(name: str | None) -> str:
    """Return *name* in lower case, without a trailing dot; empty when it is none."""
    if not name:
        return ""
    name = name.rstrip(".").lower()
    if not name.isascii() or re.search(r"[\s%<>\\^`{|}]", name):
        return ""
    return f"[{name}]" if ":" in name else name


def _with_ascii_host(url: str) -> str:
    """Return *url* with its host in punycode, as browsers write it (UTS 46, non-transitional).

    What IDNA 2008 refuses (emoji, underscores beside foreign letters) is no host, unless in punycode.
    Escapes in a host are decoded first (WHATWG URL, 3.5), but for those of ASCII: nobody needs them,
    and a host that has some is refused later.
    """
    parts = urlsplit(url)
    host, colon, port = parts.netloc.rpartition("@")[2].partition(":")
    plain = _FOREIGN.sub(lambda found: unquote(found[0], errors="strict"), host)
    if plain.isascii():
        return url
    return parts._replace(
        netloc=idna.encode(plain, uts46=True).decode("ascii") + colon + port
    ).geturl()


def _without_dots(path: str) -> str:
    """Remove dot segments (RFC 3986, section 5.2.4); what climbs above the root stays at the root."""
    if "/." not in path:
        return path
    kept: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        if segment == "..":
            kept[-1:] = []
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return "/" + "/".join(kept)


def _even_escapes(text: str) -> str:
    """Write escapes in upper case, and unreserved characters without one (RFC 3986, 6.2.2)."""

    def even(match: re.Match[str]) -> str:
        byte = int(match[1], 16)
        return chr(byte) if byte in _UNRESERVED else match[0].upper()

    return _ESCAPE.sub(even, text) if "%" in text else text


def split_fetched(url: str) -> tuple[str, str, str]:
    """Return network location, path and query of a URL in fetch form, which has no fragment."""
    # urlsplit() looks for what is not there, in several times the time.
    address, _, query = url.partition("?")
    netloc, slash, path = address.partition("://")[2].partition("/")
    return netloc, f"{slash}{path}", query


@lru_cache(maxsize=8_192)
def canonical_key(url: str) -> str:
    """Return what the store compares for a URL in fetch form: equal for URLs of one page.

    It reads like a URL without scheme: ``//host/path?query``. The trailing slash, the default
    file name and the order of parameters do not count; http and https are one.
    """
    netloc, path, query = split_fetched(url)
    path = _PATH_SESSION.sub("", path)
    path = _DEFAULT_FILES.sub("/", path.rstrip("/")).rstrip("/")
    query = "&".join(sorted(_content_parameters(query))) if query else ""
    return f"//{netloc}{path or '/'}{'?' + query if query else ''}"


def _content_parameters(query: str) -> list[str]:
    """Return the ``name=value`` pairs of *query*, as written, that may decide which page is shown."""
    kept = []
    for pair in filter(None, query.replace("&amp;", "&").split("&")):
        name, _, value = pair.partition("=")
        if not _is_session(name, value) and not _TRACKING.match(name):
            kept.append(pair)
    return kept


def _is_session(name: str, value: str) -> bool:
    """Return whether a parameter names a visit: long, and under a vague name random-looking."""
    found = _SESSION.match(name)
    if found is None or not _SESSION_VALUE.match(value):
        return False
    return not found["vague"] or _RANDOM.match(value) is not None


def host_of(url: str) -> str:
    """Return the host name of a URL in fetch form, without port, brackets of IPv6 dropped."""
    plain = _PLAIN_HOST.match(url)
    return plain[1] if plain else urlsplit(url).hostname or ""


@lru_cache(maxsize=1)
def _public_suffixes() -> PublicSuffixList:
    """Load the Mozilla list that the library carries: no network."""
    from publicsuffixlist import PublicSuffixList  # noqa: PLC0415 - few commands need it

    return PublicSuffixList()


def domain_of(url: str) -> str:
    """Return the registered domain of a URL in fetch form; of ``www.gov.uk``, itself a suffix, ``gov.uk``."""
    # Scopes leave out www., too.
    return registered_domain(host_of(url).removeprefix("www."))


def domain_and_port(url: str) -> str:
    """Return what the URLs of one site share: the registered domain, and the port if one is named."""
    return f"{registered_domain(host_of(url))}:{urlsplit(url).port or ''}"


@lru_cache(maxsize=8_192)
def registered_domain(host: str) -> str:
    """Return the domain that its owner registered, e.g. ``bbc.co.uk``; the host itself if there is none."""
    if ":" in host or re.fullmatch(r"[\d.]+", host):
        return host  # an address, whose last numbers are no suffix
    return str(_public_suffixes().privatesuffix(host) or host)
