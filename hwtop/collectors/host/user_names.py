"""Names of users. The directory that knows them (LDAP, SSSD) may be down, so an answer is waited for only once and only briefly."""

from __future__ import annotations

import pwd
import threading
import time
from functools import partial

from hwtop.collectors.abandon import Abandonable

_PATIENCE_S = 0.3
"""A local directory answers in a millisecond, a healthy LDAP server in some tens; engineering default."""

_lock = threading.Lock()
_names: dict[int, str] = {}
_asked: dict[int, Abandonable[str]] = {}


def user_name(uid: int) -> str:
    """The name of this user; the number where there is none, or until it is known. Waits for 0.3 s at most, once a user."""
    with _lock:
        if uid in _names:
            return _names[uid]
        is_new = uid not in _asked
        if is_new:
            _asked[uid] = Abandonable("user-name", partial(_ask, uid), time.monotonic)
        try:
            _names[uid] = _asked[uid].poll(_PATIENCE_S if is_new else 0.0)
        except (TimeoutError, OSError):
            return str(uid)
        return _names[uid]


def _ask(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
