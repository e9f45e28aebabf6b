"""What passes between a training thread and files, databases and the network: the tables that `hwtop.job.stacks.io_kind` reads.

A call into Python code shows as the library's frame that the user's line entered (`DOORS`); a call into C shows in the text of
the line only (`CODE_PATTERNS`). Names come from the libraries' public APIs; of gzip, json, numpy, urllib, http.client and sqlite3 real stacks
were seen.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

IoKind = Literal["write", "row", "read", "send", "fetch", "ask"]
"""To and from files: "write", "row" (one of a table or picture, for people), "read". To and from others: "send", "fetch", and "ask"
where nothing on the line tells which way the bytes go."""


class IoCall(NamedTuple):
    """Functions of a library that the user's code calls; without `names` all of these files."""

    io_kind: IoKind
    files: tuple[str, ...]
    names: frozenset[str] = frozenset()


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


WRAPPERS = _names(
    "wrapper wrapped wrapped_f inner inner_f _inner_fn func_wrapper _wrapper wrapped_func __exit__ __enter__ <lambda>"
)
"""What decorators call their function: the next frame inwards is what was meant."""

BY_TEXT = (
    *("json/", "simplejson/", "pickle.py", "base64.py", "codecs.py", "csv.py", "tempfile.py", "cloudpickle/", "yaml/"),
    *("sqlalchemy/", "psycopg", "pymysql/", "mysql/", "duckdb/"),
)
"""Libraries whose frame leaves open what the line does: they make bytes of objects, or run any SQL."""

_ARCHIVES = (
    "gzip.py",
    "bz2.py",
    "lzma.py",
    "zipfile",
    "tarfile.py",
    "zstandard/",
    "lz4/",
    "pathlib",
    "fsspec/",
    "s3fs/",
    "gcsfs/",
)
_TABLES = ("pandas/", "polars/", "pyarrow/", "h5py/", "zarr/", "tables/", "netCDF4/", "numpy/", "datasets/")

