"""Settings: ``hubwatch.toml``, overridden by ``HUBWATCH_SECTION_FIELD`` in the environment.

Everything has a default; a wrong name, type or value is refused with the field, the value and the
way out. Reading settings touches no network and no store.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec

from incremental.errors import InputError, SettingsError
from incremental.fetch.options import FetchSettings, SiteAccess
from incremental.fetch.politeness import PolitenessSettings
from incremental.scope import Reach, compile_pattern
from incremental.urls import normalize

ENVIRONMENT_PREFIX = "HUBWATCH_"
FILE_NAME = "hubwatch.toml"
POLICY_NAMES = ("fixed", "price")

_SECRET = re.compile(r"^store\.database|^site\[\d+\]\.(?:cookies|headers|username|password|proxy)")
# Bounded, because infinity is a float as well, and no plan can be made with it.
_Positive = Annotated[float, msgspec.Meta(gt=0, le=1e9)]
_NotNegative = Annotated[float, msgspec.Meta(ge=0, le=1e9)]
_Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
_Count = Annotated[int, msgspec.Meta(ge=1)]


class StoreSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where things are kept, and for how long."""

    folder: str = "hubwatch-data"
    """Folder of the embedded database and the page cache, relative to the settings file."""
    database: str = ""
    """A ``postgresql://`` URL, or empty for SQLite in the folder."""
    cache_quota_mb: _NotNegative = 2_000
    """Compressed size of the page cache; 0 keeps no bodies."""
    cache_days: _Positive = 365
    visit_log_days: _Positive = 90


class RevisitSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How often hubs are visited."""

    policy: str = "price"
    """One of :data:`POLICY_NAMES`."""
    requests_per_day: _NotNegative = 48
    """Of each site, of every kind: robots.txt, hubs, looks at new pages."""
    min_interval_minutes: _Positive = 15
    max_interval_hours: _Positive = 24


class HubSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What becomes a hub."""

    threshold: _Share = 0.5
    """Probability from which a link is taken for a hub."""
    max_per_site: _Count = 200
    max_per_template: _Count = 60
    """Hubs whose URLs have one form: a guard against calendars and tag clouds without end."""
    max_next_pages: _Count = 5
    """Pages followed back when everything on a hub was new."""
    retrain_labels: Annotated[int, msgspec.Meta(ge=0)] = 50
    """New labels, of users and of pages' behaviour, after which the classifier learns; 0 = never."""


class NewsSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is told as new."""

    backdated_days: _Positive = 30
    """A page dated more than this before the site was added is no news when it turns up."""
    max_per_day: _Count = 2_000
    """New pages of one site in a day; beyond it something makes addresses, and they are not told."""
    look_share: _Share = 0.25
    """Share of the site's requests for looking at new pages themselves (title, date, text)."""


class DaemonSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the daemon works."""

    workers: Annotated[int, msgspec.Meta(ge=1, le=256)] = 8
    log_level: str = "info"


class SiteSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one site needs beyond the defaults. *url* is its seed."""

    url: str
    reach: Reach = Reach.HOST
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    requests_per_day: _NotNegative | None = None
    min_interval_minutes: _Positive | None = None
    max_interval_hours: _Positive | None = None
    cookies: dict[str, str] = {}
    headers: dict[str, str] = {}
    username: str | None = None
    password: str | None = None
    proxy: str | None = None

    def access(self) -> SiteAccess:
        """Return what the egress shows to this site's origin."""
        return SiteAccess(
            cookies=self.cookies,
            headers=self.headers,
            username=self.username,
            password=self.password,
            proxy=self.proxy,
        )


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All of it."""

    fetch: FetchSettings = msgspec.field(default_factory=FetchSettings)
    politeness: PolitenessSettings = msgspec.field(default_factory=PolitenessSettings)
    store: StoreSettings = msgspec.field(default_factory=StoreSettings)
    revisit: RevisitSettings = msgspec.field(default_factory=RevisitSettings)
    hubs: HubSettings = msgspec.field(default_factory=HubSettings)
    news: NewsSettings = msgspec.field(default_factory=NewsSettings)
    daemon: DaemonSettings = msgspec.field(default_factory=DaemonSettings)
    site: tuple[SiteSettings, ...] = ()


def load_settings(
    path: Path | None = None, environment: Mapping[str, str] | None = None
) -> tuple[Settings, Path]:
    """Read settings; return them with the folder that relative paths are relative to.

    *path* None = ``hubwatch.toml`` in the working folder if it is there, else the defaults.

    Raises:
        SettingsError: a file that is missing or no TOML, an unknown name, a wrong value.
    """
    environment = os.environ if environment is None else environment
    chosen = path or Path(environment.get(ENVIRONMENT_PREFIX + "CONFIG", FILE_NAME))
    required = path is not None or ENVIRONMENT_PREFIX + "CONFIG" in environment
    tree = _read(chosen, required=required)
    _overlay(tree, environment)
    return build_settings(tree), chosen.resolve().parent


def build_settings(tree: Mapping[str, Any]) -> Settings:
    """Check a tree of plain values against the settings' types.

    Raises:
        SettingsError: names the field, its value and what is allowed.
    """
    _refuse_unknown(tree)
    try:
        settings = msgspec.convert(tree, Settings, strict=False)
    except msgspec.ValidationError as error:
        message, _, where = str(error).partition(" - at `$")
        field = where.rstrip("`").lstrip(".") or "settings"
        raise SettingsError(field, _value_at(tree, field), _way_out(message)) from None
    except SettingsError as error:
        raise SettingsError(_with_section(error.field), error.value, error.way_out) from None
    if settings.revisit.policy not in POLICY_NAMES:
        names = ", ".join(POLICY_NAMES)
        raise SettingsError("revisit.policy", settings.revisit.policy, f"must be one of: {names}")
    for number, site in enumerate(settings.site):
        _check_site(site, settings.revisit, f"site[{number}]")
    _check_interval("revisit", settings.revisit, settings.revisit)
    return settings


def _refuse_unknown(tree: Mapping[str, Any]) -> None:
    """Refuse what is no setting; msgspec would pass it over in dataclasses, or show a whole section."""
    sections = {section.name: section.type for section in msgspec.structs.fields(Settings)}
    _refuse_names(tree, list(sections), "")
    for section, kind in sections.items():
        if section != "site":
            _refuse_names(tree.get(section), _field_names(kind), f"{section}.")
    sites = tree.get("site")
    for number, site in enumerate(sites if isinstance(sites, list | tuple) else ()):
        _refuse_names(site, _field_names(SiteSettings), f"site[{number}].")
        if isinstance(site, Mapping) and "url" not in site:
            raise SettingsError(f"site[{number}].url", None, "is missing: the seed of the site")


def _refuse_names(given: object, names: list[str], where: str) -> None:
    for name in given if isinstance(given, Mapping) else ():
        if name not in names:
            way_out = f"there is no such setting; there are: {', '.join(names)}"
            raise SettingsError(f"{where}{name}", "...", way_out)


def _way_out(message: str) -> str:
    allowed = f"; allowed are: {', '.join(Reach)}" if "enum" in message else ""
    return message + allowed


def _with_section(field: str) -> str:
    """Return the full name of a field of a section that checks itself."""
    for section in msgspec.structs.fields(Settings):
        if section.name != "site" and field in _field_names(section.type):
            return f"{section.name}.{field}"
    return field


def _check_site(site: SiteSettings, defaults: RevisitSettings, where: str) -> None:
    """Check what only shows when a site's settings are used."""
    if normalize(site.url) is None:
        raise SettingsError(f"{where}.url", site.url, "give a URL like https://example.org/news/")
    try:
        site.access()
        for pattern in (*site.include, *site.exclude):
            compile_pattern(pattern)
    except SettingsError as error:
        raise SettingsError(f"{where}.{error.field}", error.value, error.way_out) from None
    except InputError as error:
        raise SettingsError(f"{where} {error.what}", error.value, error.way_out) from None
    _check_interval(where, site, defaults)


def _check_interval(
    where: str, given: SiteSettings | RevisitSettings, defaults: RevisitSettings
) -> None:
    shortest = given.min_interval_minutes or defaults.min_interval_minutes
    longest = given.max_interval_hours or defaults.max_interval_hours
    if shortest > longest * 60:
        way_out = f"must not be above max_interval_hours, which is {longest}"
        raise SettingsError(f"{where}.min_interval_minutes", shortest, way_out)


def _read(path: Path, *, required: bool) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except FileNotFoundError:
        if required:
            raise SettingsError(
                "config", str(path), "there is no such file; `hubwatch init` writes one"
            ) from None
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError, RecursionError) as error:
        raise SettingsError("config", str(path), f"cannot be read: {error}") from error


def _overlay(tree: dict[str, Any], environment: Mapping[str, str]) -> None:
    """Put ``HUBWATCH_FETCH_CONTACT`` and the like into *tree*; lists are separated by commas."""
    defaults = Settings()
    meant = {ENVIRONMENT_PREFIX + "CONFIG"}
    for section in msgspec.structs.fields(Settings):
        if section.name == "site":
            continue
        for name in _field_names(section.type):
            key = f"{ENVIRONMENT_PREFIX}{section.name}_{name}".upper()
            meant.add(key)
            if key in environment and isinstance(tree.setdefault(section.name, {}), dict):
                text = environment[key]
                default = getattr(getattr(defaults, section.name), name)
                several = isinstance(default, tuple | frozenset)
                tree[section.name][name] = text.replace(",", " ").split() if several else text
    for key in sorted(environment):
        if key.startswith(ENVIRONMENT_PREFIX) and key not in meant:
            way_out = "there is no such setting; names are HUBWATCH_SECTION_FIELD"
            raise SettingsError(key, "...", way_out)


def _field_names(kind: Any) -> list[str]:  # noqa: ANN401 - a Struct or a dataclass
    return list(kind.__annotations__)


def _value_at(tree: Any, field: str) -> object:  # noqa: ANN401 - whatever the TOML held
    """Return what stands at ``section.name`` or ``site[0].url``, for the message; no secret."""
    if _SECRET.search(field):
        return "..."
    value = tree
    for part in field.replace("[", ".").replace("]", "").split("."):
        if isinstance(value, Mapping):
            value = value.get(part, value)
        elif isinstance(value, list | tuple) and part.isdigit():
            value = value[int(part)]
    return "..." if isinstance(value, Mapping) else value
