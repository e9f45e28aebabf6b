"""`hwtop bundle` of a real process that holds sixty kinds of secrets."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bundle.zips import manifest, members, texts
from tests.commands.test_record import start
from tests.job.test_secret_kinds import KINDS
from tests.training import POLL_S, TrainingJob

pytestmark = pytest.mark.real

_DEADLINE_S = 60.0
_JOB = """
import sys, time
for line in open("secrets.txt"):
    print(f"login with {line}", end="", flush=True)
print("-----BEGIN RSA PRIVATE KEY-----\\nMIIEpAIBAAKCAQEAplanted\\n-----END RSA PRIVATE KEY-----")
for step in range(100_000):
    print(f"step {step} loss 2.5", flush=True)
    time.sleep(0.1)  # PLANTED
"""


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TrainingJob]:
    folder = tmp_path_factory.mktemp("job")
    (folder / "secrets.txt").write_text("\n".join(KINDS.values()) + "\n")
    (folder / "train.py").write_text(_JOB.replace("PLANTED", KINDS["GitHub"]))
    (folder / "run.yaml").write_text(
        "".join(f"key_{n}: x {each}\n" for n, each in enumerate(KINDS.values())) + "lr: 3\n"
    )
    repository(folder)
    variables = {f"NCCL_PLANTED_{number}": secret for number, secret in enumerate(KINDS.values())}
    command = [sys.executable, "train.py", *KINDS.values(), "--api-key", "Zq7planted", "--config=run.yaml"]
    with TrainingJob(command, folder, {**variables, "RANK": "0", "WORLD_SIZE": "1"}, "launcher.log") as job:
        job.wait_for_line("step 5 ")
        yield job


def repository(folder: Path) -> None:
    """One with a change, whose settings would start programs."""
    (folder / "seen.py").write_text("x = 1\n")
    trap = f"touch {folder}/started"
    for arguments in (
        ["init", "-q"],
        ["add", "seen.py"],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first"],
        ["config", "core.fsmonitor", trap],
        ["config", "filter.trap.clean", trap],
        ["config", "core.pager", trap],
    ):
        subprocess.run(["git", *arguments], cwd=folder, check=True)
    (folder / ".git" / "info" / "attributes").write_text("* filter=trap\n")
    (folder / "seen.py").write_text("x = 2, changed\n")


@pytest.fixture(scope="module")
def bundle(job: TrainingJob, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("bundle") / "b.zip"
    process = start("bundle", job.launcher_pid, "-o", place, "--for", "5s")
    told, errors = process.communicate(timeout=_DEADLINE_S)
    assert (process.returncode, errors) == (0, "")
    assert told.startswith(f"{place}: ")
    assert (os.listdir(place.parent), place.stat().st_mode & 0o777) == (["b.zip"], 0o600)
    return place


def test_all_of_it_is_there(bundle: Path, job: TrainingJob) -> None:
    found = members(bundle)
    assert next(iter(found)) == "manifest.json"
    assert {
        "report.md", "report.json", "environment.json", "hardware.json", "started.json", "git.json", "stacks.json",
        "logs/newest.txt", "logs/01-launcher.log.txt", "recording.hwtop", "overview.png", "overview.txt",
    } <= found.keys()  # fmt: skip
    told = manifest(bundle)
    assert told["members"] == {name: len(content) for name, content in found.items() if name != "manifest.json"}
    assert told["not_collected"]["flight"] == "no Flight Recorder dump was found"
    assert told["pid"] == job.launcher_pid
    assert found["overview.png"].startswith(b"\x89PNG")
    assert b"step 5 loss 2.5" in found["logs/01-launcher.log.txt"]
    environment = json.loads(found["environment.json"])
    assert not any(folder.startswith("/proc/") for folder in environment["site_packages"])
    packages = environment["packages"]
    assert any(package.startswith("msgspec v") for package in packages)
    assert all("****" not in package for package in packages)


def test_files_of_settings_are_there(bundle: Path) -> None:
    (name,) = (name for name in members(bundle) if name.startswith("config/"))
    assert name.endswith("run.yaml")
    assert b"lr: 3" in members(bundle)[name]


def test_no_secret_is_in_any_member(bundle: Path, tmp_path: Path) -> None:
    for member, text in texts(bundle, tmp_path).items():
        for kind, secret in {**KINDS, "option": "Zq7planted", "key file": "MIIEpAIBAAKCAQEAplanted"}.items():
            assert secret[-10:] not in text, f"{kind} in {member}"
            assert secret[4:14] not in text, f"{kind} in {member}"


def test_the_manifest_counts_them(bundle: Path) -> None:
    masked = manifest(bundle)["masked"]
    assert masked["logs/01-launcher.log.txt"]["known format"] >= len(KINDS)
    assert masked["started.json"]["masked when it was read"] >= 1
    assert masked["environment.json"]["masked when it was read"] >= 1


def test_git_starts_nothing_that_the_repository_names(bundle: Path, job: TrainingJob) -> None:
    found = json.loads(members(bundle)["git.json"])
    assert (found["is_dirty"], found["changed_since_checkout"]) == (True, ["M seen.py"])
    assert len(found["commit"]) == 40
    assert not (job.folder / "started").exists()


def test_it_is_diagnosed_elsewhere(bundle: Path, job: TrainingJob) -> None:
    told, errors = start("replay", bundle, "--diagnose", "--json").communicate(timeout=_DEADLINE_S)
    assert errors == ""
    found = json.loads(told)
    assert (found["target"]["pid"], found["job"]["ranks"][0]["progress"]["loss"]) == (job.launcher_pid, 2.5)


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_nothing(signum: signal.Signals, job: TrainingJob, tmp_path: Path) -> None:
    (tmp_path / "temporary").mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "hwtop", "bundle", str(job.launcher_pid), "-o", str(tmp_path / "b.zip"), "--for", "50s"],
        env={**os.environ, "TMPDIR": str(tmp_path / "temporary")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while not list(tmp_path.glob("temporary/*/recording.hwtop")):
        assert process.poll() is None
        time.sleep(POLL_S)
    process.send_signal(signum)
    # A shell calls both 130. CPython ends by the signal where the interrupt came in an exec(), as that of a dataclass.
    assert process.wait(_DEADLINE_S) in (130, -signal.SIGINT)
    assert (os.listdir(tmp_path), os.listdir(tmp_path / "temporary")) == (["temporary"], [])


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("bundle", "-o", __file__, "1"), "exists: bundles never replace a file, so choose another name"),
        (("bundle", "-o", "/nowhere/b.zip", "1"), "cannot create '/nowhere/b.zip': there is no such folder"),
        (("bundle", "-o", "b.zip", "--mask", "names", "1"), "use e.g. hosts,users,paths"),
    ],
)
def test_wrong_input_is_one_line(arguments: tuple[str, ...], reason: str) -> None:
    process = start(*arguments)
    told, errors = process.communicate(timeout=_DEADLINE_S)
    assert (process.returncode, told) == (2, "")
    assert reason in errors
    assert len(errors.splitlines()) == 1
