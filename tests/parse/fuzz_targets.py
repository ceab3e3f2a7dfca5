"""Each parser of foreign data as a function of bytes that raises nothing.

What fuzzing found once (tests/corpus) is replayed on them.
"""

import contextlib
import hashlib
import json
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from classifier.hub.classifier import SHIPPED_MODELS
from classifier.hub.model import load_model, newest_version
from classifier.topic.model import TopicModel
from classifier.words.background import Background
from classifier.words.errors import TopicError
from hubwatch.errors import HubwatchError
from incremental.base.children import frame
from incremental.base.scope import Scope, page_number, template, trap
from incremental.base.urls import canonical_key, normalize
from incremental.features.discovery.search_provider import answer_of
from incremental.features.exchange.lists import read_list
from incremental.fetch.robots import RobotsPolicy
from incremental.fetch.status import FetchStatus, Response
from incremental.parse.decoding import decode_body
from incremental.sandbox import Body, read_body
from incremental.sandbox.process import Answer
from incremental.settings import load_settings
from store.errors import StoreError
from store.maintenance.backup import restore

URL = "https://example.org/folder/page.html"
# The first byte of the data chooses.
KINDS = (
    *("", "text/html", "text/html; charset=gbk", "text/html; charset=utf-16", "text/plain"),
    *("text/html; charset=iso-2022-jp", "application/json", "application/feed+json"),
    *("application/rss+xml", "application/xml", "application/gzip", "text/html; charset=utf-7"),
)


def _split(data: bytes) -> tuple[int, bytes]:
    return (data[0], data[1:]) if data else (0, b"")


def body(data: bytes, start: bytes = b"") -> None:
    """Read a body with everything that is wanted of any, and encode it as a reader does."""
    choice, content = _split(data)
    kind = KINDS[choice % len(KINDS)]
    wanted = Body(
        URL,
        start + content,
        content_type=kind,
        want_text=bool(choice & 64),
        keep_text=True,
        for_topics=True,
        describe=True,
    )
    frame(Answer(read_body(wanted)))


def feed(data: bytes) -> None:
    """Read a feed in XML."""
    body(data, b"<rss><channel><item>" if data[:1] < b"\x80" else b"<feed><entry>")


def sitemap(data: bytes) -> None:
    """Read a sitemap or an index of them."""
    body(data, b"<urlset><url>" if data[:1] < b"\x80" else b"<sitemapindex><sitemap>")


def json_feed(data: bytes) -> None:
    """Read a JSON feed, and an answer of a search provider."""
    body(data, b'{"version": "https://jsonfeed.org/version/1.1", "items": [')
    response = Response(URL, FetchStatus.FETCHED, body=data)
    answer_of(response, 10)


def robots(data: bytes) -> None:
    """Read a robots.txt, ask it, and store it."""
    response = Response(
        "https://example.org/robots.txt", FetchStatus.FETCHED, http_code=200, body=data
    )
    policy = RobotsPolicy.from_response(response, "hubwatch", 1e9, None)
    policy.allows("https://example.org/a/b?c=d")
    assert (policy.crawl_delay_seconds or 0) >= 0
    assert all(url.startswith("http") for url in policy.sitemaps)
    json.dumps(policy.to_stored())


def url(data: bytes) -> None:
    """Normalise and judge an address."""
    text = data.decode("utf-8", "surrogateescape" if data[:1] < b"\x80" else "replace")
    for written in (text, f"https://{text}", f"https://example.org/{text}"):
        usable = normalize(written)
        if usable is not None:
            canonical_key(usable)
            trap(usable)
            template(usable)
            page_number(usable)
            Scope("https://example.org/").rule(usable)


def charset(data: bytes) -> None:
    """Decode a body whose header is hostile as well."""
    header, _, content = data.partition(b"\n")
    decode_body(content, header.decode("latin-1"))


def settings(data: bytes) -> None:
    """Read a settings file."""
    with _folder() as folder:
        path = folder / "hubwatch.toml"
        path.write_bytes(data)
        with contextlib.suppress(HubwatchError):
            load_settings(path, {})


def lists(data: bytes) -> None:
    """Import a list of another program."""
    choice, content = _split(data)
    begin = (b"", b"<opml>", b"url,name\n")[choice % 3]
    with contextlib.suppress(HubwatchError):
        read_list(begin + content)


def backup(data: bytes) -> None:
    """Restore a backup."""
    with _folder() as folder:
        (folder / "backup").write_bytes(data)
        with contextlib.suppress(StoreError):
            restore(folder / "backup", folder / "home")


def hub_model(data: bytes) -> None:
    """Load a model folder with one file changed and its checksum made to fit."""
    choice, content = _split(data)
    with _folder() as folder:
        model = folder / "model"
        model.mkdir()
        names = sorted(path.name for path in _shipped().iterdir())
        name = names[choice % len(names)]
        for other in names:
            (model / other).symlink_to(_shipped() / other)
        (model / name).unlink()
        (model / name).write_bytes(content)
        if name != "manifest.json":
            manifest = json.loads((model / "manifest.json").read_text("utf-8"))
            manifest["files"][name] = hashlib.sha256(content).hexdigest()
            (model / "manifest.json").unlink()
            (model / "manifest.json").write_text(json.dumps(manifest), "utf-8")
        with contextlib.suppress(HubwatchError):
            load_model(model)


def topic_model(data: bytes) -> None:
    """Load a topic's model from the store."""
    try:
        tree = json.loads(data)
    except (ValueError, RecursionError):
        return
    with contextlib.suppress(TopicError, ValueError):
        TopicModel.from_json(tree, background=Background())


@cache
def _shipped() -> Path:
    version = newest_version(SHIPPED_MODELS)
    assert version is not None
    return SHIPPED_MODELS / version


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="hubwatch-fuzz-") as name:
        yield Path(name)


TARGETS: dict[str, Callable[[bytes], None]] = {
    one.__name__: one
    for one in (
        *(body, feed, sitemap, json_feed, robots, url, charset, settings),
        *(lists, backup, hub_model, topic_model),
    )
}
