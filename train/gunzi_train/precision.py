"""How torch computes: its switches, and bfloat16 or float32, whichever this machine multiplies faster."""

from __future__ import annotations

import time
from typing import Any

import torch
from torch import Tensor


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
