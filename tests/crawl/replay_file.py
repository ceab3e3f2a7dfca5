"""Makes small replay files in the format of the recorded websites."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from fake_web import DAY, HOUR, START, page
from replay_site import write_replay

HOST = "https://recorded.example"
END = START + 10 * DAY
T0 = START + 2 * DAY
Bodies = Sequence[tuple[float, float | None, str]]
"""From, to (None = to the end) and what was served."""


def recorded(path: Path, pages: Mapping[str, Bodies]) -> Path:
    """Write a recording of ten days from START."""
    rows = (
        (
            HOST + place,
            place.lstrip("/"),
            [(since, until, body.encode()) for since, until, body in versions],
        )
        for place, versions in pages.items()
    )
    write_replay(path, (HOST + "/", START, END), rows)
    return path


def small_site(folder: Path) -> tuple[Path, Path]:
    """Write a site whose home page shows a new story every day, and what there was to find."""
    stories = [f"/story-of-the-day-number-{n}.html" for n in range(10)]
    born = [START if n < 3 else START + n * DAY + HOUR for n in range(10)]
    homes: list[tuple[float, float | None, str]] = []
    moments = sorted(set(born))
    for since, until in zip(moments, [*moments[1:], None], strict=True):
        out = [story for story, at in zip(stories, born, strict=True) if at <= since]
        homes.append((since, until, page(*out[::-1])))
    pages: dict[str, Bodies] = {"/": homes}
    text = "A story that goes on for some time. " * 20
    pages |= {
        s: [(at, None, page(title=s, text=text))] for s, at in zip(stories, born, strict=True)
    }
    pages["/old.html"] = [(START, START + DAY, page())]
    replay = recorded(folder / "small.sqlite", pages)
    truth = folder / "truth" / "small.tsv"
    truth.parent.mkdir()
    rows = ["url\tkind\tpublished\tlinked\tgone\tscored"]
    rows += [
        f"{HOST}{story}\tarticle\t{at}\t{at}\t\t{int(at < END - DAY)}"
        for story, at in zip(stories, born, strict=True)
        if at > T0
    ]
    truth.write_text("\n".join(rows) + "\n")
    return replay, truth
