"""Request and response schemas. Times are ISO 8601, UTC."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, get_type_hints

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationInfo,
    create_model,
    field_validator,
)

from incremental.base.scope import Reach
from store.answers.announced import moment_of


def _moment(value: object) -> object:
    return moment_of(float(value)) if isinstance(value, int | float) else value


Moment = Annotated[datetime | None, BeforeValidator(_moment)]
"""Unix seconds, serialized as a date; None = never or unknown."""
WebAddress = Annotated[str, StringConstraints(min_length=1, max_length=2_000)]
Pattern = Annotated[str, StringConstraints(min_length=1, max_length=500)]
RowId = Annotated[int, Field(ge=1, le=2**62)]
_Hours = Annotated[str, StringConstraints(min_length=1, max_length=20)]
TagList = Annotated[
    list[Annotated[str, StringConstraints(min_length=1, max_length=40)]], Field(max_length=20)
]
_MOST_URLS = 500


class ResponseSchema(BaseModel):
    """Base of responses, filled from store rows by field name."""

    model_config = ConfigDict(from_attributes=True)


def shape_of(kind: type, *, leave: Sequence[str] = (), **more: Any) -> Any:  # noqa: ANN401 - a model made of fields
    """Return the response schema of a store value, with the same field names.

    Numbers called ``at`` or ``..._at`` become dates. *leave* names omitted fields; *more* adds fields or
    replaces types.
    """
    fields: dict[str, Any] = {
        name: (
            Moment if f"_{name}".endswith("_at") and hint in (float, float | None) else hint,
            ...,
        )
        for name, hint in get_type_hints(kind).items()
        if name not in leave
    }
    fields |= {name: (hint, ...) for name, hint in more.items()}
    return create_model(kind.__name__, __base__=ResponseSchema, __doc__=kind.__doc__, **fields)


class RequestSchema(BaseModel):
    """Base of requests; unknown names are refused, because they are usually typos."""

    model_config = ConfigDict(extra="forbid")

    @field_validator("*", mode="before")
    @classmethod
    def _is_no_switch(cls, value: object, info: ValidationInfo) -> object:
        # pydantic takes false for the number 0.
        kind = cls.model_fields[info.field_name or ""].annotation
        if isinstance(value, bool) and kind not in (bool, bool | None):
            raise ValueError("must not be true or false")
        return value


class Problem(ResponseSchema):
    """Why a request failed."""

    detail: str


class Site(ResponseSchema):
    """A watched site."""

    id: int
    name: str
    seed: str
    state: str
    reach: str
    include: list[str]
    exclude: list[str]
    requests_per_day: float | None
    min_interval_minutes: float | None
    max_interval_hours: float | None
    hours: list[str] | None
    tags: list[str]
    added_at: Moment
    pages: int
    hubs: int
    new_pages: int


class SiteEvent(ResponseSchema):
    """A change of a whole site."""

    kind: str
    at: Moment
    detail: str


class SiteStatus(ResponseSchema):
    """The state of a site."""

    id: int
    name: str
    state: str
    pages: int
    hubs: int
    new_pages: int
    budget_per_day: float
    requests_last_day: float
    price_minutes: float | None
    visits_by_status: dict[str, int]
    next_due: Moment
    trouble: str | None
    """Fetch status of a seed that could not be read yet."""
    events: list[SiteEvent]


class JobHealth(ResponseSchema):
    """The last runs of a job."""

    name: str
    began_at: Moment
    ended_at: Moment
    """Of the last run that succeeded."""
    next_at: Moment
    failures: int
    """In a row."""
    error: str


class HealthProblem(ResponseSchema):
    """Something wrong with the daemon."""

    kind: str
    detail: str
    since: Moment


class EngineState(ResponseSchema):
    """What runs the visits."""

    kind: str
    """threads, processes or dask."""
    workers: int
    """Visits that it can run at a time."""
    processes: int
    """That they run in: of this machine, or workers of the cluster."""
    address: str
    """Of the cluster."""
    waits: str
    """Why nothing can be fetched; empty = something can."""
    refused: list[str]
    """Workers that get no visits, with the reason."""
    in_words: str


class DaemonHealth(ResponseSchema):
    """What the daemon last reported."""

    at: Moment
    state: str
    well: bool
    """Nothing serious is wrong."""
    silent: bool
    """The report is old: the daemon was killed, or stands still."""
    started_at: Moment
    visits_under_way: int
    engine: EngineState | None
    """None = not known yet."""
    problems: list[HealthProblem]
    jobs: list[JobHealth]


class DaemonPlace(ResponseSchema):
    """A daemon among those that share the store."""

    name: str
    shard: str | None
    """``2/8``; None = automatic."""
    sites: int
    heartbeat_seconds: float
    """Since its last heartbeat, by the server's clock."""
    lives: bool
    """False = its sites are about to be taken over."""
    is_leader: bool
    """Whether it does what is done once for all: messages, housekeeping, training."""
    version: str


class QuarantineEntry(ResponseSchema):
    """A page, site, topic or job that met a bug and is tried again later."""

    kind: str
    key: str
    url: str | None
    purpose: str
    at: Moment
    again_at: Moment
    times: int
    version: str
    error: str
    trace: str


