"""Names of AMD's compute boards by PCI device id, for where the driver reports none (/sys/.../product_name is often empty).

From the PCI ID repository (https://pci-ids.ucw.cz) and the tables of the amdgpu driver.
"""

from __future__ import annotations

_NAMES = {
    0x738C: "AMD Instinct MI100",
    0x738E: "AMD Instinct MI100",
    0x7408: "AMD Instinct MI250X",
    0x740C: "AMD Instinct MI250",
    0x740F: "AMD Instinct MI210",
    0x74A0: "AMD Instinct MI300A",
    0x74A1: "AMD Instinct MI300X",
    0x74A2: "AMD Instinct MI308X",
    0x74A5: "AMD Instinct MI325X",
    0x74A9: "AMD Instinct MI300X HF",
    0x74B5: "AMD Instinct MI300X VF",
    0x74B9: "AMD Instinct MI325X VF",
    0x74BD: "AMD Instinct MI300X HF",
    0x75A0: "AMD Instinct MI350X",
    0x75A3: "AMD Instinct MI355X",
    0x7448: "AMD Radeon Pro W7900",
    0x745E: "AMD Radeon Pro W7800",
    0x744C: "AMD Radeon RX 7900",
    0x73A3: "AMD Radeon Pro W6800",
    0x73BF: "AMD Radeon RX 6800/6900",
    0x7550: "AMD Radeon RX 9070",
    0x7551: "AMD Radeon AI Pro R9700",
    0x7590: "AMD Radeon RX 9060 XT",
}

_TWO_DIES = (0x7408, 0x740C)
"""Boards that are two GPUs to the driver."""


def name_of(device_id: int, reported: str | None) -> str:
    """What the driver reports, else by the table, else the number."""
    if reported:
        return reported if reported.startswith("AMD") else f"AMD {reported}"
    return _NAMES.get(device_id, f"AMD GPU {device_id:#06x}")


def is_instinct(device_id: int) -> bool:
    """A compute board: its energy counter has a documented unit."""
    return "Instinct" in _NAMES.get(device_id, "")


def has_two_dies(device_id: int) -> bool:
    """Power and its limit are reported for the whole board, by its first die."""
    return device_id in _TWO_DIES
