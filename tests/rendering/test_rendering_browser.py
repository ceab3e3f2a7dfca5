"""Pages drawn by a real Chromium, whose every request our fetcher answers."""

import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from scripted_site import LIST, ScriptedSite, Served, rows

from incremental.base.children import family
from incremental.base.clock import SystemClock
from incremental.base.threads import pause
from incremental.daemon.assembly import make_fetcher, make_renderer
from incremental.fetch.options import FetchSettings
from incremental.fetch.status import FetchStatus
from incremental.parse.dispatch import parse
from incremental.settings import Settings
from incremental.settings.sections import BrowserSettings, SiteSettings
from incremental.visit.rendering import pool
from incremental.visit.rendering.browser import find_browser
from incremental.visit.rendering.pool import BrowserPool
from incremental.visit.ways.parts import PartFetcher
from incremental.visit.ways.visiting import Rendered

if not find_browser(BrowserSettings()).executable:
    pytest.skip("no Chromium is installed", allow_module_level=True)


@pytest.fixture
def site() -> Iterator[ScriptedSite]:
    with ScriptedSite() as found:
        yield found


def settings_for(
    site: ScriptedSite, own: SiteSettings | None = None, **browser: object
) -> Settings:
    """Allow this site's port alone."""
    names = frozenset(f"{name}:{site.port}" for name in ("127.0.0.1", "localhost"))
    fetch = FetchSettings(allowed_hosts=names)
    given = msgspec.structs.replace(BrowserSettings(page_seconds=20), **browser)
    sites = () if own is None else (own,)
    return msgspec.structs.replace(Settings(), fetch=fetch, browser=given, site=sites)


def drawn_by(
    site: ScriptedSite, *urls: str, own: SiteSettings | None = None, **browser: object
) -> list[Rendered]:
    """Draw pages one after the other in one browser."""
    settings, clock = settings_for(site, own, **browser), SystemClock()
    with (
        closing(make_fetcher(settings, clock)) as fetcher,
        make_renderer(settings, clock, fetcher.fetch) as renderer,
    ):
        assert renderer is not None
        return [renderer.render(url, None) for url in urls]


def links(found: Rendered) -> list[str]:
    page = parse(found.response.body, found.response.url, content_type="text/html")
    return [link.url.rpartition("/")[2] for link in page.links]


def test_a_list_that_a_script_reads_and_draws_is_seen(site: ScriptedSite) -> None:
    url = site.page("/news", LIST)
    site.json("/zz/rows", rows(1, 2, 3))
    (found,) = drawn_by(site, url)
    assert found.response.status is FetchStatus.FETCHED
    assert links(found) == ["1", "2", "3"]
    # robots.txt, the page, its script, its list
    assert found.requests == 4


def test_the_next_visit_needs_fewer_requests(site: ScriptedSite) -> None:
    url = site.page("/news", LIST)
    site.json("/zz/rows", rows(1, 2, 3))
    first, second = drawn_by(site, url, url)
    assert second.requests == first.requests - 2
    assert site.asked.count("/news.js") == 1


def test_a_list_that_grows_as_one_scrolls_is_seen_further_down(site: ScriptedSite) -> None:
    url = site.page(
        "/news",
        """
        let shown = 0;
        function more() {
            const root = document.getElementById("root");
            for (let end = shown + 10; shown < end && shown < 30; shown++) {
                const link = document.createElement("a");
                link.href = "/n/" + shown;
                link.textContent = "Matter " + shown;
                link.style = "display: block; height: 300px";
                root.append(link);
            }
        }
        more();
        addEventListener("scroll", () => {
            if (scrollY + innerHeight >= document.documentElement.scrollHeight - 50) more();
        });
        """,
    )
    (found,) = drawn_by(site, url)
    assert len(links(found)) == 30


