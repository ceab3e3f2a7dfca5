"""Dates as the web writes them."""

import time
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incremental.parse.dates import day_in_url, find_date, parse_date
from incremental.parse.dispatch import parse

DAY = datetime(2024, 5, 6, tzinfo=UTC).timestamp()
HOUR = 3_600.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-05-06", DAY),
        ("2024-5-6", DAY),
        ("2024/05/06", DAY),
        ("2024.05.06", DAY),
        ("2024年5月6日", DAY),
        ("2024年05月06日 08:00", DAY + 8 * HOUR),
        ("2024-05", DAY - 5 * 24 * HOUR),
        ("2024", datetime(2024, 1, 1, tzinfo=UTC).timestamp()),
        (" 2024-05-06T08:00:00Z ", DAY + 8 * HOUR),
        ("2024-05-06T08:00:00.123456Z", DAY + 8 * HOUR),
        ("2024-05-06T08:00+08:00", DAY),
        ("2024-05-06T00:00:00-0530", DAY + 5.5 * HOUR),
        ("2024-05-06 08:00:30", DAY + 8 * HOUR + 30),
        ("2024-05-06 08:00:30 UTC", DAY + 8 * HOUR + 30),
        ("Mon, 06 May 2024 08:00:00 GMT", DAY + 8 * HOUR),
        ("Mon, 06 May 2024 08:00:00 +0200", DAY + 6 * HOUR),
        ("Mon, 06 May 2024 08:00:00", DAY + 8 * HOUR),
        ("2024-05-06 - updated", DAY),
        ("Mon, 2024/05/06 - 08:00", DAY + 8 * HOUR),
        ("2024 May 06", DAY),
        ("2024-May-6", DAY),
        ("2024 May 6 08:00", DAY + 8 * HOUR),
        ("6 мая 2024", DAY),
        ("Δευ, 6 Μάι 2024", DAY),
        ("2024. május 6", None),
        ("2024-05-06T08:00:00 Europe/Brussels", DAY + 6 * HOUR),
        ("Mon, 06 May 2024 08:00:00 Europe/Brussels", DAY + 6 * HOUR),
        ("2024-05-06T08:00:00 Europe/Atlantis", None),
        (str(int(DAY)), DAY),
        (f"{int(DAY)}000", DAY),
        ("Thu, 05/30/2024 - 19:19", DAY + 24 * 24 * HOUR + 19 * HOUR + 19 * 60),
        ("Thu, 30/05/2024", DAY + 24 * 24 * HOUR),
        ("Mon, 05/06/2024 - 19:19", None),
        ("30.05.24", None),
    ],
)
def test_a_date_is_read(text: str, expected: float | None) -> None:
    assert parse_date(text) == expected


@pytest.mark.parametrize(
    "text", ["", "yesterday", "2024-02-31", "12", "0000-00-00", "99999999999", "20245"]
)
def test_what_is_no_date_is_none(text: str) -> None:
    assert parse_date(text) is None


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://e.org/2024/05/06/title", DAY),
        ("https://e.org/a/20240506/1.html", DAY),
        ("https://e.org/2024-05-06-title.html", DAY),
        ("https://e.org/2024/05/06", DAY),
        ("https://e.org/home/2024/5/6/title", DAY),
        ("https://e.org/2024/5/6", DAY),
        ("https://e.org/2024/05/06/index.html", DAY),
        ("https://e.org/2024-05-06.html", DAY),
        ("https://e.org/20240506.html", DAY),
        ("https://e.org/2024/05/06-title.html", DAY),
        ("https://e.org/2024/5/6.html", None),
        ("https://e.org/2024/05/06.html", None),
        ("https://e.org/202405/06.shtml?page=2", None),
        ("https://e.org/2024/13/06/", None),
        ("https://e.org/2024/02/31/", None),
        ("https://e.org/id/202405061234", None),
        ("https://e.org/a", None),
    ],
)
def test_a_date_in_a_url(url: str, expected: float | None) -> None:
    assert day_in_url(url) == expected


@given(
    st.datetimes(min_value=datetime(1990, 1, 1), max_value=datetime(2090, 1, 1)),  # noqa: DTZ001 - below
    st.integers(-14 * 60, 14 * 60),
)
@settings(deadline=None)
def test_iso_dates_of_all_zones_come_back(moment: datetime, offset_minutes: int) -> None:
    zone = timezone(timedelta(minutes=offset_minutes))
    moment = moment.replace(microsecond=0, tzinfo=zone)
    assert parse_date(moment.isoformat()) == moment.timestamp()


@given(st.text(max_size=80) | st.from_regex(r"[0-9T:+.\-/ 年月日]{0,30}", fullmatch=True))
@settings(deadline=None)
def test_no_text_is_too_odd(text: str) -> None:
    found = parse_date(text)
    assert found is None or isinstance(found, float)


