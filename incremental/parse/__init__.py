"""Parsing: from a body and its URL to a :class:`~incremental.parse.page.Page`.

::

    body ─ gunzip ─ sniff ─┬─ html      lxml events -> links, head, text
                           ├─ feeds     feedparser; JSON Feed by ourselves
                           ├─ sitemaps  lxml events
                           └─ nothing   OTHER, with the reason

Pure functions of their arguments: no network, no clock, no file.
"""

from incremental.parse.page import Link, Page, PageKind, ParseLimits

__all__ = ["Link", "Page", "PageKind", "ParseLimits"]
