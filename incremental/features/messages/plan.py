"""When messages go out. Pure.

::

    entries waiting ── rhythm: at once, every N minutes, daily at ── quiet hours ── cap an hour
                    -> batches: the entries of each message that goes out now
                    -> when to check again
"""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta, tzinfo

from incremental.base.times import DAY, HOUR
from store.enums import OutboxState
from store.outbox import OutboxRow

# Per message; with doubling waits about two days.
MAX_ATTEMPTS = 12
FIRST_RETRY_SECONDS = 60.0
LONGEST_RETRY_SECONDS = 6 * HOUR
MINUTE = 60.0
MOST_PER_HOUR = 20


@dataclass(frozen=True, slots=True)
class Rhythm:
    """When a channel may send. *zone* None = the machine's."""

    every_minutes: float = 0.0
    """Minimum time between digests; 0 = one message per page, at once."""
    daily_at: time | None = None
    """One digest a day at this time; *every_minutes* is ignored."""
    quiet: tuple[time, time] | None = None
    """From, until; may cross midnight."""
    per_hour: int = MOST_PER_HOUR
    """Messages; the excess is combined into one."""
    zone: tzinfo | None = None

    @property
    def digest(self) -> bool:
        """Whether pages are collected into digests."""
        return self.daily_at is not None or self.every_minutes > 0


@dataclass(frozen=True, slots=True)
class Plan:
    """What goes out now, and when to check again."""

    batches: tuple[tuple[int, ...], ...]
    """Ids of the entries of each message."""
    check_at: float
    """Unix seconds; infinite when nothing waits."""
    held_by: str = ""
    """Why what waits goes out only then: ``quiet``, ``digest``, ``cap`` or ``retry``; empty = none."""


def plan(
    entries: Sequence[OutboxRow],
    rhythm: Rhythm,
    sent: Sequence[float],
    last_sent_at: float | None,
    now: float,
) -> Plan:
    """Plan the messages of one channel.

    *entries* are in queue order; *sent* are the times of the last hour's messages, oldest first. Times in
    the future are those of a clock that was ahead: they hold nothing back.
    """
    # Interrupted messages come first, unchanged, so that they keep their key.
    repeated = _cut_off(entries)
    waiting = [one for one in entries if one.state == OutboxState.WAITING]
    ready = [
        one for one in waiting if not now < (one.next_at or 0.0) <= now + LONGEST_RETRY_SECONDS
    ]
    if last_sent_at is not None and last_sent_at > now:
        last_sent_at = None
    opens = _opens_at(ready, rhythm, last_sent_at, now) if ready else math.inf
    later = min((one.next_at or 0.0 for one in waiting if one not in ready), default=math.inf)
    if not ready or opens > now:
        held = "retry" if later < opens else "digest" if rhythm.digest else "quiet"
        return Plan(repeated, min(opens, later), held if waiting else "")
    recent = [at for at in sent if now - HOUR < at <= now]
    room = rhythm.per_hour - len(recent)
    if room < 1:
        return Plan(repeated, min(recent[0] + HOUR, later), "cap")
    return Plan((*repeated, *_batches([one.id for one in ready], rhythm, room)), later)


def _cut_off(entries: Sequence[OutboxRow]) -> tuple[tuple[int, ...], ...]:
    """Return the messages that were being sent, with unknown result."""
    messages: dict[str, list[int]] = {}
    for one in entries:
        if one.state == OutboxState.SENDING:
            messages.setdefault(one.message, []).append(one.id)
    return tuple(map(tuple, messages.values()))


def _batches(ids: Sequence[int], rhythm: Rhythm, room: int) -> list[tuple[int, ...]]:
    if rhythm.digest:
        return [tuple(ids)]
    alone = ids if len(ids) <= room else ids[: room - 1]
    rest = tuple(ids[len(alone) :])
    return [(one,) for one in alone] + ([rest] if rest else [])


def _opens_at(
    ready: Sequence[OutboxRow], rhythm: Rhythm, last_sent_at: float | None, now: float
) -> float:
    first = ready[0].queued_at
    if first > now:
        first = now - DAY  # a day's digest may have been due since
    opens = first
    if rhythm.daily_at is not None:
        opens = next_time(first, rhythm.daily_at, rhythm.zone)
    elif rhythm.every_minutes and last_sent_at is not None:
        opens = max(first, last_sent_at + rhythm.every_minutes * MINUTE)
    return after_quiet(max(opens, now), rhythm.quiet, rhythm.zone)


def next_time(moment: float, at: time, zone: tzinfo | None) -> float:
    """Return the next time of day *at*, not before *moment*; unix seconds.

    What daylight saving time skips is an hour later; of a time that comes twice only the first counts.
    """
    return _next_of(moment, at, zone, folds=(0,))


def _next_of(moment: float, at: time, zone: tzinfo | None, *, folds: Sequence[int]) -> float:
    here = _local(moment, zone)
    wanted = here.replace(hour=at.hour, minute=at.minute, second=0, microsecond=0)
    for days in range(3):
        for fold in folds:
            wall = (wanted + timedelta(days=days)).replace(fold=fold)
            candidate = _in_zone(wall, zone)
            if candidate >= moment:
                return candidate
    return moment + DAY


def after_quiet(moment: float, quiet: tuple[time, time] | None, zone: tzinfo | None) -> float:
    """Return *moment*, or the end of the quiet hours it falls in."""
    if quiet is None or quiet[0] == quiet[1]:
        return moment
    start, end = quiet
    here = _local(moment, zone).time()
    inside = start <= here < end if start < end else here >= start or here < end
    return _next_of(moment, end, zone, folds=(0, 1)) if inside else moment


def _local(moment: float, zone: tzinfo | None) -> datetime:
    return datetime.fromtimestamp(moment, zone).astimezone(zone)


def _in_zone(wall: datetime, zone: tzinfo | None) -> float:
    """Return the unix time of a wall-clock time, with the zone's offset at that time."""
    return wall.replace(tzinfo=zone).timestamp()


def message_key(channel: str, entry_ids: Sequence[int]) -> str:
    """Return the key of a message: the same for the same entries."""
    text = f"{channel}:{','.join(map(str, sorted(entry_ids)))}"
    return hashlib.md5(text.encode()).hexdigest()


def retry_at(attempts: int, now: float) -> float | None:
    """Return when to retry; None = never."""
    if attempts >= MAX_ATTEMPTS:
        return None
    wait = FIRST_RETRY_SECONDS * 2.0 ** max(attempts - 1, 0)
    return now + min(wait, LONGEST_RETRY_SECONDS)
