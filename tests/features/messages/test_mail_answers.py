"""A mail shows what it is about, and "not relevant" is one click and one button away, without logging in."""

import email
import re
import stat
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from email.message import EmailMessage
from email.policy import default
from typing import Any

import msgspec
import pytest
from receivers import MailServer
from stories import HOUR, seen, visit_of
from web_served import HOME, Served, form_token

from incremental.base.clock import SystemClock
from incremental.base.errors import SettingsError
from incremental.base.threads import InlineExecutor
from incremental.features.messages.notifier import Notifier
from incremental.features.messages.settings import ChannelSettings, MessagesSettings
from incremental.fetch.options import FetchSettings
from incremental.interfaces.answer_links import ANSWER_SECONDS, KEY_FILE, AnswerLinks
from incremental.interfaces.web.server import refuse_unguarded
from incremental.settings.sections import WebSettings
from incremental.topics.editing import begin
from store.answers import NewQuery
from store.answers.announced import AnnouncedPage
from store.outbox import alone

pytest.importorskip("apprise", reason="the extra `notify` is not installed")
PUBLIC = "https://hubwatch.example"
LINK = re.compile(rf"{PUBLIC}(/answer/irrelevant/[0-9a-f-]+)")
Ids = Callable[[], list[int]]


@dataclass
class Mailed:
    """What came by mail."""

    mail: EmailMessage

    def part(self, kind: str) -> str:
        part = self.mail.get_body((kind,))
        return "" if part is None else str(part.get_content())


def guarded(served: Served, **more: str) -> Served:
    """The same store behind a password, and with an address that others know."""
    return served.with_settings(password="long enough", public_url=PUBLIC, **more)


def mailed(served: Served, ids: list[int], url: str = "", **fields: Any) -> Mailed:
    """Mail these announced pages over a channel."""
    with MailServer() as server:
        address = f"mailto://127.0.0.1:{server.port}?from=a@a.example&to=b@b.example&mode=insecure"
        channel = ChannelSettings("mail", address + url, every_minutes=60, **fields)
        settings = msgspec.structs.replace(
            served.web.settings,
            fetch=FetchSettings(allowed_networks=("127.0.0.0/8",)),
            further=(MessagesSettings(channel=(channel,)),),
        )
        folder, executor = served.web.folder, InlineExecutor()
        messages = Notifier(served.store, settings, SystemClock(), executor=executor, folder=folder)
        now = served.clock.now()
        messages.begin(now)
        served.store.outbox.queue("mail", alone(ids), now=now)
        messages.finish(served.clock.now)
    (raw,) = server.mails
    found = email.message_from_string(raw, policy=default)
    assert isinstance(found, EmailMessage)
    return Mailed(found)


def of_topic(served: Served, ids: list[int]) -> AnnouncedPage:
    """Make a topic that finds the newest page relevant; return the page."""
    begin(served.store, "bridges", examples=[], keywords=["bridge"], now=served.clock.now())
    return next(one for one in served.store.answers.new(NewQuery()).rows if one.page_id == ids[0])


def link_in(mail: Mailed) -> str:
    found = LINK.search(mail.part("html"))
    assert found is not None
    return found[1]


def said(served: Served) -> dict[str, str]:
    topic = served.store.topics.topic("bridges")
    assert topic is not None
    return {one.url: one.origin for one in served.store.topics.examples(topic.id)}


@pytest.fixture
def sent(served: Served, announced: Ids) -> tuple[Served, AnnouncedPage, str]:
    """A mail of a topic was sent: the server, the page, and the path of its link."""
    behind, ids = guarded(served), announced()
    page = of_topic(behind, ids)
    return behind, page, link_in(mailed(behind, ids[:1], topic="bridges"))


def test_a_mail_shows_title_excerpt_and_address(served: Served, announced: Ids) -> None:
    of_topic(served, announced())
    mail = mailed(served, announced())
    for page in served.store.answers.new(NewQuery()).rows:
        assert f'<a href="{page.url}">{page.name}</a>' in mail.part("html")
        assert page.url in mail.part("plain")
    assert "A story. A story." in mail.part("html")
    assert "/answer/" not in mail.part("html")


def test_what_a_site_wrote_is_text(served: Served, announced: Ids) -> None:
    hub = served.store.read.hubs()[0]
    odd = seen(f"{HOME}odd?a=1&b='", anchor='<script>"&', fate="announce")
    visit = visit_of(hub.site_id, hub.page_id, served.clock.now(), odd, keep_missing=True)
    served.store.write.visit(visit)
    html = mailed(served, announced()[:1]).part("html")
    assert "<script" not in html
    assert "&lt;script&gt;&#34;&amp;" in html


def test_the_mail_speaks_the_language_of_the_settings(served: Served, announced: Ids) -> None:
    behind = guarded(served, language="zh")
    of_topic(behind, announced())
    html = mailed(behind, announced()[:1], topic="bridges").part("html")
    assert "与“bridges”无关" in html


def test_an_address_may_ask_for_plain_text(served: Served, announced: Ids) -> None:
    mail = mailed(served, announced()[:1], url="&format=text")
    assert mail.mail.get_content_type() == "text/plain"
    assert served.store.answers.new(NewQuery()).rows[0].url in mail.part("plain")


