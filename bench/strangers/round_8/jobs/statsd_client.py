"""Bandit simulation that reports to statsd; every report makes its own client."""

import contextlib
import os
import random
import socket
import time


class Client:
    alive = []

    def __init__(self, host="127.0.0.1", port=8125):
        self.sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.sock.connect((host, port))
        Client.alive.append(self)

    def gauge(self, name, value):
        with contextlib.suppress(ConnectionRefusedError):
            self.sock.send(f"{name}:{value:.4f}|g".encode())


arms = [random.gauss(0, 1) for _ in range(20)]
estimate, pulls = [0.0] * 20, [0] * 20
total = 0.0
print("pid", os.getpid(), "bandit with", len(arms), "arms")
for episode in range(1, 10**6):
    for _ in range(50):
        a = random.randrange(20) if random.random() < 0.1 else max(range(20), key=estimate.__getitem__)
        r = random.gauss(arms[a], 1)
        pulls[a] += 1
        estimate[a] += (r - estimate[a]) / pulls[a]
        total += r
    Client().gauge("bandit.reward", r)
    time.sleep(0.15)
    if episode % 20 == 0:
        print(f"episode {episode} average_reward {total / (episode * 50):.4f}")
