"""What a thread does with files and the network, whatever its function is called."""

from __future__ import annotations

import pytest

from hwtop.job.stacks.classified import classified
from hwtop.model.stack import StackFrame
from tests.parts import replace
from tests.stack_jobs import frame

_SITE = "/home/ana/venv/lib/python3.12/site-packages"
_INSTALLED = (
    "requests/",
    "httpx/",
    "numpy/",
    "pandas/",
    "redis/",
    "paho/",
    "slack_sdk/",
    "torch/",
    "h5py/",
    "PIL/",
    "tenacity/",
)


def phase(code: str | None, *library: str, at: str = "on_step_end", within: tuple[str, ...] = ()) -> str:
    """Of a line of user function `at` that called `library` ("file function", as the stack shows it, innermost first)."""
    user = replace(frame(f"{at} train.py 30"), code=code)
    around = [replace(frame(f"{name} train.py 50"), code=f"{at}(x)") for name in (*within, "main")]
    frames = (*map(called, library), user, *around)
    return classified(frames).phase


def called(text: str) -> StackFrame:
    file, name = text.split()
    folder = (
        _SITE
        if file.startswith(_INSTALLED) or ("." not in file.split("/")[0] and "/" in file)
        else "/usr/lib/python3.12"
    )
    return StackFrame(name=name, filename=f"{folder}/{file}", short_filename=file, line=7)


SAVES = [
    ('with gzip.open(path, "wb") as f: f.write(blob)', "gzip.py write"),
    ("f.write(blob)", "lzma.py write"),
    ("pickle.dump(params, out)", "bz2.py write"),
    ('z.writestr("w.bin", raw)', "zipfile/__init__.py write", "zipfile/__init__.py writestr"),
    ("packed = gzip.compress(buffer.getvalue(), 6)", "gzip.py compress"),
    ("tar.add(folder)", "gzip.py write", "tarfile.py addfile", "tarfile.py add"),
    ("shutil.copytree(run, backup)", "shutil.py copyfile", "shutil.py copytree"),
    ("json.dump(tree, f)", "json/encoder.py _iterencode_dict", "json/__init__.py dump"),
    ("np.savez_compressed(path, **arrays)", "numpy/lib/format.py write_array", "numpy/lib/_npyio_impl.py savez_compressed"),
    ('frame.to_parquet(p)', "pandas/io/parquet.py write", "pandas/core/frame.py to_parquet", "pandas/util/_decorators.py wrapper"),
    ('f["w"][...] = w', "h5py/_hl/dataset.py __setitem__"),
    ("Path(p).write_bytes(blob)", "pathlib/_local.py write_bytes"),
    ("pickle.dump(trees, f)",),
    ("with open(path, 'wb') as f: f.write(blob)",),
    ("os.fsync(f.fileno())",),
    ("f.write(blob); f.flush(); os.fsync(f.fileno())",),
    ("w.tofile(path)",),
    ("os.replace(tmp, path)",),
    ('np.save(os.path.join(args.log_dir, "w.npy"), w)', "numpy/lib/_npyio_impl.py save"),
]  # fmt: skip


@pytest.mark.parametrize("row", SAVES)
def test_writing_whole_files_is_saving(row: tuple[str, ...]) -> None:
    assert phase(*row) == "checkpoint"


LOGS = [
    ('with open("a.txt", "a") as f: f.write(text)',),
    ('fh.write(f"{step},{value}\\n")',),
    ("self.out.write(json.dumps(kv))", "json/encoder.py iterencode", "json/__init__.py dumps"),
    ('f.write(";".join(row))',),
    ("for r in rows: w.writerow(r)",),
    ("w.writerow(kv)", "csv.py _dict_to_list", "csv.py writerow"),
    ("json.dump(history, f)", "json/__init__.py dump"),
    ('np.save("losses.npy", values)', "numpy/lib/_npyio_impl.py save"),
    ('frame.to_csv("metrics.csv")', "pandas/io/formats/csvs.py save", "pandas/core/generic.py to_csv"),
    ('fig.savefig("x.png")', "matplotlib/figure.py savefig"),
    ("grid.save(path)", "PIL/Image.py save"),
    ("os.fsync(self.log.fileno())",),
    ('db.execute("INSERT INTO runs VALUES (?, ?)", row)',),
    ("conn.commit()",),
]


