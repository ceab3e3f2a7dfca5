"""What is old is forgotten, in batches; what identifies a page, and what a reader marked, never is."""

from dataclasses import replace
from typing import Any

import pytest
from stories import DAY, HOME, START, announced_pages, new_hub, news_site, seen, visit_of

from store import Store
from store.answers import NewQuery, NewsAnswer
from store.discovery.values import NewProposal, ProposalState, ReadPage
from store.enums import ChangeKind
from store.maintenance.retention import Kind
from store.outbox import alone
from store.values import HostRow, NextRefresh, PageChange, ReadText, SiteChanges, TopicScore

OLD = START + DAY
NOW = START + 400 * DAY
TEXT = ReadText("A bridge", "The bridge over the river opens.", "a" * 32, "en", b"ab" * 64)


def forget(store: Store, kind: Kind, before: float = NOW - 100 * DAY) -> int:
    """Forget all of a kind; return how many rows went."""
    rows, cursor = 0, 0
    while cursor is not None:
        batch = store.retention.forget(kind, before=before, now=NOW, after=cursor)
        rows, cursor = rows + batch.rows, batch.cursor  # type: ignore[assignment]
    return rows


def page_id(store: Store, path: str) -> int:
    (row,) = store.read.known(1, [seen(HOME + path).canonical_key]).values()
    return row.id


def announce(store: Store, path: str, at: float = OLD, text: ReadText | None = TEXT) -> int:
    """Announce a page that is read with the next visit; return its id."""
    store.write.visit(visit_of(1, 1, at, seen(HOME + path, fate="announce"), keep_missing=True))
    page = page_id(store, path)
    store.write.visit(visit_of(1, page, at + 1, links=None, text=text))
    return page


def change(store: Store, page: int, at: float, kind: str = "changed", **bodies: str) -> None:
    detail = PageChange(ChangeKind(kind), "x", bodies.get("before"), bodies.get("after"))
    store.write.visit(visit_of(1, page, at, links=None, page_change=detail))


def test_what_was_forgotten_of_a_page_is_never_announced_again(store: Store) -> None:
    site, home = news_site(store)
    page = announce(store, "a")
    store.write.visit(visit_of(site, home, OLD + DAY))  # the list no longer shows it
    for kind in Kind:
        forget(store, kind, NOW)
    store.write.visit(visit_of(site, home, NOW, seen(HOME + "a", fate="announce")))
    (row,) = announced_pages(store)
    assert (row.page_id, row.found_at) == (page, OLD)
    assert [one.kind for one in store.answers.history(page)] == ["added"]


def test_a_text_is_forgotten_and_its_page_found_by_its_title(store: Store) -> None:
    news_site(store)
    page = announce(store, "a")
    assert announced_pages(store, text="river")
    assert forget(store, Kind.TEXTS) == 1
    assert not announced_pages(store, text="river")
    assert [row.page_id for row in announced_pages(store, text="bridge")] == [page]
    kept = store.answers.text(page)
    assert kept is not None
    assert (kept.text, kept.md5, kept.forgotten_at) == ("", None, NOW)
    assert forget(store, Kind.TEXTS) == 0
    # A page that is read again has a text again.
    store.write.visit(visit_of(1, page, NOW, links=None, text=TEXT))
    assert announced_pages(store, text="river")
    kept = store.answers.text(page)
    assert kept is not None
    assert kept.forgotten_at is None


def test_texts_of_starred_and_refreshed_pages_stay(store: Store) -> None:
    news_site(store)
    starred, refreshed, young, plain = (announce(store, path) for path in "abcd")
    store.answers.mark([starred], now=OLD, starred=True)
    planned = NextRefresh(NOW)
    store.write.visit(visit_of(1, refreshed, OLD + 5, links=None, next_refresh=planned))
    store.write.visit(visit_of(1, young, NOW, links=None, text=TEXT))
    assert forget(store, Kind.TEXTS) == 1
    texts = {page: store.answers.text(page) for page in (starred, refreshed, young, plain)}
    assert [page for page, text in texts.items() if text and text.text] == [
        *(starred, refreshed, young)
    ]


