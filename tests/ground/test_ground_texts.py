"""Texts: one catalogue, in every language, and no second place that puts a rule or a status into words."""

import ast
import json
import pickle
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from string import Formatter

import msgspec
import pytest

from incremental.base.features import entries, found, texts_of
from incremental.base.scope import Reach
from incremental.base.texts import LANGUAGES, Text, Words, catalogue, named, read_text
from incremental.fetch.status import FetchStatus
from store.rules import Rule

ROOT = Path(__file__).parents[2]
_KEY = re.compile(r"[a-z_]+\.[a-z_0-9]+")
_BEGUN = re.compile(r"[a-z_]+\.[a-z_]*")


@cache
def _strings() -> tuple[tuple[Path, str], ...]:
    """The string constants of the product but docstrings, with the first parts of f-strings."""
    found = []
    for room in ("incremental", "classifier", "store"):
        for path in (ROOT / room).rglob("*.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            said = {
                id(node.value)
                for node in ast.walk(tree)
                if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            }
            found += [
                (path, node.value)
                for node in ast.walk(tree)
                if isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and id(node) not in said
            ]
    return tuple(found)


def _catalogue() -> dict[str, Mapping[str, str]]:
    """Every text by its key, those of features included."""
    of_features = {
        f"{one}.{name}": said for one in entries() for name, said in texts_of(one).items()
    }
    return {**catalogue(), **of_features}


def _templates() -> str:
    pages = (ROOT / "incremental").rglob("templates/*.html")
    return "\n".join(path.read_text(encoding="utf-8") for path in pages)


def _code() -> str:
    return "\n".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "incremental").rglob("*.py")
    )


def _fields(text: str) -> set[str]:
    return {name for _, name, *_ in Formatter().parse(text) if name}


def test_a_text_stands_in_every_language_with_the_same_values() -> None:
    for key, texts in _catalogue().items():
        assert set(texts) == set(LANGUAGES), key
        assert all(text.strip() for text in texts.values()), key
        english, chinese = map(_fields, (texts["en"], texts["zh"]))
        assert english == chinese or key.endswith("_one"), key


def _asked() -> tuple[set[str], set[str]]:
    """The keys that somebody asks for, and how computed ones begin."""
    pages, code = _templates(), _code()
    constants = {text for _, text in _strings()}
    keys = {text for text in constants if _KEY.fullmatch(text)}
    keys |= set(re.findall(r"\bt\(['\"]([a-z_]+\.[a-z_0-9]+)['\"][,)]", pages))
    keys |= set(re.findall(r"t\('([a-z_]+\.[a-z_0-9]+)' if", pages))
    keys |= {f"hub_why.{kind}" for kind in re.findall(r'hub_why\(\s*"(\w+)"', code)}
    begun = {text for text in constants if _BEGUN.fullmatch(text) and not _KEY.fullmatch(text)}
    begun |= {text for text in constants if text.endswith("_") and _KEY.fullmatch(text)}
    begun |= set(re.findall(r"['\"]([a-z_]+\.[a-z_]*)['\"] ~", pages))
    begun |= {f"{one}." for one in re.findall(r"(?:named|maybe)\(['\"](\w+)['\"]", pages + code)}
    return keys, begun


def test_every_text_that_is_said_is_in_the_catalogue() -> None:
    sections = {key.partition(".")[0] for key in _catalogue()}
    asked = re.findall(
        r"\b(?:t|words|Text|self\.words)\(\s*['\"]([a-z_]+\.[a-z_0-9]+)['\"][,)]",
        _templates() + _code(),
    )
    assert set(asked) - set(_catalogue()) == set()
    assert {key.partition(".")[0] for key in asked} <= sections


def test_no_text_is_left_over() -> None:
    keys, begun = _asked()
    for one in found().on:
        texts = (*one.pages.values(), *(link.text for link in one.topic_links))
        keys |= {f"{one.name}.{text}" for text in ("job", "problem", *texts)}
    forms = {key: re.sub("_(one|none)$", "", key) for key in _catalogue()}
    left = {key for key, plain in forms.items() if keys.isdisjoint((key, plain))}
    assert {key for key in left if not key.startswith(tuple(begun))} == set()


@pytest.mark.parametrize(
    ("section", "names"), [("rule", Rule), ("fetch", FetchStatus), ("reach", Reach)]
)
def test_a_rule_a_status_and_a_reach_have_words(section: str, names: type[Rule]) -> None:
    assert [name for name in names if not isinstance(named(section, name), Text)] == []


def _elsewhere() -> Iterator[tuple[str, str]]:
    sections = (
        "rule",
        "fetch",
        "robots",
        "reason",
        "verdict",
        "health",
        "lacks",
        "hub_why",
        "trap",
    )
    texts = {
        text["en"]: key
        for key, text in _catalogue().items()
        if key.partition(".")[0] in sections and " " in text["en"]
    }
    for path, text in _strings():
        if text in texts and "migrations" not in path.parts:
            yield str(path.relative_to(ROOT)), texts[text]


def test_no_rule_and_no_status_is_put_into_words_anywhere_else() -> None:
    assert sorted(_elsewhere()) == []


def test_one_thing_is_said_in_the_singular_and_none_in_words() -> None:
    assert Text("lacks.few_pages", n=0, enough=30).startswith("no other page to compare with yet")
    assert [Text("sites.count", n=n) for n in (1, 2)] == ["1 site", "2 sites"]


def test_a_text_is_english_by_itself_and_chinese_by_its_key() -> None:
    waits = Text("reason.failed", n=3)
    assert json.dumps([waits]) == '["failed 3 times in a row: retrying later"]'
    assert Words("zh")(waits) == "连续失败 3 次：稍后重试"
    assert Words("zh").said("of a server") == "of a server"


def test_a_text_names_other_texts_in_its_language() -> None:
    given = Text("reason.given_up", status=named("fetch", "gone"))
    assert (given, Words("zh")(given)) == ("no longer visited: gone", "不再访问：不存在")


def _copies(text: Text) -> list[str]:
    body = msgspec.json.decode(msgspec.json.encode(text, enc_hook=Text.stored), type=str)
    return [read_text(text.stored()), read_text(body), pickle.loads(pickle.dumps(text))]


def test_a_stored_text_comes_back_with_key_and_values() -> None:
    parts = (Text("lacks.no_text", url="https://a.example/"), Text("fetch.gone"))
    for text in (
        Text("fetch.gone"),
        Text("lacks.examples_missing", missing=2, given=3, parts=parts),
    ):
        for copy in _copies(text):
            assert isinstance(copy, Text)
            assert (copy, Words("zh")(copy)) == (text, Words("zh")(text))


@pytest.mark.parametrize(
    "text", ["", "a server's words", "fetch.gone {", 'reason.failed {"m": 1}', "x.y"]
)
def test_somebody_elses_words_stay_as_they_are(text: str) -> None:
    assert read_text(text) == text
