"""Sending a message, and calling a hook with one JSON object, bounded in time and output.

A program gets it on standard input: exit code 0 is success. Anything else is a failure, and the last line
that it printed the error. An address gets it by POST, signed, and answers with a status of 200 to 299.

Messages go out with Apprise, behind the address guard; errors never contain a secret. Services that were not
seen to connect through the guard are refused.
"""

import base64
import contextlib
import hmac
import logging
import os
import re
import select
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote, unquote_plus

from incremental.base.clock import SystemClock
from incremental.base.errors import SettingsError
from incremental.base.plain_text import one_line
from incremental.base.texts import Text
from incremental.features.messages.message import Message
from incremental.features.messages.settings import HookSettings
from incremental.fetch.guard import ForbiddenAddressError
from incremental.fetch.libraries import LibraryGate

MAX_ERROR = 300
_BETWEEN_PARTS = re.compile(r"[/@:?&=;,#]")
_PLUGINS = "apprise.plugins."
_MISSING = "sending messages needs the extra: pip install 'hubwatch[notify]'"

# The services that were seen to connect through the guard. Most of Apprise's 180 or so use the guarded HTTP
# library; some open connections of their own (IRC, Nostr, MQTT, XMPP, syslog, the desktop). Their code does
# not show it reliably, so one is listed only after a test sent a message with it and counted its connections
# (tests/features/messages/test_notify_services.py, Apprise 2.3.0). Plug-in names: the last part of their
# module names.
GUARDED: Final = frozenset(
    """
    africas_talking apprise_api bale bark betterstack bluesky brevo bulksms bulkvs burstsms
    chanify clickatell clicksend cliq cm custom_form custom_json custom_xml d7networks
    dapnet deltachat dingtalk discord dot eight00com email emby enigma2 evolution exotel
    fcm feishu firehydrant flock flowtriq fluxer fortysixelks freemobile github goalert
    google_chat gorush gotify groundmail groupme guilded gupshup home_assistant httpsms
    humhub ifttt ilert incidentio infobip instagram jellyfin jira join kakaotalk kaleyra kavenegar
    kodi kook kumulos lametric lark lauther lfgalarm line mailersend mailgun mastodon
    matrix mattermost messagebird misskey mobilemessage msg91 nextcloud nextcloudtalk
    notica notifiarr notifico notifyapp notifyre ntfy octopush office365 one_signal onebot
    opsgenie opsimate pagerduty pagertree parseplatform pinglet pingram plivo postmark prowl
    pushbullet pushdeer pushed pushjet pushme pushover pushplus pushsafer pushward pushy
    qq reddit resend revolt ringcentral rocketchat ryver sendgrid sendpulse serverchan
    serwersms ses seven sfr signal_api signalgrid signl4 simplepush sinch slack smsc
    smseagle smsmanager smstunnel smtp2go sns sogs sparkpost spike splunk spugpush
    squadcast stackfield streamlabs synology techuluspush telegram telesign telnyx
    threema trigv twilio twist twitter viber voipms vonage webexteams wechat wecombot
    whapi whatsapp workflows wpush wxpusher xmatters youlmk zalo zoom zulip
    """.split()  # noqa: SIM905 - one name a line would fill two hundred
)

# Mail, which shows HTML.
MAIL: Final = frozenset(
    """
    brevo email mailersend mailgun office365 postmark resend sendgrid sendpulse ses smtp2go sparkpost
    """.split()  # noqa: SIM905 - likewise
)
# Of what a program prints, the end is kept for its error.
MAX_OUTPUT_BYTES = 4_000
# As much as a pipe holds.
_PIECE = 65_536
_TICK_SECONDS = 0.05
_SUCCESS = 2
_monotonic = SystemClock().monotonic


@dataclass(frozen=True, slots=True)
class Delivered:
    """The result of sending a message."""

    ok: bool
    error: str = ""
    """One line, without the service's key."""


def deliver(gate: LibraryGate, url: str, message: Message, key: str) -> Delivered:
    """Send *message* to the service at *url*; a repeated message has the same *key*.

    Webhooks get the key in the header ``Idempotency-Key``. Failures of a service are never raised.
    """
    try:
        service = service_of(url, "url")
    except SettingsError as error:
        return Delivered(ok=False, error=str(error))
    # By this header webhooks detect repeats.
    if isinstance(getattr(service, "headers", None), dict):
        service.headers["Idempotency-Key"] = key
    as_html = bool(message.html) and _shows_html(service)
    body, form = (message.html, "html") if as_html else (message.body, "text")
    import apprise  # noqa: PLC0415 - heavy, and there: the service is

    captured: Any = apprise.LogCapture  # it has no types
    try:
        with gate.opened() as watch, captured(level=logging.WARNING, fmt="%(message)s") as log:
            taken = service.notify(title=message.title, body=body, body_format=form)
            said = log.getvalue().strip().rpartition("\n")[2] or "the service rejected it"
    except ForbiddenAddressError:
        return Delivered(ok=False, error=Text("messages.not_public"))
    except (OSError, ValueError, TypeError, LookupError, AttributeError) as error:
        return Delivered(ok=False, error=without_secrets(f"{type(error).__name__}: {error}", url))
    if watch.refused:
        scheme = url.partition("://")[0]
        return Delivered(ok=False, error=f"{scheme}:// tried to bypass the address guard")
    return Delivered(bool(taken), "" if taken else without_secrets(said, url))


