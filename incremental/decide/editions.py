"""Language editions of a site: ``/guide.html`` and ``/zh/guide.html`` are one page in two languages. Pure.

On a site whose pages have a language switch only the original links to a translation; no list shows
it. So new pages in one language lead to new pages in another.
"""

from collections.abc import Sequence

from store.values import SeenLink

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
