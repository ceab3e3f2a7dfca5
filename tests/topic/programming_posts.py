"""Posts of two made-up sites for programmers, one about databases and one about web pages: title and lead."""

from classifier.words.values import PageText

DATABASES = """
Why your index is not used|The planner reads the whole table when it expects most rows to match.
Partial indexes in PostgreSQL|An index over the open rows alone stays small while the table grows.
Isolation levels by example|Two transactions read the same balance and both withdraw money.
Reading a query plan|Nested loops, hash joins and sorts: what the numbers beside each node of EXPLAIN mean.
Migrations without downtime|Add the column, fill it in batches, switch the readers, and drop the old one last.
Vacuum, and why tables grow|Dead rows stay until they are vacuumed, and a long transaction keeps them.
Foreign keys and slow deletes|Deleting one customer read ten million orders: the reference had no index.
Connection pools under load|A thousand clients do not need a thousand connections; thirty served them faster.
SQLite in production|One writer at a time is enough for more services than people think. WAL mode helps.
Full text search inside the database|Stemming, ranking and a GIN index answered most searches.
Replication lag explained|A replica replays the primary's log; a large update delays what follows.
Window functions for running totals|Sums over partitions replace a self join that took minutes.
Storing JSON in a relational table|Documents suit what is read whole; what is filtered deserves a column.
Deadlocks and the order of locks|Both workers updated two rows in opposite order; sorting the ids cured it.
Backups that were never restored|A dump is worth as much as its last restore, so we restore every night.
Choosing a primary key|Random identifiers scatter inserts over the whole index.
Batch inserts compared|COPY loaded the rows twenty times faster than single statements did.
The cost of count|Counting visible rows means visiting them. An estimate is often good enough.
Time series in plain tables|Partitions by month make deleting old measurements instant.
Caching query results safely|A materialized view is a cache that the database keeps itself.
Normal forms in practice|The address stood in three tables, and three tables disagreed about it.
Schema changes under locks|Adding a constraint as not valid first keeps the table open for writers.
Tuning the buffer cache|Most reads came from memory after the working set fitted into it.
Sharding too early|We split the data over four servers and spent a year joining it again.
"""
WEB_PAGES = """
Grid or flexbox|Grid lays out two dimensions, flexbox one. Most headers need only the second.
Focus styles that stay|Removing the outline leaves keyboard users lost. Draw a better one instead.
Loading fonts without a jump|Matching the fallback's metrics keeps the lines where they were.
Form errors that help|Say which field is wrong beside that field, and keep what was typed.
What a service worker caches|Pages open without a network when their files were stored at the first visit.
Images for every screen|The sizes attribute tells the browser what to fetch before the layout is known.
State in the address bar|Filters that live in the query string survive a reload and can be shared.
Dark mode with custom properties|Two sets of colours and one media query were all it took.
Components without a framework|Custom elements wrap markup and behaviour, and work in any page.
Measuring layout shift|Adverts without a reserved height pushed the article down while people read.
Type checking a large front end|We turned on strict mode folder by folder and found forty real bugs.
Accessible dialogs|The focus moves into the dialog, stays there, and returns to the button.
Bundles half as large|Three date libraries came with three dependencies. One remained.
Server rendering and hydration|The markup arrives early; the script that makes it respond does not.
Sticky headers on small phones|A quarter of the screen was header. It now hides while one scrolls down.
Testing in a real browser|Playwright clicked what our simulated document had happily accepted.
Scroll animations without script|View timelines tie an animation to the scroll position in style sheets alone.
Content security policies|Inline scripts had to go first; nonces covered the two that stayed.
Designing tables for phones|Rows become cards, and the header of each column becomes a label.
Web sockets or server-sent events|Updates flow one way in most dashboards, so plain HTTP is enough.
Naming things in style sheets|Layers ended the war of selectors that each outbid the last.
Undo instead of confirm|People click yes without reading. An undo button forgives them.
Preloading the right thing|Of eleven preloads two were used before the first paint.
Keyboard shortcuts that do not collide|Browsers and screen readers own more keys than one expects.
"""
TRAVEL = """
京都红叶七日|清晨的岚山竹林几乎没有人，坐着小火车穿过峡谷，傍晚在鸭川边散步，夜里住进老町屋民宿。
独自骑行环青海湖|四天三百六十公里，高原的风很大，路边的油菜花一直开到湖边，晚上借宿在藏族人家。
"""


def posts(lines: str, site: str) -> list[PageText]:
    """Return the posts of one site, in order."""
    split = [line.split("|") for line in lines.strip().splitlines()]
    return [
        PageText(f"https://{site}.example/{number}", title=title, body=lead)
        for number, (title, lead) in enumerate(split)
    ]
