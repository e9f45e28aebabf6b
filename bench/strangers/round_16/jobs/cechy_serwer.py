"""Serwer cech: na zapytanie (numer próbki) odsyła skompresowany wektor float32."""
import socket
import socketserver
import struct
import sys
import zlib

import numpy as np

DIM = 1024
KAWALEK = 1272  # mieści się w jednym pakiecie


class Obsluga(socketserver.BaseRequestHandler):
    def handle(self):
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        bufor = b""
        while True:
            glowa = self.request.recv(8)
            if len(glowa) < 8:
                return
            (nr,) = struct.unpack("<q", glowa)
            wektor = np.random.default_rng(nr).normal(size=DIM).astype("<f4")
            wektor[:10] += 2 * (np.arange(10) == nr % 10)
            dane = zlib.compress(wektor.tobytes())
            bufor += struct.pack("<i", len(dane)) + dane
            while len(bufor) > KAWALEK:
                self.request.sendall(bufor[:KAWALEK])
                bufor = bufor[KAWALEK:]
            if len(bufor) > 1:  # drobne resztki idą razem z następną ramką
                self.request.sendall(bufor)
                bufor = b""


class Serwer(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


if __name__ == "__main__":
    with Serwer(("127.0.0.1", int(sys.argv[1])), Obsluga) as s:
        s.serve_forever()
