import argparse
import os
import pickle
import socket
import struct
import threading
import time

import numpy as np


def recv_exact(sock, n):
    buf = bytearray()
    while len(buf) < n:
        part = sock.recv(n - len(buf))
        if not part:
            raise ConnectionError("cerrado por el otro lado")
        buf += part
    return bytes(buf)


def recv_obj(sock):
    (n,) = struct.unpack("!I", recv_exact(sock, 4))
    return pickle.loads(recv_exact(sock, n))


def send_obj(sock, obj):
    data = pickle.dumps(obj)
    sock.sendall(struct.pack("!I", len(data)) + data)


class Coordinador:
    def __init__(self, centros, dims):
        rng = np.random.default_rng(0)
        self.pesos = [rng.normal(0, 0.1, (a, b)).astype("f4") for a, b in zip(dims[:-1], dims[1:])]
        self.centros = centros
        self.cond = threading.Condition()
        self.recibidos = {}
        self.ronda = 0

    def entregar(self, centro, pesos, n, loss):
        with self.cond:
            mi_ronda = self.ronda
            self.recibidos[centro] = (pesos, n, loss)
            if len(self.recibidos) == self.centros:
                total = sum(n for _, n, _ in self.recibidos.values())
                self.pesos = [
                    sum(p[i] * (n / total) for p, n, _ in self.recibidos.values()) for i in range(len(self.pesos))
                ]
                media = sum(l * n for _, n, l in self.recibidos.values()) / total
                self.ronda += 1
                self.recibidos = {}
                print(f"[{time.strftime('%H:%M:%S')}] ronda {self.ronda} | pérdida media {media:.4f} | muestras {total}")
                self.cond.notify_all()
            while self.ronda == mi_ronda:
                self.cond.wait()
            return self.ronda, self.pesos

    def atender(self, sock):
        centro = recv_obj(sock)
        print(f"[{time.strftime('%H:%M:%S')}] centro {centro} conectado")
        send_obj(sock, (self.ronda, self.pesos))
        try:
            while True:
                pesos, n, loss = recv_obj(sock)
                send_obj(sock, self.entregar(centro, pesos, n, loss))
        except ConnectionError:
            print(f"[{time.strftime('%H:%M:%S')}] centro {centro} desconectado, se espera a que vuelva")


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--centros", type=int, default=3)
    ap.add_argument("--rondas", type=int, default=100)
    args = ap.parse_args()
    c = Coordinador(args.centros, [64, 256, 128, 5])
    srv = socket.create_server((os.environ["FL_HOST"], int(os.environ["FL_PORT"])))
    print("servidor listo en", srv.getsockname())
    while True:
        sock, _ = srv.accept()
        threading.Thread(target=c.atender, args=(sock,), daemon=True).start()
