"""Texts for users keep to the words of docs/words.toml. `python -m tests.docs.words` lists every place that does not."""

from __future__ import annotations

import pytest

from tests.docs.user_texts import SOURCES
from tests.docs.words import Word, violations, words


@pytest.mark.parametrize("source", SOURCES)
def test_texts_for_users_keep_to_the_words(source: str) -> None:
    found = list(violations(SOURCES[source]()))
    assert not found, "\n".join(["docs/words.toml:", *found])


@pytest.mark.parametrize("word", words(), ids=lambda word: word.avoid)
def test_a_word_is_found_in_its_example(word: Word) -> None:
    assert word.hits(word.avoid)


def test_no_replacement_has_to_be_replaced() -> None:
    assert [(word.say, other.avoid) for word in words() for other in words() if other.hits(word.say)] == []
