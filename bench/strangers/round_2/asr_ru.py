"""Обучение распознавания речи. Признаки берём с сервера признаков или считаем сами."""
import logging
import os
import socket
import struct
import subprocess
import sys
import threading
import time

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(asctime)s | %(message)s", datefmt="%H:%M:%S")
log = logging.getLogger()
СБОЙ = os.environ.get("SBOY", "")
БЛОК = threading.Lock()


def сервер_признаков():
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    s.listen(16)
    print(s.getsockname()[1], flush=True)
    served = 0
    while True:
        c, _ = s.accept()

        def client(c=c):
            nonlocal served
            while True:
                n = c.recv(4)
                if not n:
                    return
                served += 1
                if СБОЙ == "server" and served > 1500:
                    time.sleep(10**6)  # очередь сервера переполнена
                c.sendall(np.random.RandomState(struct.unpack("!I", n)[0]).bytes(40 * 60))

        threading.Thread(target=client, daemon=True).start()


class Речь(Dataset):
    def __init__(self, порт):
        self.порт, self.s = порт, None

    def __len__(self):
        return int(os.environ.get("ZAPISEY", "100000"))

    def __getitem__(self, i):
        if self.s is None:
            open(f"worker{torch.utils.data.get_worker_info().id}.pid", "w").write(str(os.getpid()))
            if СБОЙ == "fork":
                with БЛОК:  # общий кэш словаря
                    pass
            self.s = socket.create_connection(("127.0.0.1", self.порт))
        self.s.sendall(struct.pack("!I", i))
        buf = b""
        while len(buf) < 2400:
            buf += self.s.recv(4096)
        x = torch.from_numpy(np.frombuffer(buf, np.uint8).reshape(60, 40).astype(np.float32)) / 128 - 1
        x[:, int(i) % 33] += 0.5
        return x, int(i) % 33


class Модель(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.r = torch.nn.LSTM(40, 128, 2, batch_first=True)
        self.o = torch.nn.Linear(128, 33)

    def forward(self, x):
        return self.o(self.r(x)[0].mean(1))


def обновлять_словарь():
    while True:
        with БЛОК:
            time.sleep(0.7)  # перечитать словарь с диска
        time.sleep(0.02)


def main():
    torch.set_num_threads(1)
    p = subprocess.Popen([sys.executable, __file__, "server"], stdout=subprocess.PIPE, text=True)
    порт = int(p.stdout.readline())
    модель = Модель()
    opt = torch.optim.Adam(модель.parameters(), 1e-3)
    загрузчик = DataLoader(Речь(порт), 24, shuffle=True, num_workers=2, multiprocessing_context="fork")
    шаг = 0
    for эпоха in range(1, 300):
        log.info("Эпоха %d началась", эпоха)
        if СБОЙ == "fork" and эпоха == 2:  # со второй эпохи словарь обновляется
            threading.Thread(target=обновлять_словарь, daemon=True).start()
        for x, y in загрузчик:
            потеря = torch.nn.functional.cross_entropy(модель(x), y)
            opt.zero_grad()
            потеря.backward()
            opt.step()
            шаг += 1
            if шаг % 10 == 0:
                log.info("эпоха %d шаг %d потеря %.4f", эпоха, шаг, потеря.item())
            if СБОЙ == "fork" and шаг % 40 == 0:
                break  # короткие эпохи, рабочие создаются заново


if __name__ == "__main__":
    сервер_признаков() if sys.argv[1:] == ["server"] else main()
