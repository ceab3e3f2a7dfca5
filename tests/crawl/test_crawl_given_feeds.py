"""Stories of feeds that lie on another host than their articles."""

from email.utils import formatdate
from pathlib import Path
from typing import Any

from fake_web import DAY, HOUR, SPARING, START, Reply, Watch, feed, page, redirect, watch
from stories import announced_pages

from incremental.base.scope import Reach, Scope, read_scope
from incremental.base.urls import canonical_key
from incremental.features.exchange.adding import import_all
from incremental.features.exchange.lists import ReadList, Wanted
from incremental.fetch.options import FetchSettings
from incremental.interfaces.explain.page import explain
from incremental.settings.seeds import SeedTerms, add_seed
from store.enums import LabelOrigin, PageLabel
from store.values import LabelEntry, SiteRow

HOME, FEED = "https://news.example/", "https://feeds.other.test/news"
LATER = START + 30 * HOUR
GIVEN = ReadList("opml", (Wanted(FEED, feed=True, home=HOME),), ())


def rss(*items: str, link: str = "") -> Reply:
    """Write RSS of ``URL`` or ``URL|id``; *link* is the channel's own."""
    rows = "".join(
        f"<item><title>{url}</title><link>{url}</link>{f'<guid>{guid}</guid>' if guid else ''}"
        f"<pubDate>{formatdate(LATER if 'new' in url else START - DAY, usegmt=True)}</pubDate></item>"
        for url, _, guid in (item.partition("|") for item in items)
    )
    own = f"<link>{link}</link>" if link else ""
    text = f'<?xml version="1.0"?><rss version="2.0"><channel><title>F</title>{own}{rows}</channel></rss>'
    return Reply(text.encode(), headers={"Content-Type": "application/rss+xml"})


def growing(*old: str, new: str, link: str = "") -> list[tuple[float, Reply]]:
    """A feed to which *new* comes after thirty hours."""
    return [(0.0, rss(*old, link=link)), (LATER, rss(new, *old, link=link))]


def announced(crawl: Watch) -> list[str]:
    pages = announced_pages(crawl.store, limit=100, order="oldest")
    return [one.url for one in pages]


def site(crawl: Watch) -> SiteRow:
    (row,) = crawl.store.read.sites()
    return row


def old(number: int) -> str:
    return f"{HOME}old-{number}.html"


def test_a_feed_given_alone_is_watched_for_the_site_of_its_entries(tmp_path: Path) -> None:
    new = HOME + "new.html"
    pages: dict[str, Any] = {
        FEED: growing(old(1), old(2), new=new, link=HOME),
        HOME: [(0, page("/old-1.html")), (LATER + DAY, page("/old-1.html", "/new-more.html"))],
        new: page(title="It is new"),
    }
    with watch(tmp_path, pages, FEED) as crawl:
        crawl.run(3 * DAY)
        assert announced(crawl) == [new, HOME + "new-more.html"]
        assert crawl.hubs() == {FEED, HOME}
        assert announced_pages(crawl.store)[-1].hub_url == FEED
        assert read_scope(site(crawl)).holds(new)
        assert site(crawl).name == "news.example"
        assert not [
            url for url in crawl.web.urls() if url.startswith("https://feeds") and url != FEED
        ]


def test_a_feed_keeps_the_name_that_a_list_has_for_it(tmp_path: Path) -> None:
    pages: dict[str, Any] = {
        FEED: growing(old(1), old(2), new=HOME + "new.html", link=HOME),
        HOME: page("/old-1.html"),
        "https://z.test/": page(),
    }
    with watch(tmp_path, pages, "https://z.test/") as crawl:
        wanted = [Wanted(FEED, feed=True, name="The News", folders=("Daily",))]
        import_all(crawl.store, ReadList("opml", tuple(wanted), ()), FetchSettings(), now=START)
        crawl.crawler.load(START)
        crawl.run(2 * DAY)
        (_, row) = crawl.store.read.sites()
        assert read_scope(row).seed_url == HOME
        assert row.name == "The News"
        assert crawl.store.tags.of_sites()[row.id] == ["Daily"]


def test_a_feed_without_a_link_of_its_own_is_of_its_entries_host(tmp_path: Path) -> None:
    new = "https://news.example/2024/new.html"
    pages: dict[str, Any] = {
        FEED: growing(old(1), old(2), "https://advert.test/x.html", new=new),
        HOME: page("/old-1.html"),
    }
    with watch(tmp_path, pages, FEED) as crawl:
        assert announced(crawl.run(3 * DAY)) == [new]
        assert HOME in crawl.hubs() | crawl.hubs("dormant")


