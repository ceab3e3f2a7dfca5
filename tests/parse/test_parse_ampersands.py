"""An ampersand that nobody escaped is part of the address, as its author meant."""

import html

import pytest

from incremental.features.exchange.lists import read_list
from incremental.parse.ampersands import escaped, escaped_pieces
from incremental.parse.dispatch import parse

HOME = "https://example.org/"
# As written in the document, and the address that is meant.
FORMS = {
    "?a=1&b=2": "?a=1&b=2",
    "?q=x&hl=de&gl=DE&ceid=DE:de": "?q=x&hl=de&gl=DE&ceid=DE:de",
    "?a=1&": "?a=1&",
    "?a=1&&b=2": "?a=1&&b=2",
    "?a=1&amp;b=2": "?a=1&b=2",
    "?a=1&#38;b=2": "?a=1&b=2",
    "?a=1&#x26;b=2": "?a=1&b=2",
    "?a=1&amp;copy=2": "?a=1&copy=2",
    "?a=1&amp=2": "?a=1&amp=2",
    "caf&eacute;?a=1": "caf\xe9?a=1",
    **{
        (written := f"?a=1&{name}=2"): written
        for name in (
            *("lang", "copy", "image", "reg", "sub", "part"),
            *("not", "times", "or", "int", "sum"),
        )
    },
}
SITEMAP = "<urlset><url><loc>{}</loc></url></urlset>"
RSS = '<rss version="2.0"><channel><item><title>A</title><link>{}</link></item></channel></rss>'
# No XML, so feedparser reads it with its loose parser.
BROKEN_RSS = RSS.replace("</link>", "</link><description>One<br>two</description>")
ATOM = '<feed xmlns="http://www.w3.org/2005/Atom"><entry><title>A</title><link href="{}"/></entry></feed>'
OPML = '<opml version="2.0"><body><outline text="A" type="rss" xmlUrl="{}"/></body></opml>'
DECLARED = '<?xml version="1.0" encoding="{}"?>'


def address_in(document: str, encoding: str = "utf-8") -> list[str]:
    if "<opml" in document:
        return [one.url for one in read_list(document.encode(encoding)).wanted]
    return [link.url for link in parse(document.encode(encoding), HOME).links]


@pytest.mark.parametrize("document", [SITEMAP, RSS, BROKEN_RSS, ATOM, OPML])
@pytest.mark.parametrize("written", FORMS)
def test_the_address_is_the_one_that_was_meant(document: str, written: str) -> None:
    meant = FORMS[written]
    found = address_in(document.format(HOME + written))
    assert found == address_in(document.format(HOME + html.escape(meant)))
    assert found == [HOME + meant] or "\xe9" in meant


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "gb18030", "iso-8859-1"])
@pytest.mark.parametrize("document", [SITEMAP, RSS, ATOM])
def test_in_every_encoding(document: str, encoding: str) -> None:
    whole = DECLARED.format(encoding[:6] if "16" in encoding else encoding) + document
    assert address_in(whole.format(HOME + "?a=1&b=2"), encoding) == [HOME + "?a=1&b=2"]


def test_sections_that_escape_for_themselves_stay() -> None:
    for whole in (
        "<a><![CDATA[?a=1&lang=2]]></a>",
        "<a><!-- <![CDATA[ & --></a>",
        "<!DOCTYPE a [<!ENTITY site 'x'>]><a>&site;</a>",
        "<a>\x1b$B&\x1b(B</a>",
    ):
        assert escaped(whole) == whole
    assert escaped("<!-- <![CDATA[ --><a>&b</a>") == "<!-- <![CDATA[ --><a>&amp;b</a>"


@pytest.mark.parametrize("codec", ["utf-8", "utf-16", "utf-16-be"])
def test_pieces_may_end_anywhere(codec: str) -> None:
    text = "<?xml?><a>&eacute;&amp;&b<![CDATA[&c]]>&d<!-- & -->&#38;&e;</a>"
    mended = "<?xml?><a>&#233;&amp;&amp;b<![CDATA[&c]]>&amp;d<!-- & -->&#38;&amp;e;</a>"
    body = text.encode(codec)
    for size in (2, 3, 7, len(body)):
        pieces = (body[at : at + size] for at in range(0, len(body), size))
        assert b"".join(escaped_pieces(pieces)) == mended.encode(codec)
