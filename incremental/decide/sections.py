"""What appears with a new page: the rest of its section, its translations, where to find more. Pure.

Lists do not show everything. Pages of documentation link to one another, a section starts with its
pages, and only the original links to a translation. One question goes to the store: below which folders
was nothing known until lately? These came up, and::

    links on a hub into such a folder         news, even on the hub's first reading (decide.news)
    a new page in one, or linked by a         the unknown pages of its folder that it links to are
    monitored article                         verified; the page is monitored if it links to several
    a new page of any other folder            the few unknown, undated pages of its folder that it links to
                                              are verified, and announced if their files are as new
    a new page that names its translations    they are verified, if it is as new as they are
    a page of a new edition                   the edition's front page is read first, as a list; the originals
                                              it links to are verified again, for their translations

Language editions: ``/guide.html`` and ``/zh/guide.html`` are one page in two languages. On a site whose pages
have a language switch only the original links to a translation; no list shows it. So new pages in one
language lead to new pages in another.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from incremental.base.texts import hub_why
from incremental.base.times import DAY
from incremental.decide.address_forms import place_of
from incremental.decide.links import is_later_page, top_folder
from incremental.decide.url_dates import date_in_url
from store.enums import HubKind, HubRole, PageState
from store.rules import Fate, Rule
from store.values import KnownPage, NewHub, SeenLink, VerifyAgain

# ISO 639-1.
_LANGUAGES = """
    aa ab af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv
    dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie
    ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv
    mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm
    rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts
    tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
""".split()  # noqa: SIM905 - a table, not a list of 184 strings


def language_of(canonical_key: str) -> str:
    """Return a page's language folder, empty if it has none: ``//host/zh-cn/x`` -> ``zh-cn``."""
    parts = canonical_key.split("/", 4)
    if len(parts) < 5:  # noqa: PLR2004 - //host/folder/rest
        return ""
    return parts[3] if parts[3][:2].lower() in _LANGUAGES and _is_tag(parts[3]) else ""


def _is_tag(folder: str) -> bool:
    """Whether a folder is a language, or a language with a region or script."""
    primary, _, region = folder.replace("_", "-").partition("-")
    return len(primary) == 2 and (not region or (2 <= len(region) <= 4 and region.isalnum()))  # noqa: PLR2004 - BCP 47


def is_edition_front(canonical_key: str) -> bool:
    """Whether a page is the front page of a language edition: ``//host/zh``."""
    front = canonical_key.rstrip("/") + "/"
    return front.count("/") == 4 and bool(language_of(front))  # noqa: PLR2004 - //host/zh/


def untranslated(canonical_key: str) -> str:
    """Return the canonical key without its language folder."""
    language = language_of(canonical_key)
    if not language:
        return canonical_key
    return canonical_key.replace(f"/{language}/", "/", 1)


def translated(canonical_key: str, language: str) -> str:
    """Return the canonical key of the page in another language."""
    host, slash, path = untranslated(canonical_key)[2:].partition("/")
    return f"//{host}{slash}{language}/{path}"


def editions(own: str, found: Sequence[SeenLink]) -> list[SeenLink]:
    """Return those of *found* that are the page *own* in other languages."""
    base, language = untranslated(own), language_of(own)
    return [
        target
        for target in found
        if language_of(target.canonical_key) != language
        and untranslated(target.canonical_key) == base
    ]


# Up to so many unknown pages of a new hub are news; an old archive has more.
MAX_NEW_SECTION = 40
NEW_SECTION_SECONDS = 7 * DAY
# Before a site was watched this long, a folder that comes up may be an old one found late.
SETTLED_SECONDS = 14 * DAY
# Articles of new folders monitored at a time.
MAX_STRUCTURE = 20
# Pages verified again for their translations after one page of a new edition.
MAX_ORIGINALS = 20
MIN_STRUCTURE_LINKS = 3
# Unknown pages of its folder that one new page may bring; more are related posts.
MAX_SAME_FOLDER = 8


@dataclass(frozen=True, slots=True)
class SectionFacts:
    """What is known around a new page. Times are unix seconds."""

    now: float
    own: str
    """Its canonical key."""
    found: Sequence[SeenLink]
    """Its links."""
    known: Mapping[str, KnownPage]
    """Itself and those of its links that are known, by canonical key."""
    came_up: frozenset[str]
    """Those of :func:`folders_of` below which nothing was known until lately."""
    settled: bool
    """The site was watched for :data:`SETTLED_SECONDS`."""
    by_article: bool = False
    """A monitored article links to it: it belongs to that section, however old that is."""
    is_news: bool = False
    """It is announced by itself: a list shows it."""
    room: int = 0
    """How many more articles may be monitored for this reason."""
    translations: frozenset[str] = frozenset()
    """Those of the translations of :func:`originals` that are known."""
    verified_at: Mapping[int, float] = field(default_factory=dict)
    """When the :func:`originals` were last fetched for verification, by page id."""


@dataclass(frozen=True, slots=True)
class Section:
    """What appeared with a page."""

    unknown: tuple[SeenLink, ...] = ()
    """Pages to verify."""
    read_again: tuple[VerifyAgain, ...] = ()
    monitor: bool = False
    """The page is worth monitoring for the pages that it links to."""


def folder_of_page(own: str) -> str:
    """Return the prefix of the canonical keys in a page's folder."""
    return own.rsplit("/", 1)[0] + "/"


def folders_of(own: str, found: Sequence[SeenLink]) -> list[str]:
    """Return the folders for which it matters whether they came up, the page's own ones first."""
    folders = [folder_of_page(own)] if top_folder(own) else []
    if language_of(own):
        folders.append(top_folder(own))
    folders += [top_folder(t.canonical_key) for t in editions(own, found)]
    return [folder for folder in dict.fromkeys(folders) if folder]


