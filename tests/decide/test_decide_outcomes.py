"""What a visit does to the hub itself: failures, returns, neighbours, and looks at pages."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from stories import (
    DAY,
    HOME,
    HOUR,
    START,
    brought,
    html,
    hub,
    of_hub,
    outcome,
    page_facts,
    read_hub,
    target,
    unread_hub,
    view,
    visit_hub,
)

from incremental.decide.cases import decide
from incremental.decide.hub_facts import ArticleFacts, SameFacts
from incremental.decide.hubs import choose_hubs, score_targets
from incremental.decide.sections import SectionFacts
from incremental.fetch.status import ENDED, FetchStatus, Response
from incremental.parse import Link, Page, PageKind
from incremental.settings.sections import HubSettings
from incremental.visit.visit import Outcome, Purpose
from store.enums import PageState
from store.rules import Fate, Rule
from store.values import HubRow, SeenLink, VerificationRow, VisitRecord

NOW = START + HOUR
ARTICLE = HOME + "article"
LIMITS = HubSettings()


def change_of(record: VisitRecord) -> str | None:
    return record.page_change.kind if record.page_change is not None else None


def verified(visit: Outcome, page: VerificationRow) -> VisitRecord:
    return decide(visit, page_facts(page, around(page.canonical_key), NOW)).record


def around(own: str, *found: SeenLink, **fields: Any) -> SectionFacts:
    """What is known around a new page: by default nothing came up with it."""
    base: dict[str, Any] = {"known": {}, "came_up": frozenset(), "settled": True}
    return SectionFacts(NOW, own, found, **base | fields)


def after(row: HubRow, *statuses: FetchStatus) -> tuple[HubRow, list[str | None]]:
    """The hub after failed visits, and what each of them changed of the page."""
    changes: list[str | None] = []
    for status in statuses:
        record = visit_hub(outcome(status), row).record
        changes.append(change_of(record))
        row = replace(row, **record.hub_fields)
    return row, changes


FAILURES = [s for s in FetchStatus if s.value not in ("fetched", "not_modified")]
GONE, TIMED_OUT = FetchStatus.GONE, FetchStatus.TIMED_OUT


@pytest.mark.parametrize("status", sorted(ENDED))
def test_a_hub_is_gone_after_three_failures_of_which_the_last_says_so(status: FetchStatus) -> None:
    row, changes = after(hub(), status, status, status, status)
    assert changes == [None, None, "gone", None]
    assert (row.state, row.failures, row.last_status) == ("dormant", 4, status.value)


def test_an_empty_list_has_its_own_class_and_says_so() -> None:
    empty = Page(HOME, PageKind.OTHER, problem="the body is empty")
    record = visit_hub(outcome(page=empty), hub()).record
    assert (record.status, record.detail) == ("no_list", "the body is empty")


def test_a_hub_that_is_gone_after_time_outs_is_reported_as_gone_too() -> None:
    _, changes = after(hub(), TIMED_OUT, TIMED_OUT, TIMED_OUT, GONE, GONE)
    assert changes == [None, None, None, "gone", None]


@pytest.mark.parametrize("status", [s for s in FAILURES if s not in ENDED])
def test_no_other_failure_makes_a_known_hub_gone(status: FetchStatus) -> None:
    row, changes = after(hub(), status, status, status, status)
    assert changes == [None] * 4
    assert (row.state, row.failures) == ("active", 4)


@pytest.mark.parametrize("status", FAILURES)
def test_what_never_was_there_is_dead_unless_it_may_come(status: FetchStatus) -> None:
    """A usual place that answers 404 is never asked again; one that times out is."""
    hopeless = {"gone", "no_list", "blocked", "invalid_url", "bad_redirect", "forbidden_address"}
    hopeless |= {"robots_denied", "too_many_redirects", "redirected"}
    decision = visit_hub(outcome(status), unread_hub(role="probe"))
    assert decision.gone == (status.value in hopeless)
    assert (decision.record.hub_fields.get("state") == "dropped") == decision.gone


@pytest.mark.parametrize("status", FetchStatus)
def test_a_seed_is_never_given_up(status: FetchStatus) -> None:
    assert not visit_hub(outcome(status), unread_hub(role="seed")).gone


def lost_hub() -> HubRow:
    return hub(state="dormant", failures=5, last_status="timed_out")


def test_a_hub_that_comes_back_is_reported_as_back_however_it_answers() -> None:
    answers = [
        read_hub(outcome(page=html()), view(lost_hub(), target("a"))),
        visit_hub(outcome(FetchStatus.NOT_MODIFIED), lost_hub()),
        visit_hub(outcome(page=html()), lost_hub()),
    ]
    for decision in answers:
        record = decision.record
        assert (change_of(record), record.page_fields["state"]) == ("back", "known")
        assert (record.hub_fields["state"], record.hub_fields["failures"]) == ("active", 0)


def test_a_page_of_a_backfill_event_stays_of_it_when_it_is_back() -> None:
    facts = SameFacts(**{**of_hub(lost_hub()), "of_event": True})
    record = decide(outcome(FetchStatus.NOT_MODIFIED), facts).record
    assert (change_of(record), record.page_fields["state"]) == ("back", "backfill")


def test_a_hub_that_is_dormant_for_another_reason_stays_so() -> None:
    decision = visit_hub(outcome(FetchStatus.NOT_MODIFIED), hub(state="dormant"))
    assert decision.record.page_change is None
    assert "state" not in decision.record.hub_fields


def test_an_unchanged_hub_keeps_its_links_and_counts_the_visit() -> None:
    decision = visit_hub(outcome(FetchStatus.NOT_MODIFIED), hub(unproductive_visits=2))
    record = decision.record
    assert record.links is None
    assert brought(decision).shown == 5
    fields = record.hub_fields
    assert (fields["visits"], fields["unproductive_visits"], fields["visited_at"]) == (2, 3, NOW)
    assert not {"etag", "last_modified", "body_md5"} & set(fields)


def test_validators_are_those_of_the_last_answer() -> None:
    """A 304 may renew them; a body without them clears them, or every later visit would be a 304."""
    renewed = outcome(FetchStatus.NOT_MODIFIED, headers={"etag": '"2"'})
    assert visit_hub(renewed, hub()).record.hub_fields["etag"] == '"2"'
    fresh = outcome(page=html(), body_md5="0" * 32, headers={"last-modified": "x"})
    fields = read_hub(fresh, view(hub(), target("a"))).record.hub_fields
    assert (fields["etag"], fields["last_modified"], fields["body_md5"]) == (None, "x", "0" * 32)


@pytest.mark.parametrize(
    ("status", "kind", "wait"),
    [
        (FetchStatus.FETCHED, "feed", 2 * HOUR),
        (FetchStatus.NOT_MODIFIED, "feed", 2 * HOUR),
        (FetchStatus.FETCHED, "html", 0),
        (FetchStatus.NOT_MODIFIED, "html", 0),
        # How long an error may be kept says nothing of the feed.
        (FetchStatus.GONE, "feed", 0),
    ],
)
def test_what_the_headers_say_of_freshness_counts_for_feeds(
    status: FetchStatus, kind: str, wait: float
) -> None:
    page = replace(html(), kind=PageKind(kind)) if status is FetchStatus.FETCHED else None
    answer = outcome(status, page=page, headers={"cache-control": "max-age=7200"})
    assert brought(visit_hub(answer, hub(kind=kind))).wait_seconds == wait


def test_a_feed_says_in_its_headers_to_wait_a_day_at_most() -> None:
    answer = outcome(FetchStatus.NOT_MODIFIED, headers={"cache-control": "max-age=31536000"})
    assert brought(visit_hub(answer, hub(kind="feed"))).wait_seconds == DAY


def test_unproductive_visits_are_counted_until_something_new_comes() -> None:
    unproductive = read_hub(outcome(page=html()), view(hub(unproductive_visits=4)))
    assert unproductive.record.hub_fields["unproductive_visits"] == 5
    productive = read_hub(outcome(page=html()), view(hub(unproductive_visits=4), target("a")))
    assert productive.record.hub_fields["unproductive_visits"] == 0


def test_the_kind_of_a_hub_is_what_its_body_turned_out_to_be() -> None:
    page = Page(url=HOME, kind=PageKind.FEED)
    assert read_hub(outcome(page=page), view(unread_hub())).record.hub_fields["kind"] == "feed"


def test_what_a_page_names_besides_its_links_becomes_known() -> None:
    page = html(feed_urls=(HOME + "feed", "mailto:x"), refresh_url=HOME + "home", language="en")
    record = read_hub(outcome(page=page), view(unread_hub(role="seed"))).record
    named = {link.url: link.hub.role for link in record.more_pages if link.hub}
    assert named == {HOME + "feed": "feed", HOME + "home": "seed"}
    assert record.page_fields["language"] == "en"
    again = visit_hub(outcome(page=page), hub()).record
    assert {link.url for link in again.more_pages} == set(named)


def test_the_sitemaps_of_an_index_become_hubs() -> None:
    page = Page(url=HOME, kind=PageKind.SITEMAP_INDEX, links=(Link(HOME + "s1.xml"),))
    record = read_hub(outcome(page=page), view(unread_hub(), target("s1.xml"))).record
    assert [link.hub.kind for link in record.more_pages if link.hub] == ["sitemap"]


def test_the_likeliest_links_become_hubs_within_the_limits() -> None:
    found = [target(f"list-{letter}/") for letter in "abc"]
    scores = {t.canonical_key: p for t, p in zip(found, (0.6, 0.9, 0.7), strict=True)}
    one, two = (t.canonical_key for t in (found[1], found[2]))

    def chosen(counts: Mapping[str, int], **limits: int) -> set[str]:
        return choose_hubs(found, scores, counts, HubSettings(**limits))

    assert chosen({}) == set(scores)
    assert chosen({"a.example/": 198}) == {one, two}
    assert chosen({"a.example/": 200}) == set()
    assert chosen({"a.example/": 1, "news.example/*/": 2}, max_per_template=4) <= set(scores)


def test_one_form_of_address_has_a_bounded_number_of_hubs() -> None:
    """A calendar without end makes hubs of one template only, and not many of these."""
    found = [target(f"archive/{n}/") for n in range(1_000, 1_100)]
    scores = {t.canonical_key: 0.9 for t in found}
    assert len(choose_hubs(found, scores, {}, LIMITS)) == 60
    counts = {"news.example/archive/0/": 59}
    assert len(choose_hubs(found, scores, counts, LIMITS)) == 1


def test_far_pages_of_a_list_are_no_hubs() -> None:
    found = [target(f"news?page={n}") for n in (2, 5, 6, 40)]
    scores = {t.canonical_key: 0.9 for t in found}
    assert choose_hubs(found, scores, {}, LIMITS) == {
        target("news?page=2").canonical_key,
        target("news?page=5").canonical_key,
    }


def test_what_looks_like_a_hub_but_is_over_the_limit_is_no_hub_and_verified() -> None:
    link = target("list/")
    full = view(hub(), link, scores={link.canonical_key: 0.9}, counts={"a.example/": 200})
    (seen,) = read_hub(outcome(page=html()), full).record.links or ()
    assert (seen.hub, seen.fate, seen.rule) == (None, Fate.VERIFY, Rule.HUB_LIMIT)


def test_new_hubs_are_visited_the_likeliest_first() -> None:
    sure, doubtful = target("sure/"), target("doubtful/")
    scores = {sure.canonical_key: 0.95, doubtful.canonical_key: 0.55}
    record = read_hub(
        outcome(page=html()), view(unread_hub(), sure, doubtful, scores=scores)
    ).record
    due = {link.url: link.hub.due_at for link in record.links or () if link.hub}
    assert NOW < due[sure.url] < due[doubtful.url] <= NOW + HOUR


def test_nothing_to_score_asks_no_classifier() -> None:
    assert score_targets([], None) == {}  # type: ignore[arg-type]  # it must not be touched


def verification(
    status: FetchStatus = FetchStatus.FETCHED, url: str = ARTICLE, **fields: object
) -> Outcome:
    return outcome(status, url=url, purpose=Purpose.VERIFY, **fields)  # type: ignore[arg-type]


def row(state: str = "known") -> VerificationRow:
    return VerificationRow(
        5,
        1,
        ARTICLE,
        "//news.example/article",
        START,
        None,
        "",
        None,
        PageState(state),
        7,
        first_seen_at=NOW,
    )


def test_a_verification_takes_title_date_and_language() -> None:
    page = html(ARTICLE, title="Title", language="en", published_at=START - DAY)
    fields = verified(verification(page=page, body_md5="0" * 32), row()).page_fields
    assert fields["title"] == "Title"
    assert fields["language"] == "en"
    assert fields["published_at"] == START - DAY
    assert (fields["verify_due_at"], fields["verified_at"]) == (None, NOW)


def test_a_page_without_title_or_date_keeps_those_of_its_link() -> None:
    fields = verified(verification(), row()).page_fields
    assert not {"title", "published_at"} & set(fields)


def test_a_date_in_the_future_says_nothing_of_a_page() -> None:
    """Events are listed under the day when they take place."""
    page = html(ARTICLE, title="Title", published_at=NOW + 9 * DAY)
    fields = verified(verification(page=page, body_md5="0" * 32), row()).page_fields
    assert "published_at" not in fields


@pytest.mark.parametrize("state", ["known", "pending"])
@pytest.mark.parametrize(
    "visit",
    [
        verification(GONE),
        verification(page=html(ARTICLE, title="404 Not Found", text="Sorry.")),
        verification(page=html(ARTICLE, title="页面不存在", text="请返回首页")),
    ],
)
def test_a_page_that_is_not_there_is_gone_and_not_announced(visit: Outcome, state: str) -> None:
    seen = NOW - 61 * DAY
    record = verified(visit, replace(row(state), verified_at=NOW - HOUR, first_seen_at=seen))
    assert record.page_fields["state"] == "gone"
    assert record.page_fields["rule"]
    assert record.fate is not Fate.ANNOUNCE
    assert change_of(record) == ("gone" if state == "known" else None)


def test_a_page_that_is_linked_before_it_is_there_is_verified_once_more() -> None:
    record = verified(verification(GONE), row("pending"))
    assert record.page_fields["verify_due_at"] == NOW + HOUR
    assert "state" not in record.page_fields
    assert record.fate is not Fate.ANNOUNCE


@pytest.mark.parametrize(("days", "wait"), [(0.0, HOUR), (3.0, 6 * HOUR), (37.0, 200 / 48 * DAY)])
def test_the_longer_a_page_is_missing_the_rarer_it_is_looked_for(days: float, wait: float) -> None:
    waiting = replace(row("missing"), verified_at=NOW - HOUR, first_seen_at=NOW - days * DAY)
    record = verified(verification(GONE), waiting)
    assert record.page_fields["state"] == "missing"
    assert record.page_fields["verify_due_at"] == NOW + wait
    assert verified(verification(), waiting).fate is Fate.ANNOUNCE


def redirected(asked: str, answered: str) -> Outcome:
    visit = verification(url=asked, page=html(answered))
    response = Response(url=answered, status=FetchStatus.FETCHED, redirects=(asked,))
    return replace(visit, response=response)


@pytest.mark.parametrize(
    ("asked", "answered", "gone"),
    [
        (ARTICLE, HOME, True),
        (HOME + "?p=12", HOME, True),
        (HOME + "?p=12", HOME + "2024/title/", False),
        ("http://blog.example/", "https://blog.example/", False),
        (HOME + "?p=12", HOME + "?lang=en&p=12", False),
        (ARTICLE, ARTICLE + "/", False),
    ],
)
def test_a_page_that_leads_to_the_home_page_is_gone(asked: str, answered: str, gone: bool) -> None:
    record = verified(redirected(asked, answered), row())
    assert (record.page_fields.get("state") == "gone") == gone


def test_a_page_that_waited_is_announced_at_its_verification_even_if_that_fails() -> None:
    """A site that does not let us look cannot hide that its hub shows the page."""
    for visit in (verification(), verification(FetchStatus.BLOCKED), verification(TIMED_OUT)):
        record = verified(visit, row("pending"))
        assert record.fate is Fate.ANNOUNCE
        assert record.first_hub_id == 7
    assert verified(verification(), row("known")).fate is Fate.KNOWN


@pytest.mark.parametrize("news", [True, False])
def test_a_supposed_hub_that_reads_like_an_article_is_announced_if_it_was_news(
    *, news: bool
) -> None:
    """The unknown pages below it came with it: they are looked at, and told if they are there."""
    visit, part = outcome(page=html(ARTICLE, title="T")), target("news/part")
    page = row("pending" if news else "known")
    section = around(target("news/article").canonical_key, part, by_article=True)
    known = {**of_hub(unread_hub()), "row": page}
    facts = ArticleFacts(**known, page=html(ARTICLE, title="T"), section=section, refreshes=False)
    decision = decide(visit, facts)
    assert (decision.record.fate is Fate.ANNOUNCE) == news
    assert decision.record.drop_hub
    assert decision.gone
    waiting = [(link.url, link.fate) for link in decision.record.more_pages]
    assert waiting == ([(part.url, "verify")] if news else [])