POSTING = """
const ask = (method, kind) => fetch("/graph", {
    method, body: JSON.stringify({query: "{ rows { k t } }"}), headers: {"Content-Type": kind}});
const forms = [["PUT", "application/json"], ["DELETE", "application/json"], ["POST", "application/json"],
               ["POST", "text/plain"]];
const draw = rows => document.body.innerHTML = rows.map(r => `<a href="/n/${r.k}">${r.t}</a>`).join("");
for (const form of forms) ask(...form).then(a => a.json()).then(draw).catch(() => 0);
"""


def test_a_page_sends_nothing_to_its_site(site: ScriptedSite) -> None:
    """Whatever it looks like: what a body asks of a server is known to that server alone."""
    site.json("/graph", rows(1, 2, 3))
    (found,) = drawn_by(site, site.page("/news", POSTING))
    assert (links(found), site.posts) == ([], [])


def test_a_page_asks_whether_something_is_there(site: ScriptedSite) -> None:
    script = """
        fetch("/it", {method: "HEAD"}).then(async answer => {
            const text = await answer.text();
            document.body.innerHTML = `<a href="/n/${answer.status}${text.length}">it</a>`;
        });
    """
    site.json("/it", rows(1))
    (found,) = drawn_by(site, site.page("/news", script))
    assert links(found) == ["2000"]


def test_images_fonts_and_styles_cost_nothing(site: ScriptedSite) -> None:
    body = (
        '<link rel=stylesheet href="/a.css"><link rel=preload as=font href="/f.woff2" crossorigin>'
        '<img src="/i.png"><video src="/v.mp4" autoplay></video><iframe src="/frame"></iframe>'
        '<div id="root"></div>'
    )
    site.json("/zz/rows", rows(1))
    (found,) = drawn_by(site, site.page("/news", LIST, body=body))
    assert links(found) == ["1"]
    assert sorted(site.asked) == ["/news", "/news.js", "/robots.txt", "/zz/rows"]


def test_what_robots_txt_denies_is_not_fetched(site: ScriptedSite) -> None:
    site.pages["/robots.txt"] = Served(b"User-agent: *\nDisallow: /zz/\n", "text/plain")
    site.json("/zz/rows", rows(1))
    (found,) = drawn_by(site, site.page("/news", LIST))
    assert links(found) == []
    assert "/zz/rows" not in site.asked


def test_a_page_that_is_not_there_is_not_drawn(site: ScriptedSite) -> None:
    (found,) = drawn_by(site, f"{site.url}/nothing")
    assert found.response.status is FetchStatus.GONE


def test_no_more_requests_than_allowed_leave_a_page(site: ScriptedSite) -> None:
    url = site.page("/news", "for (let n = 0; n < 99; n++) fetch('/x?' + n).catch(() => 0)")
    (found,) = drawn_by(site, url, page_requests=12)
    assert found.requests == len(site.asked) == 12


# --- hostile pages ------------------------------------------------------------------------------


def test_a_page_whose_script_never_ends_is_given_up_and_the_next_is_drawn(
    site: ScriptedSite,
) -> None:
    site.json("/zz/rows", rows(1))
    hostile = site.page("/loop", "while (true) {}")
    first, second = drawn_by(site, hostile, site.page("/news", LIST), page_seconds=5)
    assert first.response.status is FetchStatus.PARSE_TIMED_OUT
    assert first.response.body == b""
    assert links(second) == ["1"]


def test_a_page_that_takes_all_memory_is_killed_and_the_next_is_drawn(site: ScriptedSite) -> None:
    site.json("/zz/rows", rows(1))
    greedy = """
        const kept = [];
        for (;;) { const one = new Uint8Array(5e7); one.fill(kept.length + 1); kept.push(one); }
    """
    hostile = site.page("/greedy", greedy)
    first, second = drawn_by(site, hostile, site.page("/news", LIST), memory_mb=700)
    assert first.response.status is FetchStatus.PARSE_FAILED
    assert first.response.detail == "drawing it took more than 700 MB of memory"
    assert links(second) == ["1"]


def test_what_a_server_holds_back_is_given_up_while_there_is_time_to_show_the_rest(
    site: ScriptedSite,
) -> None:
    url = site.page("/news", LIST + "fetch('/slow').catch(() => 0)")
    site.json("/zz/rows", rows(1))
    with site.holding("/slow"):
        (found,) = drawn_by(site, url, page_seconds=6)
    assert links(found) == ["1"]


