"""What can go wrong with a program: each takes an amount and the object at hand (an optimizer, or the first argument)."""

import fcntl
import gc
import os
import queue
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time

KEPT = []
"""What leaks."""


# it waits for ever


def fifo(amount, subject):
    path = tempfile.mktemp()
    os.mkfifo(path)
    with open(path) as pipe:
        pipe.read()


def flock(amount, subject):
    path = tempfile.mktemp()
    holder = open(path, "w")
    fcntl.flock(holder, fcntl.LOCK_EX)
    other = open(path, "w")
    fcntl.flock(other, fcntl.LOCK_EX)


def silent_server(amount, subject):
    server = socket.create_server(("127.0.0.1", 0))
    client = socket.create_connection(server.getsockname())
    client.sendall(b"GET /shard-0001 HTTP/1.1\r\n\r\n")
    client.recv(1)


def poll_file(amount, subject):
    while not os.path.exists("/tmp/no-such-file-ever"):
        time.sleep(amount or 0.5)


def reconnect(amount, subject):
    """A server that is gone, asked again and again."""
    while True:
        try:
            socket.create_connection(("127.0.0.1", 9), timeout=1)
        except OSError:
            time.sleep(amount or 0.2)


def spin(amount, subject):
    while not os.environ.get("WILD_DONE"):
        pass


def livelock(amount, subject):
    """Work without end: draws until a condition holds that never holds."""
    rng = random.Random(0)
    batch = [rng.random() for _ in range(1000)]
    while max(batch) < 2.0:
        batch = sorted(rng.random() for _ in range(1000))


def deadlock(amount, subject):
    first, second = threading.Lock(), threading.Lock()

    def other():
        with second:
            time.sleep(0.5)
            with first:
                pass

    with first:
        threading.Thread(target=other, daemon=True).start()
        time.sleep(0.2)
        with second:
            pass


def empty_queue(amount, subject):
    queue.Queue().get()


def child(amount, subject):
    subprocess.run(["sleep", "100000"], check=False)


def sleep_on(amount, subject):
    time.sleep(100000)


def extra_collective(amount, subject):
    """One rank more collective than the others."""
    import torch
    import torch.distributed as dist

    dist.all_gather([torch.zeros(7) for _ in range(dist.get_world_size())], torch.zeros(7))


# it is slow


def wait(amount, subject):
    time.sleep(amount)


def burn(amount, subject):
    end = time.thread_time() + amount
    while time.thread_time() < end:
        sum(range(1000))


def burn_torch(amount, subject):
    """The same in C, without the interpreter's lock."""
    import torch

    end = time.thread_time() + amount
    a = torch.rand(200, 200)
    while time.thread_time() < end:
        a @ a


def rising(amount, subject):
    KEPT.append(1)
    time.sleep(amount * len(KEPT))


def read_disk(amount, subject):
    """Read `amount` bytes past the page cache, in small blocks."""
    path = os.path.join(os.getcwd(), f"shard-{os.getpid()}.bin")
    if not os.path.exists(path):
        with open(path, "wb") as file:
            file.write(os.urandom(1 << 20) * 64)
    with open(path, "rb", buffering=0) as file:
        os.fsync(file.fileno())
        for start in range(0, int(amount), 4096):
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            file.seek((start * 997) % (64 << 20))
            file.read(4096)


def slow_server(amount, subject):
    """A server that answers late."""
    server = socket.create_server(("127.0.0.1", 0))

    def answer():
        connection, _ = server.accept()
        connection.recv(100)
        time.sleep(amount)
        connection.sendall(b"x")
        connection.close()

    threading.Thread(target=answer, daemon=True).start()
    with socket.create_connection(server.getsockname()) as client:
        client.sendall(b"GET")
        client.recv(1)
    server.close()


def collect(amount, subject):
    if not KEPT:
        KEPT.append([[i] for i in range(int(amount))])
    for _ in range(3):
        gc.collect()


def hold_gil(amount, subject):
    """A thread of Python that never rests."""
    if not KEPT:
        KEPT.append(1)
        for _ in range(int(amount)):
            threading.Thread(target=spin, args=(0, None), daemon=True).start()


def chatty(amount, subject):
    """Every step `amount` lines, each forced to the disk."""
    with open("debug.log", "a") as file:
        for i in range(int(amount)):
            file.write(f"DEBUG activation {i} mean={random.random():.5f}\n")
            file.flush()
            os.fsync(file.fileno())


def save(amount, subject):
    """A checkpoint of `amount` bytes, forced to the disk."""
    import torch

    with open("checkpoint.pt", "wb") as file:
        torch.save({"weights": torch.zeros(int(amount) // 4)}, file)
        os.fsync(file.fileno())


def crowd(amount, subject):
    """Busy child processes, many more than cores."""
    if not KEPT:
        KEPT.append(1)
        for _ in range(int(amount)):
            subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"])


# it leaks


def memory(amount, subject):
    KEPT.append(b"x" * int(amount))


def files(amount, subject):
    KEPT.extend(open("/dev/null") for _ in range(int(amount)))


# it ends


def die(amount, subject):
    os.kill(os.getpid(), 9)


def fail(amount, subject):
    raise RuntimeError("shard 17 is damaged")


# it does not learn


def params(optimizer):
    return [each for group in optimizer.param_groups for each in group["params"] if each.grad is not None]


def nan(amount, optimizer):
    for each in params(optimizer)[:1]:
        each.data.mul_(float("nan"))


def shake(amount, optimizer):
    """Weights that are suddenly far off: a spike."""
    import torch

    for each in params(optimizer):
        local = each.data.to_local() if hasattr(each.data, "to_local") else each.data  # of FSDP2: the shard
        local.add_(torch.randn_like(local) * amount * local.abs().mean().clamp(min=0.02))


def climb(amount, optimizer):
    """Up instead of down."""
    for each in params(optimizer):
        each.grad.mul_(-amount)


def freeze(amount, optimizer):
    for each in params(optimizer):
        each.grad.zero_()


def zero_lr(amount, optimizer):
    for group in optimizer.param_groups:
        group["lr"] = 0.0


PLANTS = {name: value for name, value in list(globals().items()) if callable(value) and name.islower()}
