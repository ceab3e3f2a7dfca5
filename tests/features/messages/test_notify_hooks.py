"""A hook is called once for each new page, with one JSON object; what it does wrong is shown and retried."""

import hmac
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from cli_runner import Run
from lab.clocks import SimulatedClock
from receivers import PostedHook, PostedHooks
from stories import HOME, HOUR, START
from test_notify_stories import announce, run

from incremental.base.clock import SystemClock
from incremental.base.errors import SettingsError
from incremental.base.threads import InlineExecutor, pause
from incremental.features.messages.channels import given_channels, standings
from incremental.features.messages.hooks import MAX_OUTPUT_BYTES, Delivered, call
from incremental.features.messages.notifier import Notifier, send_test
from incremental.features.messages.plan import MAX_ATTEMPTS
from incremental.features.messages.settings import HookChannel, HookSettings
from incremental.fetch.libraries import LibraryGate
from incremental.fetch.options import FetchSettings
from incremental.settings.loading import build_settings
from store import Store

LATER = START + HOUR
KEEP = """
import os, sys
with open(sys.argv[1], "a") as out:
    out.write(sys.stdin.read())
"""


def hooks(store: Store, *command: str, **more: Any) -> Notifier:
    settings = build_settings({"messages": {"hook": [{"name": "h", "command": command, **more}]}})
    return Notifier(store, settings, SystemClock(), executor=InlineExecutor())


def python(code: str, *arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code, *arguments)


def hook(code: str, *arguments: str, seconds: float = 20.0) -> HookSettings:
    return HookSettings(name="h", command=python(code, *arguments), timeout_seconds=seconds)


def tried(to: HookSettings, fetch: FetchSettings) -> Delivered:
    """Send a test call."""
    channel = HookChannel("hook:h", "hook:", hook=to)
    return send_test(channel, fetch, SimulatedClock(START))


def called(to: HookSettings, given: bytes) -> Delivered:
    return call(LibraryGate(FetchSettings(), SystemClock()), to, given, "key")


