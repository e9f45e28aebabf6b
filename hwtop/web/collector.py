"""Collector: takes metrics by OTLP over HTTP (https://opentelemetry.io/docs/specs/otlp/#otlphttp). Only the standard library sends.

Nothing but the address that the user names is connected to: no redirect is followed, no proxy of the environment used.
"""

from __future__ import annotations

import gzip
import http.client
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import SplitResult, unquote, urlsplit

from hwtop import __version__
from hwtop.errors import UsageError
from hwtop.job.secrets import masked
from hwtop.web.metrics import is_loopback

HEADER_VARIABLES = ("OTEL_EXPORTER_OTLP_METRICS_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS")
"""The first that is set is read, as OpenTelemetry's own exporters do. No other variable is."""
_PATH = "/v1/metrics"
_MOST_ANSWER_BYTES = 64 << 10
_MOST_PAUSE_S = 300.0
"""Of what a collector may ask for with Retry-After."""
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""Name of a header (RFC 9110)."""
_RETRIED = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS)
"""Besides all from 500 on."""


class NotDeliveredError(Exception):
    """In a few words, why the collector did not take the metrics."""

    def __init__(self, reason: str, *, is_refused: bool = False, pause_s: float = 0.0) -> None:
        super().__init__(reason)
        self.is_refused = is_refused
        """The same request would be refused again."""
        self.pause_s = pause_s
        """How long the collector asked to wait."""


@dataclass(frozen=True)
class Collector:
    """Where metrics are pushed to."""

    host: str
    port: int
    path: str
    """With the query."""
    tls: ssl.SSLContext | None
    headers: Mapping[str, str] = field(repr=False)
    """Of the user: may hold a token, and is never printed."""
    timeout_s: float = 10.0
    """For which the collector may be silent: the default of OpenTelemetry's exporters."""

    @property
    def url(self) -> str:
        """To print: without the query, which may hold a key."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.tls else 'http'}://{name}:{self.port}{self.path.partition('?')[0]}"

    def post(self, body: bytes) -> bytes:
        """The answer to this request.

        Raises:
            NotDeliveredError: it was not taken.
        """
        try:
            return self._post(gzip.compress(body, mtime=0))
        except TimeoutError:
            raise NotDeliveredError(f"no answer within {self.timeout_s:g} s") from None
        except ssl.SSLCertVerificationError as error:
            reason = f"its certificate is not trusted: {error.verify_message} (SSL_CERT_FILE names the authorities)"
            raise NotDeliveredError(reason) from None
        except OSError as error:
            raise NotDeliveredError(error.strerror or str(error) or type(error).__name__) from None
        except http.client.IncompleteRead:
            raise NotDeliveredError("its answer is cut short") from None
        except http.client.HTTPException:
            reason = "it does not answer in HTTP (the usual port is 4318; 4317 is gRPC)"
            raise NotDeliveredError(reason, is_refused=True) from None

    def _post(self, body: bytes) -> bytes:
        connection = (
            http.client.HTTPConnection(self.host, self.port, timeout=self.timeout_s)
            if self.tls is None
            else http.client.HTTPSConnection(self.host, self.port, timeout=self.timeout_s, context=self.tls)
        )
        own = {
            "content-type": "application/x-protobuf",
            "content-encoding": "gzip",
            "user-agent": f"hwtop/{__version__}",
        }
        try:
            connection.request("POST", self.path, body, {**self.headers, **own})
            answer = connection.getresponse()
            if not 200 <= answer.status < 300:
                raise _not_taken(answer)
            return answer.read(_MOST_ANSWER_BYTES)
        finally:
            connection.close()


def collector(url: str, environ: Mapping[str, str]) -> Collector:
    """The collector at this address, with the headers of the environment.

    Raises:
        UsageError: the address or the headers are not valid, or a secret would be sent without encryption.
    """
    parts, port = _parts(url)
    variable, headers = _headers(environ)
    host = parts.hostname or ""
    if parts.scheme == "http" and not is_loopback(host) and any(masked(*pair) != pair[1] for pair in headers.items()):
        raise UsageError(
            f"--otlp http://{host}: the secret in {variable} would be sent without encryption: use https://, or unset {variable}"
        )
    path = parts.path.rstrip("/")
    if not path.endswith(_PATH):
        path += _PATH
    return Collector(
        host=host,
        port=port,
        path=f"{path}?{parts.query}" if parts.query else path,
        tls=ssl.create_default_context() if parts.scheme == "https" else None,
        headers=headers,
    )


def _parts(url: str) -> tuple[SplitResult, int]:
    """The address, and its port."""
    if "@" in url.partition("?")[0]:
        raise UsageError(f"--otlp: the address holds a password: use the variable {HEADER_VARIABLES[1]} for it")
    try:
        parts = urlsplit(url)
        port = parts.port
        (parts.hostname or "").encode("idna")
    except ValueError:
        parts, port = SplitResult("", "", "", "", ""), None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0 or not re.fullmatch(r"[!-~]+", url):
        given = url.partition("?")[0]
        raise UsageError(f"--otlp {given!r} is not an address: use e.g. http://127.0.0.1:4318")
    return parts, port or (443 if parts.scheme == "https" else 80)


def _headers(environ: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """The variable, and its key=value pairs, percent-encoded and separated by commas."""
    variable = next((name for name in HEADER_VARIABLES if environ.get(name, "").strip()), HEADER_VARIABLES[1])
    found = {}
    for part in environ.get(variable, "").split(","):
        key, sign, value = (text.strip() for text in part.partition("="))
        value = unquote(value)
        if not (key or sign):
            continue
        if not (sign and _TOKEN.fullmatch(key) and value.isascii() and value.isprintable()):
            raise UsageError(f"{variable} is not valid: use KEY=VALUE,KEY=VALUE, percent-encoded")
        found[key.lower()] = value
    return variable, found


def _not_taken(answer: http.client.HTTPResponse) -> NotDeliveredError:
    """Its words are not repeated: they may quote the headers."""
    status = answer.status
    phrase = f"it answers {status} {_phrase(status)}".rstrip()
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        phrase += f": set {HEADER_VARIABLES[1]}, e.g. to authorization=Bearer%20TOKEN"
    elif status in (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED):
        phrase += ": is this the address of an OTLP receiver (HTTP, usually port 4318)?"
    elif 300 <= status < 400:
        phrase += ": redirects are not followed, so name the final address"
    wait = answer.headers.get("Retry-After", "")
    return NotDeliveredError(
        phrase,
        is_refused=status < 500 and status not in _RETRIED,
        pause_s=min(float(wait), _MOST_PAUSE_S) if re.fullmatch(r"[0-9]{1,9}", wait) else 0.0,
    )


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
