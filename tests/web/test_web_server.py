"""Listening: real sockets, a port that is taken, a daemon that goes on without its web page."""

import json
import os
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_runner import Run
from fake_web import page
from local_site import LocalSite
from web_served import Served

from incremental.interfaces.web.server import Listener, ListenError, served

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-c", "from incremental.interfaces.cli import main; main()"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as other:
        yield other.getsockname()[1]


def get(url: str, token: str = "") -> str:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as answer:
        return str(answer.read().decode())


def test_it_answers_over_a_socket_and_ends(empty: Served) -> None:
    with served(empty.with_settings(port=0).web) as url:
        assert get(url + "healthz") == "ok\n"
        assert "No site is watched yet" in get(url)
    with pytest.raises(urllib.error.URLError):
        get(url + "healthz")


def test_a_port_that_is_taken_is_said(empty: Served, taken: int) -> None:
    with pytest.raises(ListenError, match=f"127.0.0.1:{taken}"):
        Listener(empty.with_settings(port=taken).web)


@pytest.mark.parametrize("host", ["999.1.2.3", "no.such.host.invalid"])
def test_a_host_that_is_not_ours_is_said(empty: Served, host: str) -> None:
    with pytest.raises(ListenError):
        Listener(empty.with_settings(host=host, password="x", port=0).web)


def test_serve_alone_refuses_a_taken_port(hubwatch: Run, taken: int, tmp_path: Path) -> None:
    (tmp_path / "hubwatch.toml").write_text(f"[web]\nport = {taken}\n")
    done = hubwatch("serve")
    said = f"hubwatch: 127.0.0.1:{taken} is in use; set another [web] port or host\n"
    assert (done.code, done.err) == (2, said)


def test_serve_alone_refuses_to_be_open_to_others(hubwatch: Run, tmp_path: Path) -> None:
    (tmp_path / "hubwatch.toml").write_text('[web]\nhost = "0.0.0.0"\nport = 0\n')
    done = hubwatch("serve")
    assert (done.code, "hubwatch token add" in done.err) == (2, True)


def test_a_password_is_never_shown(hubwatch: Run, tmp_path: Path) -> None:
    (tmp_path / "hubwatch.toml").write_text("[web]\npassword = ['sesame']\n")
    assert "sesame" not in hubwatch("list").err


def test_tokens_are_made_listed_and_removed(hubwatch: Run) -> None:
    made = hubwatch("token", "add", "reader")
    again = hubwatch("token", "add", "reader")
    assert (again.code, "is the name of another token" in again.err) == (2, True)
    assert "from now on it asks for a token" in made.err
    assert "No token may change anything yet" in made.err
    token = made.out.strip()
    assert token.startswith("hubwatch_")
    (row,) = hubwatch("token", "list", "--json").json
    assert (row["name"], row["scope"]) == ("reader", "read")
    assert token not in hubwatch("token", "list").out
    assert hubwatch("token", "remove", "other").code == 4
    writes = hubwatch("token", "add", "editor", "--scope", "write").err
    assert writes == "write token for editor; it is shown only once:\n"
    assert hubwatch("token", "remove", "reader", "editor").code == 0
    assert hubwatch("token", "list", "--json").json == []


def test_the_daemon_serves_what_it_finds_and_takes_up_what_is_added(tmp_path: Path) -> None:
    """One process, two threads that write; the address is said on stderr."""
    config = '[fetch]\nallowed_networks = ["127.0.0.0/8"]\n[web]\nport = 0\n'
    (tmp_path / "hubwatch.toml").write_text(config)
    with LocalSite({"/": page("/stories/a-story-with-a-long-name.html")}) as site:
        process = subprocess.Popen(
            [*COMMAND, "run"], cwd=tmp_path, env=ENVIRONMENT, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            said = next(line for line in process.stderr if "add sites at" in line)
            url = said.partition("add sites at ")[2].partition(";")[0] + ";"
            order = json.dumps({"urls": [site.url]}).encode()
            request = urllib.request.Request(
                url.removesuffix("add;") + "api/v1/sites",
                order,
                {"Content-Type": "application/json"},
            )
            assert urllib.request.urlopen(request).status == 200
            assert any(site.url in line for line in process.stdout if line.startswith("hub "))
        finally:
            process.terminate()
            process.communicate()
    assert process.returncode == 0


def test_the_daemon_goes_on_without_its_page_when_the_port_is_taken(
    tmp_path: Path, taken: int
) -> None:
    config = f'[fetch]\nallowed_networks = ["127.0.0.0/8"]\n[web]\nport = {taken}\n'
    (tmp_path / "hubwatch.toml").write_text(config)
    with LocalSite({"/": page("/stories/a-story-with-a-long-name.html")}) as site:
        process = subprocess.Popen(
            [*COMMAND, "run", site.url], cwd=tmp_path, env=ENVIRONMENT, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert process.stdout is not None
        try:
            assert any(line.startswith("hub ") for line in process.stdout)
        finally:
            process.terminate()
            err = process.communicate()[1]
    assert "running without the web page" in err
