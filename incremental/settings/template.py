"""The settings file that ``hubwatch init`` writes."""

from __future__ import annotations

import json

import msgspec

from incremental.settings import Settings

_COMMENTS = {
    "fetch": "Limits of a fetch, and how Hubwatch identifies itself.",
    "politeness": "Delays and retries per host, in seconds.",
    "store": "Where data is stored: a folder, or a postgresql:// URL for the database.",
    "revisit": "How often hubs are visited. The budget counts every request to a site.",
    "hubs": "What becomes a hub.",
    "news": "What is announced as new.",
    "refresh": "Refreshing announced pages to find changes.",
    "daemon": "How the daemon works.",
    "websub": "Push notifications from feeds' WebSub hubs; needs a public address.",
    "discovery": "How further sites for a topic are found (hubwatch discover).",
    "topics": "How topics score pages, and how far they explore.",
    "embeddings": "What embeds texts, so that topics and searches go by meaning.",
    "web": "The web page, the API and the feeds. Remote access needs a password or a token.",
}
_SITE = """\
# Settings of one site that differ from the defaults. Secrets are sent to its origin only.
# [[site]]
# url = "https://example.org/"
# requests_per_day = 100
# headers = { "X-Reader" = "yes" }
# cookies = { session = "..." }
# username = "..."
# password = "..."
# proxy = "http://proxy.example:8080"
"""
_NOTIFY = """\

# A message channel for new pages. The url is an Apprise address with the key of your service.
# [[notify]]
# name = "mail"
# url = "mailto://user:password@example.org?to=you@example.org"
# topic = "bridges"
# daily_at = "08:00"
# quiet_hours = "22:00-07:00"
# time_zone = "Asia/Shanghai"
"""
_CONTACT = "# Please set it: a URL or an e-mail address where site owners can reach you."


def settings_template() -> str:
    """Return TOML with every setting commented out at its default."""
    lines = ["# Hubwatch settings. Commented-out values are the defaults.", ""]
    defaults = msgspec.to_builtins(Settings())
    for section, note in _COMMENTS.items():
        lines += [f"[{section}]", f"# {note}"]
        for name, value in defaults[section].items():
            if name == "contact":
                lines.append(_CONTACT)
            if value is not None:
                lines.append(f"# {name} = {_toml(value)}")
        lines.append("")
    return "\n".join(lines) + "\n" + _SITE + _NOTIFY


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple | set | frozenset):
        return f"[{', '.join(_toml(one) for one in value)}]"
    # TOML basic strings share JSON's escapes.
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else str(value)
