"""Collectives over loopback: the mean is right, a mismatch waits, a lost peer is an error."""

from __future__ import annotations

import socket
import threading
from array import array

import pytest

from hwtop.demo.launcher import free_port
from hwtop.demo.train.collective import Communicator
from hwtop.demo.train.settings import Place


def meet(world_size: int) -> list[Communicator]:
    port = free_port()
    ranks: dict[int, Communicator] = {}

    def join(rank: int) -> None:
        ranks[rank] = Communicator(Place(rank, world_size, "127.0.0.1", port), is_patient=False)

    threads = [threading.Thread(target=join, args=(rank,), daemon=True) for rank in range(world_size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return [ranks[rank] for rank in range(world_size)]


def close(communicator: Communicator) -> None:
    for peer in communicator._peers:
        peer._connection.shutdown(socket.SHUT_RDWR)
        peer._connection.close()


def test_all_reduce_is_the_mean_over_three_ranks() -> None:
    ranks = meet(3)
    means: dict[int, list[float]] = {}

    def reduce(rank: int) -> None:
        means[rank] = list(ranks[rank].all_reduce(array("d", [rank, 10.0 * rank])))
        ranks[rank].barrier()

    threads = [threading.Thread(target=reduce, args=(rank,), daemon=True) for rank in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert [means[rank] for rank in range(3)] == [[1.0, 10.0]] * 3
    for rank in ranks:
        close(rank)


def test_barrier_against_all_reduce_waits_until_the_right_one_comes() -> None:
    hub, other = meet(2)
    other._peers[0].send("barrier", b"")
    other._peers[0].send("all_reduce", array("d", [3.0]).tobytes())
    assert list(hub.all_reduce(array("d", [1.0]))) == [2.0]
    hub.barrier()  # the early message was kept
    for communicator in (hub, other):
        close(communicator)


def test_lost_peer_is_an_error() -> None:
    hub, other = meet(2)
    close(other)
    with pytest.raises(ConnectionError, match="closed by peer"):
        hub.all_reduce(array("d", [1.0]))
    close(hub)
