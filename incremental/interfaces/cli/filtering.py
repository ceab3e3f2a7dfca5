"""The filters as options of commands."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from functools import wraps
from inspect import Parameter
from typing import Annotated, Any, get_args, get_type_hints

import typer

from incremental.base.errors import InputError
from incremental.base.lookup import check_tag, find_sites, find_topic
from incremental.interfaces.cli.common import now, with_options
from incremental.interfaces.filters import HINTS, Filters
from store import Store
from store.answers import NewQuery


def _help(name: str) -> str:
    return str(get_args(HINTS[name])[1].help)


@dataclass(frozen=True, slots=True)
class Given:
    """The filters of a command: sites and topics by name."""

    since: Annotated[str, typer.Option(help=_help("since"))] = ""
    until: Annotated[str, typer.Option(help=_help("until"))] = ""
    site: Annotated[list[str], typer.Option(help="Only this site; may be repeated.")] = field(
        default_factory=list
    )
    topic: Annotated[
        str, typer.Option(metavar="NAME", help="Only relevant and doubtful pages of this topic.")
    ] = ""
    min_score: Annotated[
        float | None, typer.Option(min=0, max=1, help="With --topic: at least this score.")
    ] = None
    irrelevant: Annotated[
        bool,
        typer.Option("--irrelevant", help="With --topic: pages that are not relevant as well."),
    ] = False
    tag: Annotated[str, typer.Option(help=_help("tag"))] = ""
    language: Annotated[str, typer.Option(help=_help("language"))] = ""
    unread: Annotated[bool, typer.Option("--unread", help="Only unread pages.")] = False
    starred: Annotated[bool, typer.Option("--starred", help="Only starred pages.")] = False

    def check_only(self, *names: str, beside: str) -> None:
        """Raise InputError for a filter not in *names*, which the option *beside* would ignore."""
        for name, usual in asdict(Given()).items():
            if name not in names and (value := getattr(self, name)) != usual:
                raise InputError(f"--{name.replace('_', '-')}", value, f"goes without {beside}")

    def filters(self, store: Store, q: str = "") -> Filters:
        """Return the filters, with the ids of at most one site and of the topic.

        Raises:
            InputError: they do not fit each other, or several sites are named.
            NotFoundError: no such site, topic or tag.
        """
        if not self.topic and (self.min_score is not None or self.irrelevant):
            raise InputError("--min-score or --irrelevant", "", "needs --topic NAME")
        if len(self.site) > 1:
            raise InputError("--site", " ".join(self.site), "a saved search names one site")
        if self.tag:
            check_tag(store, self.tag)
        return Filters(
            q=q,
            site=find_sites(store, self.site)[0].id if self.site else None,
            topic=find_topic(store, self.topic).id if self.topic else None,
            language=self.language,
            since=self.since,
            until=self.until,
            show="unread" if self.unread else "starred" if self.starred else "",
            tag=self.tag,
            min_score=self.min_score,
        )

    def query(self, store: Store, q: str = "", **more: Any) -> NewQuery:  # noqa: ANN401 - fields of NewQuery
        """Return the query for the store, of any number of sites. Raises as :meth:`filters`."""
        asked = replace(self, site=[]).filters(store, q).query(now(), **more)
        sites = tuple(row.id for row in find_sites(store, self.site)) if self.site else None
        hidden = None if self.irrelevant else asked.hidden_verdict
        read = False if self.unread else None
        starred = True if self.starred else None
        return replace(asked, sites=sites, hidden_verdict=hidden, read=read, starred=starred)


def filtered(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return what spells out the parameter ``given`` of a command as the options *names*; none = all."""
    options = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=getattr(Given(), name), annotation=hint)
        for name, hint in get_type_hints(Given, include_extras=True).items()
        if name in names or not names
    ]

    def spelled(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(**values: Any) -> None:  # noqa: ANN401 - by name
            given = {one.name: values.pop(one.name) for one in options}
            command(**values, given=Given(**given))

        with_options(run, command, options, "given")
        return run

    return spelled


def in_words(store: Store, filters: Filters) -> str:
    """Return the words and options of ``searches save`` that give these filters."""
    sites = {row.id: row.name for row in store.read.sites()}
    topics = {row.id: row.name for row in store.topics.topics()}
    said = [filters.q] if filters.q else []
    for name, value in filters.values().items():
        if name == "q" or not value:
            continue
        if name == "show":
            said.append(f"--{value}")
            continue
        names = {"site": sites, "topic": topics}.get(name, {})
        said.append(f"--{name.replace('_', '-')} {names.get(value, value)}")
    return " ".join(said)
