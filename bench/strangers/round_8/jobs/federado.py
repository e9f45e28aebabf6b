"""Promedio federado: un servidor asyncio y tres clientes, cada uno con sus propios datos."""

import asyncio
import multiprocessing as mp
import pickle
import socket
import struct
import time

import numpy as np

CLIENTES = 3
PUERTO_LIBRE = 0


def enviar(sock, objeto):
    datos = pickle.dumps(objeto)
    sock.sendall(struct.pack("!I", len(datos)) + datos)


def recibir(sock):
    def exacto(n):
        trozos = b""
        while len(trozos) < n:
            trozo = sock.recv(n - len(trozos))
            if not trozo:
                raise ConnectionError("el servidor se fue")
            trozos += trozo
        return trozos

    return pickle.loads(exacto(struct.unpack("!I", exacto(4))[0]))


def cliente(numero, puerto):
    azar = np.random.default_rng(numero)
    verdad = np.random.default_rng(99).normal(size=60)
    x = azar.normal(size=(3000, 60))
    y = x @ verdad + 0.1 * azar.normal(size=3000)
    sock = socket.create_connection(("127.0.0.1", puerto))
    while True:
        pesos = recibir(sock)
        for _ in range(40):  # pasos locales
            lote = azar.integers(0, 3000, 64)
            error = x[lote] @ pesos - y[lote]
            pesos = pesos - 0.0004 * x[lote].T @ error / 64
            time.sleep(0.04)
        enviar(sock, (pesos, float(((x @ pesos - y) ** 2).mean())))


async def main():
    conexiones = asyncio.Queue()

    async def llega(lector, escritor):
        await conexiones.put((lector, escritor))

    servidor = await asyncio.start_server(llega, "127.0.0.1", PUERTO_LIBRE)
    puerto = servidor.sockets[0].getsockname()[1]
    for n in range(CLIENTES):
        mp.get_context("spawn").Process(target=cliente, args=(n, puerto), daemon=True, name=f"cliente-{n}").start()
    pares = [await conexiones.get() for _ in range(CLIENTES)]
    pesos = np.zeros(60)

    async def una_vuelta(lector, escritor):
        datos = pickle.dumps(pesos)
        escritor.write(struct.pack("!I", len(datos)) + datos)
        await escritor.drain()
        (tam,) = struct.unpack("!I", await lector.readexactly(4))
        return pickle.loads(await lector.readexactly(tam))

    for ronda in range(1, 10000):
        t0 = time.time()
        respuestas = await asyncio.gather(*(una_vuelta(*par) for par in pares))
        pesos = np.mean([r[0] for r in respuestas], axis=0)
        perdida = np.mean([r[1] for r in respuestas])
        print(f"ronda {ronda}: pérdida media {perdida:.4f} ({time.time() - t0:.1f} s)", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
