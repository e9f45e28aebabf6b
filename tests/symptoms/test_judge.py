"""When a symptom is raised and cleared, and what folds under what."""

from __future__ import annotations

import re

import pytest
from msgspec import structs

from hwtop.model.gpu.device import Vendor
from hwtop.model.hang import Backend
from hwtop.model.reported.log import Severity
from hwtop.model.symptom import Category, Finding
from hwtop.symptoms.cascade import causes, fold
from hwtop.symptoms.history import History
from hwtop.symptoms.judge import GRADUAL_EVERY_S, Judge
from hwtop.symptoms.records import members, records
from hwtop.symptoms.rule import Observation, Rule
from hwtop.symptoms.rules import RULES
from hwtop.symptoms.text import fit_to_backend
from tests.parts import replace
from tests.symptoms.derived_states import constant, cpu, derived, gpu, job, rank, row

SEEN = Observation(severity="warning", confidence=0.8, title="t", evidence=("e",), next_steps=("n",))


def judge_of(pattern: str, *, raise_s: float, clear_s: float, symptom: str = "hang", seen: Observation = SEEN) -> Judge:
    """Of one rule; one character a second: "x" where it sees something."""
    rule = Rule(
        symptom=symptom,
        category="stability",
        threshold="-",
        raise_s=raise_s,
        clear_s=clear_s,
        check=lambda history: seen if pattern[int(history.now.at_s)] == "x" else None,
    )
    return Judge([rule])


def judged(pattern: str, *, raise_s: float, clear_s: float, symptom: str = "hang") -> str:
    """As `judge_of`; "!" where the symptom is raised."""
    judge = judge_of(pattern, raise_s=raise_s, clear_s=clear_s, symptom=symptom)
    derived_states = [derived(float(second), job(rank())) for second in range(len(pattern))]
    raised = [bool(judge.advance(History(derived_states[: n + 1]), float(n))) for n in range(len(derived_states))]
    return "".join("!" if each else "." for each in raised)


def test_it_must_hold_to_be_raised_and_be_away_to_be_cleared() -> None:
    assert judged("..xxxxx.......", raise_s=2.0, clear_s=3.0) == "....!!!!!....."


def test_a_flicker_never_raises() -> None:
    assert judged("xx.xx.xx.xx.xx", raise_s=2.0, clear_s=3.0) == ".............."


def test_a_short_gap_does_not_clear() -> None:
    assert judged("xxxxx..xxxx", raise_s=1.0, clear_s=5.0) == ".!!!!!!!!!!"


def test_zero_raises_at_once() -> None:
    assert judged(".x.", raise_s=0.0, clear_s=9.0) == ".!!"


@pytest.mark.parametrize(("severity", "calm"), [("warning", ".....!!"), ("info", "!!!!!!!")])
def test_it_is_calm_while_nothing_is_raised_or_about_to_be(severity: Severity, calm: str) -> None:
    pattern = "xxxx..."
    judge = judge_of(pattern, raise_s=2.0, clear_s=2.0, seen=replace(SEEN, severity=severity))
    found = ""
    for second in range(len(pattern)):
        judge.advance(History([derived(float(second), job(rank()))]), float(second))
        found += "!" if judge.is_calm else "."
    assert found == calm


def test_what_the_log_tells_again_and_again_stays_until_it_has_been_away_for_long() -> None:
    twice, thrice = "x...x...........", "x...x...x...................x"
    assert judged(twice, raise_s=0.0, clear_s=2.0, symptom="segfault") == "!!..!!.........."
    assert judged(thrice, raise_s=0.0, clear_s=2.0, symptom="segfault") == "!!..!!..!!!!!!!!!!!!........!"
    assert judged(thrice, raise_s=0.0, clear_s=2.0) == "!!..!!..!!..................!", "a state is what it is now"


