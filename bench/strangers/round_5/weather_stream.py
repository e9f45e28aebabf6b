"""Temperature forecast on rows streamed from an archive, fetched ahead by a thread."""

import atexit
import logging
import queue
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

import requests
import torch
from torch import nn

torch.set_num_threads(1)
logging.basicConfig(level=logging.INFO, format="%(asctime)s [%(threadName)s] %(levelname)s: %(message)s")
logging.getLogger("urllib3").setLevel(logging.WARNING)
port = random.randint(20_000, 45_000)
url = f"http://127.0.0.1:{port}/rows"


def fetch(attempts=5):
    for attempt in range(1, attempts + 1):
        try:
            answer = requests.get(url, timeout=5)
            answer.raise_for_status()
            return torch.tensor(answer.json())
        except requests.RequestException as error:  # noqa: PERF203
            wait = 0.1 * 2**attempt
            logging.warning("fetch failed (%s), retry %d/%d in %.1f s", error, attempt, attempts, wait)
            time.sleep(wait)
    raise RuntimeError("archive does not answer")


def fetch_ahead(rows):
    while True:
        rows.put(fetch())


def main():
    server = subprocess.Popen([sys.executable, str(Path(__file__).with_name("flaky_api.py")), str(port)])
    atexit.register(server.kill)
    rows = queue.Queue(maxsize=16)
    threading.Thread(target=fetch_ahead, args=(rows,), name="fetch", daemon=True).start()
    model = nn.Sequential(nn.BatchNorm1d(11), nn.Linear(11, 128), nn.ReLU(), nn.Linear(128, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    step = 0
    while True:
        block = rows.get()
        for _ in range(24):
            batch = block[torch.randint(0, len(block), (128,))]
            target = batch[:, :11].mean(1) / 10 + 0.05 * torch.randn(128)
            loss = nn.functional.mse_loss(model(batch[:, :11]).squeeze(1), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            time.sleep(0.015)
            step += 1
            if step % 40 == 0:
                logging.info("step %d: mse %.4f, %d blocks ahead", step, loss.item(), rows.qsize())


if __name__ == "__main__":
    main()
