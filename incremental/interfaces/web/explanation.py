"""The explanation of a URL for people, in plain words: for the page and ``hubwatch check``. Pure.

It says what :func:`incremental.interfaces.explain.page.explain` found; JSON has all the numbers behind it.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from incremental.base.texts import Words
from incremental.interfaces.results.schema import when
from store.enums import HubStatus, PageState

Line = tuple[str, str]
"""A label and what is said about it."""
# Families of the classifier's features, by how their names begin; all others are about the path.
_FAMILIES = {
    "table": "words",
    "anchor": "anchor",
    "host": "host",
    "extension": "extension",
    "query": "query",
    **dict.fromkeys(("stem", "characters", "tokens"), "name"),
    **dict.fromkeys(("number", "digit", "digits", "year", "date", "month", "day"), "numbers"),
}
# Log odds below which a family says nothing.
_LEAST = 0.05
_PER_CENT = 0.01


def explanation(answer: Mapping[str, Any], words: Words) -> list[Line]:
    """Return an explanation line by line; the verdict is not among them."""
    lines = [(words("explain.address"), str(answer["url"]))]
    outside = [one for one in answer["sites"] if not one["in_scope"] and not one["seen"]]
    apart = outside if len(outside) > 1 else []
    lines += [(str(one["site"]), _site(one, words)) for one in answer["sites"] if one not in apart]
    if apart:
        label = "explain.others" if len(lines) > 1 else "sites.title"
        lines.append((words(label), words("explain.outside", n=len(apart))))
    if answer["trap"]:
        lines.append((words("explain.trap"), words.said(answer["trap"])))
    lines.append(("robots.txt", words.said(answer["robots"])))
    lines += _classified(answer, words)
    lines += [(words("explain.label"), _label(one, words)) for one in answer["labels"]]
    lines += [
        (words("explain.topic", topic=one["topic"]), _topic(one, words)) for one in answer["topics"]
    ]
    return lines


def _said(parts: Iterable[str], words: Words) -> str:
    """Return sentences in a row; only English puts a space between."""
    return ("" if words.language == "zh" else " ").join(parts)


def _site(site: Mapping[str, Any], words: Words) -> str:
    rule = words.said(site["rule"])
    parts = [words("explain.in_scope" if site["in_scope"] else "explain.out_of_scope", rule=rule)]
    if site["state"] == "paused":
        parts.append(words("explain.paused"))
    if not site["seen"]:
        return _said([*parts, *(_unseen(site, words) if site["in_scope"] else ())], words)
    at, hub = when(site["first_seen_at"]), site["first_shown_by"]
    parts.append(words("explain.first_seen_on" if hub else "explain.first_seen", at=at, hub=hub))
    parts.append(_decision(site, words))
    stated = "published_at" if site["published_at"] else "address_ends_at"
    if site[stated] and not site["announced_at"]:
        parts.append(words(f"explain.{stated}", at=when(site[stated])))
    if site["unread"]:
        parts.append(words("explain.unread", why=words.said(site["unread"])))
    if site["page_state"] != PageState.KNOWN:
        state = words.maybe("page_state", site["page_state"])
        parts.append(words("explain.state", state=state))
    gained = site["backfill"]
    if gained:
        added = words("backfill.added", n=gained["pages"], folder=gained["folder"])
        parts.append(words("explain.backfill", at=when(gained["found_at"]), added=added))
    if site["shown_by"]:
        parts.append(words("explain.shown_by", hubs=", ".join(site["shown_by"])))
    elif "hub" not in site:
        parts.append(words("explain.shown_by_none", days=f"{site['links_forgotten_days']:g}"))
    return _said([*parts, *(_hub(site, words) if "hub" in site else ())], words)


def _unseen(site: Mapping[str, Any], words: Words) -> list[str]:
    if not site["nearest"]:
        return [words("explain.unseen")]
    near = words("explain.nearest", hubs=", ".join(site["nearest"]))
    return [words("explain.unseen"), near, words("explain.look_for_hub")]


def _decision(site: Mapping[str, Any], words: Words) -> str:
    rule = words(f"rule.{site['decided_by']}") if site["decided_by"] else ""
    if not site["announced_at"]:
        return words("explain.decision", rule=rule or words("explain.no_rule"))
    key = "explain.announced" if rule else "explain.plainly_announced"
    return words(key, at=when(site["announced_at"]), rule=rule)


def _hub(site: Mapping[str, Any], words: Words) -> list[str]:
    why, state = words.said(site["hub_why"]), words.maybe("hub_state", site["hub"])
    kind = "article" if site["article"] else "hub"
    if site["hub"] == HubStatus.CANDIDATE:
        kind = "unvisited"
    parts = [words(f"explain.{kind}", state=state, why=why)]
    parts += _read(site["reading"], words)
    if site["last_status"]:
        parts.append(words("explain.last", status=words.maybe("fetch", site["last_status"])))
    reason = words.said(site["visit_reason"])
    if site["next_visit_at"] is None:
        return [*parts, words("explain.no_visit", reason=reason)]
    return [*parts, words("explain.next", at=when(site["next_visit_at"]), reason=reason)]


def _read(reading: Mapping[str, Any], words: Words) -> list[str]:
    """Return how a hub is read; nothing before its first visit."""
    kind, problem = reading["kind"], reading["problem"]
    if not kind:
        return []
    facts = {
        "source": reading["source"],
        "n": reading["requests"],
        "seconds": f"{reading['seconds']:g}",
        "problem": words.maybe("browser", problem),
    }
    if kind == "browser_missing":
        return [words("read.missing" if problem else "read.drawn_next", **facts)]
    return [words(f"read.{problem or kind}", **facts)]


def _classified(answer: Mapping[str, Any], words: Words) -> list[Line]:
    found = answer["classifier"]
    cascade = found["cascade"]
    odds = {
        "own": _percent(found["probability"]),
        "site": _percent(found["site_probability"]),
        "threshold": _percent(answer["hub_threshold"]),
    }
    parts = [words("explain.odds", **odds)]
    if cascade["probability"] is not None and cascade["decided_by"] == "content":
        parts.append(words("explain.by_content", share=_percent(cascade["probability"])))
    elif cascade["decided_by"] == "you":
        parts.append(words("explain.by_you"))
    elif cascade["needs_content"]:
        parts.append(words("explain.content_needed"))
    parts.append(words("explain.model", version=found["version"]))
    if found["problem"]:
        parts.append(found["problem"])
    lines = [(words("explain.is_hub"), _said(parts, words))]
    for key, sign in (("explain.speaks_for", 1), ("explain.speaks_against", -1)):
        if families := _families(found, words, sign=sign):
            lines.append((words(key), families))
    return lines


def _families(found: Mapping[str, Any], words: Words, *, sign: int) -> str:
    """Return what speaks for or against a hub, the weightiest first."""
    weights: dict[str, float] = defaultdict(float)
    for one in found["contributions"]:
        weights[_FAMILIES.get(one["feature"].partition("_")[0], "path")] += one["log_odds"]
    rows = sorted(weights.items(), key=lambda row: -abs(row[1]))
    shown = [(name, x) for name, x in rows if x * sign >= _LEAST]
    comma = "、" if words.language == "zh" else ", "
    return comma.join(f"{words.maybe('evidence', name)} ({x:+.1f})" for name, x in shown)


def _label(one: Mapping[str, Any], words: Words) -> str:
    who = words.maybe("label_origin", one["origin"])
    what = words.maybe("label", one["label"])
    return words("explain.labelled", who=who, what=what, at=when(one["at"]))


def _topic(one: Mapping[str, Any], words: Words) -> str:
    terms = ", ".join(map(str, one["words"]))
    facts = {
        "verdict": words.maybe("topics", one["verdict"]),
        "score": f"{one['score']:.2f}",
        "method": words.maybe("method", one["method"]),
        "at": when(one["at"]),
    }
    said = words("explain.judged", **facts)
    if one["like_example"]:
        return _said([said, words("explain.like_example", url=one["like_example"])], words)
    return _said([said, words("explain.terms", terms=terms)] if terms else [said], words)


def _percent(share: float) -> str:
    """Return a share in whole per cent; what is nearly certain is not rounded to certain."""
    if 0 < share < _PER_CENT:
        return "<1%"
    return ">99%" if 1 - _PER_CENT < share < 1 else f"{share:.0%}"