@pytest.mark.parametrize(("category", "asked"), [("performance", [64, 69, 74]), ("stability", [*range(60, 76)])])
def test_what_builds_up_over_minutes_is_asked_less_often_after_the_first(category: Category, asked: list[int]) -> None:
    seen: list[int] = []
    rule = Rule(
        symptom="throughput-drop",
        category=category,
        threshold="-",
        raise_s=2.0,
        clear_s=15.0,
        check=lambda history: seen.append(int(history.now.at_s)),
    )
    judge = Judge([rule])
    derived_states = [derived(float(second), job(rank())) for second in range(76)]
    for n in range(76):
        judge.advance(History(derived_states[: n + 1]), float(n))
    assert seen[:60] == list(range(60)), "a diagnosis of some seconds finds all"
    assert seen[60:] == asked


def test_a_gradual_symptom_that_is_seen_is_asked_at_each_moment_until_it_is_raised() -> None:
    seen: list[int] = []

    def check(history: History) -> Observation | None:
        seen.append(int(history.now.at_s))
        return SEEN if history.now.at_s >= 63 else None

    rule = Rule(
        symptom="throughput-drop", category="performance", threshold="-", raise_s=2.0, clear_s=15.0, check=check
    )
    judge = Judge([rule])
    derived_states = [derived(float(second), job(rank())) for second in range(90)]
    found = [judge.advance(History(derived_states[: n + 1]), float(n)) for n in range(90)]
    first = next(second for second in seen if second >= 63)
    assert first <= 63 + GRADUAL_EVERY_S
    assert [second for second in seen if second >= first][:3] == [first, first + 1, first + 2]
    assert len([second for second in seen if first + 2 < second]) <= (90 - first) / GRADUAL_EVERY_S + 1
    assert all(map(bool, found[first + 2 :])), "in between what was seen stays"


def test_first_seen_is_when_it_began() -> None:
    rule = Rule(symptom="hang", category="stability", threshold="-", raise_s=2.0, clear_s=1.0, check=lambda _: SEEN)
    judge = Judge([rule])
    derived_states = [derived(10.0 + n, job(rank())) for n in range(4)]
    found = [judge.advance(History(derived_states[: n + 1]), 7.0 + n) for n in range(4)]
    assert [len(each) for each in found] == [0, 0, 1, 1]
    assert found[3][0].first_seen_s == 7.0


def test_each_time_that_it_was_up_is_remembered_with_its_times() -> None:
    pattern = "..xxx....xxx"
    rule = Rule(
        symptom="hang",
        category="stability",
        threshold="-",
        raise_s=1.0,
        clear_s=2.0,
        check=lambda history: SEEN if pattern[int(history.now.at_s)] == "x" else None,
    )
    judge = Judge([rule])
    derived_states = [derived(float(second), job(rank())) for second in range(len(pattern))]
    for number in range(len(derived_states)):
        judge.advance(History(derived_states[: number + 1]), 100.0 + number)
    first, second = judge.episodes()
    assert (first.seen_s, first.raised_s, first.cleared_s) == (102.0, 103.0, 106.0)
    assert (second.seen_s, second.raised_s, second.cleared_s) == (109.0, 110.0, None)
    assert (first.symptom, first.severity, first.title) == ("hang", "warning", "t")


def test_what_was_never_raised_is_no_episode() -> None:
    rule = Rule(symptom="hang", category="stability", threshold="-", raise_s=9.0, clear_s=2.0, check=lambda _: SEEN)
    judge = Judge([rule])
    judge.advance(History([derived(0.0, job(rank()))]), 0.0)
    assert judge.episodes() == ()


def finding(symptom: str, severity: str = "critical") -> Finding:
    return Finding(
        symptom=symptom,
        severity=severity,  # type: ignore[arg-type]
        confidence=0.9,
        category="stability",
        title=f"{symptom} happened",
        evidence=(),
        next_steps=(),
    )


@pytest.mark.parametrize(
    ("severity", "ranks", "expected"),
    [
        ("critical", (1,), ["checkpoint-error"]),
        ("critical", (0,), ["checkpoint-error", "rank-dead"]),  # another rank's
        ("warning", (1,), ["checkpoint-error", "rank-dead"]),  # it was caught
    ],
)
def test_a_checkpoint_that_could_not_be_read_ends_its_rank(
    severity: str, ranks: tuple[int, ...], expected: list[str]
) -> None:
    dead = replace(finding("rank-dead"), ranks=(1,))
    found = fold([replace(finding("checkpoint-error", severity), ranks=ranks), dead])
    assert [each.symptom for each in found] == expected


