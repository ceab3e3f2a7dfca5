"""The commented settings file that ``hubwatch init`` writes."""

from __future__ import annotations

import json

import msgspec

from incremental.settings import Settings

_COMMENTS = {
    "fetch": "What a fetch may cost, and who we say we are.",
    "politeness": "How patient we are with each host; seconds.",
    "store": "Where things are kept: a folder, or a postgresql:// URL for the database.",
    "revisit": "How often hubs are visited. The budget counts every request to a site.",
    "hubs": "What becomes a hub.",
    "news": "What is announced as new.",
    "refresh": "Refreshing pages that were announced, for what changed on them since.",
    "daemon": "How the daemon works.",
    "websub": "Being told by feeds' hubs at once; needs an address that the internet reaches.",
    "discovery": "How further sites of a topic are looked for (hubwatch discover).",
    "topics": "How topics are judged, and how far they may lead.",
    "web": "The web page, the API and the feeds. Others reach them only with a password or a token.",
}
_SITE = """\
# What one site needs beyond the defaults. Secrets are shown to this site's origin only.
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

# Where new pages are told by message. The address is one of Apprise, with the key of your service.
# [[notify]]
# name = "mail"
# url = "mailto://user:password@example.org?to=you@example.org"
# topic = "bridges"
# daily_at = "08:00"
# quiet_hours = "22:00-07:00"
# time_zone = "Asia/Shanghai"
"""
_CONTACT = "# Please set it: a URL or an e-mail address where a site's owner reaches you."


def settings_template() -> str:
    """Return TOML with every setting at its default, commented out, grouped and explained."""
    lines = ["# Settings of Hubwatch. What is commented out stands at its default.", ""]
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
    # What JSON escapes in a string, TOML escapes alike.
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else str(value)
