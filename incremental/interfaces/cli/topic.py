"""Topics: ``topic add list show edit forget remove``, ``relevant``, ``irrelevant``."""

import json
import shlex
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from incremental.base.clock import SystemClock
from incremental.base.errors import InputError
from incremental.base.lookup import find_topic
from incremental.base.plain_text import clean
from incremental.base.readable_urls import readable
from incremental.base.texts import read_text
from incremental.base.urls import canonical_key, normalize
from incremental.daemon.health import DaemonState
from incremental.daemon.pulse import STALE_SECONDS, read_report
from incremental.interfaces.cli.common import (
    counted,
    now,
    open_store,
    print_list,
    print_table,
    printed_json,
    replaced,
    report,
    say,
    settings_of,
    wants_json,
)
from incremental.interfaces.explain.topic import explain_topic
from incremental.interfaces.results.schema import by_name, dated, when
from incremental.interfaces.results.topics import Topic, topic_result, topic_results
from incremental.settings.storage import daemon_at_work
from incremental.topics.editing import (
    GivenExample,
    begin,
    edit_topic,
    forget_example,
    give_feedback,
    set_paused,
)
from incremental.topics.previewing import LatestPages, Version
from store import Store
from store.enums import TopicState
from store.topics.values import TopicRow

Name = Annotated[str, typer.Argument(metavar="NAME", help="As `hubwatch topic list` shows it.")]
OfTopic = Annotated[str, typer.Option("--topic", metavar="NAME", help="The topic to train.")]
Pages = Annotated[list[str], typer.Argument(metavar="URL...", help="Any pages.")]


def add(  # noqa: PLR0913 - each is an option of the command
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the topic.")],
    *,
    example: Annotated[
        list[str], typer.Option(metavar="URL", help="An example page; may be repeated.")
    ] = [],  # noqa: B006 - Typer's way
    keyword: Annotated[
        list[str], typer.Option(metavar="WORD", help="A word or phrase; may be repeated.")
    ] = [],  # noqa: B006
    describe: Annotated[
        str, typer.Option(metavar="SENTENCE", help="What you want, in one sentence.")
    ] = "",
    method: Annotated[
        str,
        typer.Option(
            help="fused, adaptive, adaptive_guarded, vsm, semantic, bayes_normal or bayes_kernel."
        ),
    ] = "fused",
) -> None:
    """Create a topic from example pages, keywords or a sentence, or add examples to an existing one.

    Pages that are not cached are fetched by the daemon, within seconds if it is running.
    """
    with open_store(context) as store:
        known = store.topics.topic(name)
        before = None if known is None else _version(store, known)
        row, trained = begin(
            store,
            name,
            examples=example,
            keywords=keyword,
            description=describe,
            method=method,
            now=now(),
        )
        given = f"{counted(len(trained), 'example')} given to {row.name}"
        done = f"topic {row.name} was added" if known is None else given
        _finish(context, store, row, before, done, trained=trained)
        if not (wants_json(context) or daemon_at_work(store, *settings_of(context))):
            say("pages are scored while the daemon runs: hubwatch run")


def relevant(context: typer.Context, urls: Pages, *, of: OfTopic) -> None:
    """Mark pages as relevant to a topic; it learns within seconds."""
    _correct(context, urls, of, relevant=True)


def irrelevant(context: typer.Context, urls: Pages, *, of: OfTopic) -> None:
    """Mark pages as irrelevant to a topic; it learns within seconds."""
    _correct(context, urls, of, relevant=False)


def _correct(context: typer.Context, urls: list[str], of: str, *, relevant: bool) -> None:
    with open_store(context) as store:
        row = find_topic(store, of)
        before = _version(store, row)
        known = {one.canonical_key for one in before.examples}
        row, trained = give_feedback(store, of, urls, relevant=relevant, now=now())
        verdict = "relevant" if relevant else "irrelevant"
        done = f"{counted(len(trained), 'page')} marked as {verdict} to {row.name}"
        learns = any(one.at_hand for one in trained)
        _finish(context, store, row, before, done, trained=trained, learns=learns)
        if not wants_json(context) and not known & {canonical_key(one.url) for one in trained}:
            marked = shlex.join(one.url for one in trained)
            say(f"to undo: hubwatch topic forget {marked} --topic {shlex.quote(row.name)}")


def _version(store: Store, row: TopicRow) -> Version:
    return Version(row, store.topics.examples(row.id))


