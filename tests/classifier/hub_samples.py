"""Small made-up label sets, so that tests train in a second or two."""

from functools import cache

from lab.hub.files import Capture
from lab.hub.training import TrainingOptions, train_model

from classifier.hub.labels import LabelRow
from classifier.hub.model import HubModel
from classifier.hub.svm import Pair

PAIRS = {
    "url": Pair(3.0, 0.003),
    "content": Pair(3.0, 0.005),
    "joint": Pair(3.0, 0.005),
}
"""A search takes a minute; what it finds is no matter where these are used."""

_SECTIONS = ("news", "notices", "events", "blog", "research")
_WORDS = ("river", "market", "school", "energy", "harbour", "library", "weather")


def sample_rows(domains: int = 24) -> list[LabelRow]:
    """Rows of made-up sites: sections are hubs, dated slugs and numbered pages are topics."""
    rows = []
    for number in range(domains):
        domain = f"site{number}.example"
        for place, section in enumerate(_SECTIONS):
            word = _WORDS[(number + place) % len(_WORDS)]
            list_url = f"https://www.{domain}/{section}/"
            day = f"2024/0{place + 1}/1{place}"
            story = f"{list_url}{day}/new-{word}-opens-{number}.html"
            rows.append(LabelRow("hub", list_url, section.title(), domain, "en", "made"))
            headline = f"New {word} opens after {number} years of work"
            rows.append(
                LabelRow("article", story, headline if place % 2 else "", domain, "en", "made")
            )
    return rows


def list_page(count: int) -> str:
    """Make a page that is a list of headlines."""
    links = "".join(
        f'<li class="item"><h3><a href="/n/{i}.html">A headline of some length, number {i}</a></h3></li>'
        for i in range(count)
    )
    return f"<html><head><title>News</title></head><body><ul>{links}</ul></body></html>"


def article_page(count: int) -> str:
    """Make a page that is one article."""
    text = "".join(
        f"<p>Sentence {i} of the story, with commas, and a good deal of text that tells what happened"
        " to whom and why, so that nobody takes it for a teaser.</p>"
        for i in range(count)
    )
    head = '<meta property="og:type" content="article"><title>A story - Site</title>'
    return f"<html><head>{head}</head><body><h1>A story</h1><article>{text}</article></body></html>"


def sample_captures(domains: int = 24) -> list[Capture]:
    """One list and one article a site."""
    captures = []
    for number in range(domains):
        domain = f"site{number}.example"
        hub = LabelRow("hub", f"https://www.{domain}/", "", domain, "en", "made")
        topic = LabelRow("article", f"https://www.{domain}/a/{number}", "", domain, "en", "made")
        captures.append(Capture(hub, list_page(10 + number).encode()))
        captures.append(Capture(topic, article_page(4 + number % 9).encode()))
    return captures


FOUND = {name: {"cost": pair.cost, "gamma": pair.gamma} for name, pair in PAIRS.items()}


@cache
def train_small_model() -> HubModel:
    """Train on the samples, once for each process of tests."""
    return train_model(
        sample_rows(), sample_captures(), "0001-5a5a5a5a", TrainingOptions(found=FOUND)
    )
