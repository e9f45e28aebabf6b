from __future__ import annotations

from hwtop.job.log.private_key import PrivateKeys

KEY = ["-----BEGIN RSA PRIVATE KEY-----", "MIIEpAIBAAKCAQEA", "b2JwbGFudGVk", "-----END RSA PRIVATE KEY-----"]


def inside(lines: list[str], path: str = "/a.log") -> list[str]:
    keys = PrivateKeys()
    return [line for line in lines if keys.has(path, line)]


def test_all_lines_of_a_key_but_the_first() -> None:
    assert inside(["step 1", *KEY, "step 2"]) == KEY[1:]


def test_a_key_in_one_line_ends_there() -> None:
    assert inside([" ".join(KEY), "step 2"]) == []


def test_one_key_after_the_other() -> None:
    assert inside([*KEY, *KEY, "step 2"]) == [*KEY[1:], *KEY[1:]]


def test_a_line_that_looks_like_a_key_does_not_hide_the_log() -> None:
    assert inside([KEY[0], *(f"step {number}" for number in range(1000))])[-1] == "step 199"


def test_logs_are_apart() -> None:
    keys = PrivateKeys()
    assert [keys.has("/a.log", KEY[0]), keys.has("/b.log", "step 1"), keys.has("/a.log", KEY[1])] == [
        False,
        False,
        True,
    ]
