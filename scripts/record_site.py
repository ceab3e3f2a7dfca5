#!/usr/bin/env python3
"""Make a recording of a website, with its truth, from the git repository that it is deployed from.

    scripts/record_site.py kubaik --out /tmp/replay/kubaik.sqlite
    scripts/record_site.py kubaik --out /tmp/replay/kubaik.sqlite --git EXISTING_CLONE
    scripts/record_site.py mine --sites mine.toml --out /tmp/replay/mine.sqlite

Each commit of the branch is a deployment at its commit time. The sites are described in
benchmarks/sites.toml, the file format and the rules of truth in docs/replays.md. Without --git the
repository is cloned into a temporary folder. The truth goes to truth/NAME.tsv beside FILE.
"""

import csv
import re
import subprocess
import sys
import tempfile
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote, urljoin

import lxml.etree
import lxml.html
import msgspec
from lab.cli import parser_of
from replay import BASELINE_SHARE, DAY, page_key, truth_beside
from replay_site import Bodies, write_replay

SITES = Path(__file__).parents[1] / "benchmarks" / "sites.toml"
# What follows a deployment so soon is part of it: the time of the first commit, the state of the last.
_ONE_DEPLOYMENT_SECONDS = 120
_TEXTS = (".html", ".xml", ".txt")
# Larger ones, mostly indexes for a search by script, would be most of a recording.
MAX_BYTES = 800_000
# What a path may hold unescaped (RFC 3986, section 3.3).
_SAFE = "/!$&'()*+,;=:@"
_REFRESH = re.compile(r"url\s*=\s*['\"]?([^'\"]+)", re.IGNORECASE)


class Moment(msgspec.Struct, forbid_unknown_fields=True):
    """Pages that were published together, which were no news one by one."""

    at: datetime
    pages: str = ""
    """A regular expression for their paths; empty = all that were published then."""


class Recipe(msgspec.Struct, forbid_unknown_fields=True):
    """How a website is recorded; paths are relative to *folder*, without ``index.html``."""

    repository: str
    """The address that git clones."""
    branch: str
    commit: str
    """The last deployment that is recorded."""
    base_url: str
    folder: str = ""
    """Of the repository, where the built site lies; empty = all of it."""
    since: datetime | None = None
    """None = the branch's first commit."""
    lists: str = ""
    """A regular expression for pages that are lists, not articles."""
    bare: bool = False
    """The server adds ``.html`` to addresses, as GitHub Pages does, and the site links without it."""
    bulk_deployments: Sequence[Moment] = ()
    backfills: Sequence[Moment] = ()


class Repository:
    """A local clone."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fits: dict[str, bool] = {}

    def run(self, *arguments: str, given: bytes = b"") -> bytes:
        """Return what git prints; raise CalledProcessError when it fails."""
        # The settings of a foreign clone run no program.
        command = ["git", "-C", str(self._path), "-c", "log.showSignature=false", *arguments]
        return subprocess.run(command, input=given, stdout=subprocess.PIPE, check=True).stdout  # noqa: S603 - no shell

    def deployments(self, recipe: Recipe) -> tuple[list[tuple[int, str]], int]:
        """Return time and commit of each deployment, oldest first, and when the last commit was made."""
        log = self.run(
            *("log", "--first-parent", "--reverse", "--format=%ct %H"),
            *("--end-of-options", recipe.commit, "--"),
        ).decode()
        commits = [(int(time), commit) for time, commit in map(str.split, log.splitlines())]
        end = commits[-1][0]
        # A clock that was wrong does not turn time back.
        commits = sorted((one for one in commits if one[0] <= end), key=lambda one: one[0])
        if recipe.since is not None:
            since = int(recipe.since.timestamp())
            baseline = max(bisect_right(commits, since, key=lambda one: one[0]) - 1, 0)
            commits[: baseline + 1] = [(since, commits[baseline][1])]
        joined: list[tuple[int, str]] = []
        for at, commit in commits:
            if joined and at - joined[-1][0] <= _ONE_DEPLOYMENT_SECONDS:
                joined[-1] = (joined[-1][0], commit)
            else:
                joined.append((at, commit))
        return joined, end

    def files(self, commit: str, recipe: Recipe) -> dict[str, str]:
        """Return the blobs of the site's texts by path below its folder."""
        folder = f"{recipe.folder}/" if recipe.folder else ""
        listed = self.run("ls-tree", "-r", "-z", commit, *([folder] if folder else []))
        found = {}
        for entry in filter(None, listed.decode(errors="replace").split("\0")):
            about, _, path = entry.partition("\t")
            if path.endswith(_TEXTS):
                found[path.removeprefix(folder)] = about.split()[2]
        self._learn_sizes(set(found.values()) - self._fits.keys())
        return {path: blob for path, blob in found.items() if self._fits[blob]}

    def _learn_sizes(self, blobs: Iterable[str]) -> None:
        answer = self.run("cat-file", "--batch-check", given="\n".join(blobs).encode())
        for line in answer.decode().splitlines():
            blob, kind, *size = line.split()
            self._fits[blob] = kind == "blob" and int(size[0]) <= MAX_BYTES

    def blobs(self, names: Iterable[str]) -> Iterator[bytes]:
        """Yield the content of blobs, in their order."""
        answer = self.run("cat-file", "--batch", given="\n".join(names).encode())
        at = 0
        while at < len(answer):
            head = answer.index(b"\n", at)
            end = head + 1 + int(answer[at:head].split()[2])
            yield answer[head + 1 : end]
            at = end + 1


