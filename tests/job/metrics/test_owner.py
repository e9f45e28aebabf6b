"""Whose a metrics file is."""

from __future__ import annotations

from hwtop.job.metrics.owner import Found, of_this_job, run_of

NOW_S = 1000.0


def csv(path: str, age_s: float = 10.0) -> Found:
    return Found(path, "csv", NOW_S - age_s)


def kept(*found: Found, proven: tuple[str, ...] = ()) -> list[str]:
    return [each.path for each in of_this_job(found, lambda path: path in proven, NOW_S).files]


def test_the_only_run_that_goes_on_is_this_job() -> None:
    assert kept(csv("/r/version_1/metrics.csv"), csv("/r/version_0/metrics.csv", 500)) == ["/r/version_1/metrics.csv"]
    assert kept(csv("/r/version_1/metrics.csv", 900), csv("/r/version_0/metrics.csv", 990)) == [
        "/r/version_1/metrics.csv"
    ]


def test_of_a_sweep_nobody_can_tell_unless_it_is_proven() -> None:
    runs = (csv("/r/version_1/metrics.csv"), csv("/r/version_0/metrics.csv", 20))
    owned = of_this_job(runs, lambda path: False, NOW_S)
    assert owned.files == []
    assert owned.doubtful == ("/r/version_0", "/r/version_1")
    assert kept(*runs, proven=("/r/version_0/metrics.csv",)) == ["/r/version_0/metrics.csv"]


def test_an_event_file_of_another_process_is_not_ours() -> None:
    ours, other = "/r/a/events.out.tfevents.1.node.10.0", "/r/b/events.out.tfevents.1.node.11.0"
    found = [Found(path, "tensorboard", NOW_S) for path in (ours, other)]
    owned = of_this_job(found, lambda path: path == ours, NOW_S)
    assert [each.path for each in owned.files] == [ours]
    assert owned.doubtful == ()


def test_ranks_in_folders_of_their_own_are_one_run() -> None:
    assert len(kept(csv("/r/rank_0/metrics.csv"), csv("/r/rank_1/metrics.csv"))) == 2


def test_runs() -> None:
    assert run_of("/r/mlruns/1/0a/metrics/train/loss", "mlflow") == "/r/mlruns/1/0a"
    assert run_of("/r/out/checkpoint-5/trainer_state.json", "trainer-state") == "/r/out"
    assert run_of("/r/out/metrics.csv", "csv") == "/r/out"
