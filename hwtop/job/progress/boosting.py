"""Boosting line: a round of XGBoost, LightGBM or CatBoost."""

from __future__ import annotations

from hwtop.job.progress.field_names import is_foreign
from hwtop.lazy_regex import lazy_regex
from hwtop.model.reported.log import Progress

_ROUND = lazy_regex(
    r"(?:\s*|.*\] )\[(\d+)\]:?\s+(?=\w)|\s*\[LightGBM\] \[Info\] Iteration:(\d+), |\s*(\d+):\s+(?=learn: )"
)
"""XGBoost `[10]\\ttrain-rmse:0.1`, LightGBM `[10]\\ttraining's l2: 0.1` and its own `Iteration:10, training l2 : 0.1`, CatBoost
`10:\\tlearn: 0.1\\ttest: 0.2`."""
_NUMBER = r"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?"
"""A deviation may follow: xgboost.cv prints `0.5+0.01`."""
_METRIC = lazy_regex(
    rf"(?P<set>[A-Za-z][\w.]*?)(?:-|'s | )(?P<metric>log loss|[a-z_]\w*(?:@[\d-]+)?)\s?:\s?(?P<value>{_NUMBER}|nan|inf)|(?P<learn>learn): (?P<told>{_NUMBER})"
)
_TRAINING = lazy_regex(r"train(?:ing)?\w*$|learn$|dtrain$|validation_0$")
"""XGBoost's scikit-learn interface calls the first set `validation_0` whatever it holds: the training set by convention."""
_LOSSES = lazy_regex(
    r"(?:m|binary_|multi_|c)?log[_ ]?loss|(?:multi_|binary_)?error|merror|rmsle|rmse|mse|mae|mape|mphe|l1|l2|huber|quantile|"
    r"poisson(?:-nloglik)?|gamma(?:-\w+)?|tweedie\S*|cross_entropy|cox-nloglik|xentropy|xentlambda|kullback_leibler|fair"
)


def boosting_round(text: str) -> Progress | None:
    """The round and the training loss of it; None for every other line. A score that should rise (auc, ndcg) is no loss.

    Whatever the sets are called, the last of several is that of validation (xgboost `train`, `evals`: "the last entry will be used for
    early stopping"), so the first is that of training.
    """
    found = _ROUND.match(text)
    if found is None:
        return None
    step = int(next(group for group in found.groups() if group is not None))
    metrics = list(_METRIC.finditer(text, found.end()))
    if not metrics or metrics[0].start() > found.end():
        return None
    first, last = metrics[0].group("set"), metrics[-1].group("set")
    is_first_training = first is not None and first != last and not is_foreign(first.lower())
    for metric in metrics:
        if metric.group("learn"):
            return Progress(step=step, loss=float(metric.group("told")))
        is_training = _TRAINING.match(metric.group("set")) or (is_first_training and metric.group("set") == first)
        if is_training and _LOSSES.fullmatch(metric.group("metric")):
            return Progress(step=step, loss=float(metric.group("value")))
    return Progress(step=step)
