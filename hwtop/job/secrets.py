"""Secrets in what processes are started with: found by the name of a variable or option, or by the shape of a value.

Shapes are the published ones: GitHub "Supported secret scanning patterns", the rules of gitleaks, RFC 7519 (JWT), RFC 7468 (PEM),
RFC 3986 3.2.1 (user information of a URL). Names are an engineering default: rather one value too many is hidden than one
too few. What is neither named nor shaped like a secret stays in sight.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

MASK = "****"
SHOWN = 4096
"""Characters of a value that are kept. Twice as many are looked at: a secret across the cut is masked as a whole."""

_HARMLESS = re.compile(
    r"TOKENI[ZS]E|KEYBOARD|KEYMAP|KEYWORD|KEYFRAME|KEYPOINT|MONKEY|HOTKEY|BYPASS|COMPASS|PASSES|PASSIVE|PASSTHR|AUTHOR(?!I[ZS])"
    r"|PRIVATEUSE|PIN_MEMORY|IB_PKEY|\b(?:OLD)?PWD\b"
)
"""Words that hold one of `_SECRET` by chance."""
_SECRET = re.compile(
    r"TOKEN|SECRET|PASS|KEY|CREDENTIAL|AUTH|COOKIE|PRIVATE|PWD|JWT|BEARER|WEBHOOK|CONNECTION_STRING|SIGNATURE|SALT"
    r"|(?:^|_)(?:PAT|PIN|CREDS?|SAS)(?:_|$)"
)
_COUNT = re.compile(
    r"(?:TOKENS|KEYS)(?:_|$)|(?:^|_)(?:NUM|MAX|MIN|N|PER)_|_(?:DIM|SIZE|LEN|LENGTH|HEADS|LAYERS|RATE|RATIO|DROPOUT|TTL|TIMEOUT)$"
)
"""A name that counts or measures: MAX_TOKENS=4096 is a setting."""
_NUMBER = re.compile(r"-?[0-9]{1,9}(?:\.[0-9]{1,9})?")
_PLACE = re.compile(r"_(?:FILE|PATH|DIR|SOCK)$")
"""A name that tells where something is; the path of a secret is none."""
_HINT = re.compile(r"ACCESS|API|SESSION|LICEN[SC]E|LOGIN|SIGN|CERT|CRYPT|VAULT|WANDB|COMET|NEPTUNE|MLFLOW|DSN|HOOK")
"""Names under which a long random string is taken for a secret."""
_RANDOM = re.compile(r"[A-Za-z0-9+/=_-]{24,}")
_RANDOM_BITS = 3.0
"""Shannon entropy a character: random hex has 4 bits less what short strings lose, words and paths stay under 3 to 3.5."""

_SHAPES = re.compile(
    r"""
      -----BEGIN[ ][A-Z ]{0,40}PRIVATE[ ]KEY-----[\s\S]*?(?:-----END[ ][A-Z ]{0,40}PRIVATE[ ]KEY-----|\Z)
    | \b(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b          # AWS
    | \b(?:hf|api_org)_[A-Za-z0-9]{16,}                            # Hugging Face
    | \bgh[pousr]_[A-Za-z0-9]{16,} | \bgithub_pat_\w{16,}          # GitHub
    | \bgl(?:pat|ptt|dt|rt|cbt)-[\w-]{16,}                         # GitLab
    | \b[spr]k[-_][A-Za-z0-9_-]{16,}                               # OpenAI, Anthropic, Stripe
    | \bxox[a-z]-[\w-]{8,} | \bxapp-[\w-]{8,}                      # Slack
    | \bhooks\.slack\.com/[\w/-]+ | \bdiscord(?:app)?\.com/api/webhooks/[\w/-]+
    | \bAIza[\w-]{30,} | \bya29\.[\w-]{16,} | \bGOCSPX-[\w-]{16,}  # Google
    | \bpypi-[\w-]{16,} | \bnpm_[A-Za-z0-9]{16,} | \bdckr_pat_[\w-]{16,}
    | \bnvapi-[\w-]{16,} | \bwandb_v1_\w{16,} | \bSG\.[\w-]{16,}\.[\w-]{16,}
    | \beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?                       # JWT
    """,
    re.VERBOSE,
)
_BEARER = re.compile(r"(?i)\b(bearer|basic)(\s{1,4})[\w.~+/=-]{8,}")
_URL_USER = re.compile(r"\b([A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s/:@]{0,255}):[^\s]{1,1024}@")
"""Up to the last "@": a password may hold ":", "/" and "@" itself where it was not encoded."""
_URL_TOKEN = re.compile(r"\b([A-Za-z][A-Za-z0-9+.-]{0,30}://)[^\s/:@]{12,1024}@")
_PAIR = re.compile(
    r"""(?P<name>\b[A-Za-z][\w.-]{0,63})(?P<sign>["']?\s{0,4}[=:]\s{0,4})(?P<value>"[^"]*"|'[^']*'|[^\s&;,"']+)"""
)
_OPTION = re.compile(
    r"""(?P<name>(?<!\S)--?[A-Za-z][\w.-]{0,63})(?P<sign>\s{1,4})(?P<value>"[^"]*"|'[^']*'|(?!-)\S+)"""
)


