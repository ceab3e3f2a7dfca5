"""RSS, Atom, RDF and JSON Feed."""

import json
from datetime import UTC, datetime

import pytest

from incremental.parse import Link, Page, PageKind, ParseLimits
from incremental.parse.dispatch import parse

URL = "https://example.org/blog/feed.xml"
MORNING = datetime(2024, 5, 6, 8, tzinfo=UTC).timestamp()


def read(
    text: str, *, content_type: str = "application/xml", limits: ParseLimits | None = None
) -> Page:
    return parse(text.encode(), URL, content_type=content_type, limits=limits or ParseLimits())


def rss(items: str, head: str = "") -> str:
    return f'<?xml version="1.0"?><rss version="2.0"><channel>{head}{items}</channel></rss>'


def only_link(text: str) -> Link:
    (link,) = read(text).links
    return link


def test_rss() -> None:
    page = read(
        rss(
            """<item><title>One &amp;amp; &lt;b&gt;two&lt;/b&gt;</title><link>https://example.org/1</link>
            <description><![CDATA[<p>Hello <b>world</b></p><script>x</script>]]></description>
            <pubDate>Mon, 06 May 2024 10:00:00 +0200</pubDate></item>
            <item><link>https://example.org/2</link></item>""",
            "<title>Blog</title><language>zh-CN</language><ttl>60</ttl>",
        ),
    )
    assert (page.kind, page.title, page.language) == (PageKind.FEED, "Blog", "zh")
    assert page.ttl_seconds == 3_600
    assert page.links == (
        Link("https://example.org/1", "One & two", "Hello world", published_at=MORNING),
        Link("https://example.org/2"),
    )


def test_atom() -> None:
    page = read(
        """<feed xmlns="http://www.w3.org/2005/Atom"><title type="html">A &lt;i&gt;b</title>
        <link rel="self" href="/feed.xml"/><link rel="hub" href="https://hub.example/"/>
        <link rel="next" href="?page=2"/>
        <entry><title>One</title><link rel="replies" href="/r"/><link href="1"/>
        <updated>2024-05-07T00:00:00Z</updated><published>2024-05-06T08:00:00Z</published>
        <content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Text</p></div></content>
        </entry></feed>""",
    )
    assert page.title == "A b"
    assert page.next_url == "https://example.org/blog/feed.xml?page=2"
    assert page.links == (Link("https://example.org/blog/1", "One", "Text", published_at=MORNING),)


def test_rdf() -> None:
    page = read(
        """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
        xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/"
        xmlns:sy="http://purl.org/rss/1.0/modules/syndication/"><channel rdf:about="https://example.org">
        <title>R</title><sy:updatePeriod>hourly</sy:updatePeriod>
        <sy:updateFrequency>2</sy:updateFrequency></channel>
        <item rdf:about="https://example.org/1"><title>One</title><link>https://example.org/1</link>
        <dc:date>2024-05-06T10:00+02:00</dc:date></item></rdf:RDF>""",
    )
    assert (page.kind, page.title, page.ttl_seconds) == (PageKind.FEED, "R", 1_800)
    assert page.links == (Link("https://example.org/1", "One", published_at=MORNING),)


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("<link>/a</link>", "https://example.org/a"),
        ("<link>a/b</link>", "https://example.org/blog/a/b"),
        ("<link> \n /a \n </link>", "https://example.org/a"),
        ("<guid>https://example.org/g</guid>", "https://example.org/g"),
        ("<guid isPermaLink='false'>tag:1</guid><link>/a</link>", "https://example.org/a"),
        ("<enclosure url='/a.mp3' type='audio/mpeg' length='1'/>", "https://example.org/a.mp3"),
        ("<link>javascript:x</link><enclosure url='/a.mp3'/>", "https://example.org/a.mp3"),
    ],
)
def test_the_link_of_an_entry_is_absolute(item: str, expected: str) -> None:
    assert only_link(rss(f"<item><title>t</title>{item}</item>")).url == expected


def test_relative_links_follow_the_feed_not_the_site_it_names() -> None:
    named = "<link>https://wrong.example/x/</link>"
    assert only_link(rss("<item><link>a</link></item>", named)).url == "https://example.org/blog/a"


