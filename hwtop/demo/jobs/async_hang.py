"""Fault: an asyncio trainer awaits the answer of a reward service whose task has ended with an error that nobody looked at.

Symptom: hang. Start: python.
"""

import asyncio
import random
import signal

signal.alarm(300)


async def reward_service(questions, answers):
    count = 0
    while True:
        await questions.get()
        count += 1
        if count == 60:
            raise LookupError("prompt")
        await asyncio.sleep(0.03)
        await answers.put(random.gauss(0.5, 0.1))


async def train():
    questions, answers = asyncio.Queue(), asyncio.Queue()
    service = asyncio.create_task(reward_service(questions, answers))
    for step in range(1, 100_000):
        await questions.put(step)
        reward = await answers.get()
        await asyncio.sleep(0.05)
        print(f"step={step} reward={reward:.3f} kl={0.01 * step:.3f}", flush=True)
    await service


asyncio.run(train())
