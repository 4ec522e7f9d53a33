"""What stands behind a grant on a machine: the files, devices and processors that a bot needs for
it.
"""

import os
from glob import glob

CORES = frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else frozenset[int]()
"""The processors of this process as it began: a worker ties itself to one of them later."""
NETWORK_FILES = (
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/host.conf",
    "/etc/nsswitch.conf",
    "/etc/gai.conf",
    "/etc/services",
    "/etc/protocols",
    "/etc/ssl/certs",
    "/etc/ssl/cert.pem",
    "/etc/pki/tls/certs",
    "/etc/pki/ca-trust/extracted",
    "/etc/ca-certificates/extracted",
)
"""How names are looked up, and whom TLS believes; private keys lie beside these, not in them."""
GPU_DEVICES = ("/dev/nvidia*", "/dev/nvidia-caps/*", "/dev/dri/*", "/dev/kfd")
GPU_FILES = (
    "/etc/OpenCL/vendors",
    "/etc/vulkan",
    "/etc/glvnd",
    "/opt/rocm*",
    "/opt/cuda",
    "/sys/bus/pci",
    "/sys/class/drm",
    "/sys/class/kfd",
    "/sys/dev/char",
    "/sys/devices",
    "/sys/module/amdgpu",
    "/sys/module/nvidia*",
)
"""Drivers, and where they look for their devices."""
GPU_PROCESSES = ("/proc/cpuinfo", "/proc/devices", "/proc/driver/nvidia*", "/proc/meminfo")
"""The same below /proc, which bubblewrap shows as it is."""


def gpu_devices() -> list[str]:
    """The devices of all GPUs here."""
    return [path for path in _found(GPU_DEVICES) if not os.path.isdir(path)]  # noqa: PTH112


def opened_files(*, network: bool, gpu: bool) -> list[str]:
    """What a bot reads that uses the network or a GPU."""
    return _found([*(NETWORK_FILES if network else ()), *(GPU_FILES if gpu else ())])


def gpu_processes() -> list[str]:
    """What of /proc the drivers of a GPU read."""
    return _found(GPU_PROCESSES)


def cores_for(number: int) -> int:
    """The processors of a bot that may use so many, as bits: those of this process first; 0 where
    it stays on those.
    """
    if number < 2 or not CORES:  # noqa: PLR2004 - one is what every bot has
        return 0
    mine = sorted(os.sched_getaffinity(0))
    chosen = [*mine, *sorted(CORES - set(mine))][:number]
    return sum(1 << core for core in chosen)


def _found(patterns: tuple[str, ...] | list[str]) -> list[str]:
    # Absolute patterns.
    return [path for pattern in patterns for path in sorted(glob(pattern))]  # noqa: PTH207
