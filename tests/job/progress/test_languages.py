"""Progress lines in other languages."""

from __future__ import annotations

import math

import pytest

from hwtop.job.log.parsed import parsed_text
from hwtop.job.progress.languages import in_english
from hwtop.job.progress.reader import ProgressReader


@pytest.mark.parametrize(
    ("line", "step", "loss", "lr"),
    [
        ("paso 120 | pérdida 0.532 | tasa de aprendizaje 1e-4", 120, 0.532, 1e-4),
        ("passo=40 perda=1.2345 taxa_de_aprendizado=0.001", 40, 1.2345, 1e-3),
        ("Étape 40/1000, perte : 2,314, taux d'apprentissage : 0,001", 40, 2.314, 1e-3),
        ("Schritt 40: Verlust 0,532 (Lernrate 0,001)", 40, 0.532, 1e-3),
        ("Adım 10: kayıp 0.5, öğrenme oranı 0.001", 10, 0.5, 1e-3),
        ("Шаг 100: потери 0.532, скорость обучения 1e-4", 100, 0.532, 1e-4),
        ("步数: 100, 损失: 0.5321, 学习率: 0.0001", 100, 0.5321, 1e-4),
        ("第 3 轮 第 120/1000 步 损失: 0.5123 学习率: 1e-4", 120, 0.5123, 1e-4),
        ("第3エポック 第120ステップ 損失 0.53", 120, 0.53, None),
        ("ステップ 100: 損失 0.53, 学習率 1e-4", 100, 0.53, 1e-4),
        ("스텝 100 손실 0.53 학습률 0.0001", 100, 0.53, 1e-4),
    ],
)
def test_what_lines_in_other_languages_tell(line: str, step: int | None, loss: float | None, lr: float | None) -> None:
    told = ProgressReader().read(line)
    found = (None, None, None) if told is None else (told.step, told.loss, told.lr)
    assert found == (step, loss, lr)


@pytest.mark.parametrize(
    ("line", "rate", "unit"),
    [
        ("paso 10, pérdida 0,5, 4,1 pasos por segundo", 4.1, "steps/s"),
        ("Schritt 10, Verlust 0,5, 96,5 Beispiele pro Sekunde", 96.5, "samples/s"),
        ("шаг 10, потери 0,5, 2,5 шага в секунду", 2.5, "steps/s"),
    ],
)
def test_a_rate_in_words(line: str, rate: float, unit: str) -> None:
    told = ProgressReader().read(line)
    assert told is not None
    assert (told.loss, told.throughput, told.throughput_unit) == (0.5, rate, unit)


@pytest.mark.parametrize(
    "line",
    ["Validierung: Verlust 0.3", "Pérdida de validación: 0.61", "验证损失: 0.7", "検証 損失 0.7", "mejor pérdida: 0.2"],
)
def test_a_loss_of_validation_is_none_of_training(line: str) -> None:
    told = ProgressReader().read(line)
    assert told is None or told.loss is None


def test_a_table_with_semicolons_may_write_decimal_commas() -> None:
    reader = ProgressReader()
    assert reader.read("passo;perda;acuracia;norma_grad") is None
    told = [reader.read(row) for row in ("10;0,53;0,5;1,25", "20;nan;0,5;nan")]
    assert [row.step for row in told if row is not None] == [10, 20]
    assert told[0] is not None
    assert told[0].loss == 0.53
    assert told[1] is not None
    assert told[1].loss is not None
    assert math.isnan(told[1].loss)


@pytest.mark.parametrize("text", ["step 10 loss 0.5 lr 1e-4", "loading shard 17 of 200, 1.25 s", "tablas, casos 3", ""])
def test_a_line_without_such_a_word_is_left_as_it_is(text: str) -> None:
    line = parsed_text(text)
    assert in_english(line) is line


def test_an_epoch_of_its_total_is_no_step() -> None:
    told = ProgressReader().read("epoch 3/10 loss 0.5")
    assert told is not None
    assert (told.step, told.epoch, told.total_epochs) == (None, 3.0, 10)


@pytest.mark.parametrize(
    "line",
    [
        '{"paso": 20, "perdida": 0.53, "seg_por_paso": 0.25}',
        "paso 20, pérdida 0.53, tiempo por paso 0.25 s",
        "passo=20 perda=0.53 tempo_por_passo=0.25",
        "étape 20 : perte 0,53 ; secondes par étape 0,25",
        "Schritt 20: Verlust 0,53, Zeit pro Schritt 0,25 s",
        "krok 20, loss 0.53, s na krok 0.25",
        "Шаг 20: потери 0.53, секунд на шаг 0.25",
        "步数: 20, 损失: 0.53, 每步耗时: 0.25 秒",
        "paso 20, pérdida 0.53, 250 ms por paso",
        "шаг 20 потери 0.53 (0.25 с/шаг)",
        "adım 20, kayıp 0.53, 0.25 sn/adım",
        "步数 20 损失 0.53 0.25 秒/步",
    ],
)
def test_the_time_of_a_step_in_other_languages(line: str) -> None:
    told = ProgressReader().read(line)
    assert told is not None
    assert (told.step, told.loss, told.step_time_s) == (20, 0.53, 0.25)
