"""Problems of sites: opened, renewed, ended, forgotten; on SQLite and PostgreSQL."""

from stories import HOME, HOUR, START, news_site, seen, visit_of

from store import Store
from store.enums import HubStatus, SiteStatus
from store.problems import ProblemKey
from store.rules import Fate
from store.values import ReadText

DAY = 24 * HOUR
SILENT, GONE = ProblemKey("silent"), ProblemKey("links_gone", 1)


def test_a_problem_is_opened_once_renewed_and_ended(store: Store) -> None:
    site, _ = news_site(store)
    assert store.problems.update(site, {SILENT: {"days": 1}}, now=START) == [SILENT]
    assert store.problems.update(site, {SILENT: {"days": 2}, GONE: {}}, now=START + 1) == [GONE]
    gone, silent = store.problems.all()
    assert (silent.kind, silent.since, silent.evidence) == ("silent", START, {"days": 2})
    assert gone.hub_url == HOME
    assert store.problems.update(site, {}, now=START + 2, lasting={"silent"}) == []
    assert [row.kind for row in store.problems.all()] == ["silent"]
    assert [row.ended_at for row in store.problems.all(ended=True)] == [START + 2, None]
    assert store.problems.forget(START + 3) == 1
    assert [row.kind for row in store.problems.all(ended=True)] == ["silent"]


def test_a_paused_site_has_no_problems(store: Store) -> None:
    site, _ = news_site(store)
    store.problems.update(site, {SILENT: {}}, now=START)
    assert store.problems.end_inactive(START + 1) == 0
    store.editing.edit_site(site, now=START + 2, state=SiteStatus.PAUSED)
    assert (store.read.active_sites(), store.problems.end_inactive(START + 3)) == ([], 1)
    assert store.problems.all() == []


def test_the_facts_are_those_of_new_pages_and_of_hubs(store: Store) -> None:
    site, home = news_site(store)
    store.write.update_hub(home, state=HubStatus.ACTIVE, baseline_at=START, visited_at=START)
    links = [seen(f"{HOME}{n}.html", fate=Fate.ANNOUNCE) for n in range(9)]
    store.write.visit(visit_of(site, home, START, *links))
    pages = store.problems.pages(site)
    text = ReadText("A story", "words of a story", md5="1" * 32, language="en")
    store.write.visit(visit_of(site, pages[0].id, START, links=None, text=text))
    told = store.problems.pages(site)
    assert [page.text_bytes is None for page in told] == [False, *[True] * 8]
    assert store.problems.counts(site, START + HOUR, 8) == (9, 0)
    assert store.problems.counts(site, START + 2 * DAY, 8) == (0, 9)
    store.write.visit(visit_of(site, home, START + HOUR, links[0]))
    store.write.update_hub(home, shown_links=1)
    (hub,) = store.problems.hubs(site, [page.id for page in told], 3, since=START)
    assert (hub.is_seed, hub.lost, len(hub.shows)) == (True, 8, 9)
    assert len(store.problems.visits([home], START - 1)) == 2
    assert store.problems.list_hubs(site, 10) == [home]
