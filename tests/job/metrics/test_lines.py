"""CSV tables, JSON lines and MLflow's files."""

from __future__ import annotations

import math

import pytest

from hwtop.job.metrics.lines import CsvTable, JsonLines, MlflowMetric
from tests.metrics_files import DATA


def test_lightning_rows_with_empty_cells() -> None:
    reported = CsvTable().feed((DATA / "lightning" / "metrics.csv").read_bytes())
    losses = [(each.step, each.epoch, each.value) for each in reported if each.meaning.name == "loss"]
    assert losses[0] == (0, 0.0, 4.0)
    assert losses[-1] == (90, 1.0, 0.4)
    assert len(losses) == 10


def test_ultralytics_names_with_spaces() -> None:
    text = b"  epoch,  time,  train/box_loss,  val/box_loss,  lr/pg0\n      1,  12.3,   1.5,   9.9,   0.01\n"
    reported = {each.meaning.name: each for each in CsvTable().feed(text)}
    assert reported["loss"].value == 1.5
    assert reported["loss"].epoch == 1.0
    assert reported["loss"].step is None
    assert reported["lr"].value == 0.01
    assert "step_time_s" not in reported  # "time" counts from the start


def test_keras_and_timm() -> None:
    keras = CsvTable().feed(b"epoch,accuracy,loss,val_loss\n0,0.5,1.25,9\n")
    assert [(each.meaning.name, each.value) for each in keras] == [("epoch", 0.0), ("loss", 1.25)]
    timm = CsvTable().feed(b"epoch,train_loss,eval_loss,eval_top1,lr\n3,2.5,9,60,0.1\n")
    assert {each.meaning.name: each.value for each in timm} == {"epoch": 3.0, "loss": 2.5, "lr": 0.1}


def test_a_row_comes_with_its_end() -> None:
    table = CsvTable()
    assert table.feed(b"step,loss\n1,0.") == []
    assert table.feed(b"5\n2")[0].value == 0.5


def test_cells_may_be_apart_by_tabs() -> None:
    (value,) = CsvTable().feed(b"passo\tperdita\n20\t0.25\n")
    assert (value.meaning.name, value.value, value.step) == ("loss", 0.25, 20)


def test_broken_rows_are_counted() -> None:
    table = CsvTable()
    reported = table.feed(b"step,loss\n1,0.5\n2,0.4,7,8\nabc\xff\xfe\n")
    assert len(reported) == 1
    assert table.broken == 1


def test_json_lines_of_detectron2_and_mmengine() -> None:
    reported = JsonLines().feed(b'{"data_time": 0.01, "iteration": 19, "lr": 0.02, "time": 0.31, "total_loss": 2.5}\n')
    found = {each.meaning.name: each for each in reported}
    assert (found["loss"].value, found["loss"].step, found["step_time_s"].value) == (2.5, 19, 0.31)


def test_json_nan_and_nested_and_garbage() -> None:
    lines = JsonLines()
    reported = lines.feed(
        b'{"step": 1, "loss": NaN}\n{"step": 2, "train": {"loss": "NaN"}}\n[1]\n{"a\n{"step": 1e999, "loss": 1}\n'
    )
    assert [each.step for each in reported] == [1, 2, None]
    assert all(math.isnan(each.value) for each in reported[:2])
    assert lines.broken == 2


def test_endless_lines_take_no_memory() -> None:
    lines = JsonLines()
    for _ in range(100):
        lines.feed(b"x" * 100_000)
    assert len(lines._rest) < 1 << 20
    assert lines.feed(b'\n{"step": 5, "loss": 1}\n')[0].step == 5


def test_mlflow() -> None:
    folder = DATA / "mlruns" / "1" / "0a1b" / "metrics"
    reported = MlflowMetric("train/loss").feed((folder / "train" / "loss").read_bytes())
    assert (reported[1].step, reported[1].value, reported[1].reported_s) == (10, 2.0, 1_760_000_005.0)
    assert math.isnan(reported[-1].value)
    assert MlflowMetric("val_loss").feed((folder / "val_loss").read_bytes()) == []


@pytest.mark.parametrize("text", [b"x y z\n", b"1 2 3 4\n", b"\0\0\0\n", b"1760000000000 0.5 1.5\n"])
def test_no_metric_of_mlflow(text: bytes) -> None:
    parser = MlflowMetric("loss")
    assert parser.feed(text) == []


def test_from_the_middle() -> None:
    lines = JsonLines()
    lines.jump(500)
    assert [each.step for each in lines.feed(b'oss": 3}\n{"step": 7, "loss": 1}\n')] == [7]


@pytest.mark.parametrize(
    ("names", "row", "step"),
    [
        ("time,chunk,loss", "{t}.25,{n},0.{n}", 8),
        ("loss;tick", "0.5;{n}0", 80),
        ("seed,loss,chunk", "{n},0.5,{n}", 8),  # a seed counts nothing
        ("time,chunk,loss", "{t}.25,4,0.{n}", None),
        ("uptime,loss", "{n},0.{n}", None),
        ("epoch,loss", "{n},0.{n}", None),
    ],
)
def test_a_column_that_grows_evenly_counts_the_steps_where_no_name_says_so(
    names: str, row: str, step: int | None
) -> None:
    lines = [names, *(row.format(n=number, t=100 + number * number) for number in range(3, 9))]
    found = CsvTable().feed("".join(f"{line}\n" for line in lines).encode())
    assert found[-1].step == step
    assert found[0].step is None, "too few rows to tell"
