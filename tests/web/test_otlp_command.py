"""`hwtop export --otlp` as a process."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.web.otlp_server import DEADLINE_S, Answer, receiving
from tests.web.served import hwtop

_REFUSED = "import sys; sys.modules['opentelemetry.proto'] = None; from hwtop.cli import main; main(sys.argv[1:])"


@pytest.mark.real
def test_the_command_pushes_what_it_reads_until_it_is_ended() -> None:
    with receiving() as server:
        command = hwtop("export", "--otlp", server.url, "--every", "1s")
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            try:
                first, second = server.next(), server.next()
            finally:
                process.terminate()
            output, errors = process.communicate(timeout=DEADLINE_S)
    assert (process.returncode, errors) == (0, "")
    assert output == f"pushing metrics every 1 s: {server.url}/v1/metrics\n"
    assert first.resources[0]["service.instance.id"].endswith(f":{process.pid}")
    (_, used), *_ = second.points("hwtop.memory.used_ratio")
    assert 0 < used < 1


@pytest.mark.real
def test_the_end_of_the_job_is_pushed() -> None:
    with receiving() as server, subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as job:
        command = hwtop("export", str(job.pid), "--otlp", server.url, "--every", "1h")
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            server.next()
            job.communicate(b"\n")
            assert process.wait(DEADLINE_S) == 0
        assert server.next().points("hwtop.job.ended") == [({}, 1)]


@pytest.mark.real
def test_an_address_without_a_receiver_ends_in_one_line() -> None:
    with receiving() as server:
        server.answer = Answer(404)
        done = subprocess.run(hwtop("export", "--otlp", server.url), capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode == 2
    assert re.fullmatch(r"hwtop: no metrics were pushed to \S+: it answers 404 Not Found: is this .+\n", done.stderr)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("export", "--otlp", "localhost:4318"), "'localhost:4318' is not an address: use e.g. http://127.0.0.1:4318"),
        (("export", "--otlp", "http://a", "--prometheus"), "choose --prometheus or --otlp"),
        (("export", "run.hwtop", "--otlp", "http://a", "--csv", "out"), "choose --prometheus or --otlp"),
        (("fleet", "--hosts", "a", "--otlp", "http://a", "--prometheus"), "choose --prometheus or --otlp"),
        (("fleet", "--hosts", "a", "--otlp", "http://a", "--every", "0s"), "use 1 to 3600 seconds"),
    ],
)
def test_what_is_refused(arguments: tuple[str, ...], words: str) -> None:
    done = subprocess.run(hwtop(*arguments), capture_output=True, text=True, timeout=DEADLINE_S)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("command", [("export",), ("fleet", "--hosts", "a")])
def test_without_the_extra(command: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _REFUSED, *command, "--otlp", "http://127.0.0.1:4318"],
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "hwtop: --otlp needs opentelemetry-proto: pip install 'hwtop[otlp]'\n"


def test_the_extra_is_loaded_only_where_metrics_are_pushed() -> None:
    code = "import sys, hwtop.commands.job.fleet, hwtop.commands.serve.export; print({'google.protobuf', 'opentelemetry.proto', 'textual'} & {*sys.modules})"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "set()\n"
