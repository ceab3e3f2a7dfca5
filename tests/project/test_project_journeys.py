"""What the count of functions and files counts."""

import importlib
import sys
import threading
from pathlib import Path

import pytest
from bench_journeys import Called

SOURCE = """
class Hub:
    def visit(self):
        return [one for one in map(lambda one: one, link())]

def link():
    def inner():
        return 1
    yield inner()

def never():
    return 0

def elsewhere():
    return 0
"""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one module in the product and the same one outside of it."""
    for package in ("store", "scripts"):
        (tmp_path / package).mkdir()
        (tmp_path / package / f"counted_{package}.py").write_text(SOURCE)
        monkeypatch.syspath_prepend(tmp_path / package)
    return tmp_path


def test_named_functions_of_the_product_count_once_in_any_thread(tree: Path) -> None:
    """Modules, class bodies, lambdas and comprehensions do not, nor does what is outside."""
    called = Called(tree)
    with called.counting():
        inside = importlib.import_module("counted_store")
        importlib.import_module("counted_scripts").elsewhere()
        inside.Hub().visit()
        inside.Hub().visit()
        thread = threading.Thread(target=inside.elsewhere)
        thread.start()
        thread.join()
    inside.never()
    names = ["Hub.visit", "elsewhere", "link", "link.<locals>.inner"]
    assert called.functions() == [("store/counted_store.py", name) for name in names]
    assert sys.getprofile() is None
