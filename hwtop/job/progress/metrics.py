"""Metrics beside a step: lines whose one known field is the step, and whose others are measured, whatever they are called."""

from __future__ import annotations

import re

from hwtop.job.progress.field_names import is_foreign, spaced
from hwtop.job.progress.found import Found
from hwtop.lazy_regex import lazy_regex

_NUMBER = r"[-+]?(?:\d+(?:,\d{3})*(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?"
_LOST = r"-?(?:nan|inf)"
_STEP = lazy_regex(
    r"(?:\[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]?\s*)?(?:[a-z][\w.]*:\s?)?\W{0,4}(?:(?:train(?:ing)?|global)[ _:|]\s*)?(?:(?:ep|epoch)\s?[=: ]\s?\d+(?:/\d+)?\W+)?"
    r"(?:step|iter(?:ation)?|itr|it|update|batch|episode|epoch|ep|round)\s*[=:#]?\s*\d+(?:\s?/\s?\d+)?(?=\W)[\])>]?(?:\s*\(\s*\d+(?:\.\d+)?\s?%\))?",
    re.IGNORECASE,
)
"""The line begins with the step, or the epoch, if need be behind a clock, the word for training, or the epoch."""
_PAIR = lazy_regex(
    rf"[\s,;|:()\[\]/-]*?(?P<name>[a-z][\w/.@-]*(?:\([a-z]\w*\))?(?: [a-z][\w/@-]*){{0,2}}?)(?P<mark>\s?[=:]\s*|\s+)"
    rf"(?P<value>{_NUMBER}|{_LOST})(?P<unit>%|/\d+| ?[a-z]+/s| ?m?s)?(?=[\s,;|)\]]|$)",
    re.IGNORECASE,
)
_END = lazy_regex(r"[\s,;|)\].-]*(?:[(\[]\d+(?:\.\d+)?\s?m?s(?:ec)?[)\]]\s*)?")
"""It may close with how long it took: `(0.24s)`."""
_SPEED_PAIR = lazy_regex(
    rf"[\s,;|()]*(?P<name>[a-z][\w/.:-]*(?: [a-z][\w/-]*){{0,3}}?)\s?(?:[=:]\s*|\s)(?P<value>{_NUMBER})\s?(?:%|[a-z]+(?:/[a-z]+)?)?(?:\s*\([^()]*\))?(?=[\s,;|)]|$)",
    re.IGNORECASE,
)
_TRAINED = {"samples", "examples", "images", "steps", "it"}
_MEASURED = lazy_regex(rf".*\.\d\d|.*e[-+]?\d|{_LOST}|[-+]", re.IGNORECASE)
"""Numbers that were measured: instructions and settings hold whole ones, versions have one decimal."""
_FINELY = lazy_regex(rf".*\.\d{{3}}|.*e[-+]?\d|{_LOST}|[-+]", re.IGNORECASE)
_METRIC = lazy_regex(
    r"(?:.*[ /_])?(?:rewards?|returns?|score|acc(?:uracy)?|loss|norm|err(?:or)?|ppl|perplexity|entropy|kl|auc|f1|iou|psnr|ssim|dice|margin|elbo|"
    r"likelihood|bpb|bits|value|fid|wer|cer|bleu|[mr]*mse|mae|bce|nll)(?:[ /_]\w+)?",
    re.IGNORECASE,
)
_NOT_MEASURED = lazy_regex(
    r".*(?:time|elapsed|eta|took|duration|seconds|secs|version|size|bytes|memory|port|seed|sleep|wait|retry|timeout|delay|interval|freq|every|"
    r"max|total|num|count|rank|pid|level|line|epoch|step|^ts|^dt|^v|^in|^at|^of|^for|^after|^to)(?:[ _/].*)?|\w+ing",
    re.IGNORECASE,
)
_RECORD = lazy_regex(r"\s*\{.*\}[\s,]*")
_RECORD_PAIR = lazy_regex(
    rf"[\"'](?P<name>[\w/ .@-]+)[\"']\s*:\s*[\"']?(?P<value>{_NUMBER}|-?(?:nan|inf(?:inity)?))", re.IGNORECASE
)
_FOREIGN_RECORD = lazy_regex(
    r"[\"'](?:split|phase|mode|set|stage|subset|kind|type|event|name|dataset)[\"']\s*:\s*[\"'](?:val(?:id(?:ation)?)?|eval(?:uat\w+)?|test(?:ing)?|dev)\b",
    re.IGNORECASE,
)


def is_step_with_metrics(text: str) -> bool:
    """`step 70  foo=0.125`: a step, and nothing behind it but pairs of which one is a metric."""
    step = _STEP.match(text)
    if step is None:
        return False
    at, has_metric = step.end(), False
    while (pair := _PAIR.match(text, at)) is not None:
        at = pair.end()
        has_metric = has_metric or _is_metric(pair.group("name"), pair.group("value"), not pair.group("mark").isspace())
    return has_metric and _END.fullmatch(text, at) is not None


def is_record_of_metrics(text: str) -> bool:
    """`{"step": 70, "foo": 0.125}`: an object of JSON or a printed dict, one of whose numbers is a metric."""
    if _RECORD.fullmatch(text) is None:
        return False
    return any(_is_metric(pair.group("name"), pair.group("value"), True) for pair in _RECORD_PAIR.finditer(text))


def is_rate_alone(text: str, found: Found) -> bool:
    """Nothing but pairs, of which one is a rate of steps or samples, or the time of a step: a line of its own for the speed.

    Not a rate of tokens, which inference tells as well.
    """
    is_paced = "step_time" in found.values and found.is_per_step
    if not is_paced and not any(unit.partition("/")[0] in _TRAINED for _, unit in found.rates):
        return False
    at = 0
    while (pair := _SPEED_PAIR.match(text, at)) is not None:
        at = pair.end()
    return at > 0 and _END.fullmatch(text, at) is not None


def is_foreign_record(text: str) -> bool:
    """A record that says of itself that it is of validation: `{"split": "val", "step": 70, "loss": 0.5}`."""
    return "{" in text and _FOREIGN_RECORD.search(text) is not None


def _is_metric(name: str, value: str, is_marked: bool) -> bool:
    """Measured, and neither of validation nor a time or a setting. Without a mark the name must be a known one, or the number fine."""
    key = spaced(name.lower())
    if is_foreign(key) or _NOT_MEASURED.fullmatch(key) or _MEASURED.match(value) is None:
        return False
    if _METRIC.fullmatch(key):
        return True
    return " " not in name and (is_marked or _FINELY.match(value) is not None)
