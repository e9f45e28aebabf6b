"""Which files are metrics files, told by their names alone, and who writes them."""

from __future__ import annotations

import re

from hwtop.job.metrics.documents import TrainerState, WandbSummary
from hwtop.job.metrics.lines import CsvTable, JsonLines, MlflowMetric
from hwtop.job.metrics.names import is_foreign_path, meaning
from hwtop.job.metrics.parsed import Parser
from hwtop.job.metrics.tensorboard import EventFile
from hwtop.job.metrics.wandb_log import WandbLog
from hwtop.job.whole_number import whole_number
from hwtop.lazy_regex import lazy_regex
from hwtop.model.reported.metrics import MetricsKind

_EVENTS = lazy_regex(r"events\.out\.tfevents\.\d+\.(?P<host>.+?)(?:\.(?P<pid>\d+))?(?:\.\d+)?(?:\.v2)?$")
"""tensorflow/core/util/events_writer.cc and torch.utils.tensorboard: time, host, and in newer ones PID and a number."""
_MLFLOW = lazy_regex(r"/metrics/(?P<name>.+)$")
_CSV = lazy_regex(r"(?:^|[_.-])(?:metrics?|results?|summary|progress|history|log|loss(?:es)?)(?:[_.-].*)?\.csv$")
_KERAS_LOG = "training.log"
_JSONL = lazy_regex(
    r"(?:metrics?|log|history|scalars?|progress|stats)[^/]*\.jsonl$|^(?:metrics|scalars)\.json$|\.log\.json$"
)
_DINO = ("log.txt", "log_stats.txt")
_RANK = lazy_regex(r"(?:^|[^a-z])rank[._=-]?(\d{1,5})(?!\d)", re.IGNORECASE)
_CHECKPOINT = lazy_regex(r"^(?P<run>.+)/checkpoint-\d+/trainer_state\.json$")


def kind_of(path: str, *, is_written: bool = False) -> MetricsKind | None:
    """What kind of metrics file has such a name; None for any other file. Of one that a process of the job has open for writing the
    ending is enough: the names of its columns tell what it is."""
    folder, _, name = path.rpartition("/")
    if "events.out.tfevents." in name:
        return None if is_foreign_path(path) else "tensorboard"
    if name.startswith("run-") and name.endswith(".wandb"):
        return "wandb"
    if name == "wandb-summary.json":
        return "wandb-summary"
    if name == "trainer_state.json":
        return "trainer-state"
    if "/mlruns/" in path and _MLFLOW.search(path):
        return "mlflow"
    lowered = name.lower()
    if _CSV.search(lowered) or name == _KERAS_LOG or (is_written and lowered.endswith((".csv", ".tsv"))):
        return "csv"
    if (is_written and lowered.endswith(".jsonl")) or _JSONL.search(lowered) or (name in _DINO and folder):
        return "jsonl"
    return None


def parser_for(path: str, kind: MetricsKind) -> Parser:
    """A parser that has read nothing yet."""
    if kind == "mlflow":
        found = _MLFLOW.search(path)
        return MlflowMetric(found["name"] if found else path)
    made: dict[str, type[Parser]] = {
        "tensorboard": EventFile,
        "wandb": WandbLog,
        "wandb-summary": WandbSummary,
        "trainer-state": TrainerState,
        "csv": CsvTable,
        "jsonl": JsonLines,
    }
    return made[kind]()


def is_worth_reading(path: str, kind: MetricsKind) -> bool:
    """False for one of MLflow's files (each metric has its own) that holds nothing that is followed."""
    found = _MLFLOW.search(path)
    return kind != "mlflow" or (found is not None and meaning(found["name"]) is not None)


def writer_pid(path: str) -> int | None:
    """The PID in the name of an event file: inside its container."""
    found = _EVENTS.search(path)
    return whole_number(found["pid"]) if found else None


def rank_in(path: str) -> int | None:
    """The rank that the name of a file or of its folders tells."""
    found = _RANK.search(path)
    return int(found.group(1)) if found else None


def identity(path: str) -> str:
    """Files with the same identity are versions of one: transformers writes its state anew into each checkpoint."""
    found = _CHECKPOINT.match(path)
    return f"{found['run']}/checkpoint-*/trainer_state.json" if found else path


def spoken(reporter: str) -> str:
    """How to name what tells the progress of a rank: "heartbeat", "TensorBoard", "metrics.csv"."""
    kind = kind_of(reporter)
    known = {"tensorboard": "TensorBoard", "wandb": "W&B", "wandb-summary": "W&B", "mlflow": "MLflow"}
    return known.get(kind or "", reporter.rpartition("/")[2] if kind is not None else reporter)
