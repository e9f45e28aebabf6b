"""What scripts rely on: flags, errors, exit codes, and the JSON of `diagnose` and `snapshot` on a real process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import psutil
import pytest

from hwtop import __version__, cli
from hwtop.bundle import incidents
from hwtop.cli import COMMANDS
from hwtop.commands.shared.target import resolve_target
from hwtop.commands.shared.values import Numbers, Seconds, Size
from hwtop.errors import UsageError
from tests.demo.test_run import wait_until
from tests.schemas import valid
from tests.training import TrainingJob, start_python

pytestmark = pytest.mark.real

TRAINER = """
import sys, time
for step in range(100_000):
    print(f"step {step} loss {sys.argv[1]} lr 0.001", flush=True)
    time.sleep(0.1)
"""
NUMBER = (int, float)
MAYBE = (int, float, type(None))
TEXT = (str,)
MAYBE_TEXT = (str, type(None))


def hwtop(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hwtop", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
    )


def trainer(folder: Path, loss: str) -> TrainingJob:
    script = folder / "train.py"
    script.write_text(TRAINER)
    return start_python(script, folder, loss, logs="launcher.log")


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TrainingJob]:
    with trainer(tmp_path_factory.mktemp("healthy"), "2.5") as job:
        job.wait_for_line("step 5 ")
        yield job


@pytest.fixture(scope="module")
def diagnosed(healthy: TrainingJob) -> subprocess.CompletedProcess[str]:
    return hwtop("diagnose", str(healthy.launcher_pid), "--for", "3s", "--json")


@pytest.fixture(scope="module")
def snapped(healthy: TrainingJob) -> dict[str, Any]:
    done = hwtop("snapshot", "--pid", str(healthy.launcher_pid), "--json")
    assert (done.returncode, done.stderr) == (0, "")
    return valid("snapshot", done.stdout)


def check(found: Mapping[str, Any], contract: Mapping[str, tuple[type, ...]]) -> None:
    """Each key is there, of one of these types. A flag is no number."""
    for key, types in contract.items():
        assert key in found, key
        assert isinstance(found[key], types), (key, found[key])
        assert not isinstance(found[key], bool) or bool in types, (key, found[key])


# --- flags


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("20", 20.0),
        ("20s", 20.0),
        ("500ms", 0.5),
        ("2m", 120.0),
        ("1.5min", 90.0),
        ("1h", 3600.0),
        (".5", 0.5),
        (" 3 s ", 3),
    ],
)
def test_times(text: str, seconds: float) -> None:
    assert Seconds(0.1, 86_400).convert(text, None, None) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "x", "-1", "1 d", "1s2", "1e3", "nan", "inf", "0.05", "25h"])
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(
        click.BadParameter, match=r"is not a valid time: use e\.g\. 20s, 500ms or 2m|is out of range: use 0.1 to 86400"
    ):
        Seconds(0.1, 86_400).convert(text, None, None)


@pytest.mark.parametrize(
    ("text", "numbers"), [("0", (0,)), ("0,1", (0, 1)), ("3,1, 1", (1, 3)), ("0-3", (0, 1, 2, 3)), ("0,2-3", (0, 2, 3))]
)
def test_lists(text: str, numbers: tuple[int, ...]) -> None:
    assert Numbers().convert(text, None, None) == numbers


@pytest.mark.parametrize("text", ["", "a", "1,", "-1", "1-", "1--2", "1;2", "99999", "3-1"])
def test_what_is_no_list(text: str) -> None:
    with pytest.raises(click.BadParameter, match=r"is not a list of numbers: use e\.g\. 0,1 or 0-3"):
        Numbers().convert(text, None, None)


def test_every_page_of_the_screen_can_be_drawn() -> None:
    from hwtop.ui.pages.registry import NAMES

    reported = hwtop("screenshot", "-h").stdout
    assert [page for page in NAMES if page not in reported] == []


def test_sizes() -> None:
    assert Size().convert("120X40", None, None) == (120, 40)
    for text in ("120", "x", "120x", "axb", "19x40", "120x4", "501x40", "-120x40"):
        with pytest.raises(click.BadParameter):
            Size().convert(text, None, None)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((None, None, None), "no job given"),
        (("1", "1", None), "give only one of PID, --pid and --name"),
        (("1", None, "x"), "give only one of PID, --pid and --name"),
        (("abc", None, None), "'abc' is neither a PID nor a command"),
        (("0", None, None), "neither a PID"),
        (("-3", None, None), "neither a PID"),
        (("1.5", None, None), "neither a PID"),
        (("99999999999", None, None), "neither a PID"),
        ((None, "4194305", None), "no process 4194305"),  # one above the kernel's highest pid_max
        ((None, None, "no such (thing"), "no job matches"),
    ],
)
def test_targets_that_cannot_be_meant(given: tuple[str | None, str | None, str | None], message: str) -> None:
    with pytest.raises(UsageError, match=message.replace("(", r"\(").replace("?", r"\?")):
        resolve_target(*given, required=True)


def test_a_job_that_is_gone_is_named_with_what_was_saved_of_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    incidents.save(4194305, 0.0, b"")
    with pytest.raises(UsageError, match="no process 4194305: it has ended; `hwtop incidents show 4194305-"):
        resolve_target("4194305", None, None, required=True)


def test_a_target_by_pid_or_not_at_all() -> None:
    assert resolve_target(str(os.getpid()), None, None, required=True) == os.getpid()
    assert resolve_target(None, str(os.getpid()), None, required=True) == os.getpid()
    assert resolve_target(None, None, None, required=False) is None


def test_a_target_by_name(healthy: TrainingJob) -> None:
    done = hwtop("diagnose", "--name", f"{healthy.folder}/[t]rain", "--for", "1s", "--json")
    assert done.stderr == ""
    assert json.loads(done.stdout)["target"]["pid"] == healthy.launcher_pid


# --- errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nonsense",), "'nonsense' is neither a PID nor a command: `hwtop -h` lists the commands"),
        (("stakcs", "1"), "'stakcs' is neither a PID nor a command: did you mean 'stacks'?"),
        (("4194305",), "no process 4194305"),
        (("--nonsense",), "--nonsense"),
        (("diagnose",), "no job given"),
        (("diagnose", "4194305"), "no process 4194305"),
        (("diagnose", "1", "--for", "soon"), "'soon' is not a valid time"),
        (("diagnose", "1", "--for", "0"), "out of range"),
        (("snapshot", "--gpus", "all"), "'all' is not a list of numbers"),
        (("screenshot", "1", "-o", "x.jpg"), "use a name that ends in .png, .svg, .html or .txt"),
        (("screenshot", "1"), "--output"),
        (("screenshot", "1", "-o", "x.svg", "--page", "logz"), "'logz' is not one of"),
        (("stacks",), "no job given"),
        (("scan", "/no/such/file"), "/no/such/file"),
        (("demo", "nonsense"), "no scenario 'nonsense'"),
        ((str(os.getpid()),), "the screen needs a terminal"),
        (("--once", "--theme", "no-such-theme"), "no-such-theme"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments: tuple[str, ...], message: str) -> None:
    done = hwtop(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("hwtop: ")
    assert done.stderr.count("\n") == 1 and done.stderr.endswith("\n")
    assert message in done.stderr


def test_the_name_of_a_process_in_an_error_is_no_order_to_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(**_: object) -> None:
        raise UsageError("several jobs match: 12 a\x1b]0;owned\x07.py")

    monkeypatch.setattr(cli.cli, "main", failing)
    with pytest.raises(SystemExit):
        cli.main([])
    assert capsys.readouterr().err == "hwtop: several jobs match: 12 a␛]0;owned␇.py\n"


def test_version_and_help() -> None:
    assert hwtop("-V").stdout == f"hwtop, version {__version__}\n"
    reported = hwtop("-h")
    assert reported.returncode == 0
    assert all(f"  {name} " in reported.stdout for name in COMMANDS)


@pytest.mark.parametrize("name", ["live", *COMMANDS])
def test_every_command_has_help(name: str) -> None:
    done = hwtop(name, "-h")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"hwtop {name}" in done.stdout


# --- diagnose


def test_a_healthy_job_is_exit_code_0(diagnosed: subprocess.CompletedProcess[str]) -> None:
    assert (diagnosed.returncode, diagnosed.stderr) == (0, "")
    assert json.loads(diagnosed.stdout)["findings"] == []


def test_diagnosis_keeps_its_contract(diagnosed: subprocess.CompletedProcess[str], healthy: TrainingJob) -> None:
    found = json.loads(diagnosed.stdout)
    assert found["hwtop"] == __version__
    check(found, {"target": (dict,), "job": (dict,), "findings": (list,), "hypotheses": (list,), "blind": (list,)})
    check(found["target"], {"pid": (int,), "host": TEXT, "watched_s": NUMBER, "time": NUMBER})
    assert found["target"]["pid"] == healthy.launcher_pid
    check(found["job"], {"launcher": (dict, type(None)), "world_size": (int, type(None)), "ranks": (list,)})
    (rank,) = found["job"]["ranks"]
    kept = {"rank": (int,), "pid": (int,), "gpu": (int, type(None)), "step": (int,), "step_time_s": NUMBER}
    check(rank, kept | {"phase": MAYBE_TEXT, "state": TEXT, "log": TEXT, "log_age_s": NUMBER, "cpu_pct": NUMBER})
    assert (rank["rank"], rank["pid"]) == (0, healthy.launcher_pid)
    assert rank["log"] == str(healthy.folder / "launcher.log")
    assert rank["progress"]["loss"] == 2.5
    assert not [spot for spot in found["blind"] if spot["source"] == "hwtop"]
    for spot in found["blind"]:
        check(spot, {"source": TEXT, "reason": TEXT})


def test_nan_is_found_and_null(tmp_path: Path) -> None:
    with trainer(tmp_path, "nan") as job:
        job.wait_for_line("step 5 ")
        done = hwtop("diagnose", str(job.launcher_pid), "--for", "3s", "--json")
    assert (done.returncode, done.stderr) == (1, "")
    found = json.loads(done.stdout, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert found["job"]["ranks"][0]["progress"]["loss"] is None
    (finding,) = found["findings"]
    kept: dict[str, tuple[type, ...]] = {
        "symptom": TEXT,
        "severity": TEXT,
        "confidence": NUMBER,
        "category": TEXT,
        "title": TEXT,
    }
    kept |= {"evidence": (list,), "next_steps": (list,), "ranks": (list,), "first_seen_s": NUMBER}
    check(finding, kept | {"log_line": TEXT})
    assert (finding["symptom"], finding["category"], finding["ranks"]) == ("loss-nan", "correctness", [0])
    assert finding["evidence"] and finding["next_steps"]


def test_a_log_with_a_name_that_is_no_text(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(TRAINER)
    with Path(os.fsdecode(os.fsencode(tmp_path) + b"/run-\xff.log")).open("wb") as log:
        process = subprocess.Popen([sys.executable, str(script), "2.5"], stdout=log, stderr=log)
    try:
        as_json = hwtop("diagnose", str(process.pid), "--for", "2s", "--json")
        as_text = hwtop("diagnose", str(process.pid), "--for", "2s")
    finally:
        process.kill()
        process.wait()
    assert (as_json.returncode, as_json.stderr) == (0, "")
    assert json.loads(as_json.stdout)["job"]["ranks"][0]["progress"]["loss"] == 2.5
    assert (as_text.returncode, as_text.stderr) == (0, "")


@pytest.mark.parametrize("flags", [("--json", "--progress"), ()])
def test_scan_of_a_file_with_a_name_that_is_no_text(tmp_path: Path, flags: tuple[str, ...]) -> None:
    log = Path(os.fsdecode(os.fsencode(tmp_path) + b"/run-\xff.log"))
    log.write_text("step 3 loss 2.5\nCUDA out of memory. Tried to allocate 2.00 GiB\n")
    done = hwtop("scan", *flags, str(log))
    assert (done.returncode, done.stderr) == (1, "")
    assert "cuda-oom" in done.stdout


def test_nothing_is_lost_where_python_is_unbuffered_and_stopped_meanwhile() -> None:
    """A pager that is left with Ctrl-Z and entered again: the first call has written the 64 KiB that fit into the pipe."""
    command = [sys.executable, "-u", "-m", "hwtop", "symptoms", "--markdown"]
    whole = subprocess.run(command, capture_output=True, check=True).stdout
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        wait_until(lambda: "write" in Path(f"/proc/{process.pid}/wchan").read_text(), "the pipe is full")
        process.send_signal(signal.SIGSTOP)
        wait_until(lambda: psutil.Process(process.pid).status() == psutil.STATUS_STOPPED, "it is stopped")
        process.send_signal(signal.SIGCONT)
        assert process.communicate()[0] == whole
    assert len(whole) > 1 << 16


def test_a_terminal_that_is_not_utf8(tmp_path: Path) -> None:
    log = tmp_path / "größe.log"
    log.write_text("CUDA out of memory. Tried to allocate 2.00 GiB · größer\n")
    done = hwtop("scan", str(log), PYTHONIOENCODING="ascii", LC_ALL="C")
    assert (done.returncode, done.stderr) == (1, "")
    assert "cuda-oom" in done.stdout


# --- snapshot


def test_snapshot_keeps_its_contract(snapped: dict[str, Any], healthy: TrainingJob) -> None:
    kept: dict[str, tuple[type, ...]] = {"time": NUMBER, "host": TEXT, "interval_s": NUMBER, "gpus": (list,)}
    kept |= {"cpu": (dict,), "memory": (dict,), "disks": (list,), "mounts": (list,), "nics": (list,), "job": (dict,)}
    check(snapped, kept | {"sampler": (dict,)})
    cpu: dict[str, tuple[type, ...]] = {"util_pct": NUMBER, "iowait_pct": NUMBER, "steal_pct": NUMBER, "cores": (list,)}
    check(snapped["cpu"], cpu | {"load": (list,), "psi": (dict,)})
    assert snapped["cpu"]["cores"] and all(0 <= core["util_pct"] <= 100 for core in snapped["cpu"]["cores"])
    check(snapped["memory"], {"total_bytes": (int,), "available_bytes": (int,), "swap_total_bytes": (int,)})
    assert snapped["nics"] and {"lo"} <= {nic["name"] for nic in snapped["nics"]}
    assert "/" in {mount["mount_point"] for mount in snapped["mounts"]}
    assert snapped["job"]["ranks"][0]["pid"] == healthy.launcher_pid


def test_snapshot_tells_of_its_own_sources(snapped: dict[str, Any]) -> None:
    check(snapped["sampler"], {"cost_ms": NUMBER, "late_ms": NUMBER, "sources": (list,)})
    states = {}
    for source in snapped["sampler"]["sources"]:
        check(source, {"name": TEXT, "status": TEXT, "reason": MAYBE_TEXT, "age_s": MAYBE, "cost_ms": MAYBE})
        states[source["name"]] = source["status"]
    assert {"cpu", "memory", "disk", "network", "gpu", "cgroup", "process", "stacks", "logs"} <= set(states)
    assert (states["cpu"], states["memory"], states["process"]) == ("ok", "ok", "ok")


def test_snapshot_without_a_job() -> None:
    done = hwtop("snapshot", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["job"] is None


def test_snapshot_as_text_is_a_few_lines() -> None:
    done = hwtop("snapshot")
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines()[1:3]] == ["cpu", "memory"]


@pytest.mark.parametrize("redirection", [">/dev/full", ">&-"])
def test_an_output_that_cannot_be_written_is_one_line(redirection: str) -> None:
    """Not an internal error: the disk is full, or a caller has closed standard output."""
    shell = f'"{sys.executable}" -m hwtop symptoms {redirection}'
    found = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, timeout=120, check=False)
    assert found.returncode == 2
    assert found.stderr in ("hwtop: No space left on device\n", "hwtop: standard output is closed\n")
