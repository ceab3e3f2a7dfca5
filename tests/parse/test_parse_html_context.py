"""What a link carries with it: anchor, context, heading, tag path."""

import pytest

from incremental.parse import Link
from incremental.parse.dispatch import parse


def links(markup: str) -> tuple[Link, ...]:
    return parse(markup.encode(), "https://example.org/", content_type="text/html").links


@pytest.mark.parametrize(
    ("markup", "anchor"),
    [
        ("<a href=/a>  New \n results  </a>", "New results"),
        ("<a href=/a><b>N</b>ew</a>", "New"),
        ("<a href=/a><h3>Title</h3><p>Teaser</p></a>", "Title Teaser"),
        ("<a href=/a>one<br>two</a>", "one two"),
        ("<a href=/a>R&amp;D &#8211; &nbsp;新</a>", "R&D – 新"),
        ("<a href=/a><img src=x alt='A picture'></a>", "A picture"),
        ("<a href=/a title=tip><img src=x alt='A picture'></a>", "A picture"),
        ("<a href=/a title=tip><img src=x></a>", "tip"),
        ("<a href=/a aria-label='Read more'><i></i></a>", "Read more"),
        ("<a href=/a title=tip>text<img alt=pic></a>", "text"),
        ("<a href=/a><script>x()</script><style>y</style>z</a>", "z"),
        ("<a href=/a></a>", ""),
        ("<map><area href=/a alt='The map'></map>", "The map"),
        ("<a href=/a>one<a href=/b>two</a>", "one"),
    ],
)
def test_the_anchor_is_the_visible_text(markup: str, anchor: str) -> None:
    assert links(markup)[0].anchor == anchor


def test_a_long_anchor_is_cut() -> None:
    assert len(links("<a href=/a>" + "word " * 1_000)[0].anchor) <= 500


@pytest.mark.parametrize(
    ("markup", "context"),
    [
        ("<ul><li><a href=/a>A</a> 12 May<li><a href=/b>B</a></ul>", "A 12 May"),
        ("<p>Before <a href=/a>A</a> after</p><p>Other</p>", "Before A after"),
        ("<div>Own <p>Child</p> <a href=/a>A</a></div>", "Own Child A"),
        ("<article><h3><a href=/a>A</a></h3><p>Summary</p></article>", "A Summary"),
        ("<tr><td><a href=/a>A</a></td><td>2024-05-06</td></tr>", "A 2024-05-06"),
        ("<ul>" + "<li><a href=/a>A</a></li>" * 9 + "</ul>", "A"),
        ("<div><div><a href=/a><img></a></div><h3><a href=/a>A</a></h3><p>S</p></div>", "A S"),
        ("<p>x <script>hidden()</script><a href=/a>A</a></p>", "x A"),
    ],
)
def test_the_context_is_the_text_of_the_block_around(markup: str, context: str) -> None:
    if markup.startswith("<tr>"):
        markup = f"<table>{markup}</table>"
    assert links(markup)[0].context == context


def test_in_a_long_block_the_context_is_the_text_near_the_link() -> None:
    markup = f"<p>{'before ' * 200}<a href=/a>THE LINK</a>{' after' * 200}</p>"
    context = links(markup)[0].context
    assert len(context) <= 300
    assert "before THE LINK after" in context
    assert context.startswith("before ")


def test_the_heading_is_the_nearest_above_of_a_higher_rank() -> None:
    markup = """
        <a href=/0>none</a><h1>Site</h1><a href=/1>one</a>
        <h2>News</h2><h3><a href=/2>Title</a></h3><p><a href=/3>more</a></p>
        <h3><a href=/4>Second title</a></h3><h2><a href=/5>Events</a></h2><a href=/6>x</a>"""
    headings = [link.heading for link in links(markup)]
    assert headings == ["", "Site", "News", "Title", "News", "Site", "Events"]


def test_a_long_heading_is_cut() -> None:
    assert len(links("<h1>" + "head " * 100 + "</h1><a href=/a>a</a>")[0].heading) <= 120


def test_the_tag_path_names_tags_and_classes_from_the_root() -> None:
    markup = "<html><body><div class='main wide'><ul class=list id=x><li><a class=t href=/a>a"
    assert links(markup)[0].tag_path == "html/body/div.main.wide/ul.list/li/a.t"


def test_links_of_one_list_share_their_tag_path() -> None:
    markup = "<ul class=l>" + "<li><a href=/a>a</a>" * 5 + "</ul><p><a href=/b>b</a>"
    paths = [link.tag_path for link in links(markup)]
    assert len(set(paths[:5])) == 1
    assert paths[5] != paths[0]


def test_the_tag_path_is_bounded() -> None:
    markup = f"<div class='{'c' * 3_000} {'d ' * 300}'>" * 300 + "<a href=/a>a</a>"
    assert len(links(markup)[0].tag_path) <= 700