def _learn(
    context: typer.Context, store: Store, row: TopicRow, before: Version | None
) -> tuple[TopicRow, str]:
    """Let a topic learn what is at hand, and say what that does to the latest pages.

    A daemon that runs does so itself, and has the libraries and vectors at hand that cost a command
    seconds. *before* is the topic before it was changed; None = it is new.
    """
    if _daemon_learns(context, store):
        return row, ""
    # Numbers are loaded only where a topic learns.
    from incremental.daemon.assembly import make_topic_models  # noqa: PLC0415

    clock = SystemClock()
    with make_topic_models(store, settings_of(context)[0], clock) as model_store:
        pages, shown = LatestPages(store, model_store, clock), set[int]()
        if before is not None and before.row.version:
            # Until it learns, the store keeps the model of before the change.
            shown = pages.shown(model_store.model(before.row), before)
        row = model_store.learn(row)
        model = model_store.model(row) if row.version else None
        if model is None or not pages.rows:
            return row, ""
        now_shown = pages.shown(model, _version(store, row))
        first = before is None or not before.row.version
        return row, pages.change(now_shown if first else shown, now_shown).said("now")


def _daemon_learns(context: typer.Context, store: Store) -> bool:
    """Whether a daemon is at work that notices a changed topic: neither a single run, nor one that hangs."""
    settings, folder = settings_of(context)
    report = read_report(folder / settings.store.folder)
    if report is None or abs(now() - report.at) > STALE_SECONDS:
        return False
    notices = any(job.name == "topics" for job in report.jobs)
    notices = notices and report.state == DaemonState.RUNNING
    return notices and daemon_at_work(store, settings, folder)


def _learned(store: Store, row: TopicRow) -> str:
    """Say from what a topic just learned: pages with a text, key words, its sentence."""
    if _awaits_daemon(row):
        return f"the daemon {'retrains' if row.version else 'trains'} it within seconds"
    pages = sum(one.text is not None for one in store.topics.examples(row.id))
    words = len(json.loads(row.keywords))
    parts = [
        counted(number, what) for number, what in ((pages, "page"), (words, "key word")) if number
    ]
    if row.description:
        parts.append("its sentence")
    if row.state == TopicState.WAITING or not parts:
        return "it cannot judge yet"
    return f"it was trained on {' and '.join(parts)}"


def _awaits_daemon(row: TopicRow) -> bool:
    return row.learned_at != row.changed_at


def _finish(  # noqa: PLR0913 - what was done to a topic
    context: typer.Context,
    store: Store,
    row: TopicRow,
    before: Version | None,
    done: str,
    *,
    trained: Sequence[GivenExample] = (),
    learns: bool = True,
) -> None:
    """Let a topic learn what is at hand, and say what was *done* and what it waits for.

    *before* is the topic before that; None = it is new.
    """
    effect = ""
    if learns:
        row, effect = _learn(context, store, row, before)
        done += f"; {_learned(store, row)}"
    topic = topic_result(store, row)
    waiting = [one.url for one in trained if not one.at_hand]
    learned = [one.url for one in trained if one.at_hand]
    if printed_json(context, {**by_name(topic), "learned": learned, "waiting": waiting}):
        return
    say(done)
    known = not _awaits_daemon(row)
    if learns and known and (row.why or row.state != TopicState.READY):
        say(f"topic {row.name} is {row.state}" + (f": {read_text(row.why)}" if row.why else ""))
    if effect:
        say(effect)
    for url in waiting:
        say(f"{readable(url)} will be fetched by the daemon")
    for warning in topic.warnings if known else ():
        say(f"warning: {clean(warning)}")