@pytest.mark.parametrize(
    "markup",
    [
        "<meta property='article:published_time' content='2024-05-06T00:00:00Z'>",
        "<meta name=PubDate content='2024-05-06 00:00'>",
        "<meta itemprop=datePublished content=2024-05-06>",
        """<script type='application/ld+json'>{"@graph":[{"datePublished":"2024-05-06"}]}
        </script>""",
        "<time datetime=2024-05-07>x</time><time class='entry-date published' datetime=2024-05-06>",
        "<time datetime=2024-05-06>6 May</time>",
        "<abbr class=published title='2024-05-06T00:00:00Z'>Monday</abbr>",
        "<p class=source>来源：新华网 发布时间：2024-05-06</p>",
        "<div class=article-info><span>2024-05-06</span></div>",
        "<span class=post-date>Published 2024年5月6日</span>",
        "<p>Published on: 2024-05-06</p>",
    ],
)
def test_a_page_tells_when_it_was_published(markup: str) -> None:
    body, content_type = markup.encode(), "text/html; charset=utf-8"
    page = parse(body, "https://e.org/a", content_type=content_type, want_text=True)
    assert page.published_at == DAY


def test_metadata_goes_before_the_url_and_the_url_before_the_text() -> None:
    url = "https://e.org/2024/05/06/a"
    for markup, expected in (
        ("<time datetime=2020-01-01></time>", DAY),
        ("<meta name=date content=2024-05-07>", DAY + 24 * HOUR),
        ("<script type=application/ld+json>{broken</script>", DAY),
    ):
        assert parse(markup.encode(), url, want_text=True).published_at == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Posted by A on 6 May 2024", DAY),
        ("May 6th, 2024 at noon", DAY),
        ("am 6. Mai 2024 um", DAY),
        ("06.05.2024", DAY),
        ("le 6 mai 2024", DAY),
        ("6 de mayo de 2024", DAY),
        ("6 de maio de 2024", DAY),
        ("in May 2024", None),
        ("5/6/2024", None),
        ("16 Monkeys 2024, then 6 May 2024", DAY),
        ("2024年5月6日 星期一", DAY),
    ],
)
def test_a_date_is_found_in_a_text(text: str, expected: float | None) -> None:
    assert find_date(text) == expected


def test_a_number_that_is_the_whole_file_name_is_no_day_unless_the_page_says_so() -> None:
    """A guess does not read it as a day either, nor where the page repeats its address."""
    for name in ("6", "06", "14"):
        url = f"https://e.org/2024/05/{name}.html"
        head = f"<meta property=og:url content='{url}'><link rel=canonical href='{url}'>"
        plain = f"<html><head>{head}</head><body><p>A text that names no day.</p></body></html>"
        assert parse(plain.encode(), url, want_text=True).published_at is None
        passing = plain.replace("names no day", "was finished on 06.05.2024")
        assert parse(passing.encode(), url, want_text=True).published_at == DAY
        shown = b"<html><body><h1>T</h1><p class=byline>By A. on 6 May 2024</p></body></html>"
        assert parse(shown, url, want_text=True).published_at == DAY


SIDEBAR = (
    "<div class=sidebar-right><ul><li><a href=/x>Another</a>"
    "<time class='published updated' datetime='2023-01-31T10:00:00Z'>31 January</time></ul></div>"
)


@pytest.mark.parametrize(
    ("url", "markup"),
    [
        ("https://e.org/2024/05/06/a", SIDEBAR),
        ("https://e.org/a", f"{SIDEBAR}<p class=byline>By A. on 6 May 2024</p>"),
        ("https://e.org/a", f"<p class=post-meta>6 May 2024</p>{SIDEBAR}"),
        (
            "https://e.org/a",
            """<time datetime=2024-06-01>x</time><time datetime=2024-06-02>x</time>
            <article><h1>T</h1><p class=date>Publié le 6 mai 2024</p></article>""",
        ),
    ],
)
def test_a_date_of_another_page_does_not_count(url: str, markup: str) -> None:
    page = parse(f"<html><body><h1>Title</h1>{markup}</body></html>".encode(), url, want_text=True)
    assert page.published_at == DAY


def test_a_page_that_was_dated_again_keeps_the_day_of_its_address() -> None:
    markup = b"<meta property='article:published_time' content='2026-01-02T00:00:00Z'><p>x</p>"
    assert parse(markup, "https://e.org/2024/5/6/a", want_text=True).published_at == DAY


def test_a_time_on_the_day_of_the_address_is_more_exact() -> None:
    markup = b"<time datetime=2024-05-06T08:00:00Z>8 a.m.</time>"
    assert (
        parse(markup, "https://e.org/2024/05/06/a", want_text=True).published_at == DAY + 8 * HOUR
    )


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<p>Ein Text.</p><p>Zuletzt geändert am 06.05.2024 um 11 Uhr</p>", DAY),
        ("<p>Of a page that tells a year alone</p><footer>Copyright © 2024 A.</footer>", None),
    ],
)
def test_what_a_page_tells_in_passing_is_guessed_but_a_year_is_no_date(
    markup: str, expected: float | None
) -> None:
    page = parse(f"<html><body>{markup}</body></html>".encode(), "https://e.org/a", want_text=True)
    assert page.published_at == expected


def test_no_page_keeps_the_guess_busy() -> None:
    """Beyond its bounds a page is not searched at all; just below them it takes seconds at most."""
    hostile = "<p>12 May 19 June 2 x 3/4/5 6.7.8</p>" * 2_450
    begun = time.perf_counter()
    parse(f"<html><body>{hostile}</body></html>".encode(), "https://e.org/a", want_text=True)
    assert time.perf_counter() - begun < 20
