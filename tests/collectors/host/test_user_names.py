"""Names of users: asked once, and never waited for twice."""

from __future__ import annotations

import os
import pwd
import threading

import pytest

from hwtop.collectors.host import user_names
from hwtop.collectors.host.user_names import user_name


def test_a_name_and_a_number_without_one() -> None:
    assert user_name(os.geteuid()) == pwd.getpwuid(os.geteuid()).pw_name
    assert user_name(2**31 - 9) == str(2**31 - 9)


def test_a_directory_that_does_not_answer_is_waited_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    answer, asked = threading.Event(), []

    class Entry:
        pw_name = "ada"

    def slow(uid: int) -> Entry:
        asked.append(uid)
        answer.wait(20)
        return Entry()

    monkeypatch.setattr(pwd, "getpwuid", slow)
    monkeypatch.setattr(user_names, "_PATIENCE_S", 0.01)
    uid = 2**31 - 10
    assert [user_name(uid) for _ in range(50)] == [str(uid)] * 50
    assert asked == [uid]
    answer.set()
    user_names._asked[uid]._done.wait(20)
    assert user_name(uid) == "ada"
    assert asked == [uid]
