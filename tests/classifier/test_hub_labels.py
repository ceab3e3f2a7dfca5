"""Label files are read strictly, and behaviour writes labels that users outrank."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lab.hub.files import LabelFileError, Said, check_two_classes, read_labels

from classifier.hub.labels import Behaviour, LabelRow, label_of, labels_hash, write_labels

DAY = 86400.0


def _file(tmp_path: Path, content: str | bytes) -> Path:
    path = tmp_path / "labels.tsv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_rows_are_read_with_what_is_known(tmp_path: Path) -> None:
    path = _file(
        tmp_path,
        'label\turl\tanchor\r\nhub\thttp://a.example/x\t"News\r\n\r\ntopic\thttp://b.example/1\t\r\n',
    )
    first, second = read_labels(path)
    assert (first.is_hub, first.anchor, first.domain) == (True, '"News', "a.example")
    assert second.evidence.anchor is None


@pytest.mark.parametrize(
    ("content", "line", "problem"),
    [
        ("", 0, "empty"),
        ("label\turl\n", 0, "no rows"),
        ("url\tanchor\nhttp://a.example/\tx\n", 1, "no column label"),
        ("label\turl\nhub\thttp://a.example/\nindex\thttp://b.example/\n", 3, "label is 'index'"),
        ("label\turl\nhub\thttp://a.example/\textra\n", 2, "has 3 fields"),
        ("label\turl\nhub\t/news/\n", 2, "no host"),
        (b"label\turl\nhub\thttp://a.example/\nhub\thttp://\xff/\n", 3, "UTF-8"),
    ],
)
def test_a_bad_file_is_named_by_line(
    tmp_path: Path, content: str | bytes, line: int, problem: str
) -> None:
    with pytest.raises(LabelFileError, match=problem) as caught:
        read_labels(_file(tmp_path, content))
    assert caught.value.line == line


def test_a_missing_file_is_a_label_file_error(tmp_path: Path) -> None:
    with pytest.raises(LabelFileError, match="cannot be read"):
        read_labels(tmp_path / "absent.tsv")


def test_one_class_is_not_enough(tmp_path: Path) -> None:
    path = _file(tmp_path, "label\turl\nhub\thttp://a.example/\n")
    with pytest.raises(LabelFileError, match="class hub only"):
        check_two_classes(read_labels(path), path)


_TEXT = st.text(st.characters(exclude_categories=["C", "Z"]), max_size=20)


@given(
    st.lists(st.tuples(st.sampled_from(["hub", "article"]), _TEXT, _TEXT), min_size=1, max_size=5)
)
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, drawn: list[tuple[str, str, str]]
) -> None:
    rows = [
        LabelRow(label, f"http://a.example/{tail}", anchor, "a.example")
        for label, tail, anchor in drawn
    ]
    path = _file(tmp_path_factory.mktemp("labels"), write_labels(rows))
    assert read_labels(path) == rows


def test_tabs_in_hostile_anchors_do_not_break_the_file(tmp_path: Path) -> None:
    row = LabelRow("hub", "http://a.example/", "a\tb\nhub\thttp://evil.example/", "a.example")
    assert len(read_labels(_file(tmp_path, write_labels([row])))) == 1


@pytest.mark.parametrize(
    ("behaviour", "label"),
    [
        (Behaviour(3, 2, 5, DAY), "hub"),
        (Behaviour(3, 1, 500, DAY), None),
        (Behaviour(9, 2, 2, 30 * DAY), None),
        (Behaviour(8, 0, 0, 14 * DAY), "article"),
        (Behaviour(8, 0, 0, 13 * DAY), None),
        (Behaviour(7, 0, 0, 60 * DAY), None),
        (Behaviour(0, 0, 0, 0.0), None),
    ],
)
def test_behaviour_labels_only_what_is_clear(behaviour: Behaviour, label: str | None) -> None:
    assert label_of(behaviour) == label


def test_a_training_sets_hash_ignores_order_and_sees_labels() -> None:
    one, two = LabelRow("hub", "http://a.example/"), LabelRow("article", "http://b.example/")
    assert labels_hash([one, two]) == labels_hash([two, one])
    assert labels_hash([one]) != labels_hash([LabelRow("article", "http://a.example/")])


def test_a_url_labelled_both_ways_names_file_line_and_url(tmp_path: Path) -> None:
    """Within a file and across files; the same label twice is no harm."""
    path = _file(
        tmp_path,
        "label\turl\nhub\thttp://a.example/\nhub\thttp://a.example/\ntopic\thttp://a.example/\n",
    )
    assert len(read_labels(path)) == 3
    with pytest.raises(LabelFileError) as caught:
        read_labels(path, {})
    assert caught.value.line == 4
    for named in (str(path), "line 4", "http://a.example/", "line 2", "labelled article"):
        assert named in str(caught.value)
    said: dict[str, Said] = {}
    read_labels(_file(tmp_path, "label\turl\nhub\thttp://a.example/\n"), said)
    with pytest.raises(LabelFileError, match="keep one of the two"):
        read_labels(_file(tmp_path, "label\turl\ntopic\thttp://a.example/\n"), said)
