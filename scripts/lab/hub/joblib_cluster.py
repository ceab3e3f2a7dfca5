"""The trainings of a parameter search on a Dask cluster, through joblib's backend.

Its workers need this checkout's ``scripts`` in their PYTHONPATH, and the same versions of the libraries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

from threadpoolctl import threadpool_limits

from hubwatch.errors import HubwatchError

Data = TypeVar("Data")
Key = TypeVar("Key")
Result = TypeVar("Result")

_CONNECT_SECONDS = 10


class ClusterError(HubwatchError):
    """No scheduler answers, or Dask is not installed."""


@contextmanager
def on_cluster(
    address: str,
    data: Sequence[Data],
    tasks: Sequence[tuple[Key, int]],
    work: Callable[[Data, Key], Result],
) -> Iterator[Iterator[tuple[Key, int, Result]]]:
    """Yield (key, place in *data*, what *work* returned) in any order; *data* is sent to each worker once.

    Raises:
        ClusterError: see there.
    """
    try:
        from distributed import Client  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ClusterError("--dask needs Dask: pip install 'hubwatch[dask]'") from error
    from joblib import Parallel, delayed, parallel_config  # noqa: PLC0415 - with scikit-learn

    try:
        client = Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        way_out = "start one (dask scheduler), or correct the address"
        raise ClusterError(f"--dask {address}: no Dask scheduler answers; {way_out}") from error
    with (
        client,
        parallel_config(backend="dask", client=client, scatter=list(data)),
    ):
        calls = (delayed(partial(_one, work))(data[place], key, place) for key, place in tasks)
        yield Parallel(return_as="generator_unordered")(calls)


def _one(
    work: Callable[[Data, Key], Result], data: Data, key: Key, place: int
) -> tuple[Key, int, Result]:
    # A worker may have threads; numpy would take all cores for each.
    with threadpool_limits(1):
        return key, place, work(data, key)