def test_xml_base_counts() -> None:
    feed = '<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://other.example/x/">'
    assert (
        only_link(f'{feed}<entry><link href="a"/></entry></feed>').url
        == "https://other.example/x/a"
    )


@pytest.mark.parametrize(
    ("dates", "expected"),
    [
        ("<pubDate>Mon, 06 May 2024 08:00:00 GMT</pubDate>", MORNING),
        ("<pubDate>Mon, 06 May 2024 08:00:00 </pubDate>", MORNING),
        ("<pubDate>2024-05-06 08:00:00</pubDate>", MORNING),
        ("<updated>2024-05-06T08:00:00Z</updated>", MORNING),
        ("<pubDate>soon</pubDate>", None),
        ("", None),
    ],
)
def test_the_date_of_an_entry(dates: str, expected: float | None) -> None:
    assert only_link(rss(f"<item><link>/a</link>{dates}</item>")).published_at == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("22-11-2026", datetime(2026, 11, 22, tzinfo=UTC)),
        ("11-22-2026", datetime(2026, 11, 22, tzinfo=UTC)),
        ("22/11/2026 10:00", datetime(2026, 11, 22, 10, tzinfo=UTC)),
        ("11/22/2026 10:00:00 PM", datetime(2026, 11, 22, 22, tzinfo=UTC)),
        ("05.11.2026", datetime(2026, 11, 5, tzinfo=UTC)),
        ("2026/11/22", datetime(2026, 11, 22, tzinfo=UTC)),
        ("2026/11/22 10:00:00", datetime(2026, 11, 22, 10, tzinfo=UTC)),
        ("2026년 11월 22일", datetime(2026, 11, 22, tzinfo=UTC)),
        ("20261122T101500Z", datetime(2026, 11, 22, 10, 15, tzinfo=UTC)),
        ("22-Nov-2026", datetime(2026, 11, 22, tzinfo=UTC)),
        ("November 22, 2026 10:00 PM", datetime(2026, 11, 22, 22, tzinfo=UTC)),
        ("Sun, 22 Nov 2026 10:00:00 CEST", datetime(2026, 11, 22, 8, tzinfo=UTC)),
        ("Sun, 22 Nov 2026 10:00:00 PST", datetime(2026, 11, 22, 18, tzinfo=UTC)),
        ("2026-11-22 10:00 JST", datetime(2026, 11, 22, 1, tzinfo=UTC)),
        ("Sun, 22 Nov 2026 10:00:00 Europe/Berlin", datetime(2026, 11, 22, 9, tzinfo=UTC)),
        ("1795331189", datetime(2026, 11, 22, 7, 6, 29, tzinfo=UTC)),
        # What could mean two days, or no day, is unknown, and so is what no page can be dated.
        ("05-11-2026", None),
        ("Sun, 22 Nov 2026 10:00:00 IST", None),
        ("Sun, 22 Nov 2026 10:00:00 Europe/Atlantis", None),
        ("2026 ноември 22", None),
        ("2026-22-11", None),
        ("22-11-26", None),
        ("2026-11-31", None),
        ("2026-W47-7", None),
        ("2026-11", None),
        ("2026", None),
        ("0001-01-01T00:00:00Z", None),
        ("Thu, 01 Jan 1970 00:00:00 GMT", None),
        ("Fri, 22 Nov 2226 10:00:00 GMT", None),
    ],
)
def test_a_date_of_any_hand_is_read_right_or_not_at_all(
    written: str, expected: datetime | None
) -> None:
    """Feedparser reads 22-11-2026 as a day of 2022: the item would be old, and never announced."""
    link = only_link(rss(f"<item><link>/a</link><pubDate>{written}</pubDate></item>"))
    assert link.published_at == (expected and expected.timestamp())


