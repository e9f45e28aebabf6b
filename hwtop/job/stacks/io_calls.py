"""What passes between a training thread and files, databases and the network, told from the text of a line: the patterns that
`hwtop.job.stacks.io_kind` reads.

A call into Python code shows as the library's frame that the user's line entered (`[[call]]` of activities.toml); a call into C shows in
the text of the line only.
"""

from __future__ import annotations

import re

from hwtop.job.stacks.activities import IoKind
from hwtop.lazy_regex import lazy_regex

WRAPPERS = frozenset(
    "wrapper wrapped wrapped_f inner inner_f _inner_fn func_wrapper _wrapper wrapped_func __exit__ __enter__ <lambda>".split()  # noqa: SIM905
)
"""What decorators call their function: the next frame inwards is what was meant."""

BY_TEXT = (
    *("json/", "simplejson/", "pickle.py", "base64.py", "codecs.py", "csv.py", "tempfile.py", "cloudpickle/", "yaml/"),
    *("sqlalchemy/", "psycopg", "pymysql/", "mysql/", "duckdb/"),
)
"""Libraries whose frame leaves open what the line does: they make bytes of objects, or run any SQL."""

CODE_PATTERNS: tuple[tuple[IoKind, re.Pattern[str]], ...] = (
    ("row", lazy_regex(r"\.write_?rows?\(|\bcv2\.imwrite\(|\.savefig\(")),
    ("ask", lazy_regex(r"\.(?:sendall|sendto|sendmsg|sendfile)\(|\bsock(?:et)?\w*\.send\(")),
    (
        "send",
        lazy_regex(
            r"""
              \bproducer\.(?:produce|flush|send)\(
            | \.execute(?:many)?\(\s*[fr]{0,2}["']+\s*(?i:insert|update|replace|merge|commit)\b
            | \.commit\(\)
            """,
            re.VERBOSE,
        ),
    ),
    (
        "read",
        lazy_regex(
            r"""
              \.fetch(?:all|many|one)\( | \.execute\(\s*[fr]{0,2}["']+\s*(?i:select|with)\b
            | \bos\.(?:pread|preadv|readv|read)\( | \.readinto\( | \bfromfile\( | \bcv2\.(?:imread|imdecode)\(
            | \bopen\((?:[^()]|\([^()]*\))*["']rb["'][^()]*\)(?:\.read\(| as \w+\s*:\s*.*\.read\()
            | \b\w+\.(?:read|readline|readlines)\( | \b(?:pickle|pkl|marshal|json)\.load\(
            | (?:\bin|\bnext\(|\biter\(|\bislice\()\s*(?:enumerate\()?(?:sys\.)?stdin\b
            """,
            re.VERBOSE,
        ),
    ),
    (
        "write",
        lazy_regex(
            r"""
              (?<!stdin)\.write(?:lines|v)?\( | \bos\.(?:write|writev|pwrite|sendfile|fsync|fdatasync|sync|replace|rename)\(
            | \bfsync\( | \b(?:pickle|pkl|dill|cPickle|cloudpickle|marshal|joblib|json|yaml)\.dump\(
            | \.(?:tofile|to_parquet|to_hdf|to_csv|to_pickle|write_table)\( | \bsavez?(?:_compressed)?\(
            | \bopen\((?:[^()]|\([^()]*\))*["'][wax][bt+]*["']
            """,
            re.VERBOSE,
        ),
    ),
)
"""Of a line that runs C code; the first that fits. A plain socket may lead anywhere, to another rank too."""

SENDS = lazy_regex(
    r"""
      ["'](?:POST|PUT|PATCH)["'] | [(,]\s*(?i:data|body|json|content)\s*=
    | \b(?:urlopen|Request)\([^()]*,\s*(?!timeout|context|headers|method|cafile|unverifiable|origin)
    | \.(?:post|put|patch|put_object|upload\w*|publish)\(
    """,
    re.VERBOSE,
)
"""A request on this line takes something along."""
FETCHES = lazy_regex(
    r"""["']GET["'] | \burlopen\(\s*(?:f?["']|[\w.]*(?i:url|uri|link|href)\b) | \.(?:get|get_object|download\w*)\(""",
    re.VERBOSE,
)
USES_ANSWER = lazy_regex(r"\.json\(\)|\bloads\(|\bfrombuffer\(|\.(?:text|content)\b")
"""What was sent was a question: to a reward model, a simulator, a scheduler."""

NEUTRAL = lazy_regex(r"^[\w.\[\]]+\.(?:flush|close|append|clear)\([^()]*\)$")
"""Statements beside another one that take no time of their own."""
APPENDS = lazy_regex(r"""\bopen\((?:[^()]|\([^()]*\))*["']a[bt+]*["']|\\n""")
"""A file that grows, or a line of text: a log."""
PIECE = lazy_regex(r"""\.write\(\s*(?:[fr]{0,2}["']|str\(|json\.dumps\()|["']\.join\(""")

PLACES = lazy_regex(r"\b(?:args|cfg|config|conf|settings|hparams)\.|\w*log_?(?:dir|root|folder)\b")
"""They say where something lies, not what it is."""
