"""Health of an accelerator: memory errors, and what was done about them."""

from __future__ import annotations

from msgspec import Struct


class EccErrors(Struct, frozen=True, gc=False, kw_only=True):
    """Memory errors that were found. Volatile: since the driver was loaded; aggregate: in the life of the board."""

    is_enabled: bool | None = None
    volatile_corrected: int | None = None
    volatile_uncorrected: int | None = None
    aggregate_corrected: int | None = None
    aggregate_uncorrected: int | None = None
    sram_uncorrected: int | None = None
    """Volatile, in caches and registers; the rest is in DRAM."""
    dram_uncorrected: int | None = None


class RemappedRows(Struct, frozen=True, gc=False, kw_only=True):
    """Rows of HBM that were replaced by spare ones (Ampere and later)."""

    corrected: int
    uncorrected: int
    is_pending: bool
    """A row waits for a reset of the GPU to be replaced."""
    has_failed: bool
    """No spare row was left: the board is to be replaced."""


class RetiredPages(Struct, frozen=True, gc=False, kw_only=True):
    """Pages taken out of use (before Ampere)."""

    single_bit: int | None
    double_bit: int | None
    is_pending: bool | None = None


class XidEvent(Struct, frozen=True, gc=False, kw_only=True):
    """A fault that the driver reported, by its number in NVIDIA's catalogue."""

    code: int
    at_s: float
    """When hwtop learnt of it, on the clock of the snapshots."""