def test_months_have_names_in_other_scripts_too() -> None:
    written = "Κυρ, 11 Ιούλ 2004 12:00:00 EST"
    link = only_link(rss(f"<item><link>/a</link><pubDate>{written}</pubDate></item>"))
    assert link.published_at == datetime(2004, 7, 11, 17, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("other", "month"),
    [("22-11-2026", 11), ("11-22-2026", 5), ("2026-11-22", None)],
)
def test_the_other_dates_of_a_feed_tell_the_day_from_the_month(
    other: str, month: int | None
) -> None:
    items = "".join(
        f"<item><link>/{number}</link><pubDate>{date}</pubDate></item>"
        for number, date in enumerate(("05-11-2026", other))
    )
    page = parse(rss(items).encode(), URL, content_type="application/rss+xml")
    expected = month and datetime(2026, month, 16 - month, tzinfo=UTC).timestamp()
    assert page.links[0].published_at == expected


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("&lt;b&gt;W&lt;/b&gt;ord", "Word"),
        ("CO&lt;sub&gt;2&lt;/sub&gt; and &lt;i&gt;more&lt;/i&gt;", "CO2 and more"),
        ("<![CDATA[<ruby>漢<rt>かん</rt></ruby>字]]>", "漢かん字"),
        ("One&lt;br/&gt;two&lt;p&gt;three&lt;/p&gt;four", "One two three four"),
        ("Bell&#x9d; and &amp;#x7;tab&amp;#x9;stay", "Bell and tab stay"),
    ],
)
def test_a_title_is_legible_text(title: str, expected: str) -> None:
    """Tags within a word leave no blank, and no control character reaches a terminal or a message."""
    assert only_link(rss(f"<item><link>/a</link><title>{title}</title></item>")).anchor == expected


def test_a_summary_that_was_cut_within_a_tag_is_still_text() -> None:
    summary = "&lt;p&gt;Hello &lt;a href='/x' title='cut"
    item = f"<item><link>/a</link><description>{summary}</description></item>"
    assert only_link(rss(item)).context == "Hello"


def test_broken_xml_is_read_as_far_as_it_makes_sense() -> None:
    page = read(
        "<rss><channel><item><title>A & B</title><link>/a?x=1&y=2</link></item><item><link>/b"
    )
    assert page.links[0].url == "https://example.org/a?x=1&y=2"
    assert page.kind is PageKind.FEED


@pytest.mark.parametrize(
    "content_type", ["text/html", "text/plain", "", "application/octet-stream"]
)
def test_a_feed_is_a_feed_whatever_the_header_says(content_type: str) -> None:
    page = read(rss("<item><link>/a</link></item>"), content_type=content_type)
    assert (page.kind, len(page.links)) == (PageKind.FEED, 1)


def test_a_feed_in_another_charset() -> None:
    text = (
        "<?xml version='1.0' encoding='GBK'?><rss><channel><item><title>新闻</title><link>/a</link>"
    )
    page = parse(text.encode("gbk"), URL, content_type="text/xml")
    assert page.links[0].anchor == "新闻"


def test_a_file_or_a_url_in_a_body_is_never_opened() -> None:
    for body in (b"/etc/passwd", b"http://127.0.0.1:9/feed", b"file:///etc/passwd"):
        assert "root:" not in repr(parse(body, URL, content_type="application/rss+xml"))


def test_a_long_feed_is_cut_after_an_entry() -> None:
    text = rss("".join(f"<item><link>/{number}</link></item>" for number in range(30)))
    for limits in (
        ParseLimits(max_feed_entries=10),
        ParseLimits(max_feed_bytes=400),
        ParseLimits(max_feed_tags=50),
    ):
        page = read(text, limits=limits)
        assert 8 <= len(page.links) <= 12
        assert page.truncated
        assert page.links[-1].url == f"https://example.org/{len(page.links) - 1}"
    assert not read(text, limits=ParseLimits(max_feed_entries=30)).truncated


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("<ttl>1440</ttl>", 86_400),
        ("<ttl>99999999</ttl>", None),
        ("<ttl>soon</ttl>", None),
        ("<ttl>999999</ttl>", 31 * 86_400),
        ("<sy:updatePeriod>daily</sy:updatePeriod>", 86_400),
        ("<sy:updatePeriod>hourly</sy:updatePeriod>", 3_600),
        ("<sy:updatePeriod>weekly</sy:updatePeriod>", 7 * 86_400),
        ("<sy:updatePeriod>monthly</sy:updatePeriod>", 30 * 86_400),
        ("<sy:updatePeriod>yearly</sy:updatePeriod>", 31 * 86_400),
        (
            "<sy:updatePeriod>yearly</sy:updatePeriod><sy:updateFrequency>73</sy:updateFrequency>",
            5 * 86_400,
        ),
        ("<sy:updatePeriod>now</sy:updatePeriod>", None),
        ("", None),
    ],
)
def test_how_long_a_feed_asks_to_be_left_alone(head: str, expected: float | None) -> None:
    text = rss("<item><link>/a</link></item>", head)
    text = text.replace("<rss ", '<rss xmlns:sy="http://purl.org/rss/1.0/modules/syndication/" ')
    assert read(text).ttl_seconds == expected


