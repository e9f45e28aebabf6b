"""Fixtures for all tests."""

from tests.fakenvml.fixture import fake_nvml, new_nvml, nvml_library, old_nvml

__all__ = ["fake_nvml", "new_nvml", "nvml_library", "old_nvml"]
