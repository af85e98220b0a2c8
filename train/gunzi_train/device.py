"""Device and precision of torch: CPU or CUDA, bfloat16 or float32, one thread per process.

Only the network runs on a GPU; the games run on the CPU.
"""

from __future__ import annotations

import time
from typing import Any

import torch
from torch import Tensor

from gunzi_train.config import ConfigError

FORWARD_ROWS = 8192
"""Rows of a forward pass without gradient: large enough for the matrix units, small enough for the cache."""


def choose(name: str, rank: int = 0) -> torch.device:
    """Choose the device of process ``rank`` for the setting ``device``: "auto", "cpu" or "cuda".

    Processes are spread over the GPUs in turn.

    Raises:
        ConfigError: the setting is "cuda", and torch finds no CUDA device.
    """
    cards = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if name == "cuda" and not cards:
        raise ConfigError("device is cuda, but torch finds no CUDA here; allowed here: auto, cpu")
    return torch.device("cpu") if name == "cpu" or not cards else torch.device("cuda", rank % cards)


def settle_torch() -> None:
    """Set the torch switches of this process that results and speed depend on."""
    # Parallelism comes from processes: on a busy machine, threads that wait for each other are 5 to 20 times slower.
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)


def autocast(bf16: bool, device: torch.device) -> Any:
    """Return a context in which linear layers on ``device`` multiply in bfloat16; without ``bf16`` it has no effect."""
    return torch.autocast(device.type, torch.bfloat16, enabled=bf16)


def floats(flags: Tensor, bf16: bool) -> Tensor:
    """Convert observations uint8[B, F] into the network's input; 0 and 1 are exact in both types."""
    return flags.to(torch.bfloat16 if bf16 else torch.float32)


def bf16_is_faster(device: torch.device, seconds: float = 0.05) -> bool:
    """Measure for about 50 ms: bfloat16 is 4 to 5 times as fast with AMX or AVX512-BF16, and slower without."""
    speeds = {}
    for kind in (torch.float32, torch.bfloat16):
        a, b = (torch.ones(shape, dtype=kind, device=device) for shape in ((1024, 512), (512, 256)))
        _finished(a @ b)  # the first product selects a kernel
        start, count = time.perf_counter(), 0
        while time.perf_counter() - start < seconds / 2:
            _finished(a @ b)
            count += 1
        speeds[kind] = count / (time.perf_counter() - start)
    return speeds[torch.bfloat16] > 1.2 * speeds[torch.float32]


def _finished(product: Tensor) -> None:
    """Wait for a product: a GPU computes asynchronously."""
    if product.is_cuda:
        torch.cuda.synchronize(product.device)
