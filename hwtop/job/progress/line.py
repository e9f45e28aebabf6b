"""Progress line: log line -> Progress, or None for every line that is not about training steps."""

from __future__ import annotations

import re
from collections.abc import Callable

from hwtop.job.log.parsed import ParsedLine, parsed_text
from hwtop.job.log.text import CARET_RETURN
from hwtop.job.progress.bar import OTHER_BAR, bar_in, behind_bar
from hwtop.job.progress.boosting import boosting_round
from hwtop.job.progress.found import Found, found_in
from hwtop.job.progress.metrics import is_foreign_record, is_rate_alone, is_record_of_metrics, is_step_with_metrics
from hwtop.job.whole_number import whole_number
from hwtop.lazy_regex import lazy_regex
from hwtop.model.reported.log import Progress

_READ_CHARS = 4096
"""A progress line is not longer; of what is, the start is looked at."""
_KEYS = ("loss", "step", "episode", "round", "iter", "epoch", "batch", "it/s", "s/it", "learning", "train:", "fps", "update", "up.", " it ", "seconds,", "| > ", "samplespersec", "train-", "s/s")  # fmt: skip
_FIRST = lazy_regex(r"\s*(?:\[\d+\]:?\s+\w|\d+/\d+\s|\d+:\s+learn|\d+[ |:,]+(?:mse|bce|nll)\b)|.*%\|")
_SHORT = lazy_regex(r"(?:^|[\s\]])(?:it|ep?|s|b|k|i)(?:\s?[=:]\s?|\s+)\d")
HEAD = 80
"""Characters in which a counter of a few letters is found, whatever is before it: `it 70 mse 0.5`. Engineering default."""
_DIGIT = lazy_regex(r"[0-9]|nan|inf")
_TABLE = lazy_regex(r"\s*[|│]\s*(?P<key>[A-Za-z][\w/ ]*?)\s*(?:[|│]|\s{2,})\s*(?P<value>[-+\d.eE]+|nan|inf)\s*[|│]\s*$")
"""stable-baselines3's logger and Ray Train's result box: one pair a row."""
_COQUI = lazy_regex(r"\s*\| > (?P<key>loss|grad_norm|current_lr): (?P<value>[\d.]+(?:e-?\d+)?|nan)\s*(?:\([^)]*\)\s*)?")
"""Coqui TTS: one value a line, the mean in parentheses."""
_CONFIG = lazy_regex(
    r"^\W*\w*(?:Config|Arguments|Namespace|Params|Options|args|hparams|config)\b\s*[(:={\[]", re.IGNORECASE
)
_FLAG = lazy_regex(r"(?:^|\s)--[a-z][\w-]+[ =]")
"""Of these, two make a command line."""
_CONFIG_KEYS = lazy_regex(
    r"batch.?size(?! time)|num.?workers|weight.?decay|\bseed\b|optimizer\b(?!.?step)|hidden|dropout|warmup|num.?layers|max.?steps|"
    r"num.?epochs|seq.?len|\bbackend\b|precision:|save.?steps|logging.?steps|\bepochs\b|accumulation",
    re.IGNORECASE,
)
_FOREIGN_LINE = lazy_regex(
    r"^[^a-zA-Z{]*(?:(?:valid(?:at(?:e|ing|ion))?|val|eval(?:uat\w+)?|test(?:ing)?|sanity|wandb|predict\w*)\b|"
    r"(?:epoch|iter)\((?:val|test|valid)\)|\d+epoch:valid|epoch \d+ \| valid on |dll [-\d. :]+ - epoch +\d+ \| +(?:avg|dev)\b)",
    re.IGNORECASE,
)
_SUMMARY = lazy_regex(
    r"train_runtime|train_steps_per_second|^(?!\W*epoch\W*\d).*total training time|' (?:reached \d|was not in top)",
    re.IGNORECASE,
)
"""Means over the whole run, printed at its end, and Lightning's words on a checkpoint: not the newest values."""
_OF_TRAINING = lazy_regex(r"loss|acc|\btrain\b", re.IGNORECASE)
_STEP_FIRST = lazy_regex(
    r"\s*(?:global_)?(?:step|iter(?:ation)?|it|update)\s?(?P<mark>[:=])?\s?\d+\b\s?(?(mark)|[:|,-])", re.IGNORECASE
)
"""With more numbers behind it this is a line of metrics, whatever they are called (verl)."""
_COUNT_FIRST = lazy_regex(
    r"\s*\[(?:batch|step|iter(?:ation)?)\s?[:=]?\s?\d+/\d+\]|\W*(?:epoch|iteration|step)\W*\d+\s*/\s*\d+\W*[|,:-].*\d",
    re.IGNORECASE,
)
_MXNET = lazy_regex(r"\W*Epoch\[\d+\] (?:Train-[\w-]+|Time cost)=")
_EPOCH_FIRST = lazy_regex(r"\W*epoch\W*\d+\b", re.IGNORECASE)
_PAIR = lazy_regex(r"[:=]\s*['\"]?[-+]?(?:\d|nan\b|inf\b)", re.IGNORECASE)
_FILLER = lazy_regex(
    r"\b(?:done|completed?|finished|total|of|train(?:ing)?|ms|s|sec|seconds|step|node|rank|avg|eta|learning|time|end|summary|results?|info|taken|took|processed|fold|update)\b",
    re.IGNORECASE,
)
_COUNTED_LOSS = lazy_regex(r"\W*\w+\W{0,3}\d+\s?/\s?\d+\W+(?:\w+ )?loss\W{1,3}[\d.]", re.IGNORECASE)
"""`Sample 3/100, Loss: 0.5`."""
_ZEROED = lazy_regex(r"\s+\w+ = 0(?:\.0*)?\s*")
"""Source code among the output: total_loss = 0.0."""
_ARROW = lazy_regex(r"={2,}> epoch: \d+\s*$", re.IGNORECASE)
"""VITS, behind the name of its logger."""
_WORD = lazy_regex(r"[A-Za-z]{2,}")


