"""The tables. Models are bound to no database: every query names its own.

Times are unix seconds, UTC, in double precision. Texts are stored as the site sent them, unescaped but
truncated and storable (:func:`store.database.texts.storable`). Ids are never reused.

::

    site 1 ─── n page 1 ─── 0..1 hub
                   │  └───── n visit
                   └ n sighting n ┘ (page seen on hub)
      change: a change of a page or a whole site, in recording order
      label: the label of a URL, which needs no page
      news: an announced page, in a narrow row for lists; page_text: its text;
      page_vector: its vector in a vector_space
      backfill 1 ─── n backfill_page: older pages that a list gained, one event
      daemon 1 ─── n daemon_site n ─── 1 site: who of several daemons visits it
      page_watch 1 ─── n refresh · n watched_change: pages fetched again for changes of their text
      topic 1 ─── n topic_example · n page_topic (its score of a page)
"""

from store.models.crawl_tables import *  # noqa: F403 - all of them are named where they are defined
from store.models.crawl_tables import Table
from store.models.reader_tables import *  # noqa: F403 - likewise
from store.models.topic_tables import *  # noqa: F403 - likewise

ALL = tuple(Table.__subclasses__())
