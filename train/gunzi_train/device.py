"""Where the network is computed: on the processor, or on a graphics card with CUDA; the games stay on the processor."""

from __future__ import annotations

import torch

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