_A_LOSS = (
    r"(?:train(?:ing)?[ _/])?(?:[a-z]+_)?(?:loss(?:_\w+)?|bce|mse|mae|nll|ce|xent|l1|l2)\s?[=: ]\s*[-+]?(?:\d|nan|inf)"
)
_UNNAMED = lazy_regex(
    rf"""^\W{{0,24}}?(?:ep(?:och)?\s?[=:]?\s?(?P<e>\d+)[^\w/]+)?(?:
      \[(?P<epoch>\d+/\d+)\],?\s*\[\s*(?P<batch>\d+(?:/\s*\d+)?)\](?=.*\d)  # DCGAN: [epoch/epochs][batch/batches]
    | \[(?P<ep>\d+),\s*(?P<b>\d+)\](?=\ loss)                            # CIFAR-10 tutorial: [epoch, batch]
    | [sbki](?:\s?[=:]\s?|\s+)(?P<n>\d+(?:/\d+)?)[\s|,:)\]]+(?={_A_LOSS})  # s 70 | loss 0.5
    | \[?\s*(?P<step>\d+(?:/\d{{4,}})?)(?:\]|\s*[|:,])*\s+(?={_A_LOSS})    # 70 | loss 4.25; of few it may be epochs
    | \[(?P<clu>\d+)\]\s+(?=[\w/]+\s?=\s?[-\d])
    )""",
    re.IGNORECASE | re.VERBOSE,
)
"""Counters without names, or with one of a letter, at the start of a line."""
_GLUED = lazy_regex(
    r"\b(step|iter(?:ation)?|it|batch|epoch|ep|round|episode|update)(\d+)(?=/\d|[\s,;:|)\]]|$)", re.IGNORECASE
)
"""`ep1 step34`"""
_REWRITTEN: tuple[tuple[str, re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    # InternEvo: one norm a group, the first is that of the model
    ("grad_norm={", lazy_regex(r"(grad_norm=)\{'\w+': "), r"\1"),
    ("epoch:train:", lazy_regex(r"\b(\d+)epoch:train:\d+-(\d+)batch:"), r"epoch: \1, batch: \2, "),
    # ESPnet's iter_time is that of the loader
    ("iter_time=", lazy_regex(r"\biter_time(=\S+, forward_time=.*)\btrain_time="), r"data_time\1step_time="),
    # ms-swift before 3.0
    ("steps[", lazy_regex(r"steps\[(global_step/max_steps)\]"), r"\1"),
    # Marian: the time of all updates since the line before
    (" : Up. ", lazy_regex(r"( : Up\. .*) : Time [\d.]+s : ([\d.]+ words/s) : "), r"\1 | \2 | "),
    # LeRobot, whose ep counts episodes
    (" epch:", lazy_regex(r"\bep:\S+ (?=epch:)"), ""),
    # BasicSR behind a day or more
    ("time (data)", lazy_regex(r"(?<=, )time \(data\)"), "time"),
    # scikit-learn's SGD: the norm of the weights
    ("NNZs", lazy_regex(r"\bNorm: \S+, (?=NNZs)"), ""),
    # rl_games
    ("fps step", lazy_regex(r"^\s*fps step.* fps total: (\S+) epoch: (\d+(?:/\d+)?).*"), r"epoch: \2, fps: \1"),
    # tqdm over what has no length
    ("it [", lazy_regex(r"^(\W*(?:epoch|train|step|iter)[^\[]*?\s)(\d+)it \[[\d:]+, ", re.IGNORECASE), r"\1, iter: \2, "),
    ("oss at ", lazy_regex(r"\bloss at (step|epoch|iter(?:ation)?) (\d+)\s*(?:is|[:=])\s*(?=[\d.+-])", re.IGNORECASE), r"\1: \2, loss: "),
    # DeepSpeed before 0.7: epoch and micro step
    ("SamplesPerSec", lazy_regex(r"(?:^|(?<=\s))(\d+)/(\d+), (?=SamplesPerSec=)"), r"epoch: \1, step: \2, "),
    # callbacks of Keras
    ("learning rate to ", lazy_regex(r"^Epoch 0*(\d+): (?:LearningRateScheduler setting|ReduceLROnPlateau reducing) learning rate to (?=[\d.])"), r"epoch: \1, lr: "),
    # DeepSpeed's pipeline engine and others: a counter in the plural, with fields behind it
    ("s: ", lazy_regex(r"^(.{0,40}?)\b(step|iteration)s(: ?\d+(?:, | loss: ))"), r"\1\2\3"),
    # ms-swift: several records on one line
    ("} {'", lazy_regex(r"^.*\} (?=\{'loss')"), ""),
    # tinygrad: numbers before their names
    (" run, ", lazy_regex(r"^\s*(\d+)\s+([\d.]+ m?s) run, (?:.*, )?\s*([\d.]+|nan) loss, ([\d.]+) LR,"), r"step: \1, step time: \2, loss: \3, lr: \4,"),
)  # fmt: skip


_DARKNET = lazy_regex(
    r"\s*(?P<step>\d+): (?P<loss>\d+(?:\.\d*)?|-?nan), [\d.na-]+ avg(?: loss)?, (?P<lr>\d+(?:\.\d*)?) rate, (?P<s>\d+(?:\.\d*)?) seconds,"
)


def parse(text: str) -> Progress | None:
    """The same of a raw line: escape sequences and carriage returns are carried out."""
    return progress_in(parsed_text(CARET_RETURN.sub("\r", text))) if _may_be_progress(text) else None


def progress_in(line: ParsedLine) -> Progress | None:
    """What the line says of the training's progress.

    A loss of a validation line is not a training loss, and running text or a dump of settings is not progress: both give None.
    """
    if not _may_be_progress(line.text):
        return None
    if found := _DARKNET.match(line.text):  # before its step is taken for srun's task number
        step, loss, lr, step_s = found.groups()
        return Progress(step=whole_number(step), loss=float(loss), lr=float(lr), step_time_s=float(step_s))
    text = line.body[:_READ_CHARS]
    if (boosted := boosting_round(text)) is not None:
        return boosted
    if (bar := bar_in(text)) == OTHER_BAR:
        return _behind_other_bar(behind_bar(text))
    if _FOREIGN_LINE.match(text) or (_SUMMARY.search(text) and "'loss'" not in text):
        return None
    if bar is not None:
        return bar
    if row := _TABLE.match(text) or _COQUI.fullmatch(text):
        return found_in(f"{row.group('key')}: {row.group('value')}").progress()
    if _CONFIG.match(text) or len(_FLAG.findall(text)) >= 2 or is_foreign_record(text):
        return None
    text = _rewritten(text)
    return _judge(text, found_in(text))


def _behind_other_bar(text: str) -> Progress | None:
    """A logger goes on where the bar left the cursor; what names no counter of its own belongs to the bar."""
    if _FOREIGN_LINE.match(text):
        return None
    found = found_in(text)
    return (
        _judge(text, found) if "loss" in found.values and found.values.keys() & {"step", "iteration", "epoch"} else None
    )


def row_key(line: ParsedLine) -> str | None:
    """The key of a row of a table of two columns, None for every other line."""
    row = _TABLE.match(line.body)
    return None if row is None else row.group("key")


def _may_be_progress(text: str) -> bool:
    """Cheap: it is asked of every line."""
    lower = text.lower()
    if not any(map(lower.__contains__, _KEYS)) and _FIRST.match(text) is None and _SHORT.search(lower[:HEAD]) is None:
        return False
    return _DIGIT.search(lower) is not None


def _rewritten(text: str) -> str:
    """Shapes that hide their keys, as pairs."""
    if found := _UNNAMED.match(text):
        epoch = found["e"] or found["epoch"] or found["ep"]
        step = found["batch"] or found["b"] or found["n"] or found["step"] or found["clu"]
        text = (f"epoch: {epoch}, " if epoch else "") + f"iter: {step}, " + text[found.end() :]
    text = _GLUED.sub(r"\1 \2", text)
    for literal, shape, pairs in _REWRITTEN:
        if literal in text:
            text = shape.sub(pairs, text)
    return text


def _judge(text: str, found: Found) -> Progress | None:
    """Progress of a line of pairs, when there is enough to be sure that it is one."""
    values = found.values
    if not values.keys() & {"step", "iteration", "epoch", "loss"}:
        return found.progress() if is_rate_alone(text, found) else None
    if "loss" not in values and not found.rates and len({key.lower() for key in _CONFIG_KEYS.findall(text)}) >= 2:
        return None
    reported = len(values.keys() - {"memory", "total"}) + len(found.rates)
    return found.progress() if reported > 1 or _is_bare(text) or _is_metrics(text, found) else None


def _is_metrics(text: str, found: Found) -> bool:
    """One known field among many that are not: a line of nothing but pairs, or one that begins with the step."""
    if "loss" in found.values:
        pairs = len(_PAIR.findall(text))
        return (found.numbers >= 2 and pairs >= found.numbers) or _COUNTED_LOSS.match(text) is not None
    if _COUNT_FIRST.match(text) or _MXNET.match(text):
        return True
    if found.values.keys() & {"step", "iteration", "epoch"} and (
        is_step_with_metrics(text) or is_record_of_metrics(text)
    ):
        return True
    first = _STEP_FIRST.match(text)
    if first is None:
        return (
            _EPOCH_FIRST.match(text) is not None
            and len(_PAIR.findall(text)) >= 2
            and _OF_TRAINING.search(text) is not None
        )
    is_of_loss = "loss" in text.lower() and (first.group("mark") or _PAIR.search(text))
    return found.numbers >= (2 if is_of_loss else 3)


def _is_bare(text: str) -> bool:
    """The line holds nothing but one known field: "step: 10", "[batch=1/100]:", "Epoch 3/10". Running text holds words."""
    if _ZEROED.fullmatch(text):
        return False
    words = _WORD.findall(_FILLER.sub(" ", re.sub(r"[a-z]+[_=/:][\w/]*(?=\s*[:=])", " ", text)))
    known = {"step", "iter", "iteration", "epoch", "batch", "loss", "global", "train", "lm"}
    return all(word.lower() in known for word in words) or _ARROW.search(text) is not None
