"""What only the lines before tell of a line."""

from __future__ import annotations

import math

import pytest

from hwtop.job.progress.reader import ProgressReader, merged
from hwtop.model.reported.log import Progress


def read(*lines: str) -> list[Progress | None]:
    reader = ProgressReader()
    return [reader.read(line) for line in lines]


@pytest.mark.parametrize(
    ("text", "scale"), [("2^15", 32768.0), ("2**15", 32768.0), ("2^-14", 2.0**-14), ("1e3", 1000.0)]
)
def test_a_scale_that_is_told_as_a_power_has_its_value(text: str, scale: float) -> None:
    line = read(f"step 40 loss 0.5 loss_scale={text} updates_skipped=14")[-1]
    assert line is not None
    assert (line.loss_scale, line.skipped_steps) == (scale, 14)


def test_a_heading_may_name_its_loss_by_what_it_is() -> None:
    assert read("step;mse;lr;scale", "20;0,25;1e-4;65536", "40;0,125;1e-4;65536")[-1] == Progress(
        step=40, loss=0.125, lr=1e-4, loss_scale=65536
    )
    assert read("step;mse;bce", "20;0,25;0,5")[-1] == Progress(step=20), "two objectives, no sum"


@pytest.mark.parametrize(
    ("written", "scale"),
    [
        ("8192", 8192.0),
        ("0.5", 0.5),
        ("2.1176e-22", 2.1176e-22),
        ("3", None),
        ("0.3", None),
        ("0", None),
        ("inf", None),
        ("nan", None),
        ("1.7e308", None),
    ],
)
def test_a_scale_is_that_of_the_loss_where_it_is_a_power_of_two(written: str, scale: float | None) -> None:
    row = read("iter   stage  l1        scale        s/it", f"   15  2      0.25   {written}        0.68")[-1]
    assert row is not None
    assert (row.loss, row.loss_scale) == (0.25, scale)
    (line,) = read(f"iter 15 | loss 0.25 | scale {written}")
    assert line is not None
    assert line.loss_scale == scale


def test_csv_with_a_heading() -> None:
    assert read("epoch,step,train_loss,val_loss,lr", "0,10,2.5,3.5,0.001", "0,20,2.25,,0.001")[1:] == [
        Progress(epoch=0, step=10, loss=2.5, lr=0.001),
        Progress(epoch=0, step=20, loss=2.25, lr=0.001),
    ]


def test_a_table_of_steps_tells_their_times_and_one_of_epochs_does_not() -> None:
    assert read("step,seconds,loss,acc", "1,0.158,2.25,0.5")[-1] == Progress(step=1, loss=2.25, step_time_s=0.158)
    assert read("epoch,seconds,loss,acc", "1,15.5,2.25,0.5")[-1] == Progress(epoch=1, loss=2.25)


@pytest.mark.parametrize(
    ("written", "is_zero"), [("0.000e+00", True), ("0.0", True), ("0", True), ("0.0000", False), ("1e-4", False)]
)
def test_a_learning_rate_or_a_loss_of_zero_is_told_from_a_rounded_one(written: str, is_zero: bool) -> None:
    (progress,) = read(f"step 10 loss 2.5 lr {written}")
    assert progress is not None
    assert progress.zeros == (("lr",) if is_zero else None)
    (progress,) = read(f"step 10 loss {written} lr 0.001")
    assert progress is not None
    assert progress.zeros == (("loss",) if is_zero else None)


@pytest.mark.parametrize(("written", "is_zero"), [("0.000e+00", True), ("0", True), ("0.0000", False)])
def test_so_is_one_of_a_table(written: str, is_zero: bool) -> None:
    row = read("step\tlr\ttrain_mae\tgrad_norm", f"20\t{written}\t0.8064\t0.093")[-1]
    assert row is not None
    assert (row.lr, row.zeros) == (0.0, ("lr",) if is_zero else None)


def test_numbers_without_a_heading_mean_nothing() -> None:
    assert read("0,10,2.5,3.5,0.001") == [None]


@pytest.mark.parametrize("name", ["weighted_xent", "token_nll", "soft_ce"])
def test_an_objective_with_words_before_it_is_the_loss_of_a_round(name: str) -> None:
    (progress,) = read(f"round    440   labelled  13400   {name} 0.6044   took 0.173s")
    assert progress == Progress(step=440, loss=0.6044, step_time_s=0.173)