def service_of(url: str, field: str) -> Any:  # noqa: ANN401 - Apprise has no types
    """Return the service at an address.

    Raises:
        SettingsError: Apprise does not know it, or it cannot be guarded.
    """
    try:
        import apprise  # noqa: PLC0415 - an extra, and heavy
    except ImportError:
        raise SettingsError(field, "...", _MISSING) from None
    # Apprise logs invalid addresses, and urllib3 each request URL; both hold the key.
    logging.getLogger("apprise").propagate = False
    logging.getLogger("urllib3").setLevel(logging.INFO)
    # Errors name the field only: the address is a secret.
    service = apprise.Apprise.instantiate(url)
    if service is None:
        raise SettingsError(field, "...", Text("messages.address"))
    # Services that open connections of another kind (the desktop, syslog, IRC, Nostr, MQTT) would bypass
    # the guard.
    if name_of(type(service)) not in GUARDED:
        scheme = url.partition("://")[0]
        way_out = (
            f"{service.service_name} may bypass the address guard; only services over HTTP or mail that "
            "are known to respect it are supported"
        )
        raise SettingsError(field, f"{scheme}://...", way_out)
    return service


def _shows_html(service: Any) -> bool:  # noqa: ANN401 - Apprise has no types
    """Return whether a service sends mail, and its address does not ask for plain text."""
    return name_of(type(service)) in MAIL and service.resolve_format("html") == "html"


def name_of(plugin: type) -> str:
    """Return the name of an Apprise plug-in; empty for third-party ones."""
    module = plugin.__module__
    return module.removeprefix(_PLUGINS).partition(".")[0] if module.startswith(_PLUGINS) else ""


def without_secrets(text: str, url: str) -> str:
    """Return an error without the parts of the address that may be a key."""
    rest = url.partition("://")[2]
    credentials = rest.rpartition("@")[0]
    # Basic authentication sends credentials in base64 (RFC 7617).
    coded = base64.b64encode(unquote(credentials).encode("utf-8", "replace")).decode()
    parts = {*_BETWEEN_PARTS.split(rest), credentials, coded}
    parts |= {decode(part) for part in parts for decode in (unquote_plus, unquote)}
    # Longest first: replacing a substring first would leave the rest of the longer part.
    for part in sorted(parts, key=len)[::-1]:
        if len(part) > 3:  # noqa: PLR2004 - shorter parts are words and ports
            text = text.replace(part, "...")
    # A password is hidden however short it is.
    for part in filter(None, credentials.split(":")):
        text = re.sub(rf"(?<!\w){re.escape(unquote(part))}(?!\w)", "...", text)
    # "notification to ..." says nothing.
    return one_line(text.replace(" to ....", "."), MAX_ERROR)


def call(gate: LibraryGate, hook: HookSettings, given: bytes, key: str) -> Delivered:
    """Call a hook; a failure is returned, never raised."""
    return _post(gate, hook, given, key) if hook.url else _run(hook, given)


def _post(gate: LibraryGate, hook: HookSettings, given: bytes, key: str) -> Delivered:
    """Send the object to the address of a hook, through the address guard; redirects are not followed."""
    headers = {"Content-Type": "application/json", "Idempotency-Key": key}
    if hook.secret:
        digest = hmac.new(hook.secret.encode(), given, "sha256").hexdigest()
        headers["X-Hubwatch-Signature"] = f"sha256={digest}"
    try:
        status = gate.post(hook.url, given, headers, hook.timeout_seconds)
    except ForbiddenAddressError:
        return Delivered(ok=False, error=Text("messages.not_public"))
    except (OSError, ValueError) as error:
        said = f"{type(error).__name__}: {error}"
        return Delivered(ok=False, error=without_secrets(said, hook.url))
    taken = status // 100 == _SUCCESS
    return Delivered(taken, "" if taken else f"answered with status {status}")


def _run(hook: HookSettings, given: bytes) -> Delivered:
    """Run the program of a hook."""
    # Hubwatch's own settings may be secrets.
    visible = {
        name: value for name, value in os.environ.items() if not name.startswith("HUBWATCH_")
    }
    with tempfile.TemporaryFile() as file:
        # A file, because a program that does not read would block a pipe.
        file.write(given)
        file.seek(0)
        try:
            process = subprocess.Popen(  # noqa: S603 - the user's own program, and no shell
                hook.command,
                stdin=file,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=visible,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            said = f"cannot be started: {hook.command[0]}: {why}"
            return Delivered(ok=False, error=one_line(said, MAX_ERROR))
        with process:
            code, said = _followed(process, hook.timeout_seconds)
    if code is None:
        said = f"ended after {hook.timeout_seconds:g} s ([[messages.hook]] timeout_seconds)"
    elif code:
        how = f"exit code {code}" if code > 0 else f"ended by signal {-code}"
        said = f"{how}: {said}" if said else how
    return Delivered(ok=code == 0, error="" if code == 0 else one_line(said, MAX_ERROR))


def _followed(process: subprocess.Popen[bytes], seconds: float) -> tuple[int | None, str]:
    """Return a program's exit code, None = its time was up, and the last line with text that it printed."""
    assert process.stdout is not None
    stream, kept = process.stdout.fileno(), b""
    ends_at = _monotonic() + seconds
    while (code := process.poll()) is None and _monotonic() < ends_at:
        if select.select([stream], [], [], _TICK_SECONDS)[0]:
            piece = os.read(stream, _PIECE)
            kept = (kept + piece)[-MAX_OUTPUT_BYTES:]
            if not piece:  # it prints no more
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(max(ends_at - _monotonic(), 0))
    # The end of its output is no sign that it has ended: what it left running may hold that open.
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    if select.select([stream], [], [], 0)[0]:
        kept += os.read(stream, _PIECE)
    lines = kept[-MAX_OUTPUT_BYTES:].decode("utf-8", "replace").splitlines()
    return code, next((line for line in reversed(lines) if line.strip()), "")