DOORS: tuple[IoCall, ...] = (
    IoCall("row", ("csv.py",), _names("writerow writerows writeheader")),
    IoCall("row", ("matplotlib/", "plotly/", "seaborn/"), _names("savefig write_image write_html imsave")),
    IoCall(
        "row",
        ("PIL/", "imageio/", "torchvision/utils.py", "skimage/"),
        _names("save imwrite mimsave save_image imsave"),
    ),
    IoCall(
        "write",
        _ARCHIVES,
        _names(
            "write writelines writestr close flush add addfile write_bytes write_text touch put put_file pipe pipe_file"
        ),
    ),
    IoCall("write", ("shutil.py",)),
    IoCall(
        "write",
        ("json/", "simplejson/", "pickle.py", "cloudpickle/", "dill/", "yaml/", "toml/"),
        _names("dump _dump dump_all"),
    ),
    IoCall("write", ("joblib/",), _names("dump")),
    IoCall(
        "write",
        _TABLES,
        _names(
            """save savez savez_compressed savetxt tofile to_csv to_parquet to_hdf to_pickle to_feather to_json to_excel to_sql
            write_csv write_parquet write_ipc write_table write_feather write_direct write_dataset create_dataset __setitem__
            require_dataset save_array save_group save_to_disk flush"""
        ),
    ),
    IoCall(
        "write", ("keras/", "tensorflow/", "xgboost/", "lightgbm/", "catboost/"), _names("save save_weights save_model")
    ),
    IoCall(
        "read",
        _ARCHIVES,
        _names("read read1 readinto readline readlines extract extractall extractfile read_bytes read_text cat"),
    ),
    IoCall("read", ("json/", "pickle.py", "joblib/", "yaml/"), _names("load")),
    IoCall(
        "read",
        _TABLES,
        _names(
            """load loadtxt genfromtxt fromfile memmap read_csv read_parquet read_hdf read_pickle read_feather read_json read_sql
            read_table read_row_group read_direct scan_parquet __getitem__ __iter__ __next__"""
        ),
    ),
    IoCall("read", ("csv.py",), _names("__next__")),
    IoCall(
        "read", ("webdataset/", "streaming/", "lmdb/", "tfrecord/", "petastorm/", "librosa/", "decord/", "soundfile.py")
    ),
    IoCall("read", ("PIL/", "imageio/", "skimage/"), _names("open load convert resize imread mimread")),
    IoCall("read", ("torchvision/io/", "torchaudio/"), _names("read_image read_video decode_jpeg read_file load")),
    IoCall(
        "read", ("transformers/tokenization",), _names("__call__ encode encode_plus batch_encode_plus tokenize pad")
    ),
    IoCall("fetch", ("urllib/request.py",), _names("urlretrieve")),
    IoCall("ask", ("urllib/", "http/client.py", "socket.py", "ssl.py")),
    IoCall("send", ("requests/", "httpx/", "urllib3/"), _names("post put patch")),
    IoCall("fetch", ("requests/", "httpx/", "urllib3/"), _names("get")),
    IoCall("ask", ("requests/", "httpx/", "urllib3/", "grpc/")),
    IoCall(
        "send",
        ("websocket/", "websockets/", "zmq/"),
        _names("send sendall send_text send_bytes send_json send_string send_pyobj"),
    ),
    IoCall(
        "send",
        (
            "smtplib.py",
            "paho/",
            "pika/",
            "statsd/",
            "prometheus_client/",
            "sentry_sdk/",
            "opentelemetry/",
            "slack_sdk/",
        ),
    ),
    IoCall("send", ("influxdb", "datadog/", "telegram/", "gspread/", "graypy/")),
    IoCall("send", ("redis/",), _names("set setex mset hset hmset publish xadd lpush rpush zadd incr incrby sadd")),
    IoCall(
        "fetch",
        ("redis/",),
        _names("get mget hget hgetall hmget lpop rpop blpop brpop lrange xread xreadgroup smembers zrange"),
    ),
    IoCall(
        "send",
        ("pymongo/", "elasticsearch/", "kafka/"),
        _names("insert_one insert_many update_one replace_one index bulk send flush"),
    ),
    IoCall("fetch", ("pymongo/", "kafka/"), _names("find_one next __next__ poll")),
    IoCall(
        "send",
        ("boto3/", "google/cloud/", "azure/", "minio/"),
        _names(
            """upload_file upload_fileobj upload_from_filename upload_from_string upload_from_file upload_blob put_object fput_object
        publish insert_rows_json"""
        ),
    ),
    IoCall(
        "fetch",
        ("boto3/", "google/cloud/", "azure/", "minio/"),
        _names(
            """download_file download_fileobj download_to_filename download_as_bytes download_as_string download_blob get_object fget_object"""
        ),
    ),
    IoCall("ask", ("botocore/", "redis/")),
    IoCall("send", ("ftplib.py",), _names("storbinary storlines")),
    IoCall("fetch", ("ftplib.py",), _names("retrbinary retrlines")),
)