def test_articles_on_several_hosts_of_a_domain_widen_the_scope_to_it(tmp_path: Path) -> None:
    sport, home = "https://sport.paper.example/", "https://www.paper.example/"
    new = "https://life.paper.example/new.html"
    entries = (sport + "1.html", home + "2.html", "https://life.paper.example/3.html")
    pages: dict[str, Any] = {FEED: growing(*entries, new=new, link=home), home: page(), new: page()}
    with watch(tmp_path, pages, FEED) as crawl:
        assert announced(crawl.run(3 * DAY)) == [new]
        assert read_scope(site(crawl)).reach is Reach.DOMAIN


def test_a_planet_is_watched_alone_and_its_entries_count_wherever_they_lie(tmp_path: Path) -> None:
    blogs = [f"https://blog-{n}.example/post.html" for n in range(6)]
    new = "https://blog-7.example/new.html"
    pages: dict[str, Any] = {
        FEED: growing(*blogs, new=new, link="https://feeds.other.test/"),
        "https://feeds.other.test/": page("/about.html"),
        "https://feeds.other.test/sitemap.xml": Reply(b"", 500),
        **{url.replace("post", "x"): page() for url in blogs},
        "https://blog-7.example/": page("/new.html", "/other.html"),
        new: page("/other.html", title="A post"),
    }
    with watch(tmp_path, pages, FEED) as crawl:
        assert announced(crawl.run(4 * DAY)) == [new]
        assert announced_pages(crawl.store)[0].title == "A post"
        assert {hub.url for hub in crawl.store.read.hubs()} == {FEED}
        assert set(crawl.web.urls()) == {FEED, new}


def test_a_link_that_a_counting_service_redirects_names_the_article(tmp_path: Path) -> None:
    """The channel links to the site, its entries to the service alone."""
    counted = "https://feedproxy.google.com/~r/news/~3/{}/".format
    new = HOME + "2024/06/new.html"
    burner = "https://feeds.feedburner.com/news"
    pages: dict[str, Any] = {
        burner: growing(counted("a"), counted("b"), new=counted("new"), link=HOME),
        **{counted(one): redirect(f"{HOME}{one}.html", 301) for one in ("a", "b")},
        counted("new"): redirect(new + "?utm_source=feedburner", 301),
        HOME: page("/a.html", "/b.html"),
        new + "?utm_source=feedburner": page(title="It is new"),
    }
    with watch(tmp_path, pages, burner) as crawl:
        crawl.run(3 * DAY)
        (news,) = announced_pages(crawl.store)
        assert (canonical_key(news.url), news.title) == (canonical_key(new), "It is new")
        assert news.hub_url == burner
        said = explain(crawl.store, SPARING, counted("new"), now=crawl.clock.now())
        assert said["verdict"] == "redirects to another address, which is recorded instead"
        # Once more on the site's own list it is the same page.
        crawl.web.pages[HOME] = page("/2024/06/new.html", "/a.html", "/b.html")
        assert len(announced(crawl.run(2 * DAY))) == 1


def test_a_page_that_the_site_showed_first_is_not_announced_again(tmp_path: Path) -> None:
    """The home page shows it hours before the feed does, under the service's address."""
    counted = "https://feedproxy.google.com/~r/news/~3/{}/".format
    burner, new = "https://feeds.feedburner.com/news", HOME + "new.html"
    pages: dict[str, Any] = {
        burner: [
            (0.0, rss(counted("a"), link=HOME)),
            (LATER + DAY, rss(counted("new"), counted("a"), link=HOME)),
        ],
        counted("new"): redirect(new),
        HOME: [(0, page("/a.html")), (LATER, page("/new.html", "/a.html"))],
    }
    with watch(tmp_path, pages, burner) as crawl:
        assert announced(crawl.run(5 * DAY)) == [new]


def test_what_an_entry_keeps_of_its_page_is_taken_before_the_services_link(tmp_path: Path) -> None:
    counted = "https://click.test/{}".format
    new = HOME + "new.html"
    entries = [f"{counted(n)}|{old(n)}" for n in range(3)]
    pages: dict[str, Any] = {
        FEED: growing(*entries, new=f"{counted('new')}|{new}", link=HOME),
        HOME: page("/old-1.html"),
    }
    with watch(tmp_path, pages, FEED) as crawl:
        assert announced(crawl.run(3 * DAY)) == [new]
        assert not crawl.web.times("click.test")


