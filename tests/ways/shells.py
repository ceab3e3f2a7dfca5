"""Pages as frameworks build them, and pages that only look like shells."""

import json
from typing import Any

REACT = """<!doctype html><html lang="en"><head><meta charset="utf-8"/><title>Newsroom</title>
<link rel="icon" href="/favicon.ico"/><script defer="defer" src="/static/js/main.8f3c21.js"></script>
<link href="/static/css/main.css" rel="stylesheet"></head><body>
<noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div></body></html>"""
VUE = """<!DOCTYPE html><html lang=""><head><title>通知公告</title><script type="module" crossorigin
src="/assets/index-4d1.js"></script></head><body><noscript>
<strong>请启用 JavaScript 后继续。</strong></noscript><div id="app"></div></body></html>"""
ANGULAR = """<!doctype html><html><head><title>Tenders</title><base href="/"></head><body><app-root>
<div class="spinner">Loading...</div></app-root><script src="runtime.js" type="module"></script>
<script src="main.js" type="module"></script></body></html>"""
BUNDLE = """<html><head><title>Press</title></head><body><div class="wrap"><div class="loader"></div></div>
<script src="/js/vendors~app.js"></script><script src="/js/press.js"></script></body></html>"""
ASKING = """<html><head><title>Board</title></head><body><div id="content"></div><noscript>This page needs
JavaScript.</noscript><a href="/imprint">Imprint</a><a href="/privacy">Privacy</a>
<script>boot()</script></body></html>"""
FOOTED = """<html><head><title>Updates</title></head><body><header><a href="/">Example Ltd</a></header>
<div id="__nuxt"></div><footer><p>Example Ltd, 12 High Street, Anytown.</p></footer>
<script src="/_nuxt/entry.js"></script></body></html>"""
SHELLS = {
    "react": REACT,
    "vue": VUE,
    "angular": ANGULAR,
    "bundle": BUNDLE,
    "asking": ASKING,
    "footed": FOOTED,
}

SHORT = """<html><head><title>Hello</title><script src="https://stats.example/a.js"></script></head><body>
<h1>Hello</h1><p>We moved to the new office on Monday. Call us at any time.</p></body></html>"""
EMPTY_LIST = """<html><head><title>Tenders</title><script src="/jquery.js"></script></head><body><nav>
<a href="/">Home</a><a href="/news">News</a></nav><h1>Tenders</h1><p>There are no open tenders at the moment.
</p></body></html>"""
ERROR = """<html><head><title>503</title></head><body><h1>Service unavailable</h1>
<script src="/challenge.js"></script></body></html>"""
BLANK = "<html><head><title></title></head><body></body></html>"
RENDERED = (
    '<html><body><div id="root"><ul>'
    + "".join(f'<li><a href="/news/{n}">Item number {n}</a></li>' for n in range(9))
    + '</ul></div><script src="/main.js"></script></body></html>'
)
ARTICLE = (
    '<html><body><div id="app"><article>'
    + "The council has decided to build the bridge. " * 20
    + '</article></div><script src="/app.js"></script></body></html>'
)
ORDINARY = {
    "short": SHORT,
    "empty list": EMPTY_LIST,
    "error": ERROR,
    "blank": BLANK,
    "rendered by the server": RENDERED,
    "article in an application": ARTICLE,
}

ITEMS = [
    {"slug": "bridge-opens", "title": "The bridge opens after three years", "date": "2024-05-28"},
    {"slug": "road-closed", "title": "The northern road is closed", "date": "2024-05-30"},
    {"slug": "new-mayor", "title": "The new mayor takes office", "date": "2024-06-01"},
]


def shell(inside: str = "", *, title: str = "Newsroom") -> str:
    """A page without content, with something in its body besides."""
    return (
        f"<html><head><title>{title}</title></head><body>"
        "<noscript>You need to enable JavaScript to run this app.</noscript>"
        f'<div id="root"></div>{inside}</body></html>'
    )


def next_page(items: list[dict[str, Any]]) -> str:
    """A page of Next.js whose content is drawn by its scripts."""
    state = {
        "props": {"pageProps": {"menu": [{"url": "/a", "title": "A"}] * 3, "posts": items}},
        "page": "/news",
    }
    return (
        "<html><head><title>News</title></head><body>"
        '<div id="__next"></div>'
        f'<script id="__NEXT_DATA__" type="application/json">{json.dumps(state)}</script>'
        '<script src="/_next/static/chunks/main.js"></script></body></html>'
    )


def stated(items: list[dict[str, Any]]) -> str:
    """A page that sets a state in a script, as JavaScript writes it."""
    state = json.dumps({"list": {"rows": items, "total": len(items)}}).replace(
        '"total"', '"next": undefined, "total"'
    )
    return shell(
        f"<script>window.__INITIAL_STATE__ = {state};</script><script src=/app.js></script>"
    )
