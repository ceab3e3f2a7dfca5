"""Links that lead nowhere, and old pages that only an article leads to."""

from dataclasses import replace
from email.utils import formatdate
from typing import Any

import pytest
from stories import (
    DAY,
    HOME,
    HOUR,
    START,
    by_canonical_key,
    html,
    hub,
    known_page,
    outcome,
    page_facts,
    read_hub,
    target,
    unread_hub,
    view,
)

from classifier.hub.context import SiteIndex
from incremental.decide.hub_facts import FailedFacts
from incremental.decide.hubs import NEVER_THERE, SiteContext
from incremental.decide.sections import SectionFacts, section_of
from incremental.decide.verification import VerifiedFacts, decide_verification, files_differ
from incremental.fetch.status import FetchStatus
from incremental.schedule.allocation import MissingPages
from store.enums import HubRole, PageState
from store.rules import COLUMNS, Columns, Fate, Rule
from store.values import ReadText, SeenLink, VerificationRow, VerifyAgain, VisitRecord

NOW = START + 100 * DAY
BROKEN = [f"{HOME}post/:/news.example/post/{n}-title.html" for n in range(12)]
ROW = VerificationRow(
    *(5, 1, HOME + "manual/x/", "//news.example/manual/x", START, None, "", None),
    state=PageState.PENDING,
    first_hub_id=7,
    first_seen_at=NOW,
)


def context(*asked_for: tuple[str, bool]) -> SiteContext:
    return SiteContext.build([], [], NOW, asked_for=asked_for)


def test_pages_in_a_row_that_were_not_there_count_by_folder_and_kind_of_file() -> None:
    known = context(*((url, False) for url in BROKEN[:4]), (HOME + "data/a.csv", False))
    assert known.missing_like(BROKEN[9]) == 4
    assert known.missing_like(HOME + "data/b.csv") == 1
    assert known.missing_like(HOME + "data/b.html") == 0
    known.asked_for(BROKEN[5], there=False)
    assert known.missing_like(BROKEN[9]) == 5
    known.asked_for(BROKEN[6], there=True)
    assert known.missing_like(BROKEN[9]) == 0


def test_a_page_that_was_there_ends_the_row_and_a_list_that_is_read_stands_for_its_form() -> None:
    known = context((BROKEN[0], False), (BROKEN[1], True), (BROKEN[2], False))
    assert known.missing_like(BROKEN[9]) == 1
    lists = SiteContext(SiteIndex.build([]), {}, NOW)
    lists = lists.build([], [(HOME + "tags/a.html", True)], NOW, [(HOME + "tags/b.html", False)])
    assert lists.missing_like(HOME + "tags/c.html") == 0


def facts_of(row: VerificationRow, **fields: Any) -> VerifiedFacts:
    """What is known of a page in whose folder nothing was known before."""
    own, there = row.canonical_key, (target("manual/y/"),)
    section = SectionFacts(NOW, own, there, {}, frozenset({"//news.example/manual/"}), settled=True)
    return page_facts(row, section, NOW, **fields)


MISSED = MissingPages(1, days=100, per_day=48)


def wait_hours(
    missing_like: int,
    age_days: float = 1.0,
    missing: MissingPages = MISSED,
    *,
    by_article: bool = True,
) -> float | None:
    row = replace(ROW, first_seen_at=NOW - age_days * DAY, verified_at=NOW - HOUR)
    answer = outcome(FetchStatus.GONE, url=row.url)
    facts = facts_of(row, missing_like=missing_like, missing=missing, by_article=by_article)
    record = decide_verification(answer, facts).record
    again_at = record.page_fields.get("verify_due_at")
    return None if again_at is None else (again_at - NOW) / HOUR


def test_a_form_whose_pages_were_never_there_is_asked_for_less_and_less() -> None:
    assert wait_hours(0) == pytest.approx(48)
    assert wait_hours(3) == pytest.approx(4 * 48)
    assert wait_hours(NEVER_THERE - 1) is None


@pytest.mark.parametrize(
    ("age_hours", "pages", "days", "hours"),
    [
        (3, 1, 100, 3),
        (20, 1, 100, 6),
        (20, 3, 100, 18),
        (119, 1, 100, 6),
        (121, 4, 100, 121),  # after five days it is hardly awaited any more
        (20, 1, 29, 40),  # a new site
    ],
)
def test_a_listed_page_is_awaited_for_five_days(
    age_hours: float, pages: int, days: float, hours: float
) -> None:
    missing = MissingPages(pages, days, per_day=48)
    wait = wait_hours(0, age_hours / 24, missing, by_article=False)
    assert wait == pytest.approx(hours)


