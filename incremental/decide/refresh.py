"""Deciding on a page that was refreshed: the same, changed, gone, back or moved. Pure.

::

    304, or the same body                           the same
    404, 410, a soft 404, the home page instead     gone, once
    anything else after gone                        back
    another address                                 moved, once: the address is known from then on
    another text                                    changed, with both bodies; noise alone is only logged
    no answer, no text                              nothing; refreshed again like any other
    links to unknown pages                          verified; the page is monitored from then on

An announced page is refreshed by its age. A page that a user watches is visited by the intervals of its
watch, gone or not; it never counts as moved, and its state is decided where it is found.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from incremental.base.texts import hub_why
from incremental.base.urls import canonical_key
from incremental.decide.decision import Decision, base_record, missing_by, state_if_there
from incremental.decide.sections import to_verify
from incremental.fetch.status import HAS_PAGE
from incremental.parse.history.textdiff import changed_lines, diff, whole
from incremental.schedule.refreshing import (
    RETRY_SECONDS,
    Counted,
    WatchTerms,
    counted,
    interval_seconds,
    next_refresh_at,
)
from incremental.visit.visit import Outcome
from store.answers.values import StoredText
from store.enums import ChangeKind, HubKind, PageState
from store.rules import Fate, Rule
from store.values import (
    ARTICLE,
    KnownPage,
    NewHub,
    NextRefresh,
    PageChange,
    PageUpdate,
    RefreshRow,
    SeenLink,
    VisitRecord,
)

# An article that gains more links at once was not edited but replaced.
MAX_GAINED = 20


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Another address that the page gives as its own."""

    url: str
    known: KnownPage | None
    in_reach: bool
    """In scope, and no trap."""

    def alias(self, anchor: str = "") -> SeenLink | None:
        """Return the address as one more of the page's own, if it was unknown."""
        if self.known is not None or not self.in_reach:
            return None
        key = canonical_key(self.url)
        return SeenLink(key, self.url, anchor, fate=Fate.ALIAS, rule=Rule.ALIAS)


@dataclass(frozen=True, slots=True)
class RefreshFacts:
    """What was known before the refresh."""

    now: float
    row: RefreshRow
    before: StoredText | None
    """The last text."""
    of_event: bool
    """It was announced with a backfill event."""
    is_news: bool
    """It is not only watched: topics judge it, and its new links count."""
    changed_at: float | None
    """When it last changed; None = never."""
    elsewhere: Elsewhere | None
    """None = it names no other address."""
    watch: WatchTerms | None
    """None = it is refreshed by its age."""
    gained: Sequence[SeenLink]
    """Pages that it links to since its body was last kept."""
    known: Mapping[str, KnownPage]
    """Those of them that were known, by canonical key."""


def decide_refresh(outcome: Outcome, facts: RefreshFacts) -> Decision:
    """Decide on a page that was refreshed."""
    row, gone = facts.row, _why_gone(outcome)
    was_gone = row.state == PageState.GONE or (row.watch_id is not None and row.gone_at is not None)
    moved_to = None if gone or facts.elsewhere is None else facts.elsewhere.alias()
    if outcome.page is not None and outcome.page.refresh_url is not None:
        # What only leads on has no text of its own: that of the announced page stays.
        outcome = replace(outcome, read=None)
    record = _compared(outcome, facts, gone, was_gone=was_gone, moved_to=moved_to)
    if not facts.is_news:
        # The state of other pages is decided where they are found.
        fields = {name: value for name, value in record.page_fields.items() if name != "state"}
        record = replace(record, page_fields=fields)
    moved = record.page_change is not None and record.page_change.kind is ChangeKind.MOVED
    stays = facts.is_news and not gone and not moved
    edited = stays and moved_to is None
    record = replace(
        record,
        next_refresh=_next_refresh(outcome, facts, record, gone),
        more_pages=(*record.more_pages, *(_gained(facts) if edited else ())),
        # What replaced an article, or is a list by now, links to known pages for other reasons.
        gained=tuple(t.canonical_key for t in facts.gained)
        if edited and len(facts.gained) <= MAX_GAINED
        else (),
    )
    # A change is explained by both bodies; one that differs only in noise is not kept.
    return Decision(record, keep_body=record.text is not None, judge_topics=stays)


def _why_gone(outcome: Outcome) -> str:
    """Return why a page no longer exists; empty = it does, or that is unknown."""
    found = missing_by(outcome)
    return (found[1] or f"answered {outcome.response.http_code}") if found is not None else ""


