"""Errors that end a training run, each with the exit code of the command."""

from __future__ import annotations


class TrainingError(RuntimeError):
    """Base class: training cannot continue. The message is one line for the user."""

    exit_code = 1


class RunFolderError(TrainingError):
    """The run folder contains another run, is in use or is not writable."""

    exit_code = 2


class SaveError(TrainingError):
    """A checkpoint or a log could not be written; the last intact checkpoint is unchanged."""

    exit_code = 3


class ClusterError(TrainingError):
    """The Ray cluster cannot be reached or is too small."""

    exit_code = 2


class OpponentFault(TrainingError):
    """The opponent bot crashed or played an illegal action."""

    exit_code = 2


class WorkerLost(TrainingError):
    """A process of the run ended or does not answer."""

    exit_code = 4


class FaultElsewhere(WorkerLost):
    """An opponent bot failed in another process of the run, whose output names it."""


class NonFinite(TrainingError):
    """NaN or infinity; the message names the update and the tensor."""

    exit_code = 5


class EmptyMask(TrainingError):
    """A decision without a legal action: a fault of the environment. Report it with the numbers in the message."""

    exit_code = 4


class Interrupted(TrainingError):
    """A signal arrived when there was nothing to save: before the first update, or after the last one."""

    def __init__(self, code: int, when: str = "before the first update") -> None:
        super().__init__(f"interrupted {when}")
        self.exit_code = code
