"""Messages about new pages, each page once per channel.

::

    announced pages -> channel's filter -> outbox -> rhythm (at once, digest, quiet hours, cap)
                                                  -> message (template) -> Apprise, guarded
                                                  -> hook, or a feature's channel: a process with JSON

Nothing is queued by a visit. The job (``notifier``) asks what was announced, as every list does, and the
outbox (``store.outbox``) knows what it had; so each page is sent once, whenever the process dies.
"""

from pathlib import Path

from incremental.base.features import Feature

_ROOM = "incremental.features.messages"
_DOES = f"{_ROOM}.commands"
FEATURE = Feature(
    name="messages",
    summary="New pages are sent by mail, to chats and webhooks, and handed to programs.",
    settings=f"{_ROOM}.settings:MessagesSettings",
    commands={
        "Follow": {
            "notify": {
                "": "Message channels for new pages.",
                "list": f"{_DOES}:list_channels List the channels: what they announce, and when.",
                "add": f"{_DOES}:add Add a message channel, or change one that was added.",
                "remove": f"{_DOES}:remove Remove a channel that was added.",
                "test": f"{_DOES}:try_channel Send a test message to a channel now.",
                "retry": f"{_DOES}:retry Retry messages that failed for good.",
            },
        },
    },
    routers=(f"{_ROOM}.pages:router",),
    pages={"/messages": "title"},
    templates=Path(__file__).with_name("templates"),
    job=f"{_ROOM}.notifier:messages",
    vital=True,
    forgets=f"{_ROOM}.notifier:forget",
    checks=f"{_ROOM}.channels:findings",
    receivers=f"{_ROOM}.channels:names",
)
