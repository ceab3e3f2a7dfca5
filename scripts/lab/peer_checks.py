#!/usr/bin/env python3
"""One program that tells of new pages, asked to check again and again; runs in that program's environment.

    python scripts/lab/peer_checks.py NAME URL FOLDER PORT

Each line on standard input is one check; each line on standard output is the JSON list of the addresses
that the program reports as new. Every host name is resolved to the recording's server on PORT, so a
program believes that it reads the site itself. No program looks at the clock to decide what is new, so
none needs a false one.
"""

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

Check = Callable[[], list[str]]


def reader(url: str, folder: Path) -> Check:
    """Reader, as its guide has it: a feed, updated; new entries are unread."""
    from reader import make_reader

    feeds = make_reader(str(folder / "reader.sqlite"))
    feeds.add_feed(url)

    def check() -> list[str]:
        feeds.update_feeds(scheduled=False)
        entries = list(feeds.get_entries(read=False))
        for entry in entries:
            feeds.mark_entry_as_read(entry)
        return [entry.link for entry in entries if entry.link]

    return check


def urlwatch(url: str, folder: Path) -> Check:
    """Urlwatch: the links of the page, and of their differences the additions."""
    from urlwatch.config import CommandConfig
    from urlwatch.main import Urlwatch
    from urlwatch.storage import (
        CacheMiniDBStorage,
        UrlsYaml,
        YamlConfigStorage,
    )

    job = f"name: links\nurl: {url}\nfilter:\n  - xpath: //a/@href\ndiff_filter:\n  - grep: ^[+]\n"
    (folder / "urls.yaml").write_text(job, encoding="utf-8")
    config, urls, hooks, cache = (
        str(folder / name) for name in ("config.yaml", "urls.yaml", "hooks.py", "cache.db")
    )

    def check() -> list[str]:
        command = CommandConfig([], "urlwatch", folder, "", config, urls, hooks, cache, False)
        stored = CacheMiniDBStorage(cache)
        run = Urlwatch(command, YamlConfigStorage(config), stored, UrlsYaml(urls))
        run.run_jobs()
        states = [state for state in run.report.job_states if state.verb == "changed"]
        lines = [line for state in states for line in state.get_diff().splitlines()]
        stored.close()
        return [urljoin(url, one[1:]) for one in lines if re.match(r"\+(?!\+\+ )", one)]

    return check


def trafilatura(url: str, _: Path) -> Check:
    """Trafilatura: feeds, sitemaps and one page of its crawler; what was not there before is new."""
    from trafilatura import feeds, settings, sitemaps, spider

    quick = settings.use_config()
    quick.set("DEFAULT", "SLEEP_TIME", "0")
    quick.set("DEFAULT", "SSRF_PROTECTION", "False")  # the recording is on loopback
    seen = set[str]()

    def check() -> list[str]:
        spider.URL_STORE.reset()
        found = {
            *feeds.find_feed_urls(url, sleep_time=0, config=quick),
            *sitemaps.sitemap_search(url, sleep_time=0, config=quick),
            *spider.focused_crawler(url, max_seen_urls=1, config=quick)[1],
        }
        new = sorted(found - seen)
        seen.update(found)
        return new

    return check


def scrapy(url: str, folder: Path) -> Check:
    """Scrapy with deltafetch: every page that the home page links to, once."""
    spider = Path(__file__).with_name("deltafetch_spider.py")
    items = folder / "items.jsonl"
    options = {
        "DELTAFETCH_ENABLED": "1",
        "DELTAFETCH_DIR": str(folder / "delta"),
        "ROBOTSTXT_OBEY": "1",
        "DOWNLOAD_DELAY": "0",
        "LOG_LEVEL": "ERROR",
    }
    given = [part for pair in options.items() for part in ("-s", "=".join(pair))]
    port = os.environ["PEER_PORT"]
    proxied = {**os.environ, "http_proxy": f"http://127.0.0.1:{port}"}

    def check() -> list[str]:
        command = [sys.executable, "-m", "scrapy", "runspider", str(spider), "-a", f"url={url}"]
        subprocess.run([*command, *given, "-O", str(items)], check=True, env=proxied)  # noqa: S603
        lines = items.read_text(encoding="utf-8").splitlines()
        return [json.loads(line)["url"] for line in lines]

    return check


