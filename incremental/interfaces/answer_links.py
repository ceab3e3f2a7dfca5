"""Links by which whoever reads a message answers for one of its pages, without logging in.

::

    /answer/irrelevant/TOPIC-PAGE-EXPIRES-SIGNATURE     expires: unix seconds

The signature is HMAC-SHA256 (RFC 2104) under a key that stays in the store's folder. It covers the action,
the topic, the page and the expiry. Ids of deleted rows are never given again.
"""

import hashlib
import hmac
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from incremental.base.errors import NotFoundError, SettingsError
from incremental.base.texts import Text
from incremental.base.times import DAY
from incremental.settings import Settings
from store import Store
from store.answers.announced import AnnouncedPage
from store.database.home import secret_key
from store.topics.values import TopicRow

KEY_FILE = "answers.key"
ANSWER_SECONDS = 30 * DAY
_NAME = re.compile(r"([0-9]{1,18})-([0-9]{1,18})-([0-9]{1,18})-([0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class AnswerLinks:
    """Makes and checks links."""

    base: str
    """The public address of the web page, without a slash at its end."""
    key: bytes

    @classmethod
    def of(cls, settings: Settings, folder: Path) -> Self | None:
        """Return the links of a configured store; None = the settings name no public address.

        Raises:
            SettingsError: the file of the key is damaged.
            OSError: the key can be neither read nor made.
        """
        base = settings.web.public_url.rstrip("/")
        if not base:
            return None
        try:
            return cls(base, secret_key(folder / settings.store.folder / KEY_FILE))
        except ValueError as error:
            raise SettingsError("web.public_url", base, str(error)) from None

    def irrelevant(self, topic: TopicRow, page: AnnouncedPage, now: float) -> str:
        """Return the link that marks a page as not relevant to a topic."""
        about = topic.id, page.page_id, int(now + ANSWER_SECONDS)
        name = "-".join(map(str, (*about, self._signature(*about))))
        return f"{self.base}/answer/irrelevant/{name}"

    def read(self, store: Store, name: str, now: float) -> tuple[TopicRow, AnnouncedPage]:
        """Return what a link is about, from the part after the action.

        Raises:
            NotFoundError: it has expired, was not made here, or is about what was deleted; which, nobody is
                told.
        """
        found = _NAME.fullmatch(name)
        if found is not None:
            topic_id, page_id, expires = map(int, found.groups()[:3])
            right = self._signature(topic_id, page_id, expires)
            # The store is asked only for a link that was made here.
            if not hmac.compare_digest(right, found[4]) or now >= expires:
                raise NotFoundError(Text("missing.answer"))
            topic = next((one for one in store.topics.topics() if one.id == topic_id), None)
            detail = store.answers.page(page_id, most=1)
            if topic is not None and detail is not None and detail.news is not None:
                return topic, detail.news
        raise NotFoundError(Text("missing.answer"))

    def _signature(self, topic_id: int, page_id: int, expires: int) -> str:
        said = f"irrelevant {topic_id} {page_id} {expires}"
        return hmac.new(self.key, said.encode(), hashlib.sha256).hexdigest()
