"""Forms of addresses: what one page of a site says about others. Pure."""

import re
from urllib.parse import unquote, urlsplit

from incremental.base.scope import template

_SCHEME_OR_MAIL = re.compile(r"\bhttps?:/|@[^/@]+\.")


def is_mistyped(url: str) -> bool:
    """Whether a path holds another address: a link whose scheme or slashes were forgotten."""
    parts = urlsplit(url)
    path = unquote(parts.path)
    return bool(_SCHEME_OR_MAIL.search(path)) or parts.netloc in path.split("/")


def form_of(url: str) -> str:
    """Return the form that verdicts on one URL say something about.

    As :func:`incremental.base.scope.template`, but the name before a last slash is blanked like that of a
    file: an article at ``/some-name/`` is of the same form as one at ``/other-name/``, and of another than
    ``/news/``.
    """
    form = template(url)
    path, mark, query = form.partition("?")
    if not path.endswith("/"):
        return form
    above, _, name = path[:-1].rpartition("/")
    if not above:  # the home page
        return form
    kind = "0" if name == "0" else "*-*" if "-" in name or "_" in name or name == "*" else "*"
    return f"{above}/{kind}/{mark}{query}"


def place_of(url: str) -> str:
    """Return the folder and the kind of file of a URL: what a missing page says something about."""
    path, mark, query = form_of(url).partition("?")
    folder, slash, leaf = path.rpartition("/")
    return f"{folder}{slash}{''.join(leaf.rpartition('.')[1:]) if '.' in leaf else ''}{mark}{query}"
