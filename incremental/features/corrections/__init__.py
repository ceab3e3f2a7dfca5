"""What a user says about one page, and what is learned from it: a missed page, and one that is no news.

::

    missed      stored evidence -> cause; page and likely hubs fetched -> the hub that shows it is watched
    not news    its form of address, its list or its rule is withheld from now on; can be taken back

Which aspect of a page is withheld is decided by the core (``incremental.decide.not_news``).
"""

from pathlib import Path

from incremental.base.features import Feature

_ROOM = "incremental.features.corrections"
FEATURE = Feature(
    name="corrections",
    summary="Pages that were missed or are no news can be named, and Hubwatch learns from them.",
    commands={
        "Mark and correct": {
            "missed": f"{_ROOM}.commands:missed Say why a page was missed, and watch a hub that shows it.",
            "not-news": f"{_ROOM}.commands:not_news Say that a page is no news, or take that back.",
        }
    },
    routers=(f"{_ROOM}.pages:router",),
    page_form="corrections/form.html",
    check_form="corrections/missed_form.html",
    templates=Path(__file__).with_name("templates"),
)
