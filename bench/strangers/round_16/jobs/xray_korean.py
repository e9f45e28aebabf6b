"""흉부 X선 분류. 주석은 로컬 주석 서버에서 받아 온다."""
import multiprocessing as mp
import os
import socket
import struct
import threading

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

PATH = os.path.abspath("annot.sock")
pending = threading.Event()


def answer(conn):
    while True:
        raw = conn.recv(8)
        if len(raw) < 8:
            return
        (record,) = struct.unpack("q", raw)
        if record % 2503 == 2502:
            pending.wait()  # 판독의 확인 대기
        conn.sendall(struct.pack("q", record * 7919 % 4))


def serve(path):
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen(16)
    while True:
        conn, _ = server.accept()
        threading.Thread(target=answer, args=(conn,), daemon=True).start()


class Xray(Dataset):
    def __init__(self):
        self.conn = None

    def __len__(self):
        return 60000

    def __getitem__(self, i):
        if self.conn is None:
            self.conn = socket.socket(socket.AF_UNIX)
            self.conn.connect(PATH)
        self.conn.sendall(struct.pack("q", i))
        (label,) = struct.unpack("q", self.conn.recv(8))
        image = torch.randn(1, 32, 32)
        image[:, :, label * 8 : label * 8 + 8] += 0.5
        return image, label


def main():
    mp.Process(target=serve, args=(PATH,), daemon=True).start()
    while not os.path.exists(PATH):
        pass
    model = nn.Sequential(nn.Conv2d(1, 24, 5, stride=2), nn.ReLU(), nn.Conv2d(24, 48, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(48 * 36, 4))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    loader = DataLoader(Xray(), batch_size=16, num_workers=2, persistent_workers=True)
    for epoch in range(50):
        for step, (x, y) in enumerate(loader, 1):
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % 10 == 0:
                print(f"에폭 {epoch} 스텝 {step}/{len(loader)} 손실 {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
