"""Semantic trees: what each format reads as, and what a broken file is announced."""

import lzma
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classifier.papers.semantic_tree import SemanticTree, TreeError, tree_of
from classifier.papers.similarity import ALPHA, TopicAffinity, ancestors
from classifier.papers.trees import read_tree

SHARED = Path(__file__).parents[2].parent / "shared" / "semantic"

TABLE = """id\tpos\thypernyms\tzh\ten
i1\tn\t\t实体\tentity
i2\tn\ti1\t动物\tanimal|beast
i3\tn\ti2\t狗|犬\tdog
i4\tn\ti2\t猫\tcat
i5\tn\ti1\t植物\tplant
i6\tn\ti5\t树\ttree
i7\ta\t\t好的\tgood
"""


def written(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def path_up(tree: SemanticTree, word: str) -> list[int]:
    """Depths from the first sense of a word to its root."""
    depths, sense = [], tree.senses(word)[0]
    while tree.parents(sense):
        depths.append(tree.depth(sense))
        sense = tree.parents(sense)[0]
    return [*depths, tree.depth(sense)]


def similarity(tree: SemanticTree, left: str, right: str, alpha: float = ALPHA) -> float:
    """How alike two words are: the affinity of one to a topic of the other alone."""
    return TopicAffinity({left: 1.0}, tree, alpha)(right)


def distance_of(tree: SemanticTree, left: int, right: int) -> int | None:
    """Formula 6 for two senses, straight from the definition; None = no common ancestor."""
    above, over = ancestors(tree, left), ancestors(tree, right)
    shared = [above[one] + over[one] for one in above.keys() & over.keys()]
    return min(shared) + abs(tree.depth(left) - tree.depth(right)) if shared else None


def by_the_book(tree: SemanticTree, left: str, right: str) -> float:
    """Formulas 5 to 7 for two words: the best of their senses."""
    found = [
        distance_of(tree, one, other) for one in tree.senses(left) for other in tree.senses(right)
    ]
    known = [one for one in found if one is not None]
    if left == right:
        return 1.0
    return ALPHA / (ALPHA + min(known)) if known else 0.0


def test_a_table_gives_words_of_all_languages_their_place(tmp_path: Path) -> None:
    tree = read_tree(written(tmp_path, "wordnet.tsv", TABLE))
    assert tree.senses("Dog") == tree.senses("犬") != []
    assert path_up(tree, "dog") == [2, 1, 0]
    assert [*tree.parents(tree.senses("cat")[0])] == [*tree.senses("beast")]


def test_words_are_known_by_the_stems_that_texts_give(tmp_path: Path) -> None:
    tree = read_tree(written(tmp_path, "w.tsv", TABLE.replace("dog", "physics")))
    assert tree.senses("physic") == tree.senses("physics") != []


def test_senses_without_any_edge_are_left_out(tmp_path: Path) -> None:
    """WordNet's adjectives stand alone: exact terms say all that they could."""
    assert list(read_tree(written(tmp_path, "w.tsv", TABLE)).senses("good")) == []


LEXICON = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE LexicalResource SYSTEM "http://globalwordnet.github.io/schemas/WN-LMF-1.1.dtd">
<LexicalResource xmlns:dc="https://globalwordnet.github.io/schemas/dc/">
<Lexicon id="tiny" label="Tiny" language="en" email="a@b.example" license="none" version="1">
<LexicalEntry id="tiny-animal-n"><Lemma writtenForm="animal" partOfSpeech="n"/>
<Sense id="s1" synset="tiny-1-n"/></LexicalEntry>
<LexicalEntry id="tiny-dog-n"><Lemma writtenForm="dog" partOfSpeech="n"/>
<Sense id="s2" synset="tiny-2-n"/></LexicalEntry>
<Synset id="tiny-1-n" ili="" partOfSpeech="n"/>
<Synset id="tiny-2-n" ili="" partOfSpeech="n">
<SynsetRelation relType="hypernym" target="tiny-1-n"/></Synset>
</Lexicon></LexicalResource>
"""


def test_a_lexicon_of_the_wn_package_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wn = pytest.importorskip("wn", reason="the extra 'semantic' is not installed")
    monkeypatch.setattr(wn.config, "_data_directory", tmp_path / "wn_data", raising=False)
    wn.config.data_directory = tmp_path / "wn_data"
    wn.add(written(tmp_path, "tiny.xml", LEXICON), progress_handler=None)
    tree = read_tree("wn:tiny:1")
    assert path_up(tree, "dog") == [1, 0]
    with pytest.raises(TreeError, match="python -m wn download other:9"):
        read_tree("wn:other:9")


BROKEN = {
    "cycle": (TABLE.replace("i2\tn\ti1", "i2\tn\ti3"), r"cycle.*i3"),
    "self": (TABLE.replace("i1\tn\t\t", "i1\tn\ti1\t"), r"cycle.*i1 -> i1"),
    "missing parent": (TABLE.replace("i6\tn\ti5", "i6\tn\ti99"), r"i99"),
    "cut off": (TABLE[:-12], r"row 8 lacks a field"),
    "a field too many": (TABLE.replace("dog", "dog\tcat"), r"row 4 lacks a field or has too many"),
    "unknown": ("<html>not a tree</html>\nnot at all\n", r"no format that we know"),
    "empty": ("", r"no format that we know"),
    "no words": ("id\tpos\thypernyms\ten\ni1\tn\t\t\n", "no word"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file_is_refused_with_its_name_and_what_is_wrong(
    case: str, tmp_path: Path
) -> None:
    text, expected = BROKEN[case]
    with pytest.raises(TreeError, match=f"tree.tsv.*{expected}"):
        read_tree(written(tmp_path, "tree.tsv", text))


def test_a_truncated_archive_is_refused(tmp_path: Path) -> None:
    packed = lzma.compress(TABLE.encode() * 500)
    (tmp_path / "t.tsv.xz").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(TreeError, match=r"cannot be read.*end-of-stream"):
        read_tree(str(tmp_path / "t.tsv.xz"))


def test_a_file_in_another_encoding_is_refused_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "words.tsv").write_bytes(TABLE.encode("gb18030"))
    with pytest.raises(TreeError, match=r"cannot be read as UTF-8: .*decode"):
        read_tree(str(tmp_path / "words.tsv"))


def test_a_path_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TreeError, match=r"cannot be read.*No such file"):
        read_tree(str(tmp_path / "none.tsv"))
    with pytest.raises(TreeError, match=r"Is a directory"):
        read_tree(str(tmp_path))


@st.composite
def trees(draw: st.DrawFn) -> SemanticTree:
    """Trees of up to 30 words in which each sense's parents come before it."""
    parents: dict[str, list[str]] = {}
    for number in range(draw(st.integers(2, 30))):
        above = draw(st.sets(st.integers(0, max(number - 1, 0)), max_size=2))
        parents[str(number)] = [str(one) for one in above if one < number]
    return tree_of("drawn", parents, [(f"w{number}", number, "") for number in parents])


WORDS = st.integers(0, 30).map(lambda number: f"w{number}")


@given(trees(), WORDS, WORDS, st.floats(0.1, 10))
def test_similarity_is_symmetric_and_within_bounds(
    tree: SemanticTree, left: str, right: str, alpha: float
) -> None:
    one, other = (similarity(tree, *pair, alpha) for pair in ((left, right), (right, left)))
    assert one == pytest.approx(other)
    assert 0.0 <= one <= 1.0
    assert similarity(tree, left, left, alpha) == 1.0


@given(trees(), WORDS)
def test_a_broader_word_is_as_far_as_the_way_up_to_it(tree: SemanticTree, word: str) -> None:
    """Where a word has one way up. With several, a way over another ancestor may be shorter."""
    for sense in tree.senses(word):
        steps = ancestors(tree, sense)
        one_way_up = all(len(tree.parents(above)) <= 1 for above in steps)
        for above, edges in steps.items():
            assert all(steps[parent] <= edges + 1 for parent in tree.parents(above))
            straight = edges + abs(tree.depth(sense) - tree.depth(above))
            distance = distance_of(tree, sense, above)
            assert distance is not None
            assert distance == straight if one_way_up else distance <= straight


def test_a_way_over_another_ancestor_may_be_shorter() -> None:
    up = {"dog": ["thing", "pet"], "pet": ["friend"], "friend": ["animal"], "animal": ["thing"]}
    up["thing"] = []
    tree = tree_of("drawn", up, [(word, word, "") for word in up])
    (dog,), (animal,) = tree.senses("dog"), tree.senses("animal")
    assert ancestors(tree, dog)[animal] == 3
    assert distance_of(tree, dog, animal) == 2


@given(trees(), st.lists(WORDS, min_size=1, max_size=6, unique=True), WORDS)
def test_the_affinity_of_a_topic_is_the_mean_similarity_of_its_terms(
    tree: SemanticTree, topic: list[str], word: str
) -> None:
    affinity = TopicAffinity(dict.fromkeys(topic, 2.0), tree)
    expected = [by_the_book(tree, term, word) for term in topic]
    assert affinity.similarities(word).tolist() == pytest.approx(expected)
    assert affinity(word) == pytest.approx(sum(expected) / len(topic))


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared semantic trees are not here")
def test_wordnet_knows_which_words_are_near() -> None:
    tree = read_tree(str(SHARED / "wordnet-zh-en" / "zh_wordnet_tree.tsv.xz"))
    assert similarity(tree, "dog", "wolf") > similarity(tree, "dog", "algorithm")
