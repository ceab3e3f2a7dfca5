"""Packs: what one installation learned of sites is taken by another, and nothing else is."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from cli_runner import Run
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from fake_web import DAY, HOUR, START, FakeWeb, Watch, feed, page
from lab.clocks import SimulatedClock

from incremental.base.errors import InputError
from incremental.features.exchange.packing import pack_of, take_pack
from incremental.features.exchange.packs import (
    MAX_PACK_BYTES,
    Pack,
    PackHub,
    PackSite,
    PackTopic,
    PackWay,
    read_pack,
    signed,
)
from incremental.fetch.options import FetchSettings
from incremental.parse.hub_way import WayKind
from incremental.schedule.state import HubState, SiteState
from incremental.topics.editing import begin
from store.enums import HubKind

HOME = "https://news.example/"
FEED = f"{HOME}feed.xml"
KEY = Ed25519PrivateKey.from_private_bytes(b"k" * 32)


def paper() -> dict[str, Any]:
    """A story every four hours, in a feed that only the page of the editors names."""

    def stories(now: float) -> list[str]:
        last = int((now - START) // (4 * HOUR))
        return [f"{HOME}story-{n}.html" for n in range(last + 10, last, -1)]

    head = f'<link rel="alternate" type="application/rss+xml" href="{FEED}">'
    editors = page("/", title="Editors", text="We write. " * 60, head=head)
    return {
        HOME: page("/about/editors.html|Editors", title="News"),
        f"{HOME}about/editors.html": editors,
        FEED: lambda now: feed(*((one, "") for one in stories(now))),
    }


def learned(folder: Path) -> tuple[Pack, Watch]:
    watch = Watch(folder, FakeWeb(SimulatedClock(START), paper()), HOME)
    watch.run(6 * DAY)
    return pack_of(watch.store, watch.clock.now()), watch


def test_a_pack_brings_hubs_and_what_was_learned_of_them(tmp_path: Path) -> None:
    made, watch = learned(tmp_path / "one")
    watch.store.close()
    pack, signed_by = read_pack(signed(made, KEY))
    assert pack == made
    assert signed_by == KEY.public_key().public_bytes_raw().hex()
    (site,) = pack.sites
    by_url = {hub.url: hub for hub in site.hubs}
    assert by_url[FEED].novel > 5
    other = Watch(tmp_path / "two", FakeWeb(SimulatedClock(START + 6 * DAY), paper()))
    now = other.clock.now()
    with_nothing = take_pack(other.store, pack, FetchSettings(), now=now, dry_run=True)
    assert (with_nothing.sites, other.store.read.sites()) == (1, [])
    done = take_pack(other.store, pack, FetchSettings(), now=now, dry_run=False)
    assert (done.sites, done.known, done.problems) == (1, 0, [])
    (row,) = other.store.read.sites()
    hubs = {hub.url: hub for hub in other.store.read.hubs(row.id)}
    assert HubState.from_text(hubs[FEED].revisit).novel == pytest.approx(by_url[FEED].novel)
    assert sum(SiteState.from_text(row.revisit).hours) > 0
    again = take_pack(other.store, pack, FetchSettings(), now=now, dry_run=False)
    assert (again.sites, again.known, again.hubs) == (0, 1, 0)
    other.store.close()


def forged(**learned: Any) -> bytes:
    """Return a pack that is signed well, whatever it says."""
    body = msgspec.json.encode({"made_at": 1.0} | learned)
    file = {
        "hubwatch_pack": 1,
        "signed_by": KEY.public_key().public_bytes_raw().hex(),
        "signature": KEY.sign(body).hex(),
        "learned": msgspec.Raw(body),
    }
    return msgspec.json.encode(file)


def site(*hubs: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"seed": HOME, "hubs": list(hubs)} | more


DEEP = b'{"hubwatch_pack": 1, "learned": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"{" * 10, id="no JSON"),
        pytest.param(DEEP, id="deep"),
        pytest.param(b" " * (MAX_PACK_BYTES + 1), id="large"),
        pytest.param(forged(cookies={"a": "b"}), id="an unknown field"),
        pytest.param(forged(sites=[site(command="rm")]), id="an unknown field of a site"),
        pytest.param(forged(sites=[site({"url": "https://bank.example/"})]), id="another host"),
        pytest.param(forged(sites=[site(seed="file:///etc/passwd")]), id="no web address"),
        pytest.param(forged(sites=[site(seed="https://a:b@news.example/")]), id="a password"),
        pytest.param(forged(sites=[site({"url": HOME, "novel": 1e300})]), id="a huge count"),
        pytest.param(forged(sites=[site({"url": HOME, "hours": [1.0]})]), id="a short week"),
        pytest.param(forged(sites=[site(exclude=["re:("])]), id="a bad pattern"),
        pytest.param(
            forged(
                sites=[site({"url": HOME, "way": {"kind": "json", "url": "https://x.example/a"}})]
            ),
            id="JSON of another domain",
        ),
        pytest.param(
            forged(sites=[site(*({"url": f"{HOME}{n}/"} for n in range(201)))]), id="many hubs"
        ),
    ],
)
def test_what_is_odd_is_refused_as_a_whole(content: bytes) -> None:
    with pytest.raises(InputError):
        read_pack(content)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace(b"/feed.xml", b"/fees.xml"),
        lambda text: text.replace(b'"novel":1.0', b'"novel":9.0'),
        lambda text: text.replace(b'"learned":{', b'"learned":{ '),
    ],
)
def test_a_changed_pack_is_refused(change: Callable[[bytes], bytes]) -> None:
    whole = signed(Pack(1.0, (PackSite(HOME, hubs=(PackHub(FEED, novel=1.0),)),)), KEY)
    read_pack(whole)
    assert change(whole) != whole
    with pytest.raises(InputError, match="signature"):
        read_pack(change(whole))


def test_addresses_that_are_not_public_stay_out_and_do_not_come_in(tmp_path: Path) -> None:
    watch = Watch(tmp_path, FakeWeb(SimulatedClock(START), {}), "http://10.0.0.5/")
    assert pack_of(watch.store, START).sites == ()
    inside = Pack(1.0, (PackSite("http://127.0.0.1:8000/"), PackSite(HOME)))
    done = take_pack(watch.store, inside, FetchSettings(), now=START, dry_run=False)
    assert done.sites == 1
    assert "127.0.0.1" in done.problems[0]
    watch.store.close()


def test_sites_with_a_password_and_addresses_with_a_token_are_left_out(tmp_path: Path) -> None:
    watch = Watch(tmp_path, FakeWeb(SimulatedClock(START), paper()), f"{HOME}?token=1234")
    watch.run(HOUR)
    assert pack_of(watch.store, START).sites == ()
    watch.store.close()
    watch = Watch(tmp_path / "two", FakeWeb(SimulatedClock(START), paper()), HOME)
    assert pack_of(watch.store, START, private=[HOME]).sites == ()
    watch.store.close()


def test_how_a_hub_is_read_is_taken_over(tmp_path: Path) -> None:
    way = PackWay(WayKind.JSON, url=f"{HOME}api/list", place="items", folder=HOME)
    pack = Pack(1.0, (PackSite(HOME, hubs=(PackHub(f"{HOME}all/", way=way),)),))
    watch = Watch(tmp_path, FakeWeb(SimulatedClock(START), {}))
    take_pack(watch.store, pack, FetchSettings(), now=START, dry_run=False)
    (hub,) = (hub for hub in watch.store.read.hubs() if hub.url.endswith("/all/"))
    assert json.loads(hub.way) == {
        "kind": "json",
        "url": f"{HOME}api/list",
        "place": "items",
        "folder": HOME,
    }
    watch.store.close()


def test_a_pack_on_the_command_line(hubwatch: Run, tmp_path: Path) -> None:
    """The key is made once, readable by its owner alone, and a pack of another key can be refused."""
    hubwatch("add", HOME)
    hubwatch("topic", "add", "Harbours", "--keyword", "harbour", "--describe", "News of harbours")
    first = hubwatch("export", "--pack", "mine.pack", "--json").json
    again = hubwatch("export", "--pack", "mine.pack", "--json").json
    assert first["signed_by"] == again["signed_by"]
    (key,) = tmp_path.rglob("pack.key")
    assert key.stat().st_mode & 0o077 == 0
    content = (tmp_path / "mine.pack").read_bytes()
    assert key.read_bytes() not in content
    hubwatch("backup", "whole.tar.gz")
    for file in key.parent.glob("hubwatch.sqlite*"):
        file.unlink()
    assert hubwatch("restore", "whole.tar.gz").code == 0
    assert key.exists()
    hubwatch("remove", "news.example", "--yes")
    other = hubwatch("import", "mine.pack", "--signed-by", "0" * 64)
    assert other.code == 2
    assert "another key" in other.err
    tried = hubwatch("import", "mine.pack", "--dry-run")
    assert "1 new site, 0 already known" in tried.out
    done = hubwatch("import", "mine.pack", "--signed-by", first["signed_by"])
    assert done.code == 0
    assert f"signed by {first['signed_by']}" in done.out
    assert [row["seed"] for row in hubwatch("list", "--json").json] == [HOME]


@pytest.mark.parametrize("host", ["wiki.corp.internal", "printer.local", "intranet", "10.0.0.5"])
def test_examples_of_networks_of_ones_own_are_left_out(tmp_path: Path, host: str) -> None:
    watch = Watch(tmp_path, FakeWeb(SimulatedClock(START), paper()), HOME)
    examples = [f"http://{host}/plan", f"{HOME}story-1.html"]
    begin(watch.store, "plans", examples=examples, keywords=[], now=START)
    (topic,) = pack_of(watch.store, START).topics
    assert topic.examples == (f"{HOME}story-1.html",)


def test_a_topic_that_is_refused_leaves_nothing_behind(tmp_path: Path) -> None:
    watch = Watch(tmp_path, FakeWeb(SimulatedClock(START), paper()), HOME)
    pack = Pack(START, topics=(PackTopic("Harbours", keywords=("harbour",), include=("!!!",)),))
    done = take_pack(watch.store, pack, FetchSettings(), now=START, dry_run=False)
    assert (done.topics, len(done.problems)) == (0, 1)
    assert watch.store.topics.topics() == []


def test_evidence_without_time_says_nothing(tmp_path: Path) -> None:
    watch = Watch(tmp_path, FakeWeb(SimulatedClock(START), paper()))
    hub = PackHub(FEED, HubKind.FEED, novel=100_000)
    pack = Pack(START, (PackSite(HOME, hubs=(hub,)),))
    take_pack(watch.store, pack, FetchSettings(), now=START, dry_run=False)
    rows = {row.url: row for row in watch.store.read.hubs()}
    assert HubState.from_text(rows[FEED].revisit).novel == 0
