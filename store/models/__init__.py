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

from store.models.crawl_tables import LIVING as LIVING
from store.models.crawl_tables import Change as Change
from store.models.crawl_tables import Host as Host
from store.models.crawl_tables import Hub as Hub
from store.models.crawl_tables import Label as Label
from store.models.crawl_tables import Page as Page
from store.models.crawl_tables import Sighting as Sighting
from store.models.crawl_tables import Site as Site
from store.models.crawl_tables import SiteTag as SiteTag
from store.models.crawl_tables import Table as Table
from store.models.crawl_tables import Visit as Visit
from store.models.crawl_tables import VisitRequest as VisitRequest
from store.models.operation_tables import Daemon as Daemon
from store.models.operation_tables import DaemonSite as DaemonSite
from store.models.operation_tables import HostClaim as HostClaim
from store.models.operation_tables import Quarantine as Quarantine
from store.models.reader_tables import AccessToken as AccessToken
from store.models.reader_tables import Audited as Audited
from store.models.reader_tables import Backfill as Backfill
from store.models.reader_tables import BackfillPage as BackfillPage
from store.models.reader_tables import Channel as Channel
from store.models.reader_tables import Housekeeping as Housekeeping
from store.models.reader_tables import News as News
from store.models.reader_tables import OutboxEntry as OutboxEntry
from store.models.reader_tables import PageBand as PageBand
from store.models.reader_tables import PageText as PageText
from store.models.reader_tables import PageVector as PageVector
from store.models.reader_tables import PageWatch as PageWatch
from store.models.reader_tables import Refresh as Refresh
from store.models.reader_tables import SavedSearch as SavedSearch
from store.models.reader_tables import SiteCompleteness as SiteCompleteness
from store.models.reader_tables import SiteIcon as SiteIcon
from store.models.reader_tables import SiteProblem as SiteProblem
from store.models.reader_tables import VectorSpace as VectorSpace
from store.models.reader_tables import WatchedChange as WatchedChange
from store.models.topic_tables import DiscoveryPage as DiscoveryPage
from store.models.topic_tables import DiscoveryRun as DiscoveryRun
from store.models.topic_tables import PageTopic as PageTopic
from store.models.topic_tables import Proposal as Proposal
from store.models.topic_tables import Topic as Topic
from store.models.topic_tables import TopicBackground as TopicBackground
from store.models.topic_tables import TopicExample as TopicExample
from store.models.topic_tables import TopicTag as TopicTag

ALL = tuple(Table.__subclasses__())
