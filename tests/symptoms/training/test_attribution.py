"""What moved when the training became slower, and what did not."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import pytest

from hwtop.model.frame import DerivedState
from hwtop.model.gpu.device import GpuProcess
from hwtop.model.host.cpu import Pressure, PressureLine
from hwtop.model.host.network import NetworkRates
from hwtop.symptoms.training.attribution import moves
from hwtop.symptoms.training.slowdown import check_drop
from tests.parts import replace
from tests.symptoms.curves import curve
from tests.symptoms.derived_states import cpu, derived, gpu, history, job, memory, rank, row

AT = 200
SECONDS = 240
Fields = Callable[[int, random.Random], dict[str, Any]]


def clauses(fields: Fields, seed: int = 1, watched: Any = None, at_s: int = AT) -> list[str]:
    noise = random.Random(seed)
    one = watched or job(rank(0, gpus=(0, 1, 2, 3)))

    def at(second: int) -> DerivedState:
        return derived(float(second), **({"watched": one} | fields(second, noise)))

    return [move.clause for move in moves(history(SECONDS, at), at_s - 1.0, float(at_s)) if move.clause]


def gpus(**of_third: Any) -> dict[str, Any]:
    return {"gpus": tuple(gpu(index, **(of_third if index == 3 else {})) for index in range(4))}


def throttled(second: int, noise: random.Random) -> dict[str, Any]:
    is_held = second >= AT - 5 and noise.random() < 0.8
    clock = 1250.0 if is_held else 1740.0
    return gpus(throttle=("hw_thermal", "hw_slowdown") if is_held else (), sm_clock_mhz=clock + noise.gauss(0, 15))


def limited(second: int, _: random.Random) -> dict[str, Any]:
    return gpus(power_limit_w=400.0 if second >= AT + 10 else 700.0)


def with_io(pct: float) -> dict[str, Any]:
    line = PressureLine(avg10_pct=pct, avg60_pct=0.0, avg300_pct=0.0, total_us=0)
    return {"cpu": replace(cpu(), psi={"io": Pressure(some=line)})}


def io(second: int, noise: random.Random) -> dict[str, Any]:
    return with_io((60.0 if second >= AT else 4.0) + noise.gauss(0, 3))


def queued(second: int, noise: random.Random) -> dict[str, Any]:
    return {"cpu": replace(cpu(99.0), running=noise.randint(18, 26) if second >= AT else noise.randint(3, 10))}


def resent(second: int, noise: random.Random) -> dict[str, Any]:
    lost = (4.0 if second >= AT else 0.0) + abs(noise.gauss(0, 0.2))
    return {"network": NetworkRates(nics=(), tcp_retransmit_pct=lost)}


def starved(second: int, noise: random.Random) -> dict[str, Any]:
    share = 0.4 if second >= AT else 0.04
    ranks = [rank(number, phase="data" if noise.random() < share else "forward") for number in range(8)]
    return {"watched": job(*ranks)}


def swapped(second: int, noise: random.Random) -> dict[str, Any]:
    return {"memory": replace(memory(), swap_in_pages_per_s=(900.0 if second >= AT else 0.0) * noise.uniform(0.5, 1.5))}


def crowded(second: int, noise: random.Random) -> dict[str, Any]:
    own = row(cpu_pct=200.0)
    busy = (92.0 if second >= AT else 28.0) + noise.gauss(0, 3)
    return {"watched": job(rank(0), processes=(own,)), "cpu": cpu(busy)}


def shared(second: int, _: random.Random) -> dict[str, Any]:
    own = GpuProcess(pid=1000, mem_bytes=1 << 30)
    other = GpuProcess(pid=77, mem_bytes=1 << 30, sm_pct=60.0)
    return gpus(processes=(own, other) if second >= AT else (own,))


@pytest.mark.parametrize(
    ("fields", "first"),
    [
        (throttled, "GPU 3 began to throttle (heat)"),
        (limited, "the power limit of GPU 3 was lowered from 700 to 400 W"),
        (io, "I/O pressure rose from"),
        (queued, "the run queue grew from"),
        (resent, "TCP retransmits rose from 0"),
        (starved, "more of the time went into waiting for data"),
        (swapped, "the machine began to swap (from 0 to"),
        (crowded, "other programs' use of the CPU rose from"),
        (shared, "another job began to use GPU 3"),
    ],
)
def test_what_moved_is_named(fields: Fields, first: str) -> None:
    for seed in range(5):
        found = clauses(fields, seed)
        assert found and found[0].startswith(first), found


def later(second: int, noise: random.Random) -> dict[str, Any]:
    return io(second - 35, noise)


def earlier(second: int, noise: random.Random) -> dict[str, Any]:
    return io(second + 45, noise)


def other_times_too(second: int, noise: random.Random) -> dict[str, Any]:
    return with_io((60.0 if second >= AT or 60 <= second < 90 else 4.0) + noise.gauss(0, 3))


def only_a_burst(second: int, noise: random.Random) -> dict[str, Any]:
    return with_io((60.0 if AT <= second < AT + 12 else 4.0) + noise.gauss(0, 3))


def less(second: int, noise: random.Random) -> dict[str, Any]:
    return with_io((4.0 if second >= AT else 60.0) + noise.gauss(0, 3))


def nothing(_: int, noise: random.Random) -> dict[str, Any]:
    ranks = [rank(n, phase="data" if noise.random() < 0.2 else "forward", gpus=(n,)) for n in range(4)]
    noisy = replace(cpu(noise.uniform(10, 90)), running=noise.randint(0, 24))
    rows = [
        gpu(n, sm_clock_mhz=noise.gauss(1600, 120), throttle=("sw_thermal",) * (noise.random() < 0.3)) for n in range(4)
    ]
    net = NetworkRates(nics=(), tcp_retransmit_pct=noise.expovariate(1.0))
    return {"watched": job(*ranks), "cpu": noisy, "gpus": tuple(rows), "network": net}


def rare_pauses(second: int, noise: random.Random) -> dict[str, Any]:
    return with_io((80.0 if second % 60 < 8 else 2.0) + noise.gauss(0, 1))


@pytest.mark.parametrize("fields", [later, earlier, other_times_too, only_a_burst, less, nothing, rare_pauses])
def test_what_did_not_is_not(fields: Fields) -> None:
    for seed in range(20):
        assert clauses(fields, seed) == []


def test_a_gpu_of_others_explains_nothing() -> None:
    watched = job(rank(0, gpus=(0,)))
    assert clauses(throttled, watched=watched) == []


def test_gpus_that_move_alike_are_told_together() -> None:
    def all_limited(second: int, _: random.Random) -> dict[str, Any]:
        return {"gpus": tuple(gpu(index, power_limit_w=450.0 if second >= AT else 700.0) for index in range(4))}

    assert clauses(all_limited) == ["the power limit of GPUs 0-3 was lowered from 700 to 450 W"]


def test_the_sentence() -> None:
    noise = random.Random(5)
    curves = (curve("throughput", [*[1000.0] * 200, *[620.0] * 40], unit="tokens/s", live=240),)

    def at(second: int) -> DerivedState:
        is_held = second >= 201
        rows = tuple(gpu(n, throttle=("sw_thermal",) if is_held and n == 3 else ()) for n in range(4))
        watched = job(rank(0, gpus=(0, 1, 2, 3)), curves=curves)
        return derived(760.0 + second, watched, gpus=rows, cpu=cpu(40 + noise.gauss(0, 2)))

    seen = check_drop(history(240, at))
    assert seen is not None
    title = r"Throughput fell 38 % at \d\d:\d\d:\d\d \(step 201\) when GPU 3 began to throttle \(heat\), from 1000 tokens/s to 620"
    assert re.match(title, seen.title), seen.title
    assert "moved at the same time: slowdown by heat of GPU 3 from 0 to 100 % of the samples" in seen.evidence
