"""First looks at sites, training and searching for sites, begun by a request; all go on in the background."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from incremental.base.lookup import topic_numbered
from incremental.interfaces.web.background import Work
from incremental.interfaces.web.context import Web

MAX_PAGES = 2_000
MAX_ROUNDS = 100
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


def search_of(web: Web, topic_id: int) -> Work | None:
    """Return the last search of a topic that was begun in this process."""
    return web.background.last(f"search {topic_id}")


def begin_search(web: Web, topic_id: int, *, rounds: int, pages: int) -> Work:
    """Search for sites of a topic now, unless that is under way."""
    search = partial(_search, web, topic_id, rounds, pages)
    return web.background.begin(f"search {topic_id}", search)


def _search(web: Web, topic_id: int, rounds: int, pages: int) -> object:
    from incremental.daemon.assembly import make_discoverer  # noqa: PLC0415 - rarely used

    with web.store() as store:
        topic = topic_numbered(store, topic_id)
        with make_discoverer(store, web.settings, web.folder, topic) as discoverer:
            return discoverer.run(rounds=rounds, pages=pages)