def test_fastai() -> None:
    rows = read(
        "epoch     train_loss  valid_loss  accuracy  time    ", "0         0.125000    0.250000    0.91      00:12     "
    )
    assert rows[1] == Progress(epoch=0, loss=0.125)


def test_a_notebook_table_of_the_hugging_face_trainer() -> None:
    assert read("Step\tTraining Loss\tValidation Loss", "100\t1.250000\t1.500000")[1] == Progress(step=100, loss=1.25)


def test_skorch() -> None:
    rows = read("  epoch    train_loss    valid_acc    valid_loss     dur", "-------  ------------  -----------  ------------  ------", "      1        0.6875       0.5500        0.6500  0.0250")  # fmt: skip
    assert rows[1:] == [None, Progress(epoch=1, loss=0.6875)]


def test_ray_tune() -> None:
    rows = read("| Trial name               | status   | loc            |   iter |   total time (s) |   loss |", "|--------------------------+----------+----------------+--------+------------------+--------|", "| TorchTrainer_4f2a1_00000 | RUNNING  | 10.0.0.1:12345 |     10 |           123.45 |  0.125 |")  # fmt: skip
    assert rows[1:] == [None, Progress(step=10, loss=0.125)]


def test_tf_cnn_benchmarks() -> None:
    rows = read("Step\tImg/sec\ttotal_loss", "10\timages/sec: 123.5 +/- 1.2 (jitter = 3.4)\t7.625")
    assert rows[1] == Progress(step=10, loss=7.625, throughput=123.5, throughput_unit="images/s")


def test_yolov7_where_the_total_is_a_column() -> None:
    rows = read("     Epoch   gpu_mem       box       obj       cls     total    labels  img_size", "     1/299     3.25G    0.0625   0.03125    0.0125   0.10625        45       640:  12%|█▏        | 30/250 [00:10<01:13,  3.00it/s]")  # fmt: skip
    assert rows[1] is not None
    assert (rows[1].epoch, rows[1].total_epochs, rows[1].loss, rows[1].step) == (1, 299, 0.10625, 30)


def test_tensorflow_tells_its_steps_a_second_on_a_line_of_their_own() -> None:
    alone = read("INFO:tensorflow:global_step/sec: 25", "INFO:tensorflow:loss = 12.5, step = 101 (1.702 sec)")
    assert alone[0] == Progress(throughput=25, throughput_unit="steps/s", step_time_s=0.04)
    assert alone[1] == Progress(step=101, loss=12.5)


def test_the_rate_of_the_step_lines_beats_one_told_alone() -> None:
    rows = read("step 0, loss = 12.5 (512.5 examples/sec; 0.25 sec/batch)", "INFO:tensorflow:global_step/sec: 25")
    assert rows[0] == Progress(step=0, loss=12.5, throughput=512.5, throughput_unit="examples/s", step_time_s=0.25)
    assert rows[1] is None


def test_a_file_is_followed_in_one_unit() -> None:
    rows = read("step 1 loss 2.5 | 100 tokens/s", "step 2 loss 2.5 | 2.5 it/s", "step 3 loss 2.5 | 101 tokens/s")
    assert [row.throughput for row in rows if row is not None] == [100, None, 101]


def test_numbers_under_a_heading_of_validation_are_not_those_of_training() -> None:
    rows = read(
        "* Test", "Loss: 0.0625\t mAP: 0.675\tData_time: 0.35", "Epoch: [3]  [  10/50]  loss: 0.5", "loss: 0.25"
    )
    assert [row.loss if row else None for row in rows] == [None, None, 0.5, 0.25]


def test_a_section_of_a_table_is_no_such_heading() -> None:
    rows = read("| eval/              |             |", "|    mean_reward     | -157        |", "|    loss            | 0.25        |")  # fmt: skip
    assert [row.loss if row else None for row in rows] == [None, None, 0.25]


def test_the_average_after_a_test_heading_is_not_the_training_loss() -> None:
    rows = read("loss: 1.250000  [   64/60000]", "Test Error: ", " Accuracy: 80.0%, Avg loss: 0.500000 ", "Epoch 2")
    assert [row.loss if row else None for row in rows] == [1.25, None, None, None]


