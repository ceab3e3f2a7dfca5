"""Which links a page has, whatever its mark-up."""

import pytest

from incremental.parse import Page, PageKind, ParseLimits
from incremental.parse.dispatch import parse

URL = "https://example.org/news/"


def read(markup: str, url: str = URL) -> Page:
    return parse(markup.encode(), url, content_type="text/html; charset=utf-8")


def targets(markup: str) -> list[str]:
    """Return the links without the part that all share."""
    return [link.url.removeprefix("https://example.org") for link in read(markup).links]


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<p><a href=/a>a</a> <a href='/b'>b</a> <a href=\"/c\">c</a>", ["/a", "/b", "/c"]),
        ("<p><a href=/a/?x=1&y=2 class=k>a</a>", ["/a/?x=1&y=2"]),
        ("<p><A HREF=/a>a</A>", ["/a"]),
        ("<p><a href = '/a' >a", ["/a"]),
        ("<p><a class=x href=/a href=/b>a</a>", ["/a"]),
        ("<p><a href=/a>one<a href=/b>two", ["/a", "/b"]),
        ("<p><a href=/a>unclosed <div><p><a href=/b>two</a></div>", ["/a", "/b"]),
        ("<table><tr><td><a href=/a>a<td><a href=/b>b</table>", ["/a", "/b"]),
        ("</div></p></body></html><a href=/a>after the end</a>", ["/a"]),
        ("<a href='/a>lost</a><a href=/b>lost</a><a href='/c'>c</a><a href=/d>d", ["/d"]),
        ("<p><a href=/a&amp;b>a</a><a href=/c&copyx>c</a>", ["/a&b", "/c&copyx"]),
        ("<p><a href='/a\n b'>a</a>", ["/a%20b"]),
        ("<p><a href=javascript:void(0)>a</a><a href=mailto:x@y.z>b</a><a href=#>c</a>", []),
        ("<p><a name=x>a</a><a>b</a>", []),
        ("<p><a href=''>here</a>", []),
        ("<map><area href=/a alt=A><area shape=rect></map>", ["/a"]),
        ("<svg><a xlink:href=/a><text>A</text></a><a href=/b>B</a></svg>", ["/a", "/b"]),
        ("<frameset><frame src=/top><frame src=/list></frameset>", ["/top", "/list"]),
        ("<div hidden style='display:none'><a href=/a>a</a></div>", ["/a"]),
        ("<template><a href=/a>a</a></template>", ["/a"]),
        ("<noscript><a href=/a>a</a></noscript>", ["/a"]),
        ("<script>'<a href=/a>'</script><style><a href=/b></style>", []),
        ("<!-- <a href=/a>a</a> --><textarea><a href=/b></textarea>", []),
        ("<!--[if IE]><a href=/a>a</a><![endif]--><a href=/b>b</a>", ["/b"]),
        ("<p><a href=/a>a</a><a href=/a>again</a>", ["/a", "/a"]),
        ("<div><a @click='x' :href=no href=/a>a</a>", ["/a"]),
        ("<custom-card><a href=/a>a</a></custom-card>", ["/a"]),
    ],
)
def test_links_are_found(markup: str, expected: list[str]) -> None:
    assert targets(markup) == expected


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        ("/deep/er/", "https://example.org/deep/er/a"),
        ("https://other.example/x/y", "https://other.example/x/a"),
        ("//other.example/", "https://other.example/a"),
        ("javascript:x", "https://example.org/news/a"),
        ("", "https://example.org/news/a"),
    ],
)
def test_the_base_element_counts_for_all_links(base: str, expected: str) -> None:
    for markup in (f"<base href='{base}'><a href=a>", f"<a href=a></a><base href='{base}'>"):
        assert [link.url for link in read(markup).links] == [expected]


def test_only_the_first_base_with_a_target_counts() -> None:
    assert targets("<base target=_top><base href=/x/><base href=/y/><a href=a>a</a>") == ["/x/a"]


def test_links_are_in_order_and_keep_their_rel() -> None:
    links = read("<a href=/a rel='NoFollow UGC'>a</a><a href=mailto:x>b</a><a href=/c>c</a>").links
    assert [link.anchor for link in links] == ["a", "c"]
    assert links[0].rel == ("nofollow", "ugc")


def test_a_query_is_encoded_as_the_page_is() -> None:
    body = "<meta charset=gb2312><p>新闻中心要闻通知公告</p><a href='/s?q=新闻'>新闻</a>".encode(
        "gbk"
    )
    (link,) = parse(body, URL, content_type="text/html").links
    assert (link.url, link.anchor) == ("https://example.org/s?q=%D0%C2%CE%C5", "新闻")


def test_a_sign_of_a_reference_is_encoded_as_a_page_of_mere_ascii_says() -> None:
    for kind, meta in (("; charset=iso-8859-15", ""), ("", "<meta charset=iso-8859-15>")):
        body = f"{meta}<a href='/s?q=10&euro;&amp;r=&#269;'>x</a>".encode()
        (link,) = parse(body, URL, content_type=f"text/html{kind}").links
        assert link.url == "https://example.org/s?q=10%A4&r=%26%23269%3B"


def test_more_links_than_the_limit_are_cut_and_reported() -> None:
    markup = "<title>T</title>" + "".join(f"<a href=/{number}>x</a>" for number in range(9))
    page = parse(markup.encode(), URL, limits=ParseLimits(max_links=5))
    assert (len(page.links), page.truncated, page.title) == (5, True, "T")
    assert not parse(markup.encode(), URL, limits=ParseLimits(max_links=9)).truncated


def test_a_page_is_read_up_to_the_byte_limit() -> None:
    body = b"<a href=/a>a</a>" + b" " * 100 + b"<a href=/b>b</a>"
    page = parse(body, URL, limits=ParseLimits(max_bytes=100))
    assert (len(page.links), page.truncated) == (1, True)


def test_the_number_of_elements_is_bounded() -> None:
    page = parse(b"<a href=/a>a</a>" + b"<i>" * 50, URL, limits=ParseLimits(max_elements=20))
    assert (page.kind, len(page.links), page.truncated) == (PageKind.HTML, 1, True)
