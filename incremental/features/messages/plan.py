"""When messages go out. Pure.

::

    entries waiting ── rhythm: at once, every N minutes, daily at ── quiet hours ── cap an hour
                    -> the entries of the message that goes out now, the others after it
                    -> when to check again
"""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta, tzinfo

from incremental.base.times import DAY, HOUR, MINUTE
from incremental.features.messages.settings import ChannelSettings, clock, quiet_hours, time_zone
from store.enums import OutboxState
from store.outbox import OutboxRow

# Per message; with doubling waits about two days.
MAX_ATTEMPTS = 12
FIRST_RETRY_SECONDS = 60.0
LONGEST_RETRY_SECONDS = 6 * HOUR


@dataclass(frozen=True, slots=True)
class Plan:
    """What goes out now, and when to check again."""

    entries: tuple[int, ...]
    """Ids of the entries of the message that goes out now; none = nothing is due."""
    check_at: float
    """Unix seconds; infinite when nothing waits."""
    held_by: str = ""
    """Why what waits goes out only then: ``quiet``, ``digest``, ``cap`` or ``retry``; empty = none."""


def plan(
    entries: Sequence[OutboxRow],
    channel: ChannelSettings,
    sent: Sequence[float],
    last_sent_at: float | None,
    now: float,
) -> Plan:
    """Plan the next message of a channel.

    *entries* are in queue order; *sent* are the times of the last hour's messages, oldest first. Times in
    the future are those of a clock that was ahead: they hold nothing back.
    """
    # An interrupted message comes first, unchanged, so that it keeps its key.
    cut_off = [one for one in entries if one.state == OutboxState.SENDING]
    repeated = tuple(one.id for one in cut_off if one.message == cut_off[0].message)
    waiting = [one for one in entries if one.state == OutboxState.WAITING]
    ready = [
        one for one in waiting if not now < (one.next_at or 0.0) <= now + LONGEST_RETRY_SECONDS
    ]
    if last_sent_at is not None and last_sent_at > now:
        last_sent_at = None
    digest = bool(channel.daily_at or channel.every_minutes)
    opens = _opens_at(ready[0].queued_at, channel, last_sent_at, now) if ready else math.inf
    later = min((one.next_at or 0.0 for one in waiting if one not in ready), default=math.inf)
    if not ready or opens > now:
        held = "retry" if later < opens else "digest" if digest else "quiet"
        return Plan(repeated, min(opens, later), held if waiting else "")
    recent = [at for at in sent if now - HOUR < at <= now]
    room = channel.per_hour - len(recent)
    if room < 1:
        return Plan(repeated, min(recent[0] + HOUR, later), "cap")
    # The last message that the cap allows takes all that is left.
    due = ready if digest or room == 1 else ready[:1]
    return Plan(repeated or tuple(one.id for one in due), later)


def _opens_at(
    first: float, channel: ChannelSettings, last_sent_at: float | None, now: float
) -> float:
    if first > now:
        first = now - DAY  # a day's digest may have been due since
    opens, zone = first, time_zone(channel.time_zone, "time_zone")
    if channel.daily_at:
        opens = next_time(first, clock(channel.daily_at, "daily_at"), zone)
    elif channel.every_minutes and last_sent_at is not None:
        opens = max(first, last_sent_at + channel.every_minutes * MINUTE)
    return after_quiet(max(opens, now), quiet_hours(channel.quiet_hours, "quiet_hours"), zone)


def next_time(
    moment: float, at: time, zone: tzinfo | None, *, folds: Sequence[int] = (0,)
) -> float:
    """Return the next time of day *at*, not before *moment*; unix seconds.

    What daylight saving time skips is an hour later. Of a time that comes twice each counts that *folds*
    names: 0 = the first.
    """
    here = _local(moment, zone)
    wanted = here.replace(hour=at.hour, minute=at.minute, second=0, microsecond=0)
    for days in range(3):
        for fold in folds:
            # With the zone's offset at that time.
            wall = (wanted + timedelta(days=days)).replace(fold=fold, tzinfo=zone)
            if wall.timestamp() >= moment:
                return wall.timestamp()
    return moment + DAY


def after_quiet(moment: float, quiet: tuple[time, time] | None, zone: tzinfo | None) -> float:
    """Return *moment*, or the end of the quiet hours it falls in."""
    if quiet is None or quiet[0] == quiet[1]:
        return moment
    start, end = quiet
    here = _local(moment, zone).time()
    inside = start <= here < end if start < end else here >= start or here < end
    return next_time(moment, end, zone, folds=(0, 1)) if inside else moment


def _local(moment: float, zone: tzinfo | None) -> datetime:
    return datetime.fromtimestamp(moment, zone).astimezone(zone)


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