def test_copies_are_still_named_when_the_text_is_forgotten(store: Store) -> None:
    news_site(store)
    one, other = announce(store, "a"), announce(store, "b", OLD + 10)
    forget(store, Kind.TEXTS)
    copies = store.near_duplicates.of(one)
    assert [(copy.page_id, copy.alike) for copy in copies] == [(other, 1.0)]


def test_old_changes_are_forgotten_and_the_announcement_is_not(store: Store) -> None:
    news_site(store)
    page = announce(store, "a")
    change(store, page, OLD + 2 * DAY, before="a" * 32, after="b" * 32)
    change(store, page, OLD + 3 * DAY, before="b" * 32, after="c" * 32)
    change(store, page, NOW - DAY, before="c" * 32, after="d" * 32)
    assert forget(store, Kind.CHANGES) == 2
    assert [one.kind for one in store.answers.history(page)] == ["changed", "added"]
    # What stood before the change that is left is known since the last one that was forgotten.
    versions = [(one.at, one.body_md5[0]) for one in store.answers.versions(page)]
    assert versions == [(OLD + 3 * DAY, "c"), (NOW - DAY, "d")]
    detail = store.answers.page(page)
    assert detail is not None
    assert detail.changes_from == OLD + 3 * DAY


def test_the_history_of_a_starred_page_stays(store: Store) -> None:
    news_site(store)
    page = announce(store, "a")
    change(store, page, OLD + DAY, before="a" * 32, after="b" * 32)
    store.answers.mark([page], now=OLD, starred=True)
    assert forget(store, Kind.CHANGES) == 0