@pytest.mark.parametrize(
    ("heading", "row", "progress"),
    [
        ("update,stage,loss,loss_scale", "2,1,0.5,65536", Progress(step=2, loss=0.5, loss_scale=65536)),
        ("chunk\tloss\tacc", "3\t0.5\t0.1", Progress(step=3, loss=0.5)),  # a counter of a name of its own
        ("t   loss   err", "0.25   0.5   0.1", None),  # which counts nothing
        ("time,loss", "3,0.5", None),
        ("|  | Loss |", "| 3 | 0.5 |", None),  # the second line of a heading
        ("epoch,train_mse,valid_mse", "3,0.5,0.6", Progress(epoch=3, loss=0.5)),
    ],
)
def test_what_counts_the_rows_of_a_table(heading: str, row: str, progress: Progress | None) -> None:
    assert read(heading, row)[-1] == progress


def test_a_word_before_an_equals_sign_is_the_next_key_and_no_unit() -> None:
    assert read("w1 step=430 mse=0.25 sec/step=0.106")[0] == Progress(step=430, loss=0.25, step_time_s=0.106)


def test_matlabs_heading_of_two_lines() -> None:
    rows = read(
        "|  Epoch  |  Iteration  |  Time Elapsed  |  Mini-batch  |  Mini-batch  |  Base Learning  |",
        "|         |             |   (hh:mm:ss)   |   Accuracy   |     Loss     |      Rate       |",
        "|       2 |          50 |       00:00:01 |       12.50% |       1.2500 |          0.0100 |",
    )
    assert rows == [None, None, Progress(epoch=2, step=50, loss=1.25, lr=0.01)]


def test_matlabs_heading_of_one_line() -> None:
    rows = read(
        "    Iteration    Epoch    TimeElapsed    LearnRate    TrainingLoss    ValidationLoss",
        "           50        2       00:00:12        0.001          1.2500            1.5000",
    )
    assert rows == [None, Progress(epoch=2, step=50, loss=1.25, lr=0.001)]


@pytest.mark.parametrize(
    ("line", "step"),
    [
        ("diffusion:   0%|          | 1003/500000 [00:52<8:33:59, 16.18it/s, loss=0.4795]", 1003),
        ("diffusion:   0%|          | 1003/500000 [00:52<8:33:59, 16.18it/s]", None),  # of what, nobody knows
        ("Validating:  20%|##        | 10/50 [00:52<8:33:59, 16.18it/s, loss=0.4795]", None),
    ],
)
def test_a_bar_that_tells_a_loss_is_of_training_whatever_its_name(line: str, step: int | None) -> None:
    told = ProgressReader().read(line)
    assert (None if told is None else told.step) == step


def test_a_bar_without_a_name_behind_one_that_told_a_loss() -> None:
    rows = read(
        "100%|##########| 190/190 [03:08<00:00,  1.01it/s, train_loss=0.75]",
        "100%|##########| 137/137 [01:43<00:00,  1.33it/s]",
        "  1%|          | 2/190 [00:02<03:08,  1.00it/s]",
    )
    assert [row.step if row else None for row in rows] == [190, None, 2]


def newest(*lines: str) -> Progress:
    progress = Progress()
    for row in read(*lines):
        progress = merged(progress, row) if row is not None else progress
    return progress


@pytest.mark.parametrize(
    "rows",
    [
        ("Step 70:", "  loss: 0.5", "  lr: 0.001", "  grad_norm: 1.5", "  step time: 0.25 s"),
        ("--- iteration 70 ---", " - loss = 0.5", " - lr = 1e-3", "", " - grad_norm = 1.5", " - time = 250 ms"),
        ("[global_step: 70]", "loss: 0.5", "lr: 0.001", "margin: 3.5", "grad norm: 1.5", "sec/step: 0.25"),
    ],
)
def test_a_record_of_several_lines_is_open_until_the_next_step(rows: tuple[str, ...]) -> None:
    assert newest(*rows) == Progress(step=70, loss=0.5, lr=0.001, grad_norm=1.5, step_time_s=0.25)


def test_what_follows_a_whole_line_is_no_record() -> None:
    assert newest("step: 70 loss: 0.5", "lr: 0.25") == Progress(step=70, loss=0.5)
    assert newest("Step 70:", "saved a checkpoint", "lr: 0.25") == Progress(step=70)