@pytest.mark.parametrize("row", LOGS)
def test_what_grows_by_small_pieces_is_a_log(row: tuple[str, ...]) -> None:
    assert phase(*row) == "logging"


URLOPEN = ("socket.py readinto", "http/client.py getresponse", "urllib/request.py do_open", "urllib/request.py urlopen")
POST = ("urllib3/connectionpool.py urlopen", "requests/sessions.py request", "requests/api.py post")
GET = ("urllib3/connectionpool.py urlopen", "requests/sessions.py request", "requests/api.py get")
ANSWER = ("socket.py readinto", "http/client.py begin", "http/client.py getresponse")

SENDS = [
    ("urlopen(Request(self.u, json.dumps(kv).encode())).read()", *URLOPEN),
    ('with urlopen(Request(u, method="POST", data=body)) as r: r.read()', *URLOPEN),
    ("urllib.request.urlopen(u, body, timeout=3)", *URLOPEN),
    ("requests.post(url, json=kv, timeout=5)", *POST),
    ("r = self.session.put(url, data=kv)", "requests/sessions.py request", "requests/sessions.py put"),
    ('client.request("POST", url, json=kv)', "httpx/_client.py send", "httpx/_client.py request"),
    ("self.redis.xadd(stream, kv)", "redis/client.py execute_command", "redis/commands/core.py xadd"),
    ("client.publish(topic, kv).wait_for_publish()", "paho/mqtt/client.py wait_for_publish"),
    ("slack.chat_postMessage(text=text)", "slack_sdk/web/client.py chat_postMessage"),
    ("smtp.send_message(mail)", "smtplib.py getreply", "smtplib.py send_message"),
    (
        's3.put_object(Bucket=b, Key="run/17", Body=body)',
        "botocore/httpsession.py send",
        "botocore/client.py _api_call",
    ),
    ("self.ws.send(payload)", "websocket/_core.py send"),
    ("producer.flush()",),
]


@pytest.mark.parametrize("row", SENDS)
def test_what_is_only_sent_is_reporting(row: tuple[str, ...]) -> None:
    assert phase(*row) == "logging"


@pytest.mark.parametrize(
    ("at", "within", "expected"),
    [
        ("publish", (), "logging"),
        ("_call", ("notify_dashboard",), "logging"),
        ("_call", ("fetch_rows",), "data-main"),
        ("_call", (), "other"),
        ("_call", ("compute_reward",), "other"),
        ("get_score", (), "other"),
        ("push_gradients", (), "other"),
        ("get_job", (), "other"),
    ],
)
def test_where_the_line_does_not_tell_the_functions_do(at: str, within: tuple[str, ...], expected: str) -> None:
    assert phase("resp = self.conn.getresponse()", *ANSWER, at=at, within=within) == expected


READS = [
    ("x = requests.get(url).content", *GET),
    ("raw = urlopen(self.url).read()", *URLOPEN),
    ('urlretrieve(u, "part.bin")', "urllib/request.py urlretrieve"),
    ('body = s3.get_object(Bucket=b, Key=k)["Body"]', "botocore/httpsession.py send", "botocore/client.py _api_call"),
    ('rows = self.c.execute("SELECT a FROM f").fetchall()',),
    ("rows = self.cursor.fetchmany(256)",),
    ("item = r.blpop(key)", "redis/client.py execute_command", "redis/commands/core.py blpop"),
    ("out.append(os.pread(fd, 4096, k))",),
    ('with open(p, "rb") as f: raw = f.read()',),
    ('x = np.load(p)["x"]', "zipfile/__init__.py read", "numpy/lib/_npyio_impl.py __getitem__"),
    ("raw = f.read()", "gzip.py read"),
    ("self.file.seek(k * WIDTH)", "_compression.py read", "_compression.py seek", "gzip.py seek"),
    ("self.file.seek(k * WIDTH)", "bz2.py seek"),
    ("for line in self.archive:", "lzma.py __next__"),
    ("frame = pd.read_csv(p)", "pandas/io/parsers/readers.py read_csv"),
    ('img = Image.open(p).convert("RGB")', "PIL/ImageFile.py load", "PIL/Image.py convert"),
    ("img = cv2.imread(p)",),
    ("x = np.fromfile(cfg.path, dtype)",),
]


