"""Results as rows of a table, one column for each field: CSV, Parquet, DataFrames.

A topic has three columns: ``NAME.score``, ``NAME.verdict`` and ``NAME.fetched`` (false = guessed from the
link). They are empty for a page that it has not judged. All others are fields of the result.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import IO, TYPE_CHECKING, Any, get_args, get_type_hints

from incremental.base.errors import InputError
from incremental.base.plain_text import cell
from incremental.interfaces.results.schema import Page, PageTopic, by_name, to_json, utc

if TYPE_CHECKING:
    from pandas import DataFrame

TABLES = ("csv", "jsonl", "parquet")
Columns = Mapping[str, Any]
"""The type of each column, by name."""
_OF_TOPIC = ("score", "verdict", "fetched")
_BATCH = 500
_MISSING = "is not installed yet: pip install 'hubwatch[pandas]'"


def columns_of(kind: type, topics: Sequence[str] = ()) -> Columns:
    """Return the columns of results of a *kind*, in order; *topics* are those of announced pages."""
    hints, of_topic = get_type_hints(kind), get_type_hints(PageTopic)
    columns = {name: hint for name, hint in hints.items() if name != "topics"}
    for topic in topics:
        columns |= {f"{topic}.{name}": of_topic[name] for name in _OF_TOPIC}
    return columns


def row_of(result: object) -> dict[str, Any]:
    """Return a result as a row."""
    row = by_name(result)
    for mark in row.pop("topics") if isinstance(result, Page) else ():
        row |= {f"{mark.topic}.{name}": getattr(mark, name) for name in _OF_TOPIC}
    return row


def to_pandas(results: Iterable[object]) -> DataFrame:
    """Return pages, visits, hubs or any other results as a DataFrame, in their order. Times are UTC.

    Raises:
        InputError: pandas is not installed.
    """
    try:
        import pandas as pd  # noqa: PLC0415 - an extra
    except ImportError:
        raise InputError("pandas", "", _MISSING) from None
    frame = pd.DataFrame([row_of(one) for one in results])
    for name in frame.columns:
        if name == "at" or name.endswith("_at"):
            # A column without any time would hold objects.
            frame[name] = pd.to_datetime(frame[name], utc=True)
    return frame


def write_csv(results: Iterable[object], columns: Columns, out: IO[str]) -> None:
    """Write results as CSV; cells that a spreadsheet would run as formulas get an apostrophe."""
    writer = csv.writer(out)
    writer.writerow([cell(name) for name in columns])
    for row in map(row_of, results):
        values = map(row.get, columns)
        writer.writerow([cell(utc(v) if isinstance(v, datetime) else v) for v in values])


def write_table(results: Iterable[object], columns: Columns, form: str, out: IO[bytes]) -> None:
    """Write results in one of :data:`TABLES`. JSON Lines keep them as ``--json`` prints them.

    Raises:
        InputError: the library of the format is not installed.
    """
    if form == "parquet":
        _write_parquet(results, columns, out)
        return
    text = io.TextIOWrapper(out, encoding="utf-8", newline="", write_through=True)
    if form == "csv":
        write_csv(results, columns, text)
    else:
        text.writelines(to_json(one) + "\n" for one in results)
    text.detach()


def _write_parquet(results: Iterable[object], columns: Columns, out: IO[bytes]) -> None:
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra
        from pyarrow.parquet import ParquetWriter  # noqa: PLC0415 - likewise
    except ImportError:
        raise InputError("parquet", "", _MISSING) from None
    kinds = {
        int: pa.int64(),
        float: pa.float64(),
        bool: pa.bool_(),
        str: pa.string(),
        datetime: pa.timestamp("us", tz="UTC"),
    }
    schema = pa.schema(
        [(name, kinds[(get_args(hint) or (hint,))[0]]) for name, hint in columns.items()]
    )
    rows = (row_of(one) for one in results)
    with ParquetWriter(out, schema) as writer:
        while batch := list(islice(rows, _BATCH)):
            writer.write_table(pa.Table.from_pylist(batch, schema))
