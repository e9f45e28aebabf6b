"""Healthy: an event loop that waits for something to do, as a notebook does between two cells.

Symptom: none. Start: python.
"""

import asyncio
import signal

signal.alarm(300)


async def serve():
    print("idle", flush=True)
    await asyncio.Event().wait()


asyncio.run(serve())
