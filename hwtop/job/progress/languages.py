"""Progress lines in other languages: the field's words of `languages.toml`, read as the English ones. Pure."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

import tomli

from hwtop.job.log.parsed import ParsedLine, parsed_text
from hwtop.lazy_regex import lazy_regex

_READ_CHARS = 4096
"""A progress line is not longer."""
_LETTERS = lazy_regex(r"[^\W\d_]+")
_UNSPACED = "一-鿿぀-ヿ가-힣"
"""Scripts that put no space between words: Chinese, Japanese, Korean."""
_OF = lazy_regex(r" (?:(?:de|di|da|do|du) |d')")
"""What names of variables leave out: `taxa_aprendizado` is the "taxa de aprendizado"."""
_COMMA = lazy_regex(r"(?<![\d.,])(\d+),(\d+)(?!\d|[.,]\d)")
_SECONDS_A = lazy_regex(
    r"(?<=\d)\s?(?:s|sec|seg|sek|сек|с|sn|seconds)\s?/\s?(?=(?:step|iteration|batch|epoch|sample)\b)", re.IGNORECASE
)
"""What stands for seconds between a number and "/step", where one letter may be a word of its own elsewhere."""
_POINT = lazy_regex(r"\d\.\d")


def in_english(line: ParsedLine) -> ParsedLine:
    """The line with English words for what is told; itself where it holds none of another language."""
    text = line.text
    if len(text) > _READ_CHARS or not _may_be_foreign(text):
        return line
    translated = _pattern().sub(_english, _ordinals().sub(r" \g<noun> \g<number> ", text))
    if translated == text:
        return line
    translated = _SECONDS_A.sub(" s/", translated)
    if _POINT.search(translated) is None:
        translated = _COMMA.sub(r"\1.\2", translated)  # most of these languages write the decimal point as a comma
    return parsed_text(translated)


def key_in_english(key: str) -> str:
    """The name of a column, in small letters, with English words for what is told."""
    return _pattern().sub(_english, key).strip() if _may_be_foreign(key) else key


def _may_be_foreign(text: str) -> bool:
    """Cheap: it is asked of every line."""
    lower = text.lower()
    if not text.isascii() and not _first_signs().isdisjoint(lower):
        return True
    return not _first_words().isdisjoint(_LETTERS.findall(lower))


def _english(found: re.Match[str]) -> str:
    phrase = found.group("unspaced")
    if phrase is not None:
        return f" {_phrases()[phrase]} "
    return _phrases()[found.group().lower().replace("_", " ")]


def _is_unspaced(phrase: str) -> bool:
    return re.match(f"[{_UNSPACED}]", phrase) is not None


@cache
def _phrases() -> dict[str, str]:
    """Phrase in lower case -> English."""
    text = resources.files("hwtop.job.progress").joinpath("languages.toml").read_text(encoding="utf-8")
    words: dict[str, str] = tomli.loads(text)
    listed = {phrase.strip(): english for english, phrases in words.items() for phrase in phrases.split(",")}
    return {_OF.sub(" ", phrase): english for phrase, english in listed.items()} | listed


@cache
def _first_words() -> frozenset[str]:
    """With which phrases begin whose words stand apart."""
    return frozenset(_LETTERS.findall(phrase)[0] for phrase in _phrases() if not _is_unspaced(phrase))


@cache
def _first_signs() -> frozenset[str]:
    """With which the others begin."""
    return frozenset(phrase[0] for phrase in _phrases() if _is_unspaced(phrase))


@cache
def _ordinals() -> re.Pattern[str]:
    """Chinese and Japanese put what is counted behind the number: the third epoch is `第 3 轮`."""
    nouns = "|".join(sorted(filter(_is_unspaced, _phrases()), key=len, reverse=True))
    return re.compile(rf"第\s?(?P<number>\d+(?:\s?/\s?\d+)?)\s?(?P<noun>{nouns})")


@cache
def _pattern() -> re.Pattern[str]:
    """Longest first. A word ends where letters end: `perda_treino` and `paso1` hold one."""
    ordered = sorted(_phrases(), key=len, reverse=True)
    unspaced = "|".join(re.escape(phrase) for phrase in ordered if _is_unspaced(phrase))
    spaced = "|".join(re.escape(phrase).replace(r"\ ", r"[ _]") for phrase in ordered if not _is_unspaced(phrase))
    return re.compile(rf"\s?(?P<unspaced>{unspaced})\s?|(?<![^\W\d_])(?:{spaced})(?![^\W\d_])", re.IGNORECASE)
