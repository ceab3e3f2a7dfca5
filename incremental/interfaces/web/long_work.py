"""First looks at sites and training, begun by a request; both go on in the background."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from incremental.interfaces.web.background import Work
from incremental.interfaces.web.context import Web

_TRAINING = "training"


def training_of(web: Web) -> Work | None:
    """Return the last training that was begun in this process."""
    return web.background.last(_TRAINING)


def begin_training(web: Web) -> Work:
    """Train on all labels now, unless that is under way."""
    return web.background.begin(_TRAINING, partial(_train, web))


def _train(web: Web) -> object:
    # Training loads heavy libraries.
    from incremental.topics.training.nightly_training import learn_now  # noqa: PLC0415

    with web.store() as store:
        return learn_now(store, web.models, web.now())


def look_of(web: Web, site_id: int) -> Work | None:
    """Return the first look at a site that was begun in this process."""
    return web.background.last(f"look {site_id}")


def begin_looks(web: Web, site_ids: Sequence[int]) -> None:
    """Look at the seeds of sites now, each on its own."""
    for site_id in site_ids:
        web.background.begin(f"look {site_id}", partial(_look, web, site_id))


def _look(web: Web, site_id: int) -> object:
    # It loads the classifier.
    from incremental.daemon.assembly import first_looks  # noqa: PLC0415

    with web.store() as store:
        looks = first_looks(store, web.settings, web.models, [site_id], web.clock)
        return dict(looks).get(site_id)