def originals(
    own: str, found: Sequence[SeenLink], known: Mapping[str, KnownPage]
) -> dict[str, KnownPage]:
    """Return the originals that a page of an edition links to, by the keys of their translations."""
    language = language_of(own)
    return {
        translated(t.canonical_key, language): known[t.canonical_key]
        for t in found
        if t.canonical_key in known and not language_of(t.canonical_key)
    }


def section_of(facts: SectionFacts) -> Section:
    """Return what appeared with a new page."""
    own = facts.own
    near = _near(facts)
    unknown = [t for t in near if t.canonical_key not in facts.known]
    unknown = unknown if len(unknown) <= MAX_NEW_SECTION else []
    return Section(
        unknown=(
            *_fronts(facts),
            *(to_verify(t, Rule.SECTION) for t in unknown),
            *(to_verify(t, Rule.SAME_FOLDER) for t in _same_folder(facts)),
            *(to_verify(t, Rule.TRANSLATION) for t in _new_editions(facts)),
        ),
        read_again=(
            *(_read_again(facts) if is_new_edition(own, facts.came_up) else ()),
            *_open_cases(near, facts.known),
        ),
        monitor=facts.room > 0 and (len(near) >= MIN_STRUCTURE_LINKS or _opens_folder(facts)),
    )


def _opens_folder(facts: SectionFacts) -> bool:
    """Whether the page is the first of its folder, so that others will follow."""
    # A dated folder is a post's own.
    folder = folder_of_page(facts.own)
    return bool(top_folder(facts.own)) and folder in facts.came_up and date_in_url(folder) is None


def _open_cases(
    near: Sequence[SeenLink], known: Mapping[str, KnownPage]
) -> tuple[VerifyAgain, ...]:
    """Return the pages of a new section that a page of their folder had left open."""
    pages = [known[t.canonical_key] for t in near if t.canonical_key in known]
    return tuple(
        VerifyAgain(page.id, PageState.PENDING, Rule.SECTION)
        for page in pages
        if page.rule == Rule.SAME_FOLDER and page.state == PageState.KNOWN
    )


def _near(facts: SectionFacts) -> list[SeenLink]:
    """Return the links into the page's own folder, if its section is new."""
    folder = folder_of_page(facts.own)
    if not top_folder(facts.own) or not (facts.by_article or folder in facts.came_up):
        return []
    return [t for t in facts.found if t.canonical_key.startswith(folder) and not is_later_page(t)]


def _same_folder(facts: SectionFacts) -> list[SeenLink]:
    """Return the few unknown pages of its older folder to which a new page links."""
    # What belongs to one page is often linked from nowhere else. A dated page is a post: lists show it.
    if not (facts.is_news and facts.settled) or folder_of_page(facts.own) in facts.came_up:
        return []
    place = place_of(facts.own)
    unknown = [
        t
        for t in facts.found
        if t.canonical_key not in facts.known and place_of(t.canonical_key) == place
    ]
    undated = [t for t in unknown if date_in_url(t.url) is None and not is_later_page(t)]
    return undated if len(unknown) <= MAX_SAME_FOLDER else []


def is_new_edition(own: str, came_up: frozenset[str]) -> bool:
    """Whether a page belongs to a new language edition."""
    return bool(language_of(own)) and top_folder(own) in came_up


def _fronts(facts: SectionFacts) -> list[SeenLink]:
    """Return the unknown front page of the new edition to which a page belongs, as a hub."""
    # Its lists and feed show at once what its pages link to one after the other: 165 pages of a recorded
    # edition came in one deployment.
    if not is_new_edition(facts.own, facts.came_up):
        return []
    front = top_folder(facts.own).rstrip("/")
    hub = NewHub(HubKind.HTML, HubRole.LIST, 1.0, hub_why("edition_front"), facts.now)
    return [
        replace(to_verify(t, Rule.TRANSLATION), fate=Fate.HUB_AND_VERIFY, hub=hub)
        for t in facts.found
        if t.canonical_key.rstrip("/") == front and t.canonical_key not in facts.known
    ]


def _new_editions(facts: SectionFacts) -> list[SeenLink]:
    """Return the unknown translations of the page, if they are as new as it is."""
    # Often only the original links to a translation: one of a recorded site was found by monitoring after
    # twenty days, and before that not at all.
    known = facts.known.get(facts.own)
    fresh = known is not None and known.first_seen_at > facts.now - NEW_SECTION_SECONDS
    return [
        t
        for t in editions(facts.own, facts.found)
        if t.canonical_key not in facts.known
        and ((facts.settled and fresh) or top_folder(t.canonical_key) in facts.came_up)
    ]


def _read_again(facts: SectionFacts) -> tuple[VerifyAgain, ...]:
    """Return the originals whose translation is unknown, each at most once a week."""
    pairs = originals(facts.own, facts.found, facts.known).items()
    missing = [page for name, page in pairs if name not in facts.translations and not page.is_hub]
    before = facts.now - NEW_SECTION_SECONDS
    return tuple(
        VerifyAgain(page.id)
        for page in missing[:MAX_ORIGINALS]
        if facts.verified_at.get(page.id, before) < before
    )


def to_verify(target: SeenLink, rule: Rule) -> SeenLink:
    """Return a link whose page is verified before it is announced."""
    return SeenLink(
        target.canonical_key,
        target.url,
        target.anchor,
        fate=Fate.VERIFY,
        rule=rule,
    )