Versions = list[tuple[int, int | None, str]]
"""From, to (None = to the end) and blob, oldest first."""


def versions_of(deployments: Iterable[tuple[int, Mapping[str, str]]]) -> dict[str, Versions]:
    """Return what was served at each path, and when, given the blobs by path of each deployment."""
    versions: dict[str, Versions] = defaultdict(list)
    before: Mapping[str, str] = {}
    for at, files in deployments:
        for path in sorted(before.keys() | files.keys()):
            if before.get(path) == files.get(path):
                continue
            if path in before:
                since, _, blob = versions[path][-1]
                versions[path][-1] = (since, at, blob)
            if path in files:
                versions[path].append((at, None, files[path]))
        before = files
    return dict(sorted(versions.items()))


def url_of(path: str, recipe: Recipe) -> str:
    """Return the address at which a file is served."""
    return recipe.base_url + quote(_place(path, recipe), safe=_SAFE)


def _place(path: str, recipe: Recipe) -> str:
    if Path(path).name == "index.html":
        return path.removesuffix("index.html")
    return path.removesuffix(".html") if recipe.bare else path


def links_of(body: bytes, url: str, *, is_xml: bool = False) -> set[str]:
    """Return the keys of the pages that a page, feed or sitemap leads to."""
    if not body.strip():
        return set()
    if is_xml or url.endswith(".xml"):
        root = lxml.etree.fromstring(body, lxml.etree.XMLParser(recover=True, huge_tree=True))
        elements = [] if root is None else root.iter("{*}loc", "{*}link")
        found = [element.get("href") or element.text or "" for element in elements]
    else:
        try:
            root = lxml.html.document_fromstring(
                body.decode(errors="replace").encode(),
                ensure_head_body=True,
                parser=lxml.html.HTMLParser(encoding="utf-8"),
            )
        except lxml.etree.ParserError:  # there is nothing in it, such as a comment alone
            return set()
        found = [str(href) for href in root.xpath("//a/@href | //area/@href | //frame/@src")]
        for content in root.xpath(
            "//meta[translate(@http-equiv,'REFSH','refsh')='refresh']/@content"
        ):
            found += _REFRESH.findall(str(content))
        url = urljoin(url, next(iter(map(str, root.xpath("//base/@href"))), ""))
    return set(filter(None, (_key(url, link.strip()) for link in found)))


@lru_cache(maxsize=100_000)
def _key(url: str, link: str) -> str:
    try:
        return page_key(urljoin(url, link))
    except ValueError:
        return ""


def first_linked(
    versions: Mapping[str, Versions], links: Mapping[str, Mapping[str, set[str]]], recipe: Recipe
) -> dict[str, int]:
    """Return, by path, the first moment at which each page can be reached from where readers begin.

    They begin at the home page, and at the feeds and sitemaps of the site's root. *links*: by path and blob.
    """
    paths = {page_key(url_of(path, recipe)): path for path in versions}
    roots = [path for path in versions if path == "index.html" or re.fullmatch(r"[^/]+\.xml", path)]
    events: dict[int, dict[str, list[str] | None]] = defaultdict(dict)
    for path, found in versions.items():
        for since, until, blob in found:
            events[since][path] = [paths[key] for key in links[path][blob] if key in paths]
            if until is not None:
                events[until].setdefault(path, None)
    alive: dict[str, list[str]] = {}
    linked: dict[str, int] = {}
    for at in sorted(events):
        alive |= {path: targets for path, targets in events[at].items() if targets is not None}
        for path in [path for path, targets in events[at].items() if targets is None]:
            del alive[path]
        for path in _reached(alive, roots):
            linked.setdefault(path, at)
    return linked


