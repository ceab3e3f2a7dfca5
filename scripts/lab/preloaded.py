#!/usr/bin/env python3
"""Run pytest again and again, each time in a fork of one process that has loaded the libraries.

For few tests, loading them takes longer than the tests. One line of JSON on the standard input, the
arguments of pytest, is answered by one on the standard output: the exit code, negative for a signal.
The modules of the product are not loaded here: each fork reads them as they are then.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import sys

# The plug-in comes first: it cannot be loaded by pytest after libraries that hook into imports.
LIBRARIES = """anyio.pytest_plugin apscheduler.schedulers.background bs4 certifi datasketch fastapi.testclient
feedparser
htmldate hypothesis idna jieba jinja2 libsvm.svmutil lxml.html lxml_html_clean msgspec numpy opencc peewee
playhouse.migrate prometheus_client protego publicsuffixlist pytest re2 requests rich.console
rich.progress scipy.sparse sklearn.ensemble sklearn.feature_extraction.text sklearn.linear_model
snowballstemmer stopwordsiso trafilatura typer.testing urllib3 uvicorn w3lib.url warcio webencodings
yaml"""
# For tests that wait for something that never comes; a loaded machine is slow.
WAIT_SECONDS = 600


def main() -> int:
    """Answer until the input ends; 0 = done."""
    for name in LIBRARIES.split():
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for line in sys.stdin:
        child = os.fork()
        if not child:
            _run(json.loads(line))
        _, status = os.waitpid(child, 0)
        with contextlib.suppress(ProcessLookupError):
            # What the tests have started and not ended.
            os.killpg(child, signal.SIGKILL)
        print(os.waitstatus_to_exitcode(status), flush=True)
    return 0


def _run(arguments: list[str]) -> None:
    import pytest  # noqa: PLC0415 - loaded above, where a missing library is no error

    os.setsid()
    signal.alarm(WAIT_SECONDS)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    # Assertions in plug-ins that are loaded by now stay as they are.
    os._exit(pytest.main(["-W", "ignore::pytest.PytestAssertRewriteWarning", *arguments]))


if __name__ == "__main__":
    sys.exit(main())
