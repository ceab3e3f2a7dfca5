"""Features: what packages add to the core, and how they are found.

::

    setup.cfg of a package     entry point of the group ``hubwatch.features``: NAME = package:FEATURE
    entries()                  every installed name; nothing is imported
    found(off)                 the features that are on; why a broken one is not
    imported(name, target)     one contribution, when it is used

A feature names what it contributes as ``module:name``, so that listing features imports little. The core
knows features by this module alone, and Hubwatch's own come in the same way as those of other packages.
"""

from __future__ import annotations

import logging
import os
import tomllib
from collections import ChainMap
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incremental.base.attempts import Bug, attempt
from incremental.base.errors import FeatureError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

logger = logging.getLogger("hubwatch.features")

GROUP = "hubwatch.features"
FILE_NAME = "hubwatch.toml"
ENVIRONMENT_PREFIX = "HUBWATCH_"
# Beside the module that an entry point names; its one section is called like the feature.
TEXTS = "texts.toml"


@dataclass(frozen=True)
class TopicLink:
    """A link beside each topic of the web page."""

    path: str
    """With ``{id}`` for the topic's."""
    text: str
    counts: str
    """Target: a function of the store; returns what awaits the user, by topic id."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Feature:
    """What a feature contributes. A target is written ``module:name``, a text as in :data:`TEXTS`."""

    name: str
    """As its entry point and its section of the settings are called."""
    summary: str
    """One sentence, in English."""
    settings: str = ""
    """Target: the ``msgspec.Struct`` of its section."""
    commands: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By purpose, as in the help, then by name: a target, a space and its line of help, or a group of them
    with its help under ``""``."""
    routers: tuple[str, ...] = ()
    """Targets: FastAPI routers."""
    pages: Mapping[str, str] = field(default_factory=dict)
    """Entries of the web page's navigation: path and text."""
    templates: Path | None = None
    """Folder of its templates, which are called ``NAME/file.html``."""
    topic_links: tuple[TopicLink, ...] = ()
    add_form: str = ""
    """Template that stands on the page for adding sites."""
    site_notes: str = ""
    """Target: a function of the store; returns, by site id, what is wrong with the site, as a text."""
    site_words: str = ""
    """Target: a function of the store; returns by site id a text for the state of sites, what needs a look
    first. It is asked often, so it should only read."""
    site_line: str = ""
    """Target: a function of the store, a ``SiteRow`` and now; returns a text for the site's page."""
    site_images: str = ""
    """Target: a function of the store; returns by site id the path of a picture of 16 pixels that stands
    beside the site's name."""
    page_form: str = ""
    """Template that stands beside what can be done with a page."""
    check_form: str = ""
    """Template that stands below the explanation of an address."""
    feeds: Mapping[str, str] = field(default_factory=dict)
    """Feeds that are listed with the others: path without its ending, and text."""
    follows: str = ""
    """Target: a function of the store; returns what is called with the ``VisitRecord`` of each visit, in its
    transaction."""
    requests: str = ""
    """Target: a function of the store and a site's id, called in the transaction of each visit; returns how
    many requests its job made for the site since the last call. The site's budget pays for them."""
    senders: str = ""
    """Target: a function of the store; returns by id what lets changes be sent: each with the names of its
    ``receivers``, empty = all, and the words that its changes must (``include``) or must not have."""
    job: str = ""
    """Target: a function of ``incremental.daemon.at_work.AtWork``; returns a job, or None for none."""
    vital: bool = False
    """Whether the daemon is not well while its job fails."""
    forgets: str = ""
    """Target: a generator of (store, settings, now), run once a day; forgets what is old, and yields after
    each batch how many rows."""
    checks: str = ""
    """Target: a function of the settings; returns a list of ``incremental.base.findings`` for the doctor."""
    receivers: str = ""
    """Target: a function of the store and the settings; returns the names to which a change may be sent."""
    channels: Mapping[str, str] = field(default_factory=dict)
    """Targets by name: functions of one new page, called in a process of their own."""
    readers: Mapping[str, str] = field(default_factory=dict)
    """Targets by media type: functions of (body, URL) that return a ``Page`` with its links."""
    signature: str = ""
    """Target: a function of a page's main text, called where it was read; returns bytes that
    are stored with it, or None."""