def _reached(alive: Mapping[str, Sequence[str]], roots: Iterable[str]) -> set[str]:
    waiting = [path for path in roots if path in alive]
    reached = set(waiting)
    while waiting:
        for target in alive[waiting.pop()]:
            if target in alive and target not in reached:
                reached.add(target)
                waiting.append(target)
    return reached


def scored_from(span: tuple[float, float]) -> float:
    """Return when the baseline ends, given the first and last moment."""
    return span[0] + BASELINE_SHARE * (span[1] - span[0])


TruthRow = tuple[str, str, int, int, int | str, int]
"""As in the file, ``gone`` empty if it is not."""


def truth_of(
    versions: Mapping[str, Versions],
    linked: Mapping[str, int],
    recipe: Recipe,
    span: tuple[int, int],
) -> list[TruthRow]:
    """Return the rows of the truth: new pages after t0 that could be reached, by the time of it."""
    t0, end = scored_from(span), span[1]
    rows = []
    for path, found in versions.items():
        published, gone = found[0][0], found[-1][1]
        if not path.endswith(".html") or published <= t0 or path not in linked:
            continue
        kind = _kind(_place(path, recipe), published, recipe)
        lasting = (end if gone is None else gone) - linked[path] >= DAY
        scored = int(kind == "article" and lasting)
        url = url_of(path, recipe)
        rows.append((url, kind, published, linked[path], "" if gone is None else gone, scored))
    return sorted(rows, key=lambda row: (row[3], row[0]))


def _kind(place: str, published: int, recipe: Recipe) -> str:
    for kind, moments in (("relaunch", recipe.bulk_deployments), ("backfill", recipe.backfills)):
        for moment in moments:
            if moment.at.timestamp() == published and re.search(moment.pages, place):
                return kind
    return "list" if recipe.lists and re.search(recipe.lists, place) else "article"


def write_recording(
    out: Path,
    recipe: Recipe,
    versions: Mapping[str, Versions],
    span: tuple[int, int],
    contents: Callable[[Sequence[str]], Iterable[bytes]],
) -> int:
    """Write recording and truth; return how many rows the truth has.

    *span*: first and last moment, unix seconds. *contents* returns what blobs hold, in their order.
    """
    links: dict[str, dict[str, set[str]]] = {}

    def pages() -> Iterator[tuple[str, str, Bodies]]:
        for path, found in versions.items():
            url = url_of(path, recipe)
            names = list(dict.fromkeys(blob for _, _, blob in found))
            bodies = dict(zip(names, contents(names), strict=True))
            links[path] = {name: links_of(body, url) for name, body in bodies.items()}
            yield url, path, [(since, until, bodies[blob]) for since, until, blob in found]

    write_replay(out, (recipe.base_url, *span), pages())
    rows = truth_of(versions, first_linked(versions, links, recipe), recipe, span)
    write_truth(out, rows)
    return len(rows)


def write_truth(out: Path, rows: Iterable[TruthRow]) -> None:
    """Write the truth of the recording *out*."""
    truth = truth_beside(out)
    truth.parent.mkdir(exist_ok=True)
    with truth.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(("url", "kind", "published", "linked", "gone", "scored"))
        writer.writerows(rows)


def main() -> int:
    """Run from the command line; exit 0, 1 when git fails, 2 for wrong usage."""
    parser = parser_of(__doc__, with_json=False)
    parser.add_argument("name", metavar="NAME", help="of the site in the file of sites")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.sqlite")
    parser.add_argument("--sites", type=Path, default=SITES, metavar="FILE.toml")
    parser.add_argument("--git", type=Path, metavar="DIR", help="a clone that is there already")
    arguments = parser.parse_args()
    sites = msgspec.toml.decode(arguments.sites.read_bytes(), type=dict[str, Recipe])
    recipe = sites.get(arguments.name)
    if recipe is None:
        parser.error(f"{arguments.sites} knows {', '.join(sites)}")
    if arguments.out.exists():
        parser.error(f"{arguments.out} is there already")
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="hubwatch-record-") as folder:
        clone = arguments.git or Path(folder)
        try:
            if arguments.git is None:
                Repository(clone).run(
                    *("clone", "--bare", "--single-branch", f"--branch={recipe.branch}"),
                    *("--", recipe.repository, "."),
                )
            repository = Repository(clone)
            deployments, end = repository.deployments(recipe)
            versions = versions_of(
                (at, repository.files(commit, recipe)) for at, commit in deployments
            )
            span = (deployments[0][0], end)
            rows = write_recording(arguments.out, recipe, versions, span, repository.blobs)
        except subprocess.CalledProcessError as error:
            print(f"git failed: {error}", file=sys.stderr)
            return 1
    print(f"{arguments.out}: {len(versions)} pages, {rows} of them to be found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
