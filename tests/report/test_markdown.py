from __future__ import annotations

from hwtop.model.frame import Frame
from hwtop.model.symptom import Blind, Episode, Finding
from hwtop.report.frame.markdown import diagnosis
from hwtop.seconds import moment
from tests import frames
from tests.parts import replace

UNTIL = moment(frames.healthy().derived.time_s)
DEAD_RANK = """\
# rank 1 is dead (signal 9); rank 0 waits for it in all_reduce

Job: torchrun (PID 41000) on gpu-node-07, rank 0 of 2; watched for 134 s until UNTIL

## CRITICAL rank-dead (stability, confidence 98 %)
Rank 1 was killed (signal 9) 19 s ago; rank 0 waits for it
- PID 41021 ended with signal 9 (SIGKILL)
- rank 0 stands in all_reduce since 19 s
- no out-of-memory kill in this cgroup
Next steps:
1. look for who sent it: dmesg -T | tail; journalctl -k
2. restart from the last checkpoint

| rank | pid | step | s/step | phase | state | CPU % |
| --- | --- | --- | --- | --- | --- | --- |
| 0 | 41012 | 12589 | 0.312 | collective | collective-wait | 101 |
| 1 | 41021 | 12589 | 0.312 | - | dead | 101 |

- rank 0: data 6 %, forward 30 %, backward 55 %, optimizer 0 %, collective 5 %, checkpoint 0 % (60 samples)

## Not visible (`hwtop doctor 41000` prints how to change that)
- gpu: no NVIDIA driver: libnvidia-ml.so.1 not found
"""

DEAD_RANK_TEXT = """\
rank 1 is dead (signal 9); rank 0 waits for it in all_reduce

Job: torchrun (PID 41000) on gpu-node-07, rank 0 of 2; watched for 134 s until UNTIL

CRITICAL rank-dead (stability, confidence 98 %)
Rank 1 was killed (signal 9) 19 s ago; rank 0 waits for it
- PID 41021 ended with signal 9 (SIGKILL)
- rank 0 stands in all_reduce since 19 s
- no out-of-memory kill in this cgroup
Next steps:
1. look for who sent it: dmesg -T | tail; journalctl -k
2. restart from the last checkpoint

rank    pid   step  s/step       phase            state  CPU %
   0  41012  12589   0.312  collective  collective-wait    101
   1  41021  12589   0.312           -             dead    101

- rank 0: data 6 %, forward 30 %, backward 55 %, optimizer 0 %, collective 5 %, checkpoint 0 % (60 samples)

Not visible (`hwtop doctor 41000` prints how to change that):
- gpu: no NVIDIA driver: libnvidia-ml.so.1 not found
"""


def test_markdown() -> None:
    assert diagnosis(frames.dead_rank(), markdown=True) == DEAD_RANK.replace("UNTIL", UNTIL)


def test_text() -> None:
    assert diagnosis(frames.dead_rank(), markdown=False) == DEAD_RANK_TEXT.replace("UNTIL", UNTIL)


def test_a_healthy_job_is_verdict_job_and_ranks() -> None:
    reported = diagnosis(frames.healthy(), markdown=False).split("\n\n")
    assert reported[0] == "training normally: 0.312 s/step, 8 of 8 ranks in step"
    assert reported[1] == f"Job: torchrun (PID 41000) on gpu-node-07, ranks 0-7 of 8; watched for 134 s until {UNTIL}"
    assert len(reported) == 4
    assert reported[3].count("(60 samples)") == 8
    assert len(reported[2].strip().split("\n")) == 9


def test_a_job_without_launcher_ranks_or_findings() -> None:
    frame = frames.healthy()
    assert frame.derived.job is not None
    bare = replace(frame.derived.job, launcher=None, world_size=None, ranks=())
    reported = diagnosis(replace(frame, derived=replace(frame.derived, job=bare)), markdown=False)
    assert (
        reported.split("\n\n")[1] == f"Job: PID 41000 on gpu-node-07, no live rank; watched for 134 s until {UNTIL}\n"
    )


def test_what_follows_stands_with_its_cause() -> None:
    reported = diagnosis(frames.hang(), markdown=False)
    assert "- consequence: nccl-timeout x1\n" in reported


def test_what_the_machine_says_cannot_drive_the_terminal() -> None:
    evil = "\x1b]0;owned\x07\x9b31m\r\n# no heading"
    finding = Finding(
        symptom="hang",
        severity="warning",
        confidence=0.5,
        category="stability",
        title=evil,
        evidence=(evil,),
        next_steps=(evil,),
        folded=(evil,),
    )
    frame: Frame = replace(frames.healthy(), findings=(finding,), blind=(Blind(source=evil, reason=evil),))
    reported = diagnosis(frame, markdown=True)
    assert reported.count("owned") == 6
    assert all(char.isprintable() or char == "\n" for char in reported)
    assert not any(line.startswith("# no heading") for line in reported.splitlines())


def test_html_links_and_images_of_the_machine_stay_text() -> None:
    evil = "<script>alert(1)</script> ![](https://evil.example/x.png) [click](https://evil.example)"
    finding = Finding(
        symptom="hang", severity="warning", confidence=0.5, category="stability", title=evil, evidence=(), next_steps=()
    )
    frame: Frame = replace(frames.healthy(), findings=(finding,))
    reported = diagnosis(frame, markdown=True)
    assert not any(each in reported for each in ("<script", "![", "]("))
    assert evil in diagnosis(frame, markdown=False)


def test_the_timeline_tells_when_a_symptom_came_and_went() -> None:
    gone = Episode(
        symptom="swapping", severity="warning", title="The machine swaps", seen_s=3.0, raised_s=5.0, cleared_s=31.0
    )
    still = Episode(symptom="rank-dead", severity="critical", title="Rank 1 is dead", seen_s=115.0, raised_s=115.2)
    reported = diagnosis(replace(frames.dead_rank(), episodes=(gone, still)), markdown=True)
    assert (
        "## Timeline (seconds since hwtop started)\n"
        "- 5 to 31: warning swapping (first seen at 3): The machine swaps\n"
        "- 115 to now: critical rank-dead: Rank 1 is dead\n"
    ) in reported


def test_a_long_timeline_keeps_its_newest_entries() -> None:
    many = tuple(
        Episode(symptom="swapping", severity="info", title="x", seen_s=float(s), raised_s=float(s), cleared_s=s + 0.5)
        for s in range(25)
    )
    reported = diagnosis(replace(frames.dead_rank(), episodes=many), markdown=False)
    assert "- 5 earlier findings\n- 5 to" in reported
    assert "- 24 to" in reported
