"""English names of languages, for texts that are not pages: those of the web page's catalogue."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files


@cache
def language_names() -> Mapping[str, str]:
    """Return the English name of each language that texts are told apart in, by its code."""
    catalogue = files("incremental").joinpath("web", "catalogue.toml").read_text(encoding="utf-8")
    return {code: texts["en"] for code, texts in tomllib.loads(catalogue)["language"].items()}


def language_name(code: str) -> str:
    """Return the English name of a language, or its code in quotation marks."""
    return language_names().get(code) or f'"{code}"'
