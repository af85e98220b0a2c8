"""Where and how torch computes: processor or CUDA, bfloat16 or float32, one thread a process.

The network alone is computed on a graphics card; the games stay on the processor.
"""

from __future__ import annotations

import time
from typing import Any

import torch
from torch import Tensor

from gunzi_train.config import ConfigError


def choose(name: str, rank: int = 0) -> torch.device:
    """The device of process ``rank`` for the setting ``device``: "auto", "cpu" or "cuda".

    Processes take the cards in turn.

    Raises:
        ConfigError: CUDA was asked for, and torch finds none.
    """
    cards = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if name == "cuda" and not cards:
        raise ConfigError("device is cuda, but torch finds no CUDA here; allowed here: auto, cpu")
    return torch.device("cpu") if name == "cpu" or not cards else torch.device("cuda", rank % cards)


def settle_torch() -> None:
    """The switches of the process that results and speed hang on."""
    # Parallel by processes: threads that wait for each other lose 5 to 20 times on a busy machine.
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)


def autocast(bf16: bool, device: torch.device) -> Any:
    """A context in which linear layers on ``device`` multiply in bfloat16, or a context without effect."""
    return torch.autocast(device.type, torch.bfloat16, enabled=bf16)


def floats(flags: Tensor, bf16: bool) -> Tensor:
    """An observation uint8[B, F] as the network's input; 0 and 1 are exact in both types."""
    return flags.to(torch.bfloat16 if bf16 else torch.float32)


def bf16_is_faster(device: torch.device, seconds: float = 0.05) -> bool:
    """Ask the machine, for about 50 ms: with AMX or AVX512-BF16 it is 4 to 5 times as fast, without it is slower."""
    speeds = {}
    for kind in (torch.float32, torch.bfloat16):
        a, b = (torch.ones(shape, dtype=kind, device=device) for shape in ((1024, 512), (512, 256)))
        _finished(a @ b)  # the first product chooses a kernel
        start, count = time.perf_counter(), 0
        while time.perf_counter() - start < seconds / 2:
            _finished(a @ b)
            count += 1
        speeds[kind] = count / (time.perf_counter() - start)
    return speeds[torch.bfloat16] > 1.2 * speeds[torch.float32]


def _finished(product: Tensor) -> None:
    """Wait for it: a graphics card only notes what it is asked for."""
    if product.is_cuda:
        torch.cuda.synchronize(product.device)
