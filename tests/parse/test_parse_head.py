"""What a page says of itself."""

import pytest

from incremental.parse import Page
from incremental.parse.dispatch import parse

URL = "https://example.org/news/index.html"


def read(markup: str, *, want_text: bool = False) -> Page:
    return parse(markup.encode(), URL, content_type="text/html", want_text=want_text)


@pytest.mark.parametrize(
    ("markup", "title"),
    [
        ("<title> A &amp; B\n C </title>", "A & B C"),
        ("<title>One</title><title>Two</title>", "One"),
        ("<svg><title>Icon</title></svg><title>Page</title>", "Page"),
        ("<title></title><meta property=og:title content=' Shared '>", "Shared"),
        (
            "<title>It rains - The Post</title><meta property=og:title content='It rains'>",
            "It rains",
        ),
        ("<title>It rains-off</title><meta property=og:title content='It rains'>", "It rains-off"),
        (
            "<title>It rains | The Post</title><meta property=og:site_name content='The Post'>",
            "It rains",
        ),
        (
            "<title>The Post: It rains</title><meta property=og:site_name content='The Post'>",
            "The Post: It rains",
        ),
        (
            "<title>The Post » It rains</title><meta property=og:site_name content='The Post'>",
            "It rains",
        ),
        ("<title>招标公告_城市网</title><meta property=og:site_name content='城市网'>", "招标公告"),
        (
            "<title>谁能超越：特斯拉</title><meta property=og:site_name content='特斯拉'>",
            "谁能超越：特斯拉",
        ),
        (
            "<title>Python_basics</title><meta property=og:site_name content='Python'>",
            "Python_basics",
        ),
        ("<title>The Post</title><meta property=og:site_name content='The Post'>", "The Post"),
        ("<title>On the post</title><meta property=og:site_name content='post'>", "On the post"),
        ("<title><b>kept as text</b></title>", "<b>kept as text</b>"),
        ("<p>none", ""),
    ],
)
def test_title(markup: str, title: str) -> None:
    assert read(markup).title == title


@pytest.mark.parametrize(
    ("markup", "canonical"),
    [
        ("<link rel=canonical href=/news/>", "https://example.org/news/"),
        ("<link rel='CANONICAL' href='https://www.example.org/n'>", "https://www.example.org/n"),
        ("<link rel=canonical href=/a><link rel=canonical href=/b>", "https://example.org/a"),
        ("<base href=/b/><link rel=canonical href=x>", "https://example.org/b/x"),
        ("<link rel=canonical href='javascript:x'>", None),
        ("<link rel=canonical><link rel=stylesheet href=/s.css>", None),
    ],
)
def test_canonical_url(markup: str, canonical: str | None) -> None:
    assert read(markup).canonical_url == canonical


@pytest.mark.parametrize(
    ("markup", "language"),
    [
        ("<html lang=zh-CN>", "zh"),
        ("<html lang='EN'>", "en"),
        ("<html xml:lang=de>", "de"),
        ("<html lang=cn>", "zh"),
        ("<html lang=''><meta http-equiv=Content-Language content='fr, en'>", "fr"),
        ("<meta property=og:locale content=pt_BR>", "pt"),
        ("<meta name=language content=Dutch>", None),
        ("<html lang={{lang}}>", None),
        ("<p>", None),
    ],
)
def test_language(markup: str, language: str | None) -> None:
    assert read(markup).language == language


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("0; url=/home", "https://example.org/home"),
        ("0;URL='/home'", "https://example.org/home"),
        ('0; url="/home" ', "https://example.org/home"),
        ("3,/home", "https://example.org/home"),
        ("0 /home", "https://example.org/home"),
        ("0.5; url=home", "https://example.org/news/home"),
        ("30; url=//other.example/", "https://other.example/"),
        ("31; url=/home", None),
        ("5", None),
        ("0; url=index.html", None),
        ("0; url=#x", None),
        ("0; url=javascript:x", None),
        ("9999999999999999999999; url=/x", None),
        ("url=/home", None),
    ],
)
def test_meta_refresh(content: str, target: str | None) -> None:
    escaped = content.replace('"', "&quot;")
    assert read(f'<meta http-equiv=Refresh content="{escaped}">').refresh_url == target


def test_a_refresh_for_those_without_scripts_counts_only_on_an_empty_page() -> None:
    refresh = "<noscript><meta http-equiv=refresh content='0; url=/plain'></noscript>"
    assert read(refresh).refresh_url == "https://example.org/plain"
    assert read(refresh + "<a href=/a>a</a>").refresh_url is None


def test_icons_are_named_in_order_and_once_those_for_home_screens_last() -> None:
    markup = """
        <link rel=apple-touch-icon href=/touch.png>
        <link rel="SHORTCUT ICON" href=/favicon.ico?v=2>
        <link rel="alternate icon" href=i/16.png>
        <link rel=icon href="data:image/png;base64,AAAA">
        <link rel=icon href=i/16.png>
        <link rel=mask-icon href=/mask.svg>"""
    markup = "<base href=/assets/>" + markup
    assert [url.removeprefix("https://example.org") for url in read(markup).icon_urls] == [
        "/favicon.ico?v=2",
        "/assets/i/16.png",
        "/touch.png",
    ]
    many = "".join(f"<link rel=icon href=/{n}.png>" for n in range(100))
    assert len(read(many).icon_urls) == 8


def test_feeds_are_named_in_order_and_once() -> None:
    markup = """
        <link rel=alternate type=application/rss+xml href=/rss.xml>
        <link rel="Alternate home" type="application/atom+xml; charset=utf-8" href=atom.xml>
        <link rel=alternate type=application/feed+json href=/feed.json>
        <link rel=alternate type=application/json href=/wp-json/pages/1>
        <link rel=alternate type=application/json+oembed href=/oembed>
        <link rel=alternate hreflang=de href=/de/>
        <link rel=alternate type=application/rss+xml href=/rss.xml>
        <link rel=feed href=/feed/>"""
    assert [url.removeprefix("https://example.org") for url in read(markup).feed_urls] == [
        "/rss.xml",
        "/news/atom.xml",
        "/feed.json",
        "/feed/",
    ]


def test_text_is_read_only_when_asked_for() -> None:
    markup = "<p>Words</p><meta property=article:published_time content=2024-05-06>"
    assert (read(markup).text, read(markup).published_at) == ("", None)
    page = read(markup, want_text=True)
    assert (page.text, page.published_at) == ("Words", 1714953600.0)


def test_the_text_leaves_out_what_is_not_content() -> None:
    markup = """
        <title>T</title><nav>Menu</nav><script>s()</script><style>.x{}</style>
        <h1>Head</h1><p>One
        line</p><aside>Also</aside><footer>Imprint</footer>"""
    assert read(markup, want_text=True).text == "Head\nOne line"


def test_a_long_main_part_is_the_text() -> None:
    body = "sentence " * 30
    markup = f"<div>Teasers</div><main><h1>Head</h1><p>{body}</p></main><p>Related</p>"
    text = read(markup, want_text=True).text
    assert text == f"Head\n{body.strip()}"
    assert "Related" in read("<main>Short</main><p>Related", want_text=True).text