class Embeddings(ResponseSchema):
    """The state of the vectors of announced pages, for search by meaning."""

    provider: str
    """In use by the settings; empty = none."""
    space: str | None
    """The model, with its version, that the vectors are of; null = nothing was embedded yet."""
    model: str = ""
    """The same for display."""
    announced: int
    embedded: int
    waiting: int
    missing: str
    """What to do to have a model; empty = there is one, or none is wanted."""


class Status(ResponseSchema):
    """The state of the daemon and its sites."""

    now: Moment
    crawling: bool
    """Whether this process also crawls, or others that share the store."""
    daemon: DaemonHealth | None
    """None = no daemon has reported."""
    daemons: list[DaemonPlace]
    """Those that share a PostgreSQL store; empty for SQLite."""
    quarantine: list[QuarantineEntry]
    hubs_due: int
    verifications_due: int
    embeddings: Embeddings
    sites: list[SiteStatus]


class NewSites(RequestSchema):
    """Seeds to watch with the same terms."""

    urls: Annotated[list[WebAddress], Field(min_length=1, max_length=_MOST_URLS)]
    reach: Reach = Reach.HOST
    include: Annotated[list[Pattern], Field(max_length=50)] = []
    exclude: Annotated[list[Pattern], Field(max_length=50)] = []
    requests_per_day: Annotated[float | None, Field(ge=0, le=1e9)] = None
    min_interval_minutes: Annotated[float | None, Field(ge=0.01, le=1e9)] = None
    max_interval_hours: Annotated[float | None, Field(ge=0.01, le=1e9)] = None
    tags: TagList = []


class Tag(ResponseSchema):
    """A name under which sites and topics are grouped."""

    name: str
    sites: int
    topics: int


class AddedSite(ResponseSchema):
    """The result for one seed."""

    url: str
    site_id: int | None = None
    error: str | None = None


class SiteChange(RequestSchema):
    """New values of a site's fields; those left out stay. null = the default of the settings."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=80)] = Field(
        default_factory=str
    )
    state: Literal["active", "paused"] = "active"
    reach: Reach = Reach.HOST
    include: Annotated[list[Pattern], Field(max_length=50)] = []
    exclude: Annotated[list[Pattern], Field(max_length=50)] = []
    requests_per_day: Annotated[float | None, Field(ge=0, le=1e9)] = None
    min_interval_minutes: Annotated[float | None, Field(ge=0.01, le=1e9)] = None
    max_interval_hours: Annotated[float | None, Field(ge=0.01, le=1e9)] = None
    hours: Annotated[list[_Hours] | None, Field(max_length=24)] = None
    """Hours (UTC) such as 22:00-06:30; [] = always."""
    tags: TagList = []


class NewVisits(RequestSchema):
    """Pages and sites to visit now."""

    urls: Annotated[list[WebAddress], Field(max_length=_MOST_URLS)] = []
    sites: Annotated[list[RowId], Field(max_length=_MOST_URLS)] = []


class Visit(ResponseSchema):
    """What becomes of a requested visit."""

    url: str
    site: str
    at: Moment
    """The earliest time at which it is fetched."""
    refused: str
    """Why it will not be fetched; empty = it will."""


class Hub(ResponseSchema):
    """A hub."""

    id: int
    url: str
    site_id: int
    site: str
    kind: str
    role: str
    state: str
    score: float
    candidate: bool
    """Only looks like a hub: never read."""
    found_because: str
    read: str
    """From where its links come: plain, embedded, json, rendered, browser_missing."""
    cost_requests: float
    """Of a visit, with the time of a browser."""
    visits: int
    new_pages: int
    failures: int
    last_status: str | None
    visited_at: Moment
    due_at: Moment
    rate_per_day: float | None
    waiting_links: float | None
    price_minutes: float | None
    why: str


class NewLabels(RequestSchema):
    """A label for pages: hub or article."""

    urls: Annotated[list[WebAddress], Field(min_length=1, max_length=_MOST_URLS)]
    label: Annotated[str, StringConstraints(pattern="^(hub|article)$")]


class LabelResult(ResponseSchema):
    """The result for one page."""

    url: str
    label: str | None = None
    sites: list[str] = []
    error: str | None = None


class LabelFile(RequestSchema):
    """Labels from `GET /api/v1/labels/export` of another machine."""

    content: Annotated[str, StringConstraints(min_length=1, max_length=1_900_000)]


class ImportedLabels(ResponseSchema):
    """The result of a label import."""

    labels: int
    changed: int
    """New or different labels."""


class Model(ResponseSchema):
    """A version of the hub classifier."""

    version: str
    active: bool
    origin: str
    f1: float | None
    rows: int | None
    learned_labels: int | None
    update: dict[str, Any] | None
    problem: str


class LongWork(ResponseSchema):
    """Work that takes minutes."""

    running: bool
    started_at: Moment
    ended_at: Moment
    """null = it is under way."""
    error: str


class ActiveModel(ResponseSchema):
    """The active version."""

    active: str


class Explanation(ResponseSchema):
    """The explanation of a URL; see `hubwatch check`."""

    model_config = ConfigDict(extra="allow")

    url: str
    verdict: str


# Errors that any route may return.
REFUSED: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "Invalid request; see detail."},
    401: {"model": Problem, "description": "Credentials required."},
    403: {"model": Problem, "description": "Not allowed for this token."},
    404: {"model": Problem, "description": "Not found."},
    503: {"model": Problem, "description": "The store is unavailable."},
}