def is_secret_name(name: str) -> bool:
    """Whether a variable or option of this name holds a secret, whatever its value."""
    return _SECRET.search(_HARMLESS.sub("", _canonical(name))) is not None


def masked(name: str, value: str) -> str:
    """The value of variable `name` with every secret in it replaced by `MASK`; the rest of a very long one is left out."""
    seen, left = value[: 2 * SHOWN], len(value) - SHOWN
    text = _masked(name, seen)
    return text if left <= 0 else f"{text[:SHOWN]}… and {left:,} more characters"


def _masked(name: str, value: str) -> str:
    if not value or _is_plain(name, value):
        return value
    if is_secret_name(name):
        return MASK
    if _HINT.search(_canonical(name)) and _is_random(value):
        return MASK
    return masked_text(value)


def masked_text(text: str) -> str:
    """`text` with everything in it masked that is shaped like a secret, or stands behind a name that tells one."""
    text = _SHAPES.sub(MASK, text)
    text = _BEARER.sub(rf"\1\2{MASK}", text)
    text = _URL_TOKEN.sub(rf"\1{MASK}@", _URL_USER.sub(rf"\1:{MASK}@", text))
    return _OPTION.sub(_pair_masked, _PAIR.sub(_pair_masked, text))


def masked_arguments(arguments: Sequence[str]) -> tuple[str, ...]:
    """A command line with its secrets masked: `--api-key X`, `--api-key=X`, `password=X`, and values of their shapes."""
    shown: list[str] = []
    is_value = False
    for argument in arguments:
        if is_value and not argument.startswith("-"):
            shown.append(argument if _is_plain(shown[-1], argument) else MASK)
            is_value = False
            continue
        shown.append(masked_text(argument[: 2 * SHOWN]) + argument[2 * SHOWN :])
        is_value = argument.startswith("-") and "=" not in argument and " " not in argument and is_secret_name(argument)
    return tuple(shown)


def _pair_masked(found: re.Match[str]) -> str:
    name, sign, value = found["name"], found["sign"], found["value"]
    bare = value.strip("\"'")
    if not is_secret_name(name) or _is_plain(name, bare) or MASK in value:
        return found[0]
    quote = value[0] if value[0] in "\"'" else ""
    return f"{name}{sign}{quote}{MASK}{quote}"


def _canonical(name: str) -> str:
    """Upper case with "_" between words: "accessToken", "api-key" and "API_KEY" are one kind of name."""
    return re.sub(r"[^A-Za-z0-9]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)).strip("_").upper()


def _is_plain(name: str, value: str) -> bool:
    """Whether the value is a switch, a number under a name that counts, or a path under one that says so."""
    if value.casefold() in ("true", "false", "yes", "no", "on", "off", "none", "null", "0", "1"):
        return True
    if _NUMBER.fullmatch(value):
        return _COUNT.search(_canonical(name)) is not None
    return value.startswith("/") and _PLACE.search(_canonical(name)) is not None


def _is_random(value: str) -> bool:
    if not _RANDOM.fullmatch(value) or value.isalpha():
        return False
    shares = [value.count(character) / len(value) for character in set(value)]
    return -sum(share * math.log2(share) for share in shares) >= _RANDOM_BITS