def test_the_time_under_an_epoch_is_no_step_time() -> None:
    assert newest("Epoch 7", "  loss: 0.5", "  lr: 0.001", "  time: 93.5 s") == Progress(epoch=7, loss=0.5, lr=0.001)


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("step 9 loss 0.5 12.5 TFLOP/s 950 tokens/s", (950, "tokens/s")),
        ("step 9 loss 0.5 tokens/s/device: 950 TFLOP/s/device: 12.5", (950, "tokens/s/device")),
        ("step 9 loss 0.5 tokens/s/GPU: 950 samples/s: 3.5", (3.5, "samples/s")),
        ("step 9 loss 0.5 throughput per GPU (TFLOP/s/GPU): 12.5 tokens/s/GPU: 950", (12.5, "TFLOP/s/GPU")),
        ("step 9 loss 0.5 throughput: 31.5", (31.5, "/s")),
    ],
)
def test_the_rate_that_a_person_would_name_first(text: str, rate: tuple[float, str]) -> None:
    assert (newest(text).throughput, newest(text).throughput_unit) == rate


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("step 9 loss 0.5 fit took 125.00 [ms], 512.0 images/s", 0.125),
        ("step 9 loss 0.5 wall: 0.3750s throughput: 64.0 samples/s", 0.375),
        ("step 9 loss 0.5 wall: 0.3817s throughput: 64.0 samples/s", None),
        ("step 9 loss 0.5 wall: 0.4s 31 samples/s", None),
        ("step 9 loss 0.5 run: 93.5s 41250.0 tokens/s", None),
    ],
)
def test_a_time_and_a_rate_that_make_a_whole_batch_are_of_one_step(text: str, seconds: float | None) -> None:
    assert newest(text).step_time_s == seconds


@pytest.mark.parametrize(
    ("number", "value"),
    [
        ("tensor(2.5, device='cuda:0')", 2.5),
        ("np.float32(2.5)", 2.5),
        ("Array(2.5, dtype=float32)", 2.5),
        ("+2.5E+00", 2.5),
        ("  00002.5", 2.5),
        ("'2.5'", 2.5),
        ("-inf", -math.inf),
        ("Infinity", math.inf),
    ],
)
def test_a_number_in_any_dress(number: str, value: float) -> None:
    assert newest(f"step 9 loss: {number}, lr: 0.5") == Progress(step=9, loss=value, lr=0.5)


@pytest.mark.parametrize("number", ["nan", "NaN", "-nan", "-nan(ind)", "tensor(nan)", "np.float64(nan)", "'NAN'"])
def test_not_a_number_in_any_dress(number: str) -> None:
    assert math.isnan(newest(f"step 9 loss: {number}, lr: 0.5").loss or 0.0)


def test_a_logger_goes_on_behind_the_bar_of_something_else() -> None:
    bar = "Eval: |    | 3/? [00:00<?, ?it/s]"
    assert newest(f"{bar}INFO   Epoch 3: kl 0.25  loss 1.5") == Progress(epoch=3, loss=1.5)
    assert newest(f"{bar} loss 1.5") == Progress()
    assert newest(f"{bar}Validation: epoch 3, loss 1.5") == Progress()


def test_a_line_of_nothing_but_pairs_tells_the_speed() -> None:
    assert newest("Nodes: 2, Rate/device: 7.5, images/sec: 31.5").throughput == 31.5
    assert newest("we saw images/sec: 31.5 on that machine").throughput is None
    assert newest("prompt len: 20, tokens/s: 31.5").throughput is None


@pytest.mark.parametrize(("top", "side"), [("┃", "│"), ("║", "║"), ("|", "|"), ("│", "┊")])
def test_a_drawn_table_is_read_whatever_its_lines_are(top: str, side: str) -> None:
    names = f" {top} ".join(["", "shard", "step", "loss", "lr", "tok/s", ""]).strip()
    cells = f" {side} ".join(["", "3", "920", "4.25", "5.84e-04", "25920", ""]).strip()
    assert read(names, "┡━━━━╇━━━━┩", cells)[-1] == Progress(
        step=920, loss=4.25, lr=5.84e-4, throughput=25920, throughput_unit="tokens/s"
    )
