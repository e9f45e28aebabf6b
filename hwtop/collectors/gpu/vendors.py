"""Vendors other than NVIDIA: the interface of each, whose code is loaded only where its devices are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from hwtop.collectors.gpu.pci import AMD, GOOGLE, HABANA, INTEL, PciDevice, graphics_devices, pci_devices
from hwtop.model.gpu.device import GpuReading, Vendor


class VendorSource(Protocol):
    """What one vendor has to offer. Both functions may block: they run where they can be abandoned."""

    vendor: Vendor

    def probe(self) -> str | None:
        """Why nothing of this vendor can be read, or None. A reason that begins with "no " means: there is none here."""

    def read(self) -> GpuReading:
        """All its devices, numbered from 0.

        Raises:
            CannotError: they cannot be read any more; the message says why.
        """


class _OnPci:
    """A vendor whose code is imported once one of its devices is seen on PCI: it takes 20 ms that most machines need not spend."""

    def __init__(
        self, vendor: Vendor, name: str, find: Callable[[], Sequence[PciDevice]], load: Callable[[], VendorSource]
    ) -> None:
        self.vendor: Vendor = vendor
        self._name = name
        self._find = find
        self._load = load
        self._source: VendorSource | None = None

    def probe(self) -> str | None:
        """ "no ..." where PCI lists no device, else what the vendor's own code says."""
        if not self._find():
            return f"no {self._name} on PCI"
        return self._loaded().probe()

    def read(self) -> GpuReading:
        """What the vendor's own code reads."""
        return self._loaded().read()

    def _loaded(self) -> VendorSource:
        if self._source is None:
            self._source = self._load()
        return self._source


def other_vendors(now: Callable[[], float], sys: str = "/sys") -> tuple[VendorSource, ...]:
    """All that hwtop reads other than NVIDIA, in the order of their rows."""

    def amd() -> VendorSource:
        from hwtop.collectors.gpu.amd.vendor import AmdGpus

        return AmdGpus(sys, now=now)

    def intel() -> VendorSource:
        from hwtop.collectors.gpu.intel.vendor import IntelGpus

        return IntelGpus(sys, now=now)

    def tpu() -> VendorSource:
        from hwtop.collectors.gpu.tpu.vendor import GpuTpuSource

        return GpuTpuSource(now, sys)

    return (
        _OnPci("amd", "AMD GPU", lambda: graphics_devices(AMD, sys), amd),
        _OnPci("intel", "Intel GPU", lambda: graphics_devices(INTEL, sys) + graphics_devices(HABANA, sys), intel),
        _OnPci("tpu", "device of Google's", lambda: pci_devices(GOOGLE, sys), tpu),
    )
