"""WordNet's database files, in Debian under /usr/share/wordnet: data.noun, index.noun, ...

The format is wndb(5WN); index.noun gives each word's senses, commonest first.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from classifier.topic.semantic_tree import CompactTree, TreeBuilder, TreeError
from classifier.topic.trees.sources import read_lines

PARTS: Final = ("noun", "verb", "adj", "adv")
_HYPERNYMS: Final = ("@", "@i")
_POINTER_FIELDS: Final = 4


def is_wordnet_folder(folder: Path) -> bool:
    """Whether the folder holds WordNet's nouns."""
    return (folder / "data.noun").is_file() and (folder / "index.noun").is_file()


def read_wordnet_files(folder: Path) -> CompactTree:
    """Read the parts of speech that exist; raises TreeError that names file and line."""
    builder = TreeBuilder(folder)
    for part in PARTS:
        data, index = folder / f"data.{part}", folder / f"index.{part}"
        if data.is_file() or part == "noun":
            offsets = _read_data(builder, data, part)
            _read_index(builder, index, part, offsets)
    return builder.build()


def _read_data(builder: TreeBuilder, path: Path, part: str) -> set[str]:
    """Define the senses and their parents; return the offsets found."""
    offsets: set[str] = set()
    place = 0
    for number, line in read_lines(path):
        if line[:1].isdigit():
            offset, parents = _data_fields(path, number, line)
            # A line begins with its own byte offset, which proves the file whole up to there.
            if int(offset) != place:
                raise TreeError(
                    path,
                    number,
                    f"says it begins at byte {offset}, but begins at {place}; fetch it again",
                )
            sense = builder.sense(f"{part}:{offset}", number)
            offsets.add(offset)
            for parent in parents:
                builder.parent(sense, f"{part}:{parent}", number)
        place += len(line.encode()) + 1
    return offsets


def _data_fields(path: Path, number: int, line: str) -> tuple[str, list[str]]:
    """Return the offset of a line and the offsets of its hypernyms."""
    fields = line.partition(" | ")[0].split(" ")
    try:
        at = 4 + 2 * int(fields[3], 16)
        count = int(fields[at])
        pointers = fields[at + 1 : at + 1 + _POINTER_FIELDS * count]
    except (ValueError, IndexError) as error:
        raise TreeError(path, number, "is not a line of a WordNet data file") from error
    if len(pointers) != _POINTER_FIELDS * count or not fields[0].isdecimal():
        raise TreeError(path, number, f"promises {count} pointers and is cut off before the last")
    quads = zip(*[iter(pointers)] * _POINTER_FIELDS, strict=True)
    return fields[0], [offset for symbol, offset, _, _ in quads if symbol in _HYPERNYMS]


def _read_index(builder: TreeBuilder, path: Path, part: str, offsets: set[str]) -> None:
    for number, line in read_lines(path):
        if not line.strip() or line.startswith("  "):
            continue
        fields = line.split()
        try:
            senses = fields[-int(fields[2]) :] if int(fields[2]) > 0 else []
        except (ValueError, IndexError) as error:
            raise TreeError(path, number, "is not a line of a WordNet index file") from error
        for offset in senses:
            if offset not in offsets:
                raise TreeError(path, number, f"names the sense {offset}, which data.{part} lacks")
            builder.word(fields[0], builder.sense(f"{part}:{offset}"), number, language="en")
