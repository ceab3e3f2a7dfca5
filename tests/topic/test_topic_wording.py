"""Questions are made of words as pages write them: no search engine knows our stems."""

import pytest

from classifier.words.segmentation import tokens
from incremental.topics.wording import Wording, written_forms


def test_the_forms_of_a_stem_are_counted() -> None:
    forms = written_forms("Religion is not religious. A Religious man was very religiously minded.")
    assert forms["religi"] == {"religious": 2, "religiously": 1}
    assert forms["religion"] == {"religion": 1}
    assert "not" not in forms


@pytest.mark.parametrize(
    "text",
    [
        "The churches' bells and the church's bells rang in the abbeys of C++ programmers, 3D too",
        "Die Häuser der Universitäten stehen in den Städten und die Kirchen sind nicht weit",
        "Les églises de l'université sont dans les villes et les maisons ne sont pas loin",
    ],
)
def test_every_term_of_a_spaced_text_has_a_form(text: str) -> None:
    forms = written_forms(text)
    language = {"T": "en", "D": "de", "L": "fr"}[text[0]]
    assert set(tokens(text, language)) == set(forms)


def test_a_stem_becomes_its_commonest_form_in_all_texts() -> None:
    wording = Wording()
    wording.learn("a", ["religiously"])
    wording.learn("b", ["Religious, the religious"])
    assert wording.question(["religi", "unseen"]) == "religious unseen"


def test_a_page_counts_once() -> None:
    wording = Wording()
    for url, text in (("a", "churches churches"), ("a", "churches churches"), ("b", "church " * 3)):
        wording.learn(url, [text])
    assert wording.question(["church"]) == "church"


def test_a_stem_keeps_the_word_that_was_asked_for() -> None:
    """Otherwise one question would be asked again in another form."""
    wording = Wording()
    wording.learn("a", ["churches"])
    assert wording.question(["church"]) == "churches"
    wording.learn("b", ["church church church"])
    assert wording.question(["church"]) == "churches"


def test_chinese_words_and_names_among_them_stay_as_they_are() -> None:
    wording = Wording()
    wording.learn("a", ["网络安全是Web应用的基础, 网络编程用Java语言"])
    assert wording.question(["网络安全", "java", "web"]) == "网络安全 java web"
