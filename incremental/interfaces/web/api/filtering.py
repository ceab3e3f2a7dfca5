"""The filters as query parameters and as a request's body."""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import Annotated, Any, get_args

from fastapi import Depends, Query
from pydantic import Field, create_model

from incremental.interfaces.filters import HINTS, About, Filters
from incremental.interfaces.web.api.schemas import RequestSchema


def _bounds(about: About) -> dict[str, Any]:
    found = {
        "description": about.help,
        "max_length": about.most_chars,
        "ge": about.least,
        "le": about.most,
        "pattern": about.one_of or None,
    }
    return {name: value for name, value in found.items() if value is not None}


def _spelled(name: str, kind: Any) -> tuple[Any, Any]:  # noqa: ANN401 - Query or Field
    """Return the annotation of a filter, with its bounds, and its default."""
    hint, about = get_args(HINTS[name])
    return Annotated[hint, kind(**_bounds(about))], getattr(Filters(), name)


def asking(*names: str) -> Any:  # noqa: ANN401 - a dependency
    """Return a dependency that reads the filters *names* from the query."""

    def ask(**given: Any) -> Filters:  # noqa: ANN401 - by name
        return Filters(**given)

    parameters = []
    for name in names:
        annotation, default = _spelled(name, Query)
        only = Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        parameters.append(only)
    ask.__signature__ = Signature(parameters)  # type: ignore[attr-defined]  # read by FastAPI
    return Depends(ask)


_fields: dict[str, Any] = {name: _spelled(name, Field) for name in HINTS}
_about = "Filters, as the parameters of `GET /api/v1/pages`."
NEW_SEARCH: Any = create_model("NewSearch", __base__=RequestSchema, __doc__=_about, **_fields)
