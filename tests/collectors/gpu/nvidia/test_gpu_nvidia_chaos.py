"""Any mix of faults, one on top of the other, on a driver that crashes on wrong handles: rows stay explained, and all recovers."""

from __future__ import annotations

import random

import pytest

from tests.fakenvml.fixture import FakeNvml, are_ok, unexplained

STEPS = 100
FUNCTIONS = (
    "*",
    "nvmlDeviceGet*",
    "nvmlDeviceGetHandle*",
    "nvmlDeviceGetFieldValues",
    "nvmlDeviceGet*Process*",
    "nvmlDeviceGetMig*",
    "nvmlDeviceGetMemoryInfo*",
    "nvmlDeviceGetCount*",
    "nvmlInit*",
)
ERRORS = (
    "UNKNOWN",
    "UNKNOWN %30",
    "GPU_IS_LOST",
    "UNINITIALIZED",
    "NO_PERMISSION",
    "NOT_SUPPORTED",
    "RESET_REQUIRED",
    "LIB_RM_VERSION_MISMATCH",
    "TIMEOUT",
    "INSUFFICIENT_SIZE",
    "NOT_FOUND",
)


def disturb(fake: FakeNvml, chance: random.Random) -> None:
    gpu = chance.choice((0, 1, "all", "system"))
    match chance.randrange(6):
        case 0 | 1:
            fake.fail(gpu, chance.choice(FUNCTIONS), chance.choice(ERRORS))
        case 2:
            fake.sleep(gpu, chance.choice(FUNCTIONS), chance.choice((5, "hang")))
        case 3:
            fake.set("system", gpus=chance.choice((0, 1, 2, 3)))
        case 4:
            fake.set(chance.choice((0, 1)), mig=chance.choice((0, 1)))
        case _:
            calm(fake)


def calm(fake: FakeNvml) -> None:
    fake.undo()
    fake.set("system", bad_handle="crash")


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_any_mix_of_faults(fake_nvml: FakeNvml, seed: int) -> None:
    fake_nvml.load("a100-mig")
    chance = random.Random(seed)
    calm(fake_nvml)
    probe = fake_nvml.probe(deadline_s=0.05)
    probe.read_until(are_ok)
    for _ in range(STEPS):
        disturb(fake_nvml, chance)
        probe.say(f"advance {chance.choice((0.1, 1, 3, 12))}")
        answer = probe.say("read")
        for gpu in answer.reading.gpus if answer.reading else ():
            assert gpu.reason or gpu.status == "ok", gpu
            assert gpu.status != "ok" or not unexplained(gpu), gpu
        assert answer.reading or answer.reason
    calm(fake_nvml)
    probe.say("advance 12")
    probe.read_until(lambda gpus: are_ok(gpus[:2]) and gpus[0].mig_mode is True)