def changedetection(url: str, folder: Path) -> Check:
    """changedetection.io, by its API: the links of the page; a change tells of lines that are new."""
    import requests

    port = _free_port()
    environment = {
        **os.environ,
        "http_proxy": f"http://127.0.0.1:{os.environ['PEER_PORT']}",
        "no_proxy": "127.0.0.1",
        "ALLOW_IANA_RESTRICTED_ADDRESSES": "true",
        "DISABLE_VERSION_CHECK": "true",
        "MINIMUM_SECONDS_RECHECK_TIME": "0",
    }
    program = Path(sys.executable).with_name("changedetection.io")
    command = [sys.executable, str(program), "-d", str(folder), "-C", "-h", "127.0.0.1"]
    subprocess.Popen(  # noqa: S603 - ends with this process's group
        [*command, "-p", str(port)],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    api = f"http://127.0.0.1:{port}/api/v1/watch"
    session = requests.Session()
    session.trust_env = False

    def call(method: str, path: str = "", **given: Any) -> Any:  # noqa: ANN401 - its JSON
        answer = session.request(method, api + path, timeout=30, **given)
        answer.raise_for_status()
        is_json = answer.text and "json" in answer.headers["Content-Type"]
        return answer.json() if is_json else answer.text

    session.headers["x-api-key"] = _waited(lambda: _api_key(folder))
    for one in _waited(lambda: call("GET") or {"none": {}}):
        if one != "none":  # it comes with sample watches
            call("DELETE", f"/{one}")
    watch = {"url": url, "include_filters": ["xpath://a/@href"], "paused": False}
    name = call("POST", json=watch)["uuid"]
    shown = set[str]()

    def check() -> list[str]:
        before = call("GET", f"/{name}")["check_count"]
        time.sleep(1.0)  # snapshots are named by the second
        call("GET", f"/{name}?recheck=1")
        # "last_checked" says when a check began.
        _waited(lambda: call("GET", f"/{name}")["check_count"] > before)
        history = call("GET", f"/{name}/history")
        lines = call("GET", f"/{name}/history/latest").splitlines() if history else []
        new = [line.strip() for line in lines if line.strip() and line.strip() not in shown]
        shown.clear()
        shown.update(line.strip() for line in lines)
        return [urljoin(url, one) for one in new]

    return check


def miniflux(url: str, _folder: Path) -> Check:
    """Miniflux, by its API: a feed, refreshed; new entries are unread. The caller gives it a database."""
    import requests

    port = _free_port()
    name = "hubwatch-peer"
    environment = {
        **os.environ,
        "RUN_MIGRATIONS": "1",
        "CREATE_ADMIN": "1",
        "ADMIN_USERNAME": name,
        "ADMIN_PASSWORD": name,
        "LISTEN_ADDR": f"127.0.0.1:{port}",
        "DISABLE_SCHEDULER_SERVICE": "1",
        "FETCHER_ALLOW_PRIVATE_NETWORKS": "1",
        "HTTP_CLIENT_PROXY": f"http://127.0.0.1:{os.environ['PEER_PORT']}",
    }
    subprocess.Popen(["miniflux"], env=environment, stdout=sys.stderr)  # noqa: S607 - as installed
    session = requests.Session()
    session.trust_env = False
    session.auth = (name, name)

    def call(method: str, path: str, **given: Any) -> Any:  # noqa: ANN401 - its JSON
        address = f"http://127.0.0.1:{port}/v1/{path}"
        answer = session.request(method, address, timeout=30, **given)
        answer.raise_for_status()
        return answer.json() if answer.text else None

    _waited(lambda: call("GET", "me"))
    added = {"feed_url": url, "category_id": 1, "fetch_via_proxy": True}
    feed = call("POST", "feeds", json=added)["feed_id"]

    def check() -> list[str]:
        call("PUT", f"feeds/{feed}/refresh")
        entries = call("GET", f"feeds/{feed}/entries?status=unread&limit=1000")["entries"]
        if entries:
            ids = [one["id"] for one in entries]
            call("PUT", "entries", json={"entry_ids": ids, "status": "read"})
        return [one["url"] for one in entries]

    return check


def _api_key(folder: Path) -> str:
    for name in ("changedetection.json", "url-watches.json"):
        file = folder / name
        if file.exists():
            found = re.search(r'"api_access_token": *"([^"]+)"', file.read_text(encoding="utf-8"))
            if found:
                return found[1]
    return ""


def _waited(ask: Callable[[], Any], seconds: float = 60.0) -> Any:  # noqa: ANN401 - whatever is asked
    """Ask until there is an answer.

    Raises:
        TimeoutError: there was none.
    """
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            found = ask()
        except OSError:
            found = None
        if found:
            return found
        time.sleep(0.1)
    raise TimeoutError("no answer")


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _everything_at(port: int) -> None:
    """Let every name but this machine's lead to a port of loopback."""
    real = socket.getaddrinfo

    def here(host: Any, service: Any, *rest: Any, **named: Any) -> Any:  # noqa: ANN401 - the library's own
        local = host in {"127.0.0.1", "localhost", None}
        return real(host, service, *rest, **named) if local else real("127.0.0.1", port, *rest)

    setattr(socket, "getaddrinfo", here)  # noqa: B010 - mypy wants its exact type


CHECKS: dict[str, Callable[[str, Path], Check]] = {
    one.__name__: one for one in (reader, urlwatch, trafilatura, scrapy, changedetection, miniflux)
}


def main() -> int:
    """Run one check for each line of standard input."""
    name, url, folder, port = sys.argv[1:]
    os.environ["PEER_PORT"] = port
    _everything_at(int(port))
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a program prints is no answer
    check = CHECKS[name](url, Path(folder))
    for _ in sys.stdin:
        print(json.dumps(check()), file=answers, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
