"""bfloat16 or float32: which of the two this machine multiplies faster."""

from __future__ import annotations

import time
from typing import Any

import torch
from torch import Tensor


def autocast(bf16: bool) -> Any:
    """A context in which linear layers multiply in bfloat16, or a context without effect."""
    return torch.autocast("cpu", torch.bfloat16, enabled=bf16)


def floats(flags: Tensor, bf16: bool) -> Tensor:
    """An observation uint8[B, F] as the network's input; 0 and 1 are exact in both types."""
    return flags.to(torch.bfloat16 if bf16 else torch.float32)


def bf16_is_faster(seconds: float = 0.05) -> bool:
    """Ask the machine, for about 50 ms: with AMX or AVX512-BF16 it is 4 to 5 times as fast, without it is slower."""
    speeds = {}
    for kind in (torch.float32, torch.bfloat16):
        a, b = torch.ones(1024, 512, dtype=kind), torch.ones(512, 256, dtype=kind)
        a @ b  # the first product chooses a kernel
        start, count = time.perf_counter(), 0
        while time.perf_counter() - start < seconds / 2:
            a @ b
            count += 1
        speeds[kind] = count / (time.perf_counter() - start)
    return speeds[torch.bfloat16] > 1.2 * speeds[torch.float32]
