"""Request and response schemas. Times are ISO 8601, UTC."""

from collections.abc import Sequence
from datetime import datetime
from inspect import Parameter, Signature
from typing import Annotated, Any, Literal, get_args, get_type_hints

from fastapi import APIRouter, Depends, Query
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    create_model,
)

from incremental.base.scope import Reach
from incremental.interfaces.filters import HINTS, Filters
from incremental.interfaces.web.context import ConditionalRoute
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
WordList = Annotated[
    list[Annotated[str, StringConstraints(min_length=1, max_length=100)]], Field(max_length=50)
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


class Problem(ResponseSchema):
    """Why a request failed."""

    detail: str


class SiteTerms(RequestSchema):
    """A site's terms; null = the default of the settings."""

    reach: Reach = Reach.HOST
    include: Annotated[list[Pattern], Field(max_length=50)] = []
    exclude: Annotated[list[Pattern], Field(max_length=50)] = []
    # Strict, as pydantic takes false for the number 0.
    requests_per_day: Annotated[float | None, Field(ge=0, le=1e9, strict=True)] = None
    min_interval_minutes: Annotated[float | None, Field(ge=0.01, le=1e9, strict=True)] = None
    max_interval_hours: Annotated[float | None, Field(ge=0.01, le=1e9, strict=True)] = None
    tags: TagList = []


class NewSites(SiteTerms):
    """Seeds to watch with the same terms."""

    urls: Annotated[list[WebAddress], Field(min_length=1, max_length=_MOST_URLS)]


class SiteChange(SiteTerms):
    """New values of a site's fields; those left out stay. null = the default of the settings."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=80)] = Field(
        default_factory=str
    )
    state: Literal["active", "paused"] = "active"
    hours: Annotated[list[_Hours] | None, Field(max_length=24)] = None
    """Hours (UTC) such as 22:00-06:30; [] = always."""


class NewVisits(RequestSchema):
    """Pages and sites to visit now."""

    urls: Annotated[list[WebAddress], Field(max_length=_MOST_URLS)] = []
    sites: Annotated[list[RowId], Field(max_length=_MOST_URLS)] = []


class NewLabels(RequestSchema):
    """A label for pages: hub or article."""

    urls: Annotated[list[WebAddress], Field(min_length=1, max_length=_MOST_URLS)]
    label: Annotated[str, StringConstraints(pattern="^(hub|article)$")]


# Errors that any route may return.
REFUSED: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "Invalid request; see detail."},
    401: {"model": Problem, "description": "Credentials required."},
    403: {"model": Problem, "description": "Not allowed for this token."},
    404: {"model": Problem, "description": "Not found."},
    503: {"model": Problem, "description": "The store is unavailable."},
}


def api_router(tag: str) -> APIRouter:
    """Return a router for routes of the API."""
    return APIRouter(prefix="/api/v1", tags=[tag], route_class=ConditionalRoute, responses=REFUSED)


def _ask(**given: Any) -> Filters:  # noqa: ANN401 - by name
    return Filters(**given)


def _filter(name: str) -> Parameter:
    """Return the parameter of a filter, with its bounds."""
    hint, about = get_args(HINTS[name])
    bounds = {
        "description": about.help,
        "max_length": about.most_chars,
        "ge": about.least,
        "le": about.most,
        "pattern": f"^({'|'.join(about.one_of)})?$" if about.one_of else None,
    }
    kind: Any = Annotated[hint, Query(**bounds)]
    only, default = Parameter.KEYWORD_ONLY, getattr(Filters(), name)
    return Parameter(name, only, default=default, annotation=kind)


_ask.__signature__ = Signature([_filter(name) for name in HINTS])  # type: ignore[attr-defined]  # read by FastAPI
AskedFilters = Annotated[Filters, Depends(_ask)]
"""The filters in a query."""
