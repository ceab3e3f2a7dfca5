"""The filters as options of commands: those of the API, with sites and topics by name."""

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter
from typing import Annotated, Any, Literal, get_args

import typer

from incremental.base.errors import InputError
from incremental.base.lookup import check_tag, find_sites, find_topic
from incremental.interfaces.cli.common import now, with_options
from incremental.interfaces.filters import HINTS, Filters
from store import Store
from store.answers import NewQuery

Given = Mapping[str, Any]
"""The filters that were given to a command, by name."""
_NAMED = {
    "site": "Only this site: name, seed URL or id.",
    "topic": "Only relevant and doubtful pages of this topic.",
}


def filtered(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return what spells out the parameter ``given`` of a command as the options *names*; none = all."""
    options = [_option(name) for name in names or HINTS if name != "q"]

    def spelled(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(**values: Any) -> None:  # noqa: ANN401 - by name
            asked = {one.name: values.pop(one.name) for one in options}
            given = {name: value for name, value in asked.items() if value not in (None, "")}
            command(**values, given=given)

        with_options(run, command, options, "given")
        return run

    return spelled


def _option(name: str) -> Parameter:
    hint, about = get_args(HINTS[name])
    kind: Any = float | None if about.most == 1 else str
    if about.one_of:
        kind = Literal[about.one_of] | None
    says = _NAMED.get(name, about.help)
    bounds = {"min": about.least, "max": about.most} if hint == float | None else {}
    option = Annotated[kind, typer.Option(help=says, **bounds)]
    default = "" if kind is str else None
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=option)


def check_only(given: Given, *names: str, beside: str) -> None:
    """Raise InputError for a filter not in *names*, which the option *beside* would ignore."""
    for name, value in given.items():
        if name not in names:
            raise InputError(f"--{name.replace('_', '-')}", value, f"goes without {beside}")


def filters_of(store: Store, given: Given, q: str = "") -> Filters:
    """Return the filters, with the ids of the site and the topic.

    Raises:
        InputError: they do not fit each other.
        NotFoundError: no such site, topic or tag.
    """
    found = {**given, "q": q}
    if "site" in given:
        found["site"] = find_sites(store, [given["site"]])[0].id
    if "topic" in given:
        found["topic"] = find_topic(store, given["topic"]).id
    elif "min_score" in given:
        raise InputError("--min-score", given["min_score"], "needs --topic NAME")
    if "tag" in given:
        check_tag(store, given["tag"])
    return Filters(**found)


def query_of(store: Store, given: Given, q: str = "", **more: Any) -> NewQuery:  # noqa: ANN401 - fields of NewQuery
    """Return the query for the store. Raises as :func:`filters_of`."""
    return filters_of(store, given, q).query(now(), **more)


def in_words(store: Store, filters: Filters) -> str:
    """Return the words and options of ``searches save`` that give these filters."""
    names = {
        "site": {row.id: row.name for row in store.read.sites()},
        "topic": {row.id: row.name for row in store.topics.topics()},
    }
    said = [
        f"--{name.replace('_', '-')} {names.get(name, {}).get(value, value)}"
        for name, value in filters.values().items()
        if value and name != "q"
    ]
    return " ".join([filters.q, *said] if filters.q else said)
