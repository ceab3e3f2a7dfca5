"""The allowed message services: those proven to connect through the address guard.

Most of Apprise's 180 or so use the guarded HTTP library (:mod:`incremental.fetch.libraries`); some open
their own connections (IRC, Nostr, MQTT, XMPP, syslog, the desktop) and would bypass it.
"""

from __future__ import annotations

from typing import Final

_PLUGINS = "apprise.plugins."

# Their code does not show reliably how they connect, so a service is listed only after a test sent a
# message with it and counted its connections (tests/notify/test_notify_services.py, Apprise 2.3.0).
# Plug-in names: the last part of their module names.
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


def name_of(plugin: type) -> str:
    """Return the name of an Apprise plug-in; empty for third-party ones."""
    module = plugin.__module__
    return module.removeprefix(_PLUGINS).partition(".")[0] if module.startswith(_PLUGINS) else ""