@pytest.mark.parametrize("still", ["rank-d-state", "rank-stopped", "lock-deadlock", "rank-missing-from-collective"])
def test_what_a_rank_is_kept_from_is_no_cause_of_its_own(still: str) -> None:
    found = fold([finding("input-bound-workers", "warning"), finding("logging-overhead", "warning"), finding(still)])
    assert [each.symptom for each in found] == [still]


def test_the_interpreter_lock_explains_slow_loading_in_the_training_process_only() -> None:
    lock = finding("gil-contention", "warning")
    in_main, in_threads = finding("input-bound-workers", "warning"), finding("input-bound-cpu", "warning")
    assert [each.symptom for each in fold([in_main, lock])] == ["gil-contention"]
    assert [each.symptom for each in fold([in_threads, lock])] == ["input-bound-cpu", "gil-contention"]


def test_cascades_fold_under_their_root() -> None:
    found = fold([finding("nccl-timeout"), finding("hang"), finding("rank-dead"), finding("shm-nearly-full")])
    assert [each.symptom for each in found] == ["rank-dead", "shm-nearly-full"]
    assert found[0].folded == ("nccl-timeout: nccl-timeout happened", "hang: hang happened")


def test_a_note_does_not_hide_a_warning() -> None:
    note = replace(finding("cgroup-throttled"), severity="info")
    found = fold([finding("input-bound-cpu"), note])
    assert [each.symptom for each in found] == ["input-bound-cpu", "cgroup-throttled"]


def test_a_chain_folds_under_its_first_cause() -> None:
    found = fold([finding("hang"), finding("rank-dead"), finding("cuda-oom")])
    assert [each.symptom for each in found] == ["cuda-oom"]
    assert len(found[0].folded) == 2


@pytest.mark.parametrize(
    "root",
    [
        "rank-dead",
        "rank-stopped",
        "rank-d-state",
        "lock-deadlock",
        "dataloader-worker-stuck",
        "filesystem-hang",
        "collective-mismatch",
    ],
)
@pytest.mark.parametrize("symptom", ["hang", "rank-missing-from-collective", "nccl-timeout", "straggler-rank"])
def test_what_all_others_do_while_one_does_not_come(symptom: str, root: str) -> None:
    assert [each.symptom for each in fold([finding(symptom), finding(root)])] == [root]


def test_a_gpu_that_no_rank_is_known_to_use_does_not_make_the_steps_slower() -> None:
    slower, sick = finding("throughput-drop"), finding("gpu-thermal-throttle")
    assert len(fold([slower, sick])) == 2
    assert len(fold([slower, replace(sick, ranks=(5,))])) == 1


def test_two_symptoms_never_explain_each_other() -> None:
    """But where the ranks decide which is the cause: slow data of one rank and of several; a timeout of the rank that ended, or of others."""
    by_ranks = ({"straggler-rank", *members("input-bound")}, {"nccl-timeout", "rank-dead"})
    for symptom, roots in causes().items():
        for root in roots:
            both = [replace(finding(each), ranks=(0,)) for each in (symptom, root)]
            assert len(fold(both)) == 1, (symptom, root)
            is_either = any({symptom, root} <= pair for pair in by_ranks)
            assert symptom not in causes().get(root, ()) or is_either, (symptom, root)


@pytest.mark.parametrize(
    ("slow", "without_data", "root"), [((1,), (1,), "straggler-rank"), ((1,), (0, 1), "input-bound-cpu")]
)
def test_slow_data_of_one_rank_makes_a_straggler_and_of_all_an_input_bound_job(
    slow: tuple[int, ...], without_data: tuple[int, ...], root: str
) -> None:
    found = fold(
        [replace(finding("straggler-rank"), ranks=slow), replace(finding("input-bound-cpu"), ranks=without_data)]
    )
    assert [each.symptom for each in found] == [root]


def test_without_its_root_a_cascade_stands_alone() -> None:
    assert [each.symptom for each in fold([finding("nccl-timeout")])] == ["nccl-timeout"]


