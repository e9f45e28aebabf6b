"""The data side of the demo job: reading, decoding, and loader workers that run ahead of the training process."""

from __future__ import annotations

import multiprocessing
import os
import random
import threading
import time
from multiprocessing.process import BaseProcess
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Semaphore

from .lifetime import die_with_parent
from .settings import Settings

SAMPLE_BYTES = 1024
GAMMA = bytes(round(255 * (level / 255) ** 0.45) for level in range(256))


def decode(sample: bytes, cpu_s: float) -> bytes:
    """Gamma-correct a picture in pure Python, as often as `cpu_s` seconds of CPU time allow."""
    until = time.thread_time() + cpu_s
    pixels = bytearray(sample)
    while time.thread_time() < until:
        for index, level in enumerate(pixels):
            pixels[index] = GAMMA[level]
    return bytes(pixels)


def read_sample(storage: int | None) -> bytes:
    """The next sample: from the file descriptor of the storage (blocks until it answers), else made up."""
    if storage is None:
        return random.randbytes(SAMPLE_BYTES)  # noqa: S311  # training data, no secret
    sample = b""
    while len(sample) < SAMPLE_BYTES:
        part = os.read(storage, SAMPLE_BYTES - len(sample))
        if not part:
            raise EOFError("the storage is closed")
        sample += part
    return sample


def serve_slowly(pipes: list[int], every_s: float) -> None:
    """Be a slow storage: write one sample into each pipe every `every_s` seconds until the process ends."""
    while True:
        time.sleep(every_s)
        for pipe in pipes:
            os.write(pipe, random.randbytes(SAMPLE_BYTES))  # noqa: S311


def load_batches(wanted: Semaphore, ready: Queue[bytes], storage: int | None, decode_s: float, parent_pid: int) -> None:
    """What a loader worker does all its life."""
    die_with_parent(parent_pid)
    while True:
        wanted.acquire()
        ready.put(decode(read_sample(storage), decode_s))


class InProcessLoader:
    """Loads where it is asked: no workers."""

    def __init__(self, settings: Settings) -> None:
        self._decode_s = settings.decode_ms / 1000

    def next_batch(self) -> bytes:
        """Read and decode one batch now."""
        return decode(read_sample(None), self._decode_s)


class PrefetchingLoader:
    """Loader workers, each of which runs one batch ahead, as a DataLoader with prefetch_factor=1."""

    def __init__(self, settings: Settings) -> None:
        """Fork the workers. Must be called before this process has threads."""
        context = multiprocessing.get_context("fork")
        self._wanted = context.Semaphore(settings.num_workers)
        self._ready: Queue[bytes] = context.Queue()
        decode_s, every_s = settings.decode_ms / 1000, settings.read_ms / 1000
        pipes = [os.pipe() for _ in range(settings.num_workers)] if every_s else []
        self._workers: list[BaseProcess] = []
        for index in range(settings.num_workers):
            storage = pipes[index][0] if pipes else None
            arguments = (self._wanted, self._ready, storage, decode_s, os.getpid())
            self._workers.append(context.Process(target=load_batches, args=arguments, daemon=True))
            self._workers[-1].start()
        if pipes:
            ends = [write_end for _, write_end in pipes]
            threading.Thread(target=serve_slowly, args=(ends, every_s), name="storage", daemon=True).start()

    def next_batch(self) -> bytes:
        """The next batch that a worker finished; blocks while there is none."""
        batch = self._ready.get()
        self._wanted.release()
        return batch


def make_loader(settings: Settings) -> InProcessLoader | PrefetchingLoader:
    """The loader for `settings.num_workers`."""
    return PrefetchingLoader(settings) if settings.num_workers else InProcessLoader(settings)