def test_links_that_ended_long_ago_are_forgotten(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("store.maintenance.retention.KEPT_OF_HUB", 2)
    site, home = news_site(store)
    for day in range(6):
        store.write.visit(visit_of(site, home, OLD + day * DAY, seen(f"{HOME}{day}")))
    store.write.visit(visit_of(site, home, NOW, seen(HOME + "5"), seen(HOME + "young")))
    store.write.visit(visit_of(site, home, NOW + 1, seen(HOME + "5")))
    assert forget(store, Kind.SIGHTINGS) == 4
    left = {store.read.urls([one.page_id])[0] for one in store.read.sights(home)}
    # The last two that ended, one of them young, and what is shown.
    assert left == {HOME + "4", HOME + "young", HOME + "5"}
    assert all(page_id(store, str(day)) for day in range(6))


def test_the_links_of_the_last_announced_pages_stay(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Coverage compares hubs by them, however slow the site."""
    monkeypatch.setattr("store.maintenance.retention.KEPT_OF_HUB", 0)
    monkeypatch.setattr("store.maintenance.retention.KEPT_OF_SITE", 2)
    site, home = news_site(store)
    for day in range(4):
        link = seen(f"{HOME}{day}", fate="announce")
        store.write.visit(visit_of(site, home, OLD + day * DAY, link))
    store.write.visit(visit_of(site, home, OLD + 5 * DAY))
    assert forget(store, Kind.SIGHTINGS) == 2
    left = {store.read.urls([one.page_id])[0] for one in store.read.sights(home)}
    assert left == {HOME + "2", HOME + "3"}


def test_a_former_hub_forgets_what_it_showed(store: Store) -> None:
    site, _ = news_site(store)
    ids = store.write.add_pages(site, [seen(HOME + "list", hub=new_hub())], now=START)
    (hub,) = ids.values()
    store.write.visit(visit_of(site, hub, OLD, seen(HOME + "a"), seen(HOME + "b")))
    assert forget(store, Kind.SIGHTINGS) == 0
    store.write.change_site(site, SiteChanges(ended=(hub,)), START)
    assert forget(store, Kind.SIGHTINGS) == 2
    assert store.read.sights(hub) == []


def test_sightings_are_forgotten_hub_by_hub(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("store.maintenance.retention.KEPT_OF_HUB", 0)
    site, _ = news_site(store)
    links = [seen(f"{HOME}list/{number}", hub=new_hub()) for number in range(25)]
    hubs = store.write.add_pages(site, links, now=START)
    for hub in hubs.values():
        store.write.visit(visit_of(site, hub, OLD, seen(HOME + "a")))
        store.write.visit(visit_of(site, hub, OLD + 1))
    first = store.retention.forget(Kind.SIGHTINGS, before=NOW, now=NOW)
    assert first.rows == 10
    assert first.cursor is not None
    assert forget(store, Kind.SIGHTINGS, NOW) == 15


@pytest.mark.parametrize("kind", [Kind.VISITS, Kind.CHANGES, Kind.TEXTS])
def test_one_call_forgets_a_batch(
    store: Store, monkeypatch: pytest.MonkeyPatch, kind: Kind
) -> None:
    monkeypatch.setattr("store.maintenance.retention.BATCH", 3)
    news_site(store)
    pages = [announce(store, str(number)) for number in range(7)]
    for page in pages:
        change(store, page, OLD + DAY, "gone")
    first = store.retention.forget(kind, before=NOW, now=NOW)
    assert (first.rows, first.cursor) == (3, 0)
    assert forget(store, kind, NOW) >= 4
    assert store.retention.forget(kind, before=NOW, now=NOW).rows == 0


def test_messages_sent_are_forgotten_and_those_that_wait_are_not(store: Store) -> None:
    news_site(store)
    pages = [announce(store, path) for path in "abc"]
    store.outbox.queue("mail", alone(pages), now=OLD)
    store.outbox.queue("removed", alone(pages[:1]), now=OLD)
    waiting = store.outbox.open("mail")
    store.outbox.begin([waiting[0].id], "key")
    store.outbox.sent("key", now=OLD + 1)
    assert store.outbox.forget(before=NOW - 100 * DAY, keep=["mail"]) == 2
    assert store.outbox.forget(before=NOW - 100 * DAY, keep=["mail"]) == 0
    assert store.outbox.counts() == {"mail": {"waiting": 2}}


def test_guesses_are_forgotten_and_judgements_are_not(store: Store) -> None:
    site, home = news_site(store)
    topic = store.topics.add("bridges", keywords=["bridge"], method="fused", now=START)
    store.write.visit(visit_of(site, home, OLD, *(seen(HOME + path) for path in "ab")))

    def score(path: str, *, fetched: bool) -> TopicScore:
        key = seen(HOME + path).canonical_key
        return TopicScore(key, topic, 0.5, "doubtful", fetched, "fused", "1")

    scores = [score("a", fetched=False), score("b", fetched=True)]
    store.topics.put_scores(site, scores, now=OLD)
    assert forget(store, Kind.GUESSES) == 1
    assert forget(store, Kind.GUESSES, NOW) == 0


def test_a_host_that_was_not_asked_for_long_is_forgotten(store: Store) -> None:
    store.write.put_host(HostRow("a.example", OLD, 0, None, None))
    store.write.put_host(HostRow("b.example", NOW, 3, None, None))
    assert forget(store, Kind.HOSTS) == 1
    assert store.read.host("a.example") is None
    assert store.read.host("b.example") is not None


def test_pages_of_discovery_and_open_proposals_are_forgotten_and_decisions_are_not(
    store: Store,
) -> None:
    topic = store.topics.add("bridges", keywords=["bridge"], method="fused", now=START)
    for url, at in (("http://a.example/", OLD), ("http://b.example/", NOW)):
        store.discovery.record(topic, [ReadPage(url, url, "forward")], now=at)
    store.discovery.propose(
        topic,
        [NewProposal(host, at, "", (), ()) for at, host in ((1, "a.example"), (2, "b.example"))],
        now=OLD,
    )
    (best, _) = store.discovery.proposals(topic)
    store.discovery.decide([best.id], ProposalState.REJECTED)
    forgotten = [store.discovery.forget_older(before=NOW - 100 * DAY) for _ in range(3)]
    assert forgotten == [1, 1, 0]
    assert [one.url for one in store.discovery.pages(topic)] == ["http://b.example/"]
    assert [one.host for one in store.discovery.proposals(topic, None)] == ["b.example"]


def test_a_forgotten_text_can_be_followed_in_the_list(store: Store) -> None:
    """The list, its counts and its cursor are what they were, but for the beginning of the text."""

    def listed() -> tuple[NewsAnswer, Any]:
        answer = store.answers.new(NewQuery(limit=3))
        rows = tuple(replace(row, excerpt="") for row in answer.rows)
        return replace(answer, rows=rows), store.answers.totals()

    news_site(store)
    for number in range(5):
        announce(store, str(number), OLD + number)
    before = listed()
    for kind in Kind:
        forget(store, kind, NOW)
    assert listed() == before
