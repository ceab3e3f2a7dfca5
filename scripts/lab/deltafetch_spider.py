"""A spider for scrapy-deltafetch: pages that the home page links to; those fetched before are skipped."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from scrapy import Request, Spider
from scrapy.linkextractors import LinkExtractor


class NewPages(Spider):  # type: ignore[misc]  # in an environment of its own
    """Yields an item for each page."""

    name = "new_pages"
    custom_settings = {"SPIDER_MIDDLEWARES": {"scrapy_deltafetch.DeltaFetch": 100}}  # noqa: RUF012 - Scrapy's way

    def __init__(self, url: str) -> None:
        super().__init__()
        self.start_urls = [url]
        self._links = LinkExtractor(allow_domains=[urlsplit(url).netloc])

    def parse(self, response: Any, **_: Any) -> Iterator[Request]:  # noqa: ANN401 - Scrapy's own
        """Follow the links of the home page."""
        for link in self._links.extract_links(response):
            yield Request(link.url, self.parse_page)

    def parse_page(self, response: Any) -> Iterator[dict[str, str]]:  # noqa: ANN401 - Scrapy's own
        """Yield the page, so that deltafetch skips it from now on."""
        yield {"url": response.url}
