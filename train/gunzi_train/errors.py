"""What can end a training run, each with the exit code of the command."""

from __future__ import annotations


class TrainingError(RuntimeError):
    """Training cannot go on; one line for the user."""

    exit_code = 1


class RunFolderError(TrainingError):
    """The run folder is taken, in use or not writable."""

    exit_code = 2


class SaveError(TrainingError):
    """A checkpoint or a log could not be written; the last good checkpoint is untouched."""

    exit_code = 3


class ClusterError(TrainingError):
    """The Ray cluster cannot be reached or is too small."""

    exit_code = 2


class OpponentFault(TrainingError):
    """The bot that is trained against crashed or played what is not legal."""

    exit_code = 2


class WorkerLost(TrainingError):
    """A process of the run ended or stopped answering."""

    exit_code = 4


class FaultElsewhere(WorkerLost):
    """An opponent went wrong in another process of the run, which says more."""


class NonFinite(TrainingError):
    """NaN or infinity; the message names the update and the tensor."""

    exit_code = 5


class EmptyMask(TrainingError):
    """A decision without a legal action: a fault of the environment, to be reported with the numbers in the message."""

    exit_code = 4


class Interrupted(TrainingError):
    """A signal came when there was nothing to save: before the first update, or after the last one."""

    def __init__(self, code: int, when: str = "before the first update") -> None:
        super().__init__(f"interrupted {when}")
        self.exit_code = code