@dataclass(frozen=True)
class Features:
    """The installed features that are not switched off, by name."""

    on: tuple[Feature, ...]
    broken: Mapping[str, str]
    """Why each of these cannot be used."""

    def asked(self, slot: str, *given: object) -> Iterator[Any]:
        """Yield what the functions in a slot return; one that cannot be used is left out, with a warning."""
        for one in self.on:
            if target := getattr(one, slot):
                try:
                    yield called(one.name, target, *given)
                except FeatureError as error:
                    logger.warning("%s", error)

    def by_id(self, slot: str, *given: object) -> dict[int, Any]:
        """Return what the functions in a slot return by id; of several features' the first counts."""
        return dict(ChainMap(*self.asked(slot, *given)))

    @property
    def readers(self) -> dict[str, str]:
        """The readers of bodies by media type."""
        return {kind: target for one in self.on for kind, target in one.readers.items()}

    @property
    def signature(self) -> str:
        """The function that makes signatures of texts; empty = none."""
        return next((one.signature for one in self.on if one.signature), "")

    def section(self, name: str) -> Any:  # noqa: ANN401 - a Struct
        """Return the type of a feature's section; None = it is off, broken, or has none."""
        target = next((one.settings for one in self.on if one.name == name), "")
        with suppress(FeatureError):
            return imported(name, target) if target else None
        return None


@cache
def entries() -> Mapping[str, EntryPoint]:
    """Return the entry points by name, in order. One of ours outranks another of its name."""
    # Takes 20 ms, and most commands have no need of it.
    from importlib.metadata import entry_points  # noqa: PLC0415

    installed = sorted(
        entry_points(group=GROUP),
        key=lambda one: (one.name, one.value.startswith("incremental.")),
    )
    return {one.name: one for one in installed}


@cache
def found(off: frozenset[str] = frozenset()) -> Features:
    """Return the features but for those that are *off*, which are not imported."""
    on, broken = list[Feature](), dict[str, str]()
    for name, entry in entries().items():
        if name in off:
            continue
        made = attempt(entry.load)
        if isinstance(made, Bug):
            broken[name] = made.error
        elif not isinstance(made, Feature) or made.name != name:
            broken[name] = f"{entry.value} is no Feature of this name"
        else:
            on.append(made)
    return Features(tuple(on), broken)


def imported(feature: str, target: str) -> Any:  # noqa: ANN401 - whatever the slot takes
    """Return what *target* names.

    Raises:
        FeatureError: it cannot be imported.
    """
    done = attempt(lambda: target_of(target))
    if isinstance(done, Bug):
        raise FeatureError(feature, done.error)
    return done


def called(feature: str, target: str, *given: object) -> Any:  # noqa: ANN401 - likewise
    """Return what the function *target* returns.

    Raises:
        FeatureError: it cannot be imported, or raises.
    """
    done = attempt(lambda: target_of(target)(*given))
    if isinstance(done, Bug):
        raise FeatureError(feature, done.error)
    return done


def target_of(target: str) -> Any:  # noqa: ANN401 - likewise
    """Return what ``module:name`` names; raises whatever its import raises."""
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)


@cache
def texts_of(section: str) -> Mapping[str, Mapping[str, str]]:
    """Return the texts of a feature by name, whether it is on or not; empty = it is not installed."""
    entry = entries().get(section)
    spec = None if entry is None else attempt(lambda: find_spec(entry.module))
    if spec is None or isinstance(spec, Bug) or spec.origin is None:
        return {}
    file = Path(spec.origin).with_name(TEXTS)
    texts = attempt(lambda: tomllib.loads(file.read_text(encoding="utf-8"))[section])
    return {} if isinstance(texts, Bug) else texts


def switched_off(path: Path | str | None) -> frozenset[str]:
    """Return what a settings file switches off, without checking the rest of it."""
    said = os.environ.get(f"{ENVIRONMENT_PREFIX}FEATURES_OFF")
    if said is not None:
        return frozenset(said.replace(",", " ").split())
    chosen = Path(path or os.environ.get(f"{ENVIRONMENT_PREFIX}CONFIG", FILE_NAME))
    with suppress(OSError, ValueError, AttributeError, TypeError):
        tree = tomllib.loads(chosen.read_text(encoding="utf-8"))
        return frozenset(tree.get("features", {}).get("off", ()))
    return frozenset()