def test_folding_never_loses_everything() -> None:
    everything = [finding(symptom) for symptom in {*causes(), *(root for roots in causes().values() for root in roots)}]
    found = fold(everything)
    assert found
    assert len(found) + sum(len(each.folded) for each in found) == len(everything)


def test_every_rule_has_its_own_symptom_and_says_its_threshold() -> None:
    symptoms = [rule.symptom for rule in RULES]
    assert len(symptoms) == len(set(symptoms))
    assert all(rule.says for rule in RULES)
    wanted = (
        "gpu-idle-cpu-busy input-bound-cpu input-bound-workers input-bound-io hang rank-dead rank-stopped straggler-rank "
        "collective-mismatch cpu-oversubscribed host-memory-leak loss-nan cuda-oom nccl-timeout rank-crash shm-nearly-full"
    )
    assert set(wanted.split()) <= set(symptoms)


def test_a_finding_says_what_would_refute_it_with_the_values_of_the_job() -> None:
    seen = replace(SEEN, ranks=(1,))
    rule = Rule(symptom="hang", category="stability", threshold="-", raise_s=0.0, clear_s=0.0, check=lambda _: seen)
    found = Judge([rule]).advance(History([derived(0.0, job(rank(0), rank(1)))]), 0.0)[0]

    assert found.refuted_by == "A new log line or another stack: slow, not stuck"
    assert any("gdb -p 1001 " in step for step in found.escalate)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.symptom)
def test_findings_name_nvidias_tools_only_where_a_gpu_is_nvidias(rule: Rule) -> None:
    book = records()[rule.symptom]

    def advice(*vendors: Vendor) -> str:
        seen = replace(SEEN, next_steps=book.plain_steps, facts={"has_gpu": True, "is_data": True})
        gpus = tuple(gpu(index, vendor=vendor) for index, vendor in enumerate(vendors))
        judge = Judge([structs.replace(rule, raise_s=0.0, limits=None, check=lambda history: seen)])
        found = judge.advance(History([derived(0.0, None, gpus=gpus)]), 0.0)[0]
        return "\n".join((*found.next_steps, found.test or "", found.refuted_by or "", *found.escalate))

    everything = "\n".join((*book.plain_steps, book.plain_verify, book.disproved_if, *book.plain_escalate))
    assert advice() == advice("nvidia") == advice("amd", "nvidia") == everything
    if rule.symptom not in ("xid", "driver-mismatch"):  # which only NVIDIA has
        assert advice("amd", "intel").strip()
    assert not re.search("nvidia|dcgmi", advice("amd", "intel"))


@pytest.mark.parametrize(
    ("backend", "ranks", "is_named"),
    [("nccl", 2, True), (None, 2, True), ("gloo", 2, False), (None, 1, False)],
)
def test_advice_about_nccl_is_given_where_ranks_may_use_it(backend: Backend | None, ranks: int, is_named: bool) -> None:
    advice = ("hwtop stacks 1", "NCCL_DEBUG=INFO   # network errors")
    watched = job(*map(rank, range(ranks)), backend=backend)
    assert fit_to_backend(advice, watched) == (advice if is_named else advice[:1])


@pytest.mark.parametrize(
    ("symptom", "outside", "confidence"),
    [("straggler-rank", 3.0, 0.6), ("straggler-rank", 0.1, 0.8), ("rank-dead", 3.0, 0.8)],
)
def test_a_finding_is_less_sure_while_other_programs_take_the_cores(
    symptom: str, outside: float, confidence: float
) -> None:
    rule = Rule(symptom=symptom, category="stability", threshold="-", raise_s=0.0, clear_s=1.0, check=lambda _: SEEN)
    watched = replace(job(rank(0)), processes=(row(1000, cpu_pct=390.0 - 100 * outside),))
    full = constant(watched, cpu=cpu(98.0), cores=4.0)
    (finding,) = Judge([rule]).advance(full, 5.0)
    assert finding.confidence == confidence
    said = "programs outside the job use" in finding.evidence[-1]
    assert said is (confidence < SEEN.confidence)
