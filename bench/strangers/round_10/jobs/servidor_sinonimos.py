"""Servidor de sinónimos: una línea de palabras entra, una línea de sinónimos sale."""
import json
import logging
import socket
import sys
import threading

logging.basicConfig(level=logging.INFO, format="%(asctime)s [servidor] %(levelname)s %(message)s")
log = logging.getLogger("sinonimos")
TABLA = {f"w{i}": f"w{(i * 7 + 3) % 400}" for i in range(400)}
abiertas = []


def atender(con):
    f = con.makefile("rwb")
    try:
        for linea in f:
            palabras = json.loads(linea)
            f.write(json.dumps([TABLA[p] for p in palabras]).encode() + b"\n")
            f.flush()
    except KeyError:
        log.debug("palabra fuera de tabla")


s = socket.create_server(("127.0.0.1", int(sys.argv[1])))
log.info("escuchando en %s", sys.argv[1])
while True:
    con, _ = s.accept()
    abiertas.append(con)
    threading.Thread(target=atender, args=(con,), daemon=True).start()