def _compared(  # noqa: PLR0911 - a table of cases
    outcome: Outcome, facts: RefreshFacts, gone: str, *, was_gone: bool, moved_to: SeenLink | None
) -> VisitRecord:
    """Return the record with what became of the page: gone, back, moved, or another text.

    *gone*: why it no longer exists, empty if it does or that is unknown. *moved_to*: an unknown address.
    """
    base, read, before = base_record(outcome, facts.now), outcome.read, facts.before
    if gone:
        if was_gone:
            return base
        return replace(
            base,
            page_fields={"state": PageState.GONE},
            page_change=PageChange(ChangeKind.GONE, gone),
        )
    if outcome.response.status not in HAS_PAGE:
        return base
    if not was_gone and moved_to is not None:
        return replace(
            base, page_change=PageChange(ChangeKind.MOVED, moved_to.url), more_pages=(moved_to,)
        )
    fields = PageUpdate()
    if was_gone:
        fields["state"] = state_if_there(of_event=facts.of_event)
    change = PageChange(ChangeKind.BACK) if was_gone else None
    if outcome.unchanged or read is None or not read.text:
        return replace(base, page_fields=fields, page_change=change)
    fields["body_md5"] = read.md5
    if before is None or not before.text:
        # There was no text so far; from now on it can be compared.
        return replace(base, text=read, page_fields=fields, page_change=change)
    found = diff(whole(before.title, before.text), whole(read.title, read.text))
    if not found.is_change:
        # Noise alone: the new body is not kept, so the page must not name it.
        del fields["body_md5"]
        detail = base.detail or found.summary
        return replace(base, detail=detail, page_fields=fields, page_change=change)
    if read.title:
        fields["title"] = read.title
    change = PageChange(
        ChangeKind.BACK if was_gone else ChangeKind.CHANGED,
        found.summary,
        facts.row.body_md5,
        read.md5,
        difference=changed_lines(found),
        words_added=found.words_added,
        words_removed=found.words_removed,
    )
    return replace(base, text=read, page_fields=fields, page_change=change)


def _gained(facts: RefreshFacts) -> Sequence[SeenLink]:
    """Return the unknown pages gained, to be verified, and the page itself, to be monitored."""
    unknown = [t for t in facts.gained if t.canonical_key not in facts.known]
    if not 0 < len(unknown) <= MAX_GAINED:
        return ()
    now, row = facts.now, facts.row
    hub = NewHub(HubKind.HTML, ARTICLE, 0.5, hub_why("gained_links"), now)
    return (
        *(to_verify(t, Rule.GAINED_LINK) for t in unknown),
        SeenLink(row.canonical_key, row.url, hub=hub),
    )


def _next_refresh(
    outcome: Outcome, facts: RefreshFacts, record: VisitRecord, gone: str
) -> NextRefresh:
    row, now, change = facts.row, facts.now, record.page_change
    answered = not gone and outcome.response.status in HAS_PAGE
    seen = Counted(row.counted_changes, row.counted_seconds)
    if answered and row.checked_at is not None:
        changed = change is not None and bool(change.difference)
        seen = counted(seen, now - row.checked_at, changed=changed)
    read, headers = outcome.body_md5 is not None, outcome.response.headers
    return NextRefresh(
        due_at=_due_at(facts, seen, change, answered=answered),
        watched=facts.watch is not None,
        checks=row.checks + 1,
        checked_at=now,
        status=outcome.response.status.value,
        gone_at=(row.gone_at or now) if gone else None if answered else row.gone_at,
        counted_changes=seen.changes,
        counted_seconds=seen.seconds,
        etag=headers.get("etag") if read else row.etag,
        last_modified=headers.get("last-modified") if read else row.last_modified,
    )


def _due_at(
    facts: RefreshFacts, seen: Counted, change: PageChange | None, *, answered: bool
) -> float | None:
    now = facts.now
    if facts.watch is not None:
        wait = interval_seconds(seen, facts.watch)
        return now + (wait if answered else max(wait, RETRY_SECONDS))
    changed = change is not None and change.kind is not ChangeKind.GONE
    same_since = now if changed else max(facts.row.found_at or 0.0, facts.changed_at or 0.0)
    return next_refresh_at(same_since, now)


def first_refresh(outcome: Outcome, now: float) -> NextRefresh | None:
    """Return the first refresh of a page that has just been announced; None = it was not read."""
    if outcome.read is None:
        return None
    headers = outcome.response.headers
    return NextRefresh(
        due_at=next_refresh_at(now, now),
        etag=headers.get("etag"),
        last_modified=headers.get("last-modified"),
    )
