"""What of a page the topic models read."""

from incremental.parse.dispatch import parse
from incremental.parse.topic_text import link_contexts, page_text

URL = "https://example.org/list.html"
HTML = b"""<html lang="zh-CN"><head><title>News</title><meta name="description" content="All news">
</head><body><h1>Latest</h1><ul class="list">
<li><a href="/a.html#top">A</a> about bridges</li><li><a href="/a.html">Article A</a></li>
<li><a href="/list.html">this page</a></li><li><a href="mailto:x@example.org">mail</a></li>
</ul></body></html>"""


def test_a_page_is_read_by_position() -> None:
    text = page_text(parse(HTML, URL, want_text=True), "main text")
    assert text.title == "News"
    assert text.headings == ("Latest",)
    assert text.meta == "All news"
    assert text.body == "main text"
    assert text.anchors[:2] == ("A", "Article A")
    assert text.language == "zh"


def test_without_another_extractor_the_parsers_text_counts() -> None:
    page = parse(HTML, URL, want_text=True)
    assert page_text(page).body == page.text != ""


def test_a_target_has_one_context_with_all_its_anchors() -> None:
    (link,) = link_contexts(parse(HTML, URL))
    assert link.url == "https://example.org/a.html"
    assert link.anchor == "A Article A"
    assert link.around == "A about bridges"
    assert link.heading == "Latest"
    assert link.tag_path == "html/body/ul.list/li/a"
    assert link.parent_url == URL
