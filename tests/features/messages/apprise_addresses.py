"""An address for each service that Apprise knows, made up from what its plug-in says of itself."""

import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Any

from incremental.features.messages.hooks import name_of

_HEX = "a" * 32
BY_HAND = {
    "amqp": "amqp://user:pass@host.example/queue",
    "aprs": "aprs://DF1ABC:12345@DF1XYZ",
    "goalert": "goalert://host.example/12345678-1234-4234-8234-123456789012",
    "lauther": "lauther://lpt_abcdefgh",
    "mobilemessage": "mobilemessage://user:pass@sender/61412345678",
    "nostr": f"nostr://{'1' * 64}?relay=ws://127.0.0.1:7447",
    "octopush": "octopush://me@example.org/apikey/15551234567",
    "pagertree": "pagertree://int_abcdefgh",
    "pingram": "pingram://pingram_sk_abc/me@example.org",
    "pushward": "pushward://hlk_abcdefgh",
    "rsyslog": "rsyslog://127.0.0.1/user",
    "ryver": f"ryver://abc/{'a' * 15}",
    "ses": "ses://me@example.org/AKIAABCDEFGHIJKLMNOP/abcdefghij/us-east-1/me@example.org",
    "sns": "sns://AKIAABCDEFGHIJKLMNOP/abcdefghij/us-east-1/15551234567",
    "sogs": f"session://{'a' * 64}:{'b' * 64}@host.example/room",
    "trigv": f"trigv://trgv_abcdefgh_{_HEX}",
    "twilio": f"twilio://AC{_HEX}:{_HEX}@15551234567",
    "voipms": "voipms://password:me@example.org/15551234567/15551234567",
    "wpush": f"wpush://WPUSH{'a' * 27}",
    "wxpusher": "wxpusher://AT_abcdef/UID_abcdef",
    "youlmk": f"youlmk://ylk_{_HEX}",
}
_WORDS = [
    *("15551234567", "host.example", "a", "1", "abc", "abcdefgh", "a1b2c3d4", "1234567"),
    *("me@example.org", "12345678-1234-4234-8234-123456789012", "abc-def", "#general", "@someone"),
    *("123:abcdefghijklmnopqrstuvwxyzabcdefghi", "DF1AB"),
    *(letter * length for length in range(5, 129) for letter in "a1A"),
]
_TARGETS = ["15551234567", "me@example.org", "abcdefgh", "%23general"]
_MOST_TRIES = 30


def services(plugin: Any) -> Iterator[tuple[str, Any]]:
    """Yield addresses that *plugin* takes, each with the service that Apprise makes of it."""
    import apprise

    own = [BY_HAND[name_of(plugin)]] if name_of(plugin) in BY_HAND else []
    made = 0
    for address in itertools.chain(own, _addresses(plugin)):
        service = apprise.Apprise.instantiate(address)
        if type(service) is plugin:
            yield address, service
            made += 1
        if made == _MOST_TRIES:
            return


def _addresses(plugin: Any) -> Iterator[str]:
    for template in sorted(plugin.templates, key=len):
        names = re.findall(r"{(\w+)}", template)
        values = [_values(plugin, name) for name in names]
        for chosen in itertools.islice(itertools.product(*values), 60):
            yield template.format(**dict(zip(names, chosen, strict=True)))


def _values(plugin: Any, name: str) -> list[str]:
    tokens: Mapping[str, Any] = plugin.template_tokens
    if name == "schema":
        schemes = [one for one in (plugin.protocol, plugin.secure_protocol) if one]
        return [schemes[0] if isinstance(schemes[0], str) else schemes[0][0]]
    if name == "targets":
        kinds = [one for key, one in tokens.items() if key.startswith("target_")]
        return [_value("", one) or "abcdefgh" for one in kinds] + _TARGETS
    token = tokens.get(name, {"type": "string"})
    one = _value(name, token)
    return [one] if one else _WORDS


def _value(name: str, token: Mapping[str, Any]) -> str:
    if token.get("default") not in {None, ""} and token["type"] != "bool":
        return str(token["default"])
    if token["type"].startswith("choice"):
        return min(map(str, token["values"]))
    if token["type"] in {"int", "float"}:
        return str(8080 if name == "port" else token.get("min", 8080))
    pattern, *flags = token.get("regex") or ("",)
    if pattern:
        wanted = re.compile(pattern, re.IGNORECASE if "i" in str(flags) else 0)
        prefix = str(token.get("prefix") or "")
        fits = (word for word in _WORDS if wanted.match(word) or wanted.match(prefix + word))
        return next(fits, "")
    usual = {"email": "me@example.org", "addr": "me@example.org", "phone": "15551234567"}
    usual |= {"host": "host.example"} if name == "host" else {}
    return next((word for part, word in usual.items() if part in name), "abcdefgh")