def test_a_feed_of_a_list_is_watched_for_the_site_that_the_list_names(tmp_path: Path) -> None:
    new = HOME + "new.html"
    pages: dict[str, Any] = {
        FEED: growing(old(1), new=new),
        HOME: page("/old-1.html"),
        "https://feeds.other.test/robots.txt": Reply(b"User-agent: *\nDisallow: /private\n"),
    }
    with watch(tmp_path, pages) as crawl:
        import_all(crawl.store, GIVEN, FetchSettings(), now=START)
        crawl.crawler.load(START)
        assert announced(crawl.run(3 * DAY)) == [new]
        assert site(crawl).seed_url == HOME
        assert "https://feeds.other.test/robots.txt" in {one.url for one in crawl.web.asked}


def test_a_feed_of_a_list_whose_entries_lie_elsewhere_is_announced_all_the_same(
    tmp_path: Path,
) -> None:
    """A company's site, its press releases at a wire's."""
    wire = "https://wire.test/company/{}.html".format
    pages: dict[str, Any] = {FEED: growing(wire(1), wire(2), new=wire("new")), HOME: page()}
    with watch(tmp_path, pages) as crawl:
        import_all(crawl.store, GIVEN, FetchSettings(), now=START)
        crawl.crawler.load(START)
        crawl.web.pages[wire("new")] = page(title="Profit")
        assert announced(crawl.run(3 * DAY)) == [wire("new")]


def test_a_given_feed_that_moves_to_another_host_is_followed(tmp_path: Path) -> None:
    moved, new = "https://rss.third.test/news", HOME + "new.html"
    pages: dict[str, Any] = {
        FEED: [(0.0, rss(old(1), link=HOME)), (START + DAY, redirect(moved))],
        moved: growing(old(1), new=new, link=HOME),
        HOME: page("/old-1.html"),
    }
    with watch(tmp_path, pages, FEED) as crawl:
        assert announced(crawl.run(4 * DAY)) == [new]
        assert moved in crawl.hubs()


def test_a_feed_beside_its_articles_brings_the_page_of_its_site_along(tmp_path: Path) -> None:
    own = HOME + "feed.xml"
    pages: dict[str, Any] = {
        HOME: page("/old-1.html"),
        own: [(0, feed((old(1), ""))), (LATER, feed((HOME + "new.html", ""), (old(1), "")))],
    }
    with watch(tmp_path, pages, own) as crawl:
        assert crawl.run(3 * DAY).new() == ["/new.html"]
        assert read_scope(site(crawl)).seed_url == own
        assert crawl.statuses(HOME)[0] == "fetched"


def test_a_strange_host_leads_on_once_and_no_further(tmp_path: Path) -> None:
    """Redirects between hosts that are of no site could go on for ever."""
    first, second = "https://a.test/new", "https://b.test/new"
    entries = ("https://a.test/1", "https://a.test/2")
    pages: dict[str, Any] = {
        FEED: growing(*entries, new=first, link=HOME),
        HOME: page(),
        first: redirect(second),
        second: redirect("https://c.test/new"),
        "https://c.test/new": page(title="Far away"),
    }
    with watch(tmp_path, pages) as crawl:
        import_all(crawl.store, GIVEN, FetchSettings(), now=START)
        crawl.crawler.load(START)
        assert announced(crawl.run(3 * DAY)) == [second]
        assert not crawl.web.times("c.test")


def test_a_feed_of_a_site_that_is_watched_becomes_its_hub(tmp_path: Path) -> None:
    """Two sites would announce each page twice."""
    new = HOME + "new.html"
    pages: dict[str, Any] = {
        FEED: growing(old(1), old(2), new=new, link=HOME),
        HOME: page("/old-1.html"),
    }
    with watch(tmp_path, pages, HOME) as crawl:
        crawl.run(HOUR)
        add_seed(crawl.store, FEED, now=crawl.clock.now())
        crawl.crawler.load(crawl.clock.now())
        assert announced(crawl.run(3 * DAY)) == [new]
        assert site(crawl).seed_url == HOME
        hub = crawl.hub(FEED)
        assert hub is not None
        assert (hub.role, hub.state, hub.site_id) == ("user", "active", site(crawl).id)