FLOODS = {
    "history": "for (let n = 0; ; n++) history.pushState({n}, '', '?' + n);",
    "workers": """
        const text = "const kept = []; for (;;) kept.push(new Uint8Array(1e5).fill(1));";
        const url = URL.createObjectURL(new Blob([text]));
        setInterval(() => { for (let n = 0; n < 50; n++) new Worker(url); }, 10);
    """,
    "requests": "setInterval(() => { for (let n = 0; n < 500; n++) fetch('/x?' + n).catch(() => 0); }, 1);",
}


@pytest.mark.parametrize("flood", FLOODS)
def test_a_flood_in_one_page_does_not_harm_the_next_one_of_another_site(
    site: ScriptedSite, flood: str
) -> None:
    site.json("/zz/rows", rows(1))
    hostile = site.page("/flood", FLOODS[flood])
    innocent = site.page("/news", LIST).replace("127.0.0.1", "localhost")
    _, second = drawn_by(site, hostile, innocent, page_seconds=10)
    assert links(second) == ["1"]


class Forbidden:
    """Listens on another port of loopback and notes that somebody came."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.reached: list[bytes] = []
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection:
                self.reached.append(connection.recv(100))

    def close(self) -> None:
        self._socket.close()


def test_a_page_reaches_nothing_that_the_guard_refuses(site: ScriptedSite) -> None:
    """By any door that a page has: the egress guard refuses, or there is no way at all."""
    with closing(Forbidden()) as forbidden:
        doors = f"""
            const bad = ["http://127.0.0.1:{forbidden.port}", "http://169.254.169.254/latest/meta-data/",
                         "http://localhost:{forbidden.port}", "http://[::1]:{forbidden.port}"];
            document.body.innerHTML = "<a href='/n/done'>done</a><p id=out></p>";
            const note = name => () => {{ document.getElementById("out").textContent += name; }};
            for (const url of bad) {{
                fetch(url).then(note("fetch")).catch(() => 0);
                fetch(url, {{mode: "no-cors"}}).then(note("no-cors")).catch(() => 0);
                fetch(url, {{method: "POST", mode: "no-cors", body: "x"}}).then(note("post")).catch(() => 0);
                try {{ new EventSource(url).onopen = note("events"); }} catch {{}}
                try {{ new WebSocket(url.replace("http", "ws")).onopen = note("socket"); }} catch {{}}
                navigator.sendBeacon(url, "x");
                for (const [tag, name] of [["img", "src"], ["iframe", "src"], ["script", "src"],
                                           ["video", "src"], ["object", "data"], ["embed", "src"]]) {{
                    const one = document.createElement(tag);
                    one[name] = url;
                    document.body.append(one);
                }}
                for (const rel of ["preconnect", "dns-prefetch", "prefetch", "preload", "prerender"]) {{
                    const link = document.createElement("link");
                    link.rel = rel; link.href = url; link.as = "script";
                    document.head.append(link);
                }}
                window.open(url);
                const text = `fetch("${{url}}").then(() => postMessage("worker")).catch(() => 0)`;
                const worker = new Worker(URL.createObjectURL(new Blob([text])));
                worker.onmessage = note("worker");
            }}
            try {{
                const stun = "stun:127.0.0.1:{forbidden.port}";
                const peer = new RTCPeerConnection({{iceServers: [{{urls: stun}}]}});
                peer.createDataChannel("x");
                peer.createOffer().then(offer => peer.setLocalDescription(offer));
            }} catch {{}}
            navigator.serviceWorker?.register("/worker.js").catch(() => 0);
        """
        (found,) = drawn_by(site, site.page("/doors", doors))
        assert forbidden.reached == []
    assert links(found) == ["done"]
    assert b'<p id="out"></p>' in found.response.body
    assert set(site.asked) <= {"/robots.txt", "/doors", "/doors.js"}


def test_a_page_that_leads_elsewhere_is_not_followed(site: ScriptedSite) -> None:
    with closing(Forbidden()) as forbidden:
        url = site.page("/news", f"location.href = 'http://127.0.0.1:{forbidden.port}/x'")
        drawn_by(site, url)
        assert forbidden.reached == []


def test_nothing_is_downloaded(site: ScriptedSite) -> None:
    site.pages["/file"] = Served(b"x" * 1000, "application/zip")
    url = site.page(
        "/news",
        """
        const link = document.createElement("a");
        link.href = "/file"; link.download = "file.zip";
        document.body.append(link); link.click();
        const other = document.createElement("a");
        other.href = URL.createObjectURL(new Blob(["x"])); other.download = "b.zip"; other.click();
        """,
    )
    before = set(Path("/tmp").glob("playwright-artifacts-*/*"))
    page, file = drawn_by(site, url, f"{site.url}/file")
    assert page.response.status is FetchStatus.FETCHED
    assert set(Path("/tmp").glob("playwright-artifacts-*/*")) == before
    assert file.response.body == b"" or file.response.status is not FetchStatus.FETCHED


def test_nothing_of_one_page_is_there_for_the_next(site: ScriptedSite) -> None:
    leave = "localStorage.x = 1; document.cookie = 'x=1'; "
    show = "document.body.innerHTML = `<a href='/n/${localStorage.x}${document.cookie}'>it</a>`"
    first, second = drawn_by(site, site.page("/a", leave + show), site.page("/b", show))
    assert links(first) == ["1x=1"]
    assert links(second) == ["undefined"]


# --- processes ----------------------------------------------------------------------------------


def test_a_browser_is_replaced_after_its_pages_and_none_is_left(
    site: ScriptedSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "PAGES_EACH", 2)
    url = site.page("/news", LIST)
    site.json("/zz/rows", rows(1))
    settings, clock = settings_for(site), SystemClock()
    with (
        closing(make_fetcher(settings, clock)) as fetcher,
        make_renderer(settings, clock, fetcher.fetch) as renderer,
    ):
        assert isinstance(renderer, BrowserPool)
        seen: set[int] = set()
        for _ in range(3):
            assert links(renderer.render(url, None)) == ["1"]
            seen |= {one for pid in renderer.pids for one in family(pid)}
    assert len(seen) > 6
    # A killed process may take a moment to give its memory back.
    for _ in range(100):
        if not any(map(is_running, seen)):
            break
        pause(0.1)
    assert [one for one in seen if is_running(one)] == []


def test_a_browser_leaves_no_folder_behind(
    site: ScriptedSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither one that was closed nor one that was killed."""
    site.json("/zz/rows", rows(1))
    pages = site.page("/news", LIST), site.page("/loop", "while (true) {}")
    # Short, because it holds sockets.
    with tempfile.TemporaryDirectory(prefix="t") as folder:
        monkeypatch.setenv("TMPDIR", folder)
        monkeypatch.setattr(tempfile, "tempdir", None)
        drawn_by(site, *pages, page_seconds=5)
        assert list(Path(folder).iterdir()) == []
    monkeypatch.setattr(tempfile, "tempdir", None)


def test_a_browser_ends_when_no_page_needs_it(site: ScriptedSite) -> None:
    url = site.page("/news", LIST)
    site.json("/zz/rows", rows(1))
    settings, clock = settings_for(site), SystemClock()
    with closing(make_fetcher(settings, clock)) as fetcher:
        parts = PartFetcher(fetcher.fetch, settings, clock)
        executable = find_browser(settings.browser).executable
        with BrowserPool(
            executable,
            settings.browser,
            own=parts,
            others=parts,
            agent="hubwatch",
            clock=clock,
            idle_seconds=0.5,
        ) as pool:
            assert links(pool.render(url, None)) == ["1"]
            for _ in range(100):
                if not pool.pids:
                    break
                pause(0.1)
            assert pool.pids == []
            assert links(pool.render(url, None)) == ["1"]


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
