"""Fault: a thread with an asyncio loop fetches the shards ahead, but the store answers late; the loop waits at its queue.

Symptom: input-bound-io. Start: python.
"""

import asyncio
import queue
import signal
import threading
import time

signal.alarm(300)
SHARD = bytes(range(256)) * 16


async def answer(reader, writer):
    await reader.readline()
    await asyncio.sleep(0.6)
    writer.write(SHARD)
    await writer.drain()
    writer.close()


async def fetch(port):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET shard\n")
    shard = await reader.read(-1)
    writer.close()
    return shard


class Prefetcher:
    def __init__(self, depth=4):
        self.queue = queue.Queue(depth)
        threading.Thread(target=lambda: asyncio.run(self.pump()), name="prefetch", daemon=True).start()

    async def pump(self):
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        while True:
            shards = await asyncio.gather(*[fetch(port) for _ in range(4)])
            while self.queue.full():
                await asyncio.sleep(0.01)
            self.queue.put(b"".join(shards))

    def __iter__(self):
        while True:
            yield self.queue.get()


for step, shard in enumerate(Prefetcher(), start=1):
    loss = 2 / step**0.3 + sum(shard[:100]) * 1e-6
    time.sleep(0.05)  # an accelerator's share of the step
    print(f"batch {step} loss {loss:.4f} ({len(shard)} bytes)", flush=True)
