"""Secrets in what processes are started with: found by the name of a variable or option, or by the shape of a value.

Shapes are the published ones: GitHub "Supported secret scanning patterns", the rules of gitleaks, RFC 7519 (JWT), RFC 7468 (PEM),
RFC 3986 3.2.1 (user information of a URL). Names are an engineering default: rather one value too many is hidden than one
too few. What is neither named nor shaped like a secret stays in sight.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal, get_args

from hwtop.lazy_regex import lazy_regex

MASK = "****"
Hidden = Literal["hosts", "users", "paths"]
HIDDEN: tuple[Hidden, ...] = get_args(Hidden)
"""What can be masked in addition to secrets."""
SHOWN = 4096
"""Characters of a value that are kept. Twice as many are looked at: a secret across the cut is masked as a whole."""
_MOST_WORDS = 200
"""Of a command line, looked at for the options of tools that log in."""

_HARMLESS = lazy_regex(
    r"TOKENI[ZS]E|KEYBOARD|KEYMAP|KEYWORD|KEYFRAME|KEYPOINT|MONKEY|HOTKEY|BYPASS|COMPASS|PASSES|PASSIVE|PASSTHR|AUTHOR(?!I[ZS])"
    r"|PRIVATEUSE|PIN_MEMORY|IB_PKEY"
)
"""Words that hold one of `_SECRET` by chance."""
_SECRET = lazy_regex(
    r"TOKEN|SECRET|PASS|KEY|CREDENTIAL|AUTH|COOKIE|PRIVATE|PWD|JWT|BEARER|WEBHOOK|CONNECTION_STRING|SIGNATURE|SALT"
    r"|(?:^|_)(?:PAT|PIN|CREDS?|SAS)(?:_|$)"
)
_ERROR = lazy_regex(r"(?:ERROR|EXCEPTION|WARNING)$")
"""What a program raises, and what it said then: `KeyError: 'image_size'` is the answer that a reader looks for."""
_COUNT = lazy_regex(
    r"(?:TOKENS|KEYS)(?:_|$)|(?:^|_)(?:NUM|MAX|MIN|N|PER)_|_(?:DIM|SIZE|LEN|LENGTH|HEADS|LAYERS|RATE|RATIO|DROPOUT|TTL|TIMEOUT)$"
)
"""A name that counts or measures: MAX_TOKENS=4096 is a setting."""
_NUMBER = lazy_regex(r"-?[0-9]{1,9}(?:\.[0-9]{1,9})?")
_PLACE = lazy_regex(r"_(?:FILE|PATH|DIR|SOCK)$|^(?:OLD)?PWD$")
"""A name that tells where something is; the path of a secret is none."""
_HINT = lazy_regex(r"ACCESS|API|SESSION|LICEN[SC]E|LOGIN|SIGN|CERT|CRYPT|VAULT|WANDB|COMET|NEPTUNE|MLFLOW|DSN|HOOK")
"""Names under which a long random string is taken for a secret."""
_RANDOM = lazy_regex(r"[A-Za-z0-9+/=_-]{24,}")
_RANDOM_BITS = 3.0
"""Shannon entropy a character: random hex has 4 bits less what short strings lose, words and paths stay under 3 to 3.5."""

_SHAPES = lazy_regex(
    r"""
      -----BEGIN[ ][A-Z ]{0,40}PRIVATE[ ]KEY-----[\s\S]*?(?:-----END[ ][A-Z ]{0,40}PRIVATE[ ]KEY-----|\Z)
    | (?<![A-Za-z0-9])(?:                                        # an underscore may stand before it, as in the name of a file
        (?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9]) | ABSK[A-Za-z0-9+/]{40,}=* # AWS, Bedrock
      | (?:hf|api_org)_[A-Za-z0-9]{16,}                            # Hugging Face
      | gh[pousr]_[A-Za-z0-9]{16,} | github_pat_\w{16,}            # GitHub
      | gl(?:pat|ptt|dt|rt|cbt|soat|ft|imt|agent)-[\w-]{16,}       # GitLab
      | [spr]k[-_][A-Za-z0-9_-]{16,}                               # OpenAI, Anthropic, Stripe, Langfuse
      | whsec_[A-Za-z0-9+/=]{16,}                                  # Stripe
      | xox[a-z]-[\w-]{8,} | xapp-[\w-]{8,}                        # Slack
      | hooks\.slack\.com/[\w/-]+ | discord(?:app)?\.com/api/webhooks/[\w/-]+
      | [MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,}                    # Discord
      | AIza[\w-]{30,} | ya29\.[\w-]{16,} | GOCSPX-[\w-]{16,} | 1//0[\w-]{30,} # Google
      | pypi-[\w-]{16,} | npm_[A-Za-z0-9]{16,} | dckr_[op]at_[\w-]{16,} | rubygems_[0-9a-f]{32,} | cio[A-Za-z0-9]{32}(?![A-Za-z0-9])
      | nvapi-[\w-]{16,} | wandb_v1_\w{16,} | SG\.[\w-]{16,}\.[\w-]{16,}
      | dapi[0-9a-f]{32}(?:-\d)?                                   # Databricks
      | gsk_[A-Za-z0-9]{20,} | r8_[A-Za-z0-9]{30,} | xai-[A-Za-z0-9]{30,} | pplx-[A-Za-z0-9]{30,} | fw_[A-Za-z0-9]{20,}
      | rpa_[A-Za-z0-9]{30,} | pcsk_\w{30,} | lsv2_(?:pt|sk)_\w{30,} # RunPod, Pinecone, LangSmith
      | hv[sbr]\.[\w-]{20,} | [sbr]\.[A-Za-z0-9]{24}(?!\w)      # Vault
      | tskey-[\w-]{10,}                                           # Tailscale
      | do[opr]_v1_[0-9a-f]{32,} | dp\.(?:pt|st(?:\.\w+)?|ct|sa|scim|audit)\.[A-Za-z0-9]{30,} # DigitalOcean, Doppler
      | [A-Za-z0-9]{14}\.atlasv1\.[\w-]{30,} | pul-[0-9a-f]{40}    # Terraform, Pulumi
      | pscale_(?:tkn|oauth|pw)_[\w.=-]{20,} | sbp_[0-9a-f]{40} | npg_[A-Za-z0-9]{10,} # PlanetScale, Supabase, Neon
      | gl(?:sa|c)_[\w=+/]{20,} | NR(?:AK|JS|II)-[\w-]{16,} | snt(?:rys|ryu)_[\w=+/-]{20,} # Grafana, New Relic, Sentry
      | PMAK-[\w-]{20,} | lin_api_\w{20,} | ntn_\w{20,} | secret_[A-Za-z0-9]{30,} | figd_[\w-]{20,}
      | pat[A-Za-z0-9]{14}\.[0-9a-f]{64}                           # Airtable
      | shp(?:at|ss|ca|pa)_[0-9a-fA-F]{32} | sq0[a-z]{3}-[\w-]{22,} | EAAA[\w-]{50,} # Shopify, Square
      | SK[0-9a-f]{32}(?![0-9a-f]) | key-[0-9a-f]{32}(?![0-9a-f]) | [0-9a-f]{32}-us\d{1,2}(?!\w) # Twilio, Mailgun, Mailchimp
      | xkeysib-[0-9a-f]{32,}[\w-]* | \d{8,10}:AA[\w-]{32,33}(?!\w) # Brevo, Telegram
      | ATATT3[\w=-]{20,} | ATBB[A-Za-z0-9]{20,} | AKC[A-Za-z0-9]{20,} # Atlassian, JFrog
      | HRKU-[\w-]{30,} | fo1_[\w-]{20,} | fm[12]_[\w+/=,]{30,} | nfp_[A-Za-z0-9]{30,} # Heroku, Fly, Netlify
      | AGE-SECRET-KEY-1[A-Z0-9]{50,} | PRIVATE-KEY-[\w-]{20,}
      | eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?                       # JWT
      | eyJ[\w+/-]{60,}=*                                          # Neptune: JSON in base 64
    )
    """,
    re.VERBOSE,
)
_BEARER = lazy_regex(r"(?i)\b(bearer|basic)(\s{1,4})[\w.~+/=-]{8,}")
_URL_USER = lazy_regex(r"\b([A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s/:@]{0,255}):[^\s]{1,1024}@")
"""Up to the last "@": a password may hold ":", "/" and "@" itself where it was not encoded."""
_URL_TOKEN = lazy_regex(r"\b([A-Za-z][A-Za-z0-9+.-]{0,30}://)[^\s/:@]{12,1024}@")
_ASSIGNED = lazy_regex(r"""(?<!\w)(?P<name>\w[\w.-]{0,127})(?P<sign>(?:\\{0,8}["'])?\s{0,4}(?:=|:(?!//))\s{0,4})""")
"""A name and what stands before its value; the text of a program in a program has its quotes escaped."""
_OPTION = lazy_regex(r"(?<!\S)(?P<name>--?[A-Za-z][\w.-]{0,127})(?P<sign>\s{1,4})(?!--[A-Za-z])")
_QUOTED = lazy_regex(r"""(?P<quote>\\{0,8}["'])(?P<value>.*?)(?:(?P=quote)|\Z)""", re.DOTALL)
_BARE = lazy_regex(r"""(?:[^\s&;,"'\\]|\\(?!["'\\]))+""")
_WORD = lazy_regex(r"\S+")
_REST = lazy_regex(r"""[^"'\r\n\\]+""")
_HEADER = lazy_regex(r"AUTHORIZATION$|(?:^|_)COOKIE$")
"""Names of HTTP headers whose values hold several words: a scheme and what it needs, or many cookies."""
_LOGIN = lazy_regex(
    r"""(?<![\w-])(?P<tool>(?:mysql|mariadb)[\w-]*|mongo(?:sh|dump|restore)?|sshpass|smbclient|sqlcmd|redis-cli|ldap\w+|7z|zip
      |(?:docker|podman|skopeo|helm|oras|az)\s(?:\w{1,20}\s)?login)(?![\w-])(?P<between>[^|;&\n]{0,400}?\s-[pPaw])(?P<sign>\s{0,2})(?P<value>[^\s=-]\S*)""",
    re.VERBOSE,
)
"""Programs whose option of one letter is a password, as their manual pages say; it may follow without a blank."""
_USER = lazy_regex(
    r"(?<!\S)(?P<option>-[uU]\s{0,2}|--user[ =])(?P<user>[^\s:/@%]{1,80}[:%])(?P<value>(?!\d{1,5}(?!\S))\S+)"
)
"""curl -u USER:PASSWORD, smbclient -U USER%PASSWORD; what a port may be is left."""


def is_secret_name(name: str) -> bool:
    """Whether a variable or option of this name holds a secret, whatever its value."""
    known = _canonical(name)
    return _ERROR.search(known) is None and _SECRET.search(_HARMLESS.sub("", known)) is not None


def masked(name: str, value: str) -> str:
    """The value of variable `name` with every secret in it replaced by `MASK`; the rest of a very long one is left out."""
    text = _masked(name, value[: 2 * SHOWN])
    return text if len(value) <= SHOWN else _cut(text, len(value), SHOWN)


def _cut(text: str, length: int, limit: int = 2 * SHOWN) -> str:
    """What is shown of a masked value that was `length` characters long: a secret across a cut is never cut open."""
    return text if length <= limit else f"{text[:SHOWN]}… and {length - SHOWN:,} more characters"


def _masked(name: str, value: str) -> str:
    if not value or _is_plain(name, value):
        return value
    if is_secret_name(name):
        return MASK
    if _HINT.search(_canonical(name)) and _is_random(value):
        return MASK
    return masked_text(value)


def masked_text(text: str, kinds: Counter[str] | None = None) -> str:
    """`text` with everything in it masked that is shaped like a secret, or stands behind a name that tells one. `kinds` counts what
    was masked, by how it was recognised."""
    for kind, step in _STEPS:
        found = step(text)
        if kinds is not None and found != text:
            kinds[kind] += max(1, found.count(MASK) - text.count(MASK))
        text = found
    return text


def masked_arguments(arguments: Sequence[str]) -> tuple[str, ...]:
    """A command line with its secrets masked: `--api-key X`, `--api-key=X`, `password=X`, and values of their shapes."""
    shown: list[str] = []
    is_value = False
    for argument in arguments:
        if is_value and not _LONG_OPTION.fullmatch(argument):
            shown.append(argument if _is_plain(shown[-1], argument) else MASK)
            is_value = False
            continue
        shown.append(_cut(_argument_masked(argument[: 2 * SHOWN]), len(argument)))
        is_value = argument.startswith("-") and "=" not in argument and " " not in argument and is_secret_name(argument)
    return _logins_masked(shown, arguments)


def _argument_masked(argument: str) -> str:
    """An option's value ends with the argument, whatever is in it."""
    name, sign, value = argument.partition("=")
    if sign and _LONG_OPTION.fullmatch(name) and is_secret_name(name):
        return argument if _is_plain(name, value) else f"{name}={MASK}"
    return masked_text(argument)


_LONG_OPTION = lazy_regex(r"--[A-Za-z][\w.-]*(?:=.*)?", re.DOTALL)


def _logins_masked(shown: Sequence[str], arguments: Sequence[str]) -> tuple[str, ...]:
    """Passwords in options of one letter, which only the words beside them tell."""
    found = list(shown)
    command = "\0".join(word.replace("\0", "") for word in arguments[:_MOST_WORDS])
    if len(command) > 2 * SHOWN:
        return tuple(found)
    spaced = re.sub(r"[\s|;&]", "_", command.replace("\0", "\1")).replace("\1", " ")
    for pattern in (_LOGIN, _USER):
        for match in pattern.finditer(spaced):
            number = spaced.count(" ", 0, match.start("value"))
            word_start = spaced.rfind(" ", 0, match.start("value")) + 1
            found[number] = arguments[number][: match.start("value") - word_start] + MASK
    return tuple(found)


def _named_masked(text: str, names: re.Pattern[str]) -> str:
    """The values behind names of secrets; of any other name the value is looked at for names itself."""
    parts: list[str] = []
    done = at = 0
    while (found := names.search(text, at)) is not None:
        at = found.end()
        if not is_secret_name(found["name"]):
            continue
        value, start, end = _value(text, at, found)
        if not value or value.startswith(MASK) or _is_plain(found["name"], value):
            continue
        parts += [text[done:start], MASK]
        done = at = end
    return "".join((*parts, text[done:]))


def _value(text: str, at: int, found: re.Match[str]) -> tuple[str, int, int]:
    """(value without quotes, where it begins and ends)."""
    quoted = _QUOTED.match(text, at)
    if quoted is not None:
        return quoted["value"], quoted.start("value"), quoted.end("value")
    is_header = ":" in found["sign"] and _HEADER.search(_canonical(found["name"])) is not None
    bare = (_REST if is_header else _BARE if found["sign"].strip() else _WORD).match(text, at)
    return ("", at, at) if bare is None else (bare[0], at, bare.end())


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


_STEPS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("known format", partial(_SHAPES.sub, MASK)),
    ("password in a URL", partial(_URL_USER.sub, rf"\1:{MASK}@")),
    ("token in a URL", partial(_URL_TOKEN.sub, rf"\1{MASK}@")),
    ("value with the name of a secret", partial(_named_masked, names=_ASSIGNED)),
    ("authorization header", partial(_BEARER.sub, rf"\1\2{MASK}")),
    ("password of a login", partial(_LOGIN.sub, rf"\g<tool>\g<between>\g<sign>{MASK}")),
    ("password of a user", partial(_USER.sub, rf"\g<option>\g<user>{MASK}")),
    ("option with the name of a secret", partial(_named_masked, names=_OPTION)),
)
"""How a secret is recognised in a text -> what masks it, in this order."""
