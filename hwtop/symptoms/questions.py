"""The table that people fill in by hand when a job is slow: each usual suspect with its check, its numbers and an answer.

A finding answers "yes" to the question that it belongs to, a note leaves it open. Without one the numbers decide between "no" and
"unknown": what was not measured, or too little to prove it, is never a "no".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from hwtop.errors import internal_error
from hwtop.model.evidence import MINOR, MOSTLY, NEARLY_ALL
from hwtop.model.symptom import Finding, Hypothesis
from hwtop.symptoms import checks as measures
from hwtop.symptoms.history import History
from hwtop.symptoms.host import others
from hwtop.symptoms.host.capacity import FULL_SHARE, WINDOW_S
from hwtop.symptoms.records import Question, records
from hwtop.symptoms.result import Result
from hwtop.symptoms.text import percent
from hwtop.symptoms.training.answers import not_learning


class _Question(Struct, frozen=True, kw_only=True):
    id: Question
    """Named in the records of the symptoms that answer it with yes."""
    hypothesis: str
    check: str
    measure: Callable[[History], Result]
    is_gradual: bool = False
    """As the rules of that name: about minutes, so it need not be asked at each moment."""


def hypotheses(
    history: History, findings: Sequence[Finding], gradual: dict[Question, Result] | None = None
) -> tuple[Hypothesis, ...]:
    """All questions, in the order in which one asks them. Empty without a job.

    `gradual`: what was measured for the gradual ones and still holds; what is missing is measured, and added.
    """
    if history.job is None:
        return ()
    known = {} if gradual is None else gradual
    for question in QUESTIONS:
        if question.is_gradual and question.id not in known:
            known[question.id] = _measured(question, history)
    return tuple(
        _answered(question, known.get(question.id) or _measured(question, history), findings) for question in QUESTIONS
    )


def _answered(question: _Question, result: Result, findings: Sequence[Finding]) -> Hypothesis:
    reported = next(
        (each for each in findings if _answers(each.symptom, question) and each.severity != "info"),
        None,
    )
    folded = next(
        (line for each in findings for line in each.folded if _answers(line.partition(":")[0], question)), None
    )
    note = next((each for each in findings if _answers(each.symptom, question) and each.severity == "info"), None)
    if note is not None and result.verdict == "no":
        result = Result("unknown", note.title)
    if reported is not None:
        result = Result("yes", reported.title)
    elif folded is not None:
        result = Result("yes", f"{folded.partition(': ')[2]} (follows from another cause)")
    return Hypothesis(hypothesis=question.hypothesis, check=question.check, result=result.text, verdict=result.verdict)


def _measured(question: _Question, history: History) -> Result:
    """As of a rule: a mistake in one must not end the watch."""
    try:
        return question.measure(history)
    except Exception as error:
        return Result("unknown", internal_error(error))


def _answers(symptom: str, question: _Question) -> bool:
    record = records().get(symptom)
    return record is not None and question.id in record.questions


QUESTIONS = (
    _Question(
        id="hung",
        hypothesis="Is it hung?",
        check="steps, stacks and CPU time of all ranks",
        measure=measures.hung,
    ),
    _Question(
        id="gpu",
        hypothesis="Are the GPUs underutilized?",
        check=f"mean utilization of the job's GPUs over {WINDOW_S:.0f} s, fine from {measures.GPU_BUSY_PCT:.0f} % on",
        measure=measures.gpu_underutilized,
    ),
    _Question(
        id="data",
        hypothesis="Is the data loader the bottleneck?",
        check=f"share of the stack samples in data loading, small under {percent(MINOR)}",
        measure=measures.phases("data", "data-main"),
    ),
    _Question(
        id="communication",
        hypothesis="Does communication dominate?",
        check=f"share of the stack samples in collectives or in waits for other ranks, small under {percent(MINOR)}",
        measure=measures.phases("collective", waits=True),
    ),
    _Question(
        id="saving",
        hypothesis="Do checkpoints or logging take long?",
        check=f"share of the stack samples in saving and logging, small under {percent(MINOR)}",
        measure=measures.phases("checkpoint", "logging"),
    ),
    _Question(
        id="cpu",
        hypothesis="Is the CPU oversubscribed or limited?",
        check=f"busy cores over {WINDOW_S:.0f} s, free under {100 * FULL_SHARE:.0f} %; periods at the CPU limit",
        measure=measures.cpu_full,
    ),
    _Question(
        id="others",
        hypothesis="Do others use the machine?",
        check=f"cores and GPUs of the job used by processes outside of it over {WINDOW_S:.0f} s, memory in use",
        measure=others.used_by_others,
    ),
    _Question(
        id="disk",
        hypothesis="Is the disk slow?",
        check=f"tasks stalled for I/O under {measures.STALLED_PCT:.0f} % of the time, nobody in D state over {measures.LOOKED_S:.0f} s",
        measure=measures.disk_slow,
    ),
    _Question(
        id="network",
        hypothesis="Is the network slow?",
        check=f"busiest link under {percent(MOSTLY)} of its speed, under 0.1 % TCP retransmits",
        measure=measures.network_slow,
    ),
    _Question(
        id="memory",
        hypothesis="Does memory grow, or run out?",
        check=f"memory, open files, processes: under {percent(NEARLY_ALL)} of each limit, no swapping, no rise to a limit",
        measure=measures.memory_short,
    ),
    _Question(
        id="hardware",
        hypothesis="Is the hardware throttled or faulty?",
        check="clock reasons, errors and answers of all GPUs",
        measure=measures.gpu_sick,
    ),
    _Question(
        id="slower",
        hypothesis="Is it slower than before?",
        check="change points and trend of the step times; earlier runs of the same command",
        measure=measures.slower_than_before,
        is_gradual=True,
    ),
    _Question(
        id="learning",
        hypothesis="Has it stopped learning?",
        check="loss, gradient norm, learning rate and loss scale over the steps",
        measure=not_learning,
        is_gradual=True,
    ),
)
"""In the order in which one asks."""
