"""What trainings within the process of the tests leave behind."""

from __future__ import annotations

from collections.abc import Generator

import pytest
import torch
import torch.distributed as dist


@pytest.fixture
def torch_as_before() -> Generator[None]:
    """A run sets torch's switches for its process, and one that is broken off leaves its group."""
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)
    torch.set_flush_denormal(False)
    if dist.is_initialized():
        dist.destroy_process_group()