def test_the_pages_that_a_site_misses_share_one_request_in_two_hundred() -> None:
    assert wait_hours(0, 30) == pytest.approx(200 / 48 * 24)
    assert wait_hours(0, 30, replace(MISSED, pages=4)) == pytest.approx(4 * 200 / 48 * 24)


@pytest.mark.parametrize(
    "path",
    ["a/(https:/x.example/y)", "news.example/b.html", "%5Bhttps:/x.example", "a/ann@x.example"],
)
def test_a_link_whose_scheme_was_forgotten_is_asked_for_twice(path: str) -> None:
    row = replace(ROW, url=HOME + path, canonical_key="//news.example/" + path)
    answer = outcome(FetchStatus.GONE, url=row.url)
    first = decide_verification(answer, facts_of(row, by_article=False)).record.page_fields
    assert first["verify_due_at"] == NOW + HOUR
    again = replace(row, verified_at=NOW)
    then = decide_verification(answer, facts_of(again, by_article=False)).record.page_fields
    assert (then["verify_due_at"], then["state"]) == (None, PageState.GONE)


def test_a_list_that_never_was_counts_and_ten_in_a_row_end_its_form() -> None:
    """A recorded weblog's template named a hundred lists of categories that were not there."""
    row = unread_hub(url=HOME + "blog/topics/x.html")
    answer = outcome(FetchStatus.GONE, url=row.url)
    facts = FailedFacts(now=NOW, hub=row, row=ROW, of_event=False)
    assert facts.was_there(answer) is False
    assert facts.was_there(outcome(FetchStatus.SERVER_ERROR, url=row.url)) is None
    probe = replace(facts, hub=replace(row, role=HubRole.PROBE))
    assert probe.was_there(answer) is None
    lists = target("blog/topics/y.html")
    known = {"never_there": frozenset({lists.canonical_key}), "scores": {lists.canonical_key: 0.9}}
    (link,) = links("list", lists, **known).values()
    assert (link.rule, link.hub) == (Rule.NEVER_THERE, None)


def links(role: str, *found: SeenLink, **fields: Any) -> dict[str, SeenLink]:
    decision = read_hub(outcome(page=html()), view(hub(role=role), *found, **fields))
    return {link.url: link for link in decision.record.links or ()}


def test_what_one_article_links_to_is_verified_before_it_is_announced() -> None:
    """Without any room for verification fetches, too; a list's links are announced then."""
    (of_article,) = links("article", target("a")).values()
    assert of_article.fate is Fate.VERIFY
    (of_list,) = links("list", target("a")).values()
    assert of_list.fate is Fate.ANNOUNCE


def test_an_article_is_not_believed_where_ten_pages_in_a_row_were_missing() -> None:
    broken = target(BROKEN[0])
    never = frozenset({broken.canonical_key})
    (link,) = links("article", broken, never_there=never).values()
    assert (link.rule, COLUMNS[link.fate]) == (Rule.NEVER_THERE, Columns(PageState.GONE))
    (link,) = links("list", broken, never_there=never).values()
    assert (link.rule, link.fate) == (Rule.NEW_LINK, Fate.VERIFY)


def verified(*, by_article: bool, modified_at: float, row: VerificationRow = ROW) -> VisitRecord:
    headers = {"last-modified": formatdate(modified_at, usegmt=True)}
    facts = facts_of(row, by_article=by_article)
    page = html(row.url, title="A page of the manual")
    return decide_verification(outcome(page=page, url=row.url, headers=headers), facts).record


def test_an_announced_page_that_is_fetched_again_keeps_what_is_known_of_it() -> None:
    row = replace(ROW, state=PageState.KNOWN, announced_at=START, verified_at=START)
    empty = ReadText(title="", text="", md5="0" * 32)
    answer = replace(outcome(page=html(row.url), body_md5=empty.md5), read=empty)
    record = decide_verification(answer, facts_of(row, by_article=False)).record
    assert record.text is None
    assert record.page_fields.keys() & {"title", "language", "published_at"} == set()


def test_an_old_page_that_an_article_begins_to_link_to_is_no_news() -> None:
    """Its file was not touched since the site was added; what it links to is not followed."""
    record = verified(by_article=True, modified_at=START - DAY)
    assert (record.fate, record.page_fields["rule"]) == (Fate.KNOWN, Rule.OLDER)
    assert record.more_pages == ()