CODE_PATTERNS: tuple[tuple[IoKind, re.Pattern[str]], ...] = (
    ("row", re.compile(r"\.write_?rows?\(|\bcv2\.imwrite\(|\.savefig\(")),
    (
        "send",
        re.compile(
            r"""
              \.(?:sendall|sendto|sendmsg|sendfile)\( | \bsock(?:et)?\w*\.send\(
            | \bproducer\.(?:produce|flush|send)\(
            | \.execute(?:many)?\(\s*[fr]{0,2}["']+\s*(?i:insert|update|replace|merge|commit)\b
            | \.commit\(\)
            """,
            re.VERBOSE,
        ),
    ),
    (
        "read",
        re.compile(
            r"""
              \.fetch(?:all|many|one)\( | \.execute\(\s*[fr]{0,2}["']+\s*(?i:select|with)\b
            | \bos\.(?:pread|preadv|readv|read)\( | \.readinto\( | \bfromfile\( | \bcv2\.(?:imread|imdecode)\(
            | \bopen\((?:[^()]|\([^()]*\))*["']rb["'][^()]*\)(?:\.read\(| as \w+\s*:\s*.*\.read\()
            | \b(?:f|fh|fp|fd|file|fin|infile|handle)\.(?:read|readline|readlines)\( | \b(?:pickle|pkl|marshal|json)\.load\(
            """,
            re.VERBOSE,
        ),
    ),
    (
        "write",
        re.compile(
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
"""Of a line that runs C code; the first that fits."""

SENDS = re.compile(
    r"""
      ["'](?:POST|PUT|PATCH)["'] | [(,]\s*(?i:data|body|json|content)\s*=
    | \b(?:urlopen|Request)\([^()]*,\s*(?!timeout|context|headers|method|cafile|unverifiable|origin)
    | \.(?:post|put|patch|put_object|upload\w*|publish)\(
    """,
    re.VERBOSE,
)
"""A request on this line takes something along."""
FETCHES = re.compile(
    r"""["']GET["'] | \burlopen\(\s*(?:f?["']|[\w.]*(?i:url|uri|link|href)\b) | \.(?:get|get_object|download\w*)\(""",
    re.VERBOSE,
)
USES_ANSWER = re.compile(r"\.json\(\)|\bloads\(|\bfrombuffer\(|\.(?:text|content)\b")
"""What was sent was a question: to a reward model, a simulator, a scheduler."""

NEUTRAL = re.compile(r"^[\w.\[\]]+\.(?:flush|close|append|clear)\([^()]*\)$")
"""Statements beside another one that take no time of their own."""
APPENDS = re.compile(r"""\bopen\((?:[^()]|\([^()]*\))*["']a[bt+]*["']|\\n""")
"""A file that grows, or a line of text: a log."""
PIECE = re.compile(r"""\.write\(\s*(?:[fr]{0,2}["']|str\(|json\.dumps\()|["']\.join\(""")

PLACES = re.compile(r"\b(?:args|cfg|config|conf|settings|hparams)\.|\w*log_?(?:dir|root|folder)\b")
"""They say where something lies, not what it is."""

LOGS = _names(
    """log logs logger logging logfile csv tsv metric metrics history curve curves stats statistics progress jsonl ndjson loss
    losses scalar scalars summary event events report reports trace monitor telemetry row rows line lines msg message record records
    results figure plot plots"""
)
KEEPS = _names(
    "checkpoint checkpoints ckpt ckpts snapshot snapshots model models weights optimizer state best safetensors pt pth"
)
KEEPS_ELSEWHERE = _names("checkpoint checkpoints ckpt ckpts snapshot snapshots backup safetensors pt pth")
"""The same of what is sent: a report may name its model and its best loss."""
DATA = _names(
    "cache cached caches dataset datasets shard shards corpus batch batches sample samples features memmap tfrecord"
)
SETTINGS = _names(
    "config configs cfg conf yaml yml settings status health healthz ready version token auth lock lease flag task trial job"
)
"""Small things that are asked for: waiting for them is no loading of data."""

ASKS = _names(
    """score scores scorer reward rewards judge critic generate generation completion infer inference predict rollout
    rollouts embed embedding embeddings act action chat teacher simulate simulator retrieve query"""
)
"""In the name of a function: it wants an answer that the step needs."""
ASKED = _names("prompt prompts completions generate infer inference predict rollout embed embeddings")
"""The same in the text of a line: fewer, as a report may hold a reward or a score."""
EXCHANGES = _names(
    """grad grads gradient gradients params parameter parameters weights tensor tensors reduce allreduce gather allgather scatter
    broadcast exchange peer peers ring neighbor neighbour sync rpc barrier average replica replicas"""
)
"""In the name of a function: a collective, or a parameter server, of somebody's own."""
EXCHANGED = _names("grads gradients weights params parameters tensor tensors stdin peer peers")
REPORTS = _names(
    """publish push report notify emit track send post put alert heartbeat ping announce submit telemetry metrics metric stats
    ship record log upload insert"""
)
FETCHED = _names("fetch get load read download pull")