def test_a_feed_on_terms_of_its_own_stays_a_site(tmp_path: Path) -> None:
    pages: dict[str, Any] = {FEED: rss(old(1), link=HOME), HOME: page("/old-1.html")}
    with watch(tmp_path, pages, HOME) as crawl:
        terms = SeedTerms(exclude=("*/advert/*",))
        add_seed(crawl.store, FEED, now=crawl.clock.now(), terms=terms)
        crawl.crawler.load(crawl.clock.now())
        crawl.run(DAY)
        names = {row.seed_url: row.name for row in crawl.store.read.sites()}
        assert names == {HOME: "news.example", FEED: HOME}


def test_a_scope_knows_where_the_entries_of_an_open_feed_may_lie() -> None:
    scope = Scope(HOME, exclude=("*/advert/*",), open_feeds=(canonical_key(FEED),))
    beyond = scope.beyond(canonical_key(FEED))
    assert beyond is not None
    assert beyond.holds("https://wire.test/x.html")
    assert not beyond.holds("https://wire.test/advert/x.html")
    assert scope.beyond(canonical_key(HOME)) is None


def _posts(*numbers: int) -> Reply:
    return feed(*((f"{HOME}blog/p{number}.html", "") for number in numbers))


BESIDE = HOME + "blog/feed.xml"
EMPTIED: dict[str, Any] = {
    BESIDE: [
        (0, _posts(3, 2, 1)),
        (START + DAY, _posts(4, 3, 2, 1)),
        (START + 2 * DAY, _posts(5, 4, 3, 2, 1)),
        (START + 10 * DAY, _posts()),
        (START + 11 * DAY, _posts(5, 4, 3, 2, 1)),
    ],
    HOME: page("/blog/p1.html", "/blog/p2.html", "/about.html"),
    HOME + "blog/": page("/blog/p1.html"),
}


def test_a_feed_that_was_empty_once_keeps_its_site_and_all_its_history(tmp_path: Path) -> None:
    """Full again it was taken for one read first, of the site that had been added around it since."""
    with watch(tmp_path, EMPTIED, BESIDE) as crawl:
        crawl.run(5 * DAY)
        add_seed(crawl.store, HOME, now=crawl.clock.now())
        crawl.crawler.load(crawl.clock.now())
        crawl.run(9 * DAY)
        assert [row.seed_url for row in crawl.store.read.sites()] == [BESIDE, HOME]
        assert crawl.new() == ["/blog/p4.html", "/blog/p5.html"]


def test_a_feed_beside_its_articles_becomes_a_hub_of_the_site_that_is_watched(
    tmp_path: Path,
) -> None:
    """Its first entries change nothing of its scope, and still tell whose it is."""
    with watch(tmp_path, EMPTIED, HOME) as crawl:
        crawl.run(HOUR)
        add_seed(crawl.store, BESIDE, now=crawl.clock.now())
        crawl.crawler.load(crawl.clock.now())
        crawl.run(3 * DAY)
        assert site(crawl).seed_url == HOME
        assert crawl.new() == ["/blog/p4.html", "/blog/p5.html"]


def test_a_feed_site_that_a_user_has_judged_is_not_handed_over(tmp_path: Path) -> None:
    pages: dict[str, Any] = {FEED: rss(old(1), link=HOME), HOME: page("/old-1.html")}
    with watch(tmp_path, pages, HOME) as crawl:
        own = add_seed(crawl.store, FEED, now=START)
        said = LabelEntry(
            old(1), canonical_key(old(1)), PageLabel.ARTICLE, LabelOrigin.USER, START, site_id=own
        )
        crawl.store.write.put_labels([said])
        crawl.crawler.load(START)
        crawl.run(DAY)
        assert {row.seed_url for row in crawl.store.read.sites()} == {HOME, FEED}


def test_a_planet_that_was_empty_once_does_not_move_to_the_site_of_its_next_entries(
    tmp_path: Path,
) -> None:
    blogs = [f"https://blog-{n}.example/post.html" for n in range(6)]
    again = [f"https://blog-1.example/post-{n}.html" for n in range(6)]
    pages: dict[str, Any] = {
        FEED: [(0, rss(*blogs)), (START + 2 * DAY, rss()), (START + 4 * DAY, rss(*again))],
        "https://blog-1.example/": page("/post.html"),
    }
    with watch(tmp_path, pages, FEED) as crawl:
        before = read_scope(site(crawl.run(DAY)))
        assert before.open_feeds
        assert read_scope(site(crawl.run(6 * DAY))) == before
