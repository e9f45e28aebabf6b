"""Event files as TensorBoard's own writer wrote them, whole, in pieces, cut and broken."""

from __future__ import annotations

import math

import pytest

from hwtop.job.metrics.crc32c import masked_crc32c
from hwtop.job.metrics.tensorboard import EventFile
from tests.metrics_files import DATA, EVENTS, event, record

SIMPLE = (DATA / "tensorboard" / "simple" / EVENTS).read_bytes()
TENSOR = (DATA / "tensorboard" / "tensor" / EVENTS).read_bytes()


def test_crc32c_is_the_one_of_rfc_3720() -> None:
    plain = 0x8A9136AA  # of 32 zeros, RFC 3720 B.4
    assert masked_crc32c(bytes(32)) == ((plain >> 15 | plain << 17) + 0xA282EAD8) & 0xFFFFFFFF


def test_simple_values_with_step_and_time() -> None:
    parser = EventFile()
    reported = parser.feed(SIMPLE)
    losses = [each for each in reported if each.meaning.name == "loss"]
    assert [each.step for each in losses] == [*range(0, 100, 10), 100]
    assert losses[1].value == pytest.approx(2.0)
    assert losses[1].reported_s == 1_760_000_005.0
    assert math.isnan(losses[-1].value)
    assert {each.meaning.name for each in reported} == {"loss", "lr", "grad_norm"}
    assert all(each.tag != "eval/loss" for each in reported)
    assert parser.broken == 0


def test_tensors_of_one_number_are_scalars_and_histograms_are_none() -> None:
    reported = EventFile().feed(TENSOR)
    assert [each.step for each in reported if each.meaning.name == "loss"] == list(range(10))
    lr = [each.value for each in reported if each.meaning.name == "lr"]
    assert lr[3] == pytest.approx(9.7e-4)
    assert len(reported) == 20


@pytest.mark.parametrize("size", [1, 7, 100])
def test_pieces_tell_the_same(size: int) -> None:
    parser = EventFile()
    reported = [each for at in range(0, len(SIMPLE), size) for each in parser.feed(SIMPLE[at : at + size])]
    assert repr(reported) == repr(EventFile().feed(SIMPLE))


def test_a_cut_file_tells_what_is_whole() -> None:
    parser = EventFile()
    reported = parser.feed(SIMPLE[:-30])
    assert reported[-1].step == 90
    assert parser.broken == 0  # the last record may still come
    assert math.isnan(parser.feed(SIMPLE[-30:])[-1].value)


def test_after_a_broken_place_it_goes_on() -> None:
    good = [event(step, "loss", float(step)) for step in range(5)]
    broken = bytearray(good[2])
    broken[3] ^= 0xFF  # the length
    parser = EventFile()
    reported = parser.feed(good[0] + good[1] + bytes(broken) + good[3] + good[4])
    assert [each.step for each in reported] == [0, 1, 3, 4]
    assert parser.broken == 1


def test_a_wrong_value_is_no_value() -> None:
    broken = bytearray(event(1, "loss", 1.0))
    broken[-6] ^= 0xFF
    parser = EventFile()
    assert parser.feed(bytes(broken) + event(2, "loss", 2.0))[0].step == 2
    assert parser.broken == 1


def test_long_records_are_passed_over_without_being_read() -> None:
    picture = record(bytes(3 << 20))
    parser = EventFile()
    assert parser.feed(event(1, "loss", 1.0) + picture[:1000])[0].step == 1
    skip = parser.take_skip()
    assert skip == len(picture) - 1000
    assert parser.take_skip() == 0
    assert parser.feed(event(2, "loss", 2.0))[0].step == 2


def test_it_can_begin_in_the_middle() -> None:
    parser = EventFile()
    assert parser.jump(1000) == 1000
    reported = parser.feed(SIMPLE[1000:])
    whole = EventFile().feed(SIMPLE)
    assert repr(reported) == repr(whole[-len(reported) :])
    assert len(reported) > 10


@pytest.mark.parametrize("data", [b"", b"\0" * 5000, b"not an event file\n" * 500, bytes(range(256)) * 20])
def test_anything_else_tells_nothing(data: bytes) -> None:
    assert EventFile().feed(data) == []


def test_keras_counts_epochs() -> None:
    (reported,) = EventFile().feed(event(3, "epoch_loss", 0.5))
    assert (reported.step, reported.epoch) == (None, 3.0)