def test_a_page_that_was_written_since_is_news_and_so_is_what_a_list_shows() -> None:
    record = verified(by_article=True, modified_at=START + DAY)
    assert record.fate is Fate.ANNOUNCE
    assert [link.url for link in record.more_pages] == [HOME + "manual/y/"]
    assert verified(by_article=False, modified_at=START - DAY).fate is Fate.ANNOUNCE


def test_an_old_day_in_its_address_makes_an_articles_page_old_and_a_new_one_does_not() -> None:
    old = replace(ROW, url=HOME + "broadcast/2012-12-02.html")
    assert verified(by_article=True, modified_at=NOW, row=old).fate is Fate.KNOWN
    new = replace(ROW, url=HOME + "broadcast/2024-02-01.html")
    assert verified(by_article=True, modified_at=START - DAY, row=new).fate is Fate.ANNOUNCE


def test_what_only_a_new_page_of_its_folder_links_to_must_be_as_new() -> None:
    """A new page on maps linked to three examples that no list ever showed; others link to old notes."""
    row = replace(ROW, rule=Rule.SAME_FOLDER)
    assert verified(by_article=True, modified_at=NOW - HOUR, row=row).fate is Fate.ANNOUNCE
    record = verified(by_article=True, modified_at=NOW - 30 * DAY, row=row)
    assert (record.fate, record.page_fields["rule"]) == (Fate.KNOWN, Rule.SAME_FOLDER)
    assert record.page_fields["state"] is PageState.KNOWN


def test_the_date_of_a_deployment_does_not_make_a_file_new() -> None:
    row, headers = replace(ROW, rule=Rule.SAME_FOLDER), {"last-modified": formatdate(NOW)}
    facts = facts_of(row, by_article=True, files_differ=False)
    answer = outcome(page=html(row.url), url=row.url, headers=headers)
    assert decide_verification(answer, facts).record.fate is Fate.KNOWN


def test_a_hub_that_begins_to_show_such_a_page_makes_it_news() -> None:
    at, known = (
        target("manual/x/"),
        by_canonical_key(known_page(5, "manual/x/", rule="same_folder")),
    )
    (link,) = links("list", at, known=known).values()
    assert (link.rule, link.fate) == (Rule.SHOWN_LATER, Fate.ANNOUNCE)
    (link,) = links("article", at, known=known).values()
    assert link.fate is Fate.ANNOUNCE
    (link,) = links("list", at, known=known, visible=frozenset({5})).values()
    assert link.fate is Fate.KNOWN


def test_a_new_section_that_such_a_page_belongs_to_decides_for_it() -> None:
    known = by_canonical_key(known_page(6, "manual/y/", rule="same_folder"))
    section = replace(facts_of(ROW).section, known=known)
    found = section_of(section)
    assert found.unknown == ()
    assert found.read_again == (VerifyAgain(6, PageState.PENDING, Rule.SECTION),)


def test_files_differ_where_pages_read_after_a_change_of_another_are_older() -> None:
    def read(*changed_at: float, visited_at: float = NOW) -> bool:
        hubs = [
            replace(hub(), visited_at=visited_at, last_modified=formatdate(at, usegmt=True))
            for at in changed_at
        ]
        return files_differ(hubs)

    old = (NOW - 90 * DAY, NOW - 80 * DAY, NOW - 70 * DAY)
    assert read(*old, NOW - DAY)
    assert not read(*(NOW - DAY for _ in range(4)))
    # A page that a program writes is of now, whatever the files are.
    assert not read(*(NOW - 90 * DAY for _ in range(3)), NOW)


def test_a_chapter_that_an_article_leads_to_brings_its_own_folder_and_not_the_whole_menu() -> None:
    """On rocketmq's site nine chapters of old folders came with the menu of a new one."""
    chapter = unread_hub(
        url=HOME + "zh/docs/sdk/05go", canonical_key="//news.example/zh/docs/sdk/05go"
    )
    menu = [target(path) for path in ("zh/docs/sdk/04c", "docs/sdk/05go", "docs/feature/03fifo")]
    answer = outcome(page=html())
    led_to = read_hub(answer, view(chapter, *menu, awaited=True, by_article=True))
    rules = {link.url: link.rule for link in led_to.record.links or ()}
    assert [rules[one.url] for one in menu] == [Rule.NEW_SECTION, Rule.NEW_SECTION, Rule.BASELINE]
    listed = read_hub(answer, view(chapter, *menu, awaited=True))
    assert {link.rule for link in listed.record.links or ()} == {Rule.NEW_SECTION}