def calls(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def test_a_hook_is_called_once_for_each_new_page(store: Store, tmp_path: Path) -> None:
    """Forty pages are forty calls: nothing is combined, and a restart repeats nothing."""
    file, names = tmp_path / "calls", [f"bridge-{n}" for n in range(40)]
    messages = hooks(store, *python(KEEP, str(file)))
    messages.step(START)
    announce(store, *names)
    run(messages, LATER, steps=41)
    run(hooks(store, *python(KEEP, str(file))), LATER + 100)
    found = calls(file)
    assert [one["page"]["url"] for one in found] == [HOME + name for name in names]
    first = found[0]
    assert {key: first[key] for key in ("version", "kind", "hook")} == {
        "version": 1,
        "kind": "page",
        "hook": "hook:h",
    }
    assert first["page"]["title"] == "About bridge-0"
    assert first["page"]["site"]
    assert len({one["key"] for one in found}) == 40


def test_a_failure_is_shown_like_a_channels_and_tried_again(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "calls"
    code = f"{KEEP}\nif len(open(sys.argv[1]).readlines()) < 3: sys.exit('no \x1b[31mroom')"
    messages = hooks(store, *python(code, str(file)))
    messages.step(START)
    announce(store, "bridge")
    run(messages, LATER)
    channels = given_channels(build_settings({"messages": {"hook": [_hook()]}}))
    (standing,) = standings(store, channels, now=LATER)
    assert standing["held_by"] == "retry"
    assert LATER < (standing["held_until"] or 0) < LATER + 70
    assert (standing["counts"]["waiting"], standing["last_error"]) == (
        1,
        "exit code 1: no [31mroom",
    )
    run(messages, LATER + 100)
    run(messages, LATER + 300)
    assert len({one["key"] for one in calls(file)}) == 1
    assert len(calls(file)) == 3
    assert store.outbox.counts()["hook:h"] == {"sent": 1}


def _hook() -> dict[str, Any]:
    return {"name": "h", "command": ["true"]}


def test_a_hook_that_never_succeeds_is_given_up(sqlite_store: Store) -> None:
    messages = hooks(sqlite_store, "false")
    messages.step(START)
    announce(sqlite_store, "bridge")
    for number in range(MAX_ATTEMPTS + 1):
        run(messages, LATER + number * 7 * HOUR, steps=2)
    assert sqlite_store.outbox.counts()["hook:h"] == {"failed": 1}


def test_a_hook_of_an_unknown_topic_is_not_called(sqlite_store: Store, tmp_path: Path) -> None:
    file = tmp_path / "calls"
    messages = hooks(sqlite_store, *python(KEEP, str(file)), topic="nothing")
    messages.step(START)
    announce(sqlite_store, "bridge")
    run(messages, LATER)
    assert calls(file) == []


def test_a_hook_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    code = """import os, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print(child.pid, flush=True); open(sys.argv[1], "w").write(str(child.pid)); child.wait()"""
    file = tmp_path / "child"
    slow = hook(code, str(file), seconds=3.0)
    began = time.monotonic()
    outcome = called(slow, b"{}")
    assert (outcome.ok, outcome.error[:9]) == (False, "ended aft")
    assert time.monotonic() - began < 20
    # A killed process may take a moment to end.
    for _ in range(100):
        if not _lives(int(file.read_text())):
            break
        pause(0.1)
    assert not _lives(int(file.read_text()))


def _lives(process: int) -> bool:
    """Whether a process still runs; one that only waits to be buried does not."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{process}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"


def test_what_a_hook_leaves_running_does_not_hold_it_up() -> None:
    code = "import subprocess; subprocess.Popen(['sleep', '60'])"
    assert called(hook(code), b"{}").ok


@pytest.mark.parametrize("code", [0, 1])
def test_what_a_hook_starts_in_a_session_of_its_own_does_not_hold_it_up(
    tmp_path: Path, code: int
) -> None:
    """It keeps the hook's output open, and lives on after the call."""
    file = tmp_path / "child"
    text = f"""import os, subprocess, sys
child = subprocess.Popen(["sleep", "40"], start_new_session=True)
open({str(file)!r}, "w").write(str(child.pid)); print("full", flush=True); os._exit({code})"""
    outcome = called(hook(text), b"{}")
    child = int(file.read_text())
    assert _lives(child)
    os.kill(child, signal.SIGKILL)
    assert (outcome.ok, outcome.error) == (not code, "exit code 1: full" if code else "")


def test_output_without_end_is_not_kept() -> None:
    code = f"import sys; sys.stdout.write('x' * 20_000_000 + '\\n'); sys.exit('y' * {MAX_OUTPUT_BYTES * 2})"
    outcome = called(hook(code), b"{}")
    assert len(outcome.error) <= 300
    assert outcome.error.startswith("exit code 1: yyy")


def test_a_hook_that_does_not_read_is_no_failure() -> None:
    assert called(hook("pass"), b"x" * 5_000_000).ok


def test_a_program_that_is_not_there_is_an_error_that_names_it() -> None:
    gone = HookSettings(name="h", command=("/nowhere/archive",))
    assert (
        called(gone, b"{}").error
        == "cannot be started: /nowhere/archive: No such file or directory"
    )


def test_a_hook_gets_no_setting_and_no_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HUBWATCH_WEB_PASSWORD", "secret")
    code = "import os, sys; sys.exit(repr([sys.argv[1:], [k for k in os.environ if 'HUBW' in k]]))"
    outcome = called(hook(code, "$(id)", "; rm -rf x"), b"{}")
    assert outcome.error == "exit code 1: [['$(id)', '; rm -rf x'], []]"


def test_a_test_call_says_that_it_is_one() -> None:
    code = "import json, sys; sys.exit(json.load(sys.stdin)['kind'])"
    assert tried(hook(code), FetchSettings()).error == "exit code 1: test"


@pytest.mark.parametrize(
    ("hook", "said"),
    [
        ({"name": "a"}, r"hook\[0\].command .*or give url"),
        ({"name": "a", "command": "archive --new"}, r"hook\[0\].command"),
        ({"name": "a", "command": []}, r"as a list"),
        ({"name": " ", "command": ["x"]}, "give the hook a name"),
        ({"name": "a", "command": ["x"], "timeout_seconds": 0}, "timeout_seconds"),
        ({"name": "a", "command": ["x"], "shell": True}, "unknown setting"),
    ],
)
def test_a_wrong_setting_is_named(hook: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        build_settings({"messages": {"hook": [hook]}})


def test_two_hooks_have_two_names_and_channels_leave_theirs_alone() -> None:
    with pytest.raises(SettingsError, match="another hook"):
        build_settings({"messages": {"hook": [_hook(), _hook()]}})
    channel = {"name": "hook:x", "url": "json://a.example/"}
    with pytest.raises(SettingsError, match="do not begin with hook:"):
        build_settings({"messages": {"channel": [channel]}})


def test_a_hook_whose_program_is_missing_is_found_by_the_doctor(
    hubwatch: Run, tmp_path: Path
) -> None:
    hook = '[[messages.hook]]\nname = "h"\ncommand = ["/nowhere/archive"]\n'
    (tmp_path / "hubwatch.toml").write_text(hook)
    done = hubwatch("doctor", "--json")
    (said,) = [one for one in done.json["checks"] if "hook[0].command" in one["says"]]
    assert said["verdict"] == "problem"
    (tmp_path / "hubwatch.toml").write_text(hook.replace("/nowhere/archive", sys.executable))
    done = hubwatch("doctor", "--json")
    assert not [one for one in done.json["checks"] if "hook[" in one["says"]]


def test_a_hook_is_listed_tested_and_retried_by_command(hubwatch: Run, tmp_path: Path) -> None:
    command = json.dumps([sys.executable, "-c", "import sys; sys.exit('disk full')"])
    (tmp_path / "hubwatch.toml").write_text(f'[[messages.hook]]\nname = "h"\ncommand = {command}\n')
    (row,) = hubwatch("notify", "list", "--json").json
    assert (row["channel"], row["about"], row["when"]) == ("hook:h", "all new pages", "at once")
    tried = hubwatch("notify", "test", "hook:h")
    assert (tried.code, tried.err) == (1, "hubwatch: channel hook:h: exit code 1: disk full\n")
    assert hubwatch("notify", "retry", "hook:h").code == 0


def _posted(path: str, status: int, secret: str = "hush") -> tuple[Delivered, list[PostedHook]]:
    """Send a test call to an address of this machine."""
    here = FetchSettings(allowed_networks=("127.0.0.0/8",))
    with PostedHooks(status) as receiver:
        to = HookSettings(name="h", url=receiver.url + path, secret=secret)
        done = tried(to, here)
    return done, receiver.posted


def test_an_address_gets_the_object_signed() -> None:
    done, (posted,) = _posted("/new", 204)
    assert done == Delivered(ok=True)
    assert json.loads(posted.body)["kind"] == "test"
    right = hmac.new(b"hush", posted.body, "sha256").hexdigest()
    assert posted.headers["X-Hubwatch-Signature"] == f"sha256={right}"
    assert posted.headers["Content-Type"] == "application/json"
    assert posted.headers["Idempotency-Key"] == f"test-{START:.0f}"


def test_an_address_without_a_secret_gets_no_signature() -> None:
    _, (posted,) = _posted("/new", 200, secret="")
    assert "X-Hubwatch-Signature" not in posted.headers


@pytest.mark.parametrize("status", [302, 404, 500])
def test_an_address_that_answers_otherwise_has_failed(status: int) -> None:
    done, posted = _posted("/new", status)
    assert (done.ok, done.error, len(posted)) == (False, f"answered with status {status}", 1)


def test_an_address_that_cannot_be_reached_fails_without_its_key() -> None:
    here = FetchSettings(allowed_networks=("127.0.0.0/8",))
    done = tried(HookSettings(name="h", url="http://127.0.0.1:9/very-secret-path"), here)
    assert not done.ok
    assert "very-secret" not in done.error


def test_an_address_that_is_not_public_is_refused() -> None:
    done = called(HookSettings(name="h", url="http://127.0.0.1:9/"), b"{}")
    assert "not public" in done.error


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"url": "https://a.example/", "command": ["true"]}, "command"),
        ({"url": "ftp://a.example/"}, "url"),
        ({}, "command"),
    ],
)
def test_a_hook_has_a_program_or_an_address(given: dict[str, Any], field: str) -> None:
    with pytest.raises(SettingsError, match=field):
        build_settings({"messages": {"hook": [{"name": "h", **given}]}})