def test_what_a_socket_carries_is_told_by_the_function_around_it() -> None:
    assert phase("self.sock.sendall(line)", at="emit_metrics") == "logging"


@pytest.mark.parametrize("row", READS)
def test_what_is_only_fetched_is_data(row: tuple[str, ...]) -> None:
    assert phase(*row) == "data-main"


NEITHER = [
    ("r = requests.post(url, json={'prompts': batch}).json()", *POST),
    ("out = requests.post(url, json=obs).json()", *POST),
    ("acts = np.frombuffer(requests.post(url, data=obs).content)", *POST),
    ('ok = requests.get(u + "/health").ok', *GET),
    ("urlopen(Request(self.u, weights.tobytes()))", *URLOPEN),
    ("self.sock.sendall(grads)",),
    ("s.sendall(struct.pack('<Q', len(b)) + b)",),  # to whom?
    ("data = conn.recv(4096)",),
    ("pipe.send(batch)", "multiprocessing/connection.py _send", "multiprocessing/connection.py send"),
    ("reply = client.chat.completions.create(model=m)", "httpx/_client.py post", "openai/_base_client.py post"),
    ("proc.stdin.write(cmd)",),
    ("f.write(blob); loss = step(x)",),  # nothing tells which of the two takes the time
    ("f.write(blob); time.sleep(1)",),
    ("cfg = yaml.load(f)", "yaml/constructor.py construct", "yaml/__init__.py load"),
    ("key = json.dumps(tree)", "json/encoder.py iterencode", "json/__init__.py dumps"),
    ("h = hash(pickle.dumps(x))",),
    ("x = gather.read_all(y)",),
    ("time.sleep(.1)",),
    (None,),
]


@pytest.mark.parametrize("row", NEITHER)
def test_questions_exchanges_and_all_else_stay_unknown(row: tuple[str | None, ...]) -> None:
    code, *library = row
    assert phase(code, *(text for text in library if text is not None)) == "other"


@pytest.mark.parametrize(
    "at", ["compute_rewards", "score", "generate_rollout", "RewardClient.call", "allreduce_params", "infer"]
)
def test_a_request_whose_answer_the_step_needs_is_no_report(at: str) -> None:
    assert phase("r = requests.post(url, json=payload)", *POST, at=at) == "other"
    assert phase("r = requests.post(url, json=payload)", *POST, at="_request", within=(at,)) == "other"


def test_names_that_tell_go_first() -> None:
    assert phase("f.write(blob)", "gzip.py write", at="make_batch") == "data-main"  # a cache of its data set
    assert phase("f.write(blob)", "gzip.py write", at="log_metrics") == "logging"
    assert phase('f.write(f"{step}\\n")', at="save_checkpoint") == "checkpoint"
    assert phase("x = requests.get(url).content", *GET, at="load_batch") == "data-main"
    assert phase("np.save(p, ids)", "numpy/lib/_npyio_impl.py save", at="write_shard") == "data-main"
    assert phase("s3.upload_file(p, b, k)", "boto3/s3/inject.py upload_file", at="push_checkpoint") == "checkpoint"


def test_a_step_around_it_hides_nothing() -> None:
    assert phase("requests.post(url, json=kv)", *POST, at="emit", within=("training_step",)) == "logging"
    assert phase("y = self.net(x)", at="emit", within=("training_step",)) == "forward"


def test_a_helper_of_a_library_is_looked_through() -> None:
    assert phase("requests.post(url, json=kv)", *POST, at="emit", within=("call",)) == "logging"
    assert phase("self.emit(kv)", "tenacity/__init__.py __call__", "tenacity/__init__.py wrapped_f") == "other"