def edit(  # noqa: PLR0913 - each is an option of the command
    context: typer.Context,
    name: Name,
    *,
    new_name: Annotated[
        str | None, typer.Option("--name", help="New name, unique among topics.")
    ] = None,
    keyword: Annotated[
        list[str] | None, typer.Option(metavar="WORD", help='Replaces all keywords; "" = none.')
    ] = None,
    describe: Annotated[
        str | None,
        typer.Option(metavar="SENTENCE", help='What you want, in one sentence; "" = none.'),
    ] = None,
    method: Annotated[str | None, typer.Option(help="As for `topic add`.")] = None,
    include: Annotated[
        list[str] | None,
        typer.Option(metavar="WORD", help='Only pages with one of these; replaces all; "" = none.'),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(metavar="WORD", help='No pages with any of these; replaces all; "" = none.'),
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option(help='A tag; replaces all; may be repeated; "" = none.')
    ] = None,
    paused: Annotated[
        bool | None, typer.Option("--pause/--resume", help="Whether it scores no pages.")
    ] = None,
) -> None:
    """Change a topic: name, keywords, sentence, method, tags, and words its pages must or must not have.

    It is trained again at once.
    """
    given: dict[str, Any] = {"name": new_name, "description": describe, "method": method}
    lists = {"keywords": keyword, "include": include, "exclude": exclude, "tags": tag}
    given |= {field: replaced(values) for field, values in lists.items()}
    if paused is None and all(value is None for value in given.values()):
        way_out = f"give what to change; hubwatch topic show {shlex.quote(name)} says what it is"
        raise InputError("options", "", way_out)
    with open_store(context) as store:
        before = _version(store, find_topic(store, name))
        row = edit_topic(store, before.row, **given, now=now())
        done = f"{row.name} was changed"
        if row.name != before.row.name:
            done = f"{before.row.name} is now called {row.name}"
        if paused is not None:
            row = set_paused(store, row.name, paused=paused, now=now())
            done = f"{row.name} is {row.state}"
        learns = any(given[field] is not None for field in ("description", "method", "keywords"))
        _finish(context, store, row, before, done, learns=learns)


def forget(context: typer.Context, urls: Pages, *, of: OfTopic) -> None:
    """Remove pages, whether examples or corrections, from what a topic learns from."""
    with open_store(context) as store:
        row = find_topic(store, of)
        before = _version(store, row)
        for url in urls:
            key = canonical_key(normalize(url) or url)
            known = store.topics.examples(row.id)
            ids = [one.id for one in known if one.canonical_key == key]
            row = forget_example(store, row, ids[0] if ids else 0, now=now())
        done = f"{counted(len(urls), 'page')} forgotten by {row.name}"
        _finish(context, store, row, before, done)


def list_topics(context: typer.Context) -> None:
    """List the topics with their state and page counts."""
    with open_store(context) as store:
        rows = topic_results(store)
    table = [
        (
            row.name,
            row.state,
            row.method,
            row.examples,
            _wanted(row),
            row.corrections,
            row.pages["relevant"],
            row.pages["doubtful"],
            row.why or "; ".join(row.warnings),
        )
        for row in rows
    ]
    columns = (
        *("topic", "state", "method", "examples", "keywords, sentence", "corrections"),
        *("relevant", "doubtful", "note"),
    )
    empty = "no topic yet; create one: hubwatch topic add NAME --describe SENTENCE"
    print_list(context, rows, "Topics", columns, table, empty=empty)


def _wanted(topic: Topic) -> str:
    """Return a topic's key words and its sentence for a cell."""
    sentence = [f"“{topic.description}”"] if topic.description else []
    return ", ".join([*topic.keywords, *sentence])


def show(context: typer.Context, name: Name) -> None:
    """Show a topic's examples, its top terms, and what is missing."""
    with open_store(context) as store:
        facts = explain_topic(store, find_topic(store, name))
    examples = facts["pages_learned"]
    if printed_json(context, dated(facts) | {"pages_learned": [dated(one) for one in examples]}):
        return
    print_table("", ("", ""), _rows(facts))
    rows = [(one["origin"], one["status"], one["title"], readable(one["url"])) for one in examples]
    if rows:
        print_table("Pages it learns from", ("as", "fetched", "title", "url"), rows)


def remove(
    context: typer.Context,
    name: Name,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Delete a topic with its examples and corrections; pages stay."""
    with open_store(context) as store:
        row = find_topic(store, name)
        if not yes and not typer.confirm(f"Delete topic {row.name}?", err=True):
            raise typer.Exit(1)
        store.topics.remove(row.id)
    report(context, {"removed": row.name}, f"removed topic {row.name}")


# Listed apart, or of use to programs alone.
_INTERNAL = ("id", "pages_learned", "version", "method")


def _rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Return table rows of a topic, without empty ones."""
    terms = [f"{clean(one['word'])} {one['part']:.2f}" for one in facts["terms"]]
    pages = [f"{verdict} {number}" for verdict, number in facts["pages"].items()]
    rows = []
    for name, value in (facts | {"terms": terms, "pages": pages}).items():
        if name in _INTERNAL or not value:
            continue
        label = "sentence" if name == "description" else name.replace("_", " ")
        said = ", ".join(value) if isinstance(value, list) else value
        rows.append((label, when(value) if name.endswith("_at") else str(said)))
    return rows
