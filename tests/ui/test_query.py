"""The filter language: what each term lets through, and what is said of those that are not understood."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from hwtop.fields.field import Field
from hwtop.ui.tables.query import parse

G = 1024**3


@dataclass(frozen=True)
class Item:
    number: int | None = None
    gpus: tuple[int, ...] = ()
    cpu: float | None = None
    mem: float | None = None
    ago: float | None = None
    state: tuple[str, ...] = ()
    text: str = ""


FIELDS: dict[str, Field[Item]] = {
    field.name: field
    for field in (
        Field[Item](id="rank", about="", name="rank", kind="count", value=lambda item: item.number),
        Field[Item](
            id="gpu", about="", name="gpu", kind="count", value=lambda item: item.gpus[0], values=lambda item: item.gpus
        ),
        Field[Item](id="cpu", about="", name="cpu", kind="percent", value=lambda item: item.cpu),
        Field[Item](id="mem", about="", name="mem", kind="bytes", value=lambda item: item.mem),
        Field[Item](id="ago", about="", name="ago", kind="seconds", value=lambda item: item.ago),
        Field[Item](
            id="state",
            about="",
            name="state",
            kind="word",
            value=lambda item: item.state[0],
            values=lambda item: item.state,
            choices=("data-wait", "stuck", "D", "S"),
        ),
    )
}
ITEM = Item(3, (2, 5), 80.4, 2.3 * G, 90, ("data-wait", "D"), "python Train.py --lr=3")


def lets(text: str, item: Item = ITEM) -> bool:
    query = parse(text, FIELDS, lambda row: row.text)
    assert not query.problem
    return query.lets(item)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "!",
        '"',
        "train",
        "!lightning",
        '"train.py --lr=3"',
        '!"train.py --lr=4"',
        "--lr=3",
        "rank=3",
        "RANK=3",
        "rank=0-3",
        "rank=1,3-9",
        "rank!=4",
        "!rank=4",
        "gpu=5",
        "gpu=2 gpu=5",
        "cpu>80",
        "cpu>=80.4",
        "cpu=80",
        "cpu=80%",
        "cpu<80.5",
        "mem>2G",
        "mem=2.3g",
        "mem<2.4GiB",
        "mem>2000MB",
        "ago=1.5m",
        "ago>89s",
        "ago<1h",
        "state=D",
        "state=d",
        "state=wait",
        "state=stuck,data",
        "state!=stuck",
        "rank=3 cpu>80 train !stuck",
    ],
)
def test_what_lets_the_row_through(text: str) -> None:
    assert lets(text)


@pytest.mark.parametrize(
    "text",
    [
        "lightning",
        "!train",
        "rank=2",
        "rank=0-2",
        "rank!=3",
        "!rank=3",
        "gpu=3",
        "gpu=none",
        "cpu>80.4",
        "cpu=81",
        "mem>2.3G",
        "mem=2.4G",
        "ago<90",
        "state=S",
        "!state=wait",
        "rank=3 cpu>90",
        "train lightning",
    ],
)
def test_what_holds_it_back(text: str) -> None:
    assert not lets(text)


def test_what_is_not_known_is_neither_more_nor_less_and_can_be_asked_for() -> None:
    unknown = Item()
    for text in ("rank=0", "cpu>0", "cpu<1000", "cpu=0", "gpu=0", "state=D"):
        assert not lets(text, unknown), text
    for text in ("rank=none", "gpu=none", "cpu=none", "state=none", "!cpu>80", "rank!=0"):
        assert lets(text, unknown), text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("gpuu=3", "no field gpuu: did you mean 'gpu'?"),
        ("sta=D", "no field sta: did you mean 'state'?"),
        ("zzz=3", "no field zzz: rank gpu cpu mem ago state"),
        ("rank=", "rank= needs a value, e.g. rank=3"),
        ("mem>300", "mem 300 is 300 bytes: write 300M or 300G"),
        ("state!=", "state!= needs a value, e.g. state!=data-wait"),
        ("cpu>eighty", "cpu takes no eighty: a number, e.g. 80"),
        ("mem>2Q", "mem takes no 2Q: a number, e.g. 500M or 2G"),
        ("rank=3-", "rank takes no empty number: a number, e.g. 3, 0-7 or 12k"),
        ("cpu>80>90", "cpu takes no 80>90: a number, e.g. 80"),
        ("rank>3-4", "rank takes no 3-4: a number, e.g. 3, 0-7 or 12k"),
        ("state>D", "state is a word: state=D or state!=D"),
        ("state=stuk", "no state stuk: did you mean 'stuck'?"),
        ("rank~3", "rank is a number: rank=3 or rank>3"),
        ("state~", "state~ needs a value, e.g. state~data-wait"),
    ],
)
def test_what_is_not_understood_is_said_and_hides_nothing(text: str, said: str) -> None:
    query = parse(text, FIELDS, lambda row: row.text)
    assert query.problem == said
    assert query.lets(ITEM)
    assert not parse(f"{text} rank=4", FIELDS, lambda row: row.text).lets(ITEM)


@pytest.mark.parametrize(
    "text",
    [
        "rank=-",
        "=",
        "=3",
        "<>",
        "!!",
        "!=",
        "rank=,",
        "a=b=c",
        "\x00",
        "rank=٣",
        "cpu>1e9",
        "mem=.",
        "state=*",
        "state=(",
        "rank=" + "9" * 400,
    ],
)
def test_nothing_that_can_be_typed_breaks_it(text: str) -> None:
    for end in range(len(text) + 1):
        query = parse(text[:end], FIELDS, lambda row: row.text)
        assert query.lets(ITEM) in (True, False)
