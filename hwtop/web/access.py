"""Access control: only requests with the address that `hwtop web` prints, from hwtop's own page, are served.

Rejected are other users of this machine (no token), web pages that guess the port (no cookie for them, wrong Origin), and names
that an attacker points at 127.0.0.1 (DNS rebinding: wrong Host). The token is exchanged for a cookie at the first visit, so that
it does not stay in the address bar. Cookies ignore ports: the path, random for each start, keeps this one from other servers on
the same machine.
"""

from __future__ import annotations

import re
import secrets

from msgspec import Struct

COOKIE = "hwtop"
_OWN_HOST = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?", re.IGNORECASE)
"""With any port: behind `ssh -L 9000:...` the browser uses another one."""


class Visit(Struct, frozen=True):
    """The credentials of a request."""

    host: str
    origin: str | None = None
    token: str | None = None
    cookie: str | None = None
    is_websocket: bool = False


class Access:
    """The secrets of one run."""

    def __init__(self) -> None:
        self.path = f"/{secrets.token_urlsafe(9)}/"
        self.token = secrets.token_urlsafe(32)
        self.cookie = secrets.token_urlsafe(32)

    def address(self, host: str, port: int) -> str:
        """The address to print."""
        name = f"[{host}]" if ":" in host else host
        return f"http://{name}:{port}{self.path}?token={self.token}"

    def refusal(self, visit: Visit) -> str | None:
        """Why this request is refused, in words for the user; None if it is allowed."""
        if not _OWN_HOST.fullmatch(visit.host):
            return "hwtop answers only at 127.0.0.1, [::1] and localhost: from another machine use ssh -L"
        if (visit.origin is not None or visit.is_websocket) and visit.origin != f"http://{visit.host}":
            return "this request comes from another page"
        if visit.token is not None and not visit.is_websocket:
            return None if _same(visit.token, self.token) else "wrong token: open the address that hwtop web printed"
        if visit.cookie is None or not _same(visit.cookie, self.cookie):
            return "no token: open the address that hwtop web printed"
        return None


def _same(given: str, secret: str) -> bool:
    return secrets.compare_digest(given.encode(errors="replace"), secret.encode())  # a header may hold any bytes
