"""InfiniBand and RoCE ports: /sys/class/infiniband/*/ports/* (Documentation/ABI/stable/sysfs-class-infiniband)."""

from __future__ import annotations

import os

from hwtop.collectors.procfs import read_text, reason_of
from hwtop.model.host.network import IbPortCounters

WORD_BYTES = 4
"""port_xmit_data and port_rcv_data count "in double words (4 bytes)"."""

SATURATED_WORDS = 0xFFFFFFFF
"""Adapters with 32-bit counters stop here instead of wrapping: the count says nothing any more."""

_ERRORS = {
    "counters": (
        "symbol_error",
        "link_error_recovery",
        "link_downed",
        "port_rcv_errors",
        "port_rcv_remote_physical_errors",
        "port_rcv_switch_relay_errors",
        "port_rcv_constraint_errors",
        "port_xmit_constraint_errors",
        "port_xmit_discards",
        "local_link_integrity_errors",
        "excessive_buffer_overrun_errors",
        "VL15_dropped",
    ),
    "hw_counters": (  # mlx5 and others
        "out_of_sequence",
        "packet_seq_err",
        "local_ack_timeout_err",
        "rnr_nak_retry_err",
        "roce_slow_restart",
        "out_of_buffer",
        "rx_icrc_encapsulated",
        "req_cqe_error",
        "resp_cqe_error",
    ),
}


def read_ports(sys: str, missing: dict[str, str]) -> tuple[IbPortCounters, ...]:
    """All ports of all adapters; () where there is no adapter. A port that cannot be read gets "ib_ports.DEVICE:PORT"."""
    root = f"{sys}/class/infiniband"
    try:
        devices = sorted(os.listdir(root))
    except FileNotFoundError:
        return ()
    return tuple(port for device in devices for port in _read_device(f"{root}/{device}/ports", device, missing))


def _read_device(path: str, device: str, missing: dict[str, str]) -> list[IbPortCounters]:
    try:
        numbers = sorted(os.listdir(path), key=int)
    except (OSError, ValueError) as error:
        missing[f"ib_ports.{device}"] = reason_of(error)
        return []
    ports = (_read_port(f"{path}/{number}", device, int(number), missing) for number in numbers)
    return [port for port in ports if port is not None]


def _read_port(path: str, device: str, number: int, missing: dict[str, str]) -> IbPortCounters | None:
    field = f"ib_ports.{device}:{number}"
    try:
        return IbPortCounters(
            device=device,
            port=number,
            state=_state(read_text(f"{path}/state")),
            phys_state=_state(read_text(f"{path}/phys_state")),
            rate_gbit_per_s=_rate(read_text(f"{path}/rate")),
            rx_bytes=_data_bytes(f"{path}/counters/port_rcv_data", f"{field}.rx_bytes", missing),
            tx_bytes=_data_bytes(f"{path}/counters/port_xmit_data", f"{field}.tx_bytes", missing),
            errors=_errors(path),
        )
    except OSError as error:
        missing[field] = reason_of(error)
        return None


def _state(text: str) -> str:
    """The name in "4: ACTIVE" or "5: LinkUp"."""
    return text.partition(":")[2].strip() or text.strip()


def _rate(text: str) -> float | None:
    """Gbit/s of "200 Gb/sec (4X HDR)"."""
    try:
        return float(text.split()[0])
    except (ValueError, IndexError):
        return None


def _data_bytes(path: str, field: str, missing: dict[str, str]) -> int | None:
    try:
        words = int(read_text(path))
    except (OSError, ValueError) as error:  # "N/A (no PMA)" from adapters without counters
        missing[field] = reason_of(error)
        return None
    if words == SATURATED_WORDS:
        missing[field] = f"{path}: the 32-bit counter is full"
        return None
    return words * WORD_BYTES


def _errors(path: str) -> dict[str, int]:
    """Which of the counters exist depends on the adapter, so a missing one is no news."""
    found: dict[str, int] = {}
    for folder, names in _ERRORS.items():
        try:
            present = set(os.listdir(f"{path}/{folder}"))
        except OSError:
            continue
        for name in names:
            if name in present:
                try:
                    found[name] = int(read_text(f"{path}/{folder}/{name}"))
                except (OSError, ValueError):
                    continue
    return found