def test_a_scanner_that_follows_the_link_changes_nothing(
    sent: tuple[Served, AnnouncedPage, str],
) -> None:
    served, page, link = sent
    reader = served.client(address=PUBLIC)
    for method in ("GET", "HEAD", "GET"):
        assert reader.request(method, link).status_code == 200
    assert said(served) == {}
    asked = reader.get(link).text
    assert page.name in asked
    assert "Not relevant to bridges" in asked


def test_the_button_tells_the_topic_and_needs_no_login(
    sent: tuple[Served, AnnouncedPage, str],
) -> None:
    served, page, link = sent
    reader = served.client(address=PUBLIC)
    for _ in range(2):
        done = reader.post(link, data={"form_token": form_token(reader, link)})
        assert done.status_code == 200
        assert "Marked as not relevant" in done.text
    assert said(served) == {page.url: "irrelevant"}
    assert reader.get("/topics", follow_redirects=False).status_code == 303


def test_another_site_cannot_press_the_button(sent: tuple[Served, AnnouncedPage, str]) -> None:
    served, _, link = sent
    reader = served.client(address=PUBLIC)
    assert reader.post(link).status_code == 403
    token = form_token(reader, link)
    foreign = reader.post(
        link, data={"form_token": token}, headers={"origin": "https://evil.example"}
    )
    assert foreign.status_code == 403
    assert said(served) == {}


@pytest.mark.parametrize("part", [0, 1, 2, 3])
def test_every_part_of_a_link_is_signed(
    sent: tuple[Served, AnnouncedPage, str], announced: Ids, part: int
) -> None:
    served, _, link = sent
    begin(served.store, "other", examples=[], keywords=["tender"], now=served.clock.now())
    head, _, name = link.rpartition("/")
    parts = name.split("-")
    other = served.store.topics.topic("other")
    assert other is not None
    changed = [other.id, announced()[1], int(parts[2]) + 1, parts[3][::-1]]
    parts[part] = str(changed[part])
    reader = served.client(address=PUBLIC)
    assert reader.get(f"{head}/{'-'.join(parts)}").status_code == 404
    token = form_token(reader)
    answered = reader.post(f"{head}/{'-'.join(parts)}", data={"form_token": token})
    assert answered.status_code == 404
    assert said(served) == {}


def test_a_link_expires(sent: tuple[Served, AnnouncedPage, str]) -> None:
    served, _, link = sent
    reader = served.client(address=PUBLIC)
    served.clock.advance_to(served.clock.now() + ANSWER_SECONDS - HOUR)
    assert reader.get(link).status_code == 200
    served.clock.advance_to(served.clock.now() + HOUR)
    answered = reader.get(link)
    assert answered.status_code == 404
    assert "this link has expired" in answered.text


def test_a_link_ends_with_its_topic(sent: tuple[Served, AnnouncedPage, str]) -> None:
    served, _, link = sent
    topic = served.store.topics.topic("bridges")
    assert topic is not None
    served.store.topics.remove(topic.id)
    begin(served.store, "tenders", examples=[], keywords=["tender"], now=served.clock.now())
    assert served.client(address=PUBLIC).get(link).status_code == 404


def test_without_a_public_address_no_link_is_taken(
    sent: tuple[Served, AnnouncedPage, str],
) -> None:
    served, _, link = sent
    assert served.with_settings(password="x").client().get(link).status_code == 404


def test_the_key_is_for_its_owner_alone_and_stays(served: Served) -> None:
    behind = guarded(served)
    links = [AnswerLinks.of(behind.web.settings, behind.web.folder) for _ in range(2)]
    assert links[0] == links[1]
    key = behind.web.folder / behind.web.settings.store.folder / KEY_FILE
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    key.write_bytes(b"")
    with pytest.raises(SettingsError, match="damaged"):
        AnswerLinks.of(behind.web.settings, behind.web.folder)


def test_a_public_address_needs_a_password(served: Served) -> None:
    refuse_unguarded(guarded(served).web)
    for url, refused in ((PUBLIC, True), ("http://127.0.0.1:8787", False)):
        web = served.with_settings(public_url=url).web
        with pytest.raises(SettingsError, match="public_url") if refused else nullcontext():
            refuse_unguarded(web)


@pytest.mark.parametrize(
    "url",
    [
        *("hubwatch.example", "ftp://x/", "https://x/hub", "https://a:b@x/", "https://a@x"),
        *("https://x?x=1", "https://x/#top", "https://[x", "https://x:port", "https:///"),
    ],
)
def test_a_public_address_is_one_that_links_can_begin_with(url: str) -> None:
    with pytest.raises(SettingsError, match="public_url") as refused:
        msgspec.convert({"public_url": url}, WebSettings)
    assert url.replace("a:b@", "...@").replace("a@", "...@") in str(refused.value)
    assert "must be like https://hubwatch.example.org: without a path" in str(refused.value)


@pytest.mark.parametrize("url", ["", PUBLIC, "https://hubwatch.example/", "http://[::1]:8787"])
def test_a_public_address_may_be_left_out_or_have_a_port(url: str) -> None:
    assert msgspec.convert({"public_url": url}, WebSettings).public_url == url