def test_json_feed() -> None:
    feed = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": "J",
        "language": "en-GB",
        "next_url": "/feed2.json",
        "items": [
            {"id": "1", "url": "/1", "title": "One", "date_published": "2024-05-06T10:00:00+02:00"},
            {"id": "https://example.org/2", "content_html": "<p>Hello &amp; <b>bye</b></p>"},
            {"id": "3", "external_url": "https://other.example/3", "summary": "S"},
            {"id": "4"},
            "nonsense",
        ],
    }
    page = read(json.dumps(feed), content_type="application/json")
    assert (page.kind, page.title, page.language) == (PageKind.FEED, "J", "en")
    assert page.next_url == "https://example.org/feed2.json"
    assert page.links == (
        Link("https://example.org/1", "One", published_at=MORNING),
        Link("https://example.org/2", context="Hello & bye"),
        Link("https://other.example/3", context="S"),
    )


@pytest.mark.parametrize(
    "other",
    [{"external_url": "https://other.example/3"}, {"id": "https://other.example/3"}],
)
def test_an_entry_in_json_whose_address_is_none_has_the_next_that_it_names(
    other: dict[str, str],
) -> None:
    feed = {"version": "x", "items": [{"url": "javascript:1", "title": "T", **other}]}
    (link,) = read(json.dumps(feed)).links
    assert (link.url, link.anchor) == ("https://other.example/3", "T")


def test_a_long_json_feed_is_cut() -> None:
    feed = json.dumps({"version": "x", "items": [{"url": f"/{number}"} for number in range(9)]})
    page = read(feed, limits=ParseLimits(max_feed_entries=4))
    assert (len(page.links), page.truncated) == (4, True)


@pytest.mark.parametrize(
    "text",
    [
        '{"items": 1}',
        '{"version": "1"}',
        '{"items": [',
        '{"items":' + "[" * 99_999,
        '{"items":' + "1" * 9_999,
    ],
)
def test_json_that_is_no_feed_says_why(text: str) -> None:
    page = read(text, content_type="application/feed+json")
    assert page.kind is PageKind.OTHER
    assert "JSON" in page.problem


def test_json_of_wrong_types_and_broken_characters_is_harmless() -> None:
    text = r'{"version":1,"title":["x"],"hubs":{},"language":7,"next_url":{},"items":['
    text += r'{"url":"/a\ud800","title":"a\u0000\udfff","summary":3},{"url":9},null]}'
    (link,) = read(text).links
    assert (link.url, link.anchor) == ("https://example.org/a?", "a?")


@pytest.mark.parametrize(
    "oddity",
    [
        "<gml:pos>1 2</gml:pos>",
        "<psc:chapter/>",
        "<title>&#xD800;&#99999999;&#xFFFFFFFF;</title>",
        "<textInput><title>t</title></textInput><textInput/>",
        "<media:content/><georss:point>north</georss:point>",
    ],
)
def test_an_element_out_of_place_costs_no_entry(oddity: str) -> None:
    text = rss(f"<item><link>/1</link>{oddity}</item><item><link>/2</link></item>")
    assert {"https://example.org/1", "https://example.org/2"} <= {
        link.url for link in read(text).links
    }


def test_bases_that_grow_with_every_level_are_ignored() -> None:
    text = rss("<item><link>a</link></item>" + '<x xml:base="deeper/">' * 5_000)
    assert read(text).links[0].url == "https://example.org/blog/a"
