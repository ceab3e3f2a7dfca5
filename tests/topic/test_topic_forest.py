"""Several semantic trees as one."""

from pathlib import Path

from classifier.papers.semantic_tree import SemanticTree, joined
from classifier.papers.trees import read_tree

WORKS = "id\tpos\thypernyms\ten\n1\tn\t\tstructure\n2\tn\t1\tbridge\n3\tn\t1\ttower\n"
GAMES = "id\tpos\thypernyms\ten\na\tn\t\tgame\nb\tn\ta\tbridge\n"


def trees(folder: Path) -> list[str]:
    """Two tables in which one word stands."""
    for name, text in (("works", WORKS), ("games", GAMES)):
        (folder / name).write_text(text)
    return [str(folder / "works"), str(folder / "games")]


def test_a_word_has_the_senses_of_every_tree(tmp_path: Path) -> None:
    works, games = map(read_tree, trees(tmp_path))
    forest = joined([works, games])
    assert isinstance(forest, SemanticTree)
    assert len(forest.senses("bridge")) == len(works.senses("bridge")) + len(games.senses("bridge"))
    assert forest.senses("unheard") == []


def test_senses_keep_to_their_own_tree(tmp_path: Path) -> None:
    works, games = map(read_tree, trees(tmp_path))
    forest = joined([works, games])
    assert forest is not None
    in_works, in_games = forest.senses("bridge")
    assert list(forest.parents(in_works)) == list(forest.senses("structure"))
    assert list(forest.parents(in_games)) == list(forest.senses("game"))
    assert forest.depth(in_works) == forest.depth(in_games) == 1


def test_one_tree_is_itself_and_none_is_none(tmp_path: Path) -> None:
    tree = read_tree(trees(tmp_path)[0])
    assert joined([tree]) is tree
    assert joined([]) is None
