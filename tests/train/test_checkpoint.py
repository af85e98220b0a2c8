"""The checkpoint format: atomic, checked to the last bit, and never more than data."""

from __future__ import annotations

import json
import pickle
import random
import resource
import signal
import struct
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

from gunzi_agents import checkpoint
from gunzi_agents.checkpoint import CheckpointError
from gunzi_env.rules import Rules
from tests.support import faults

TENSORS = {"net.a": np.arange(600, dtype=np.float32).reshape(20, 30), "adam.step": np.array(3.0, np.float32)}


def _meta(rules: Rules | None = None) -> dict:
    return checkpoint.describe(rules or Rules()) | {"counters": {"updates": 3}}


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "update-000003.safetensors"
    checkpoint.write(path, TENSORS, _meta())
    return path


def test_what_is_written_is_read(good: Path) -> None:
    found = checkpoint.read(good)
    assert found.meta == _meta()
    assert set(found.tensors) == set(TENSORS)
    for name, tensor in TENSORS.items():
        assert found.tensors[name].dtype == tensor.dtype
        assert np.array_equal(found.tensors[name], tensor)
    assert found.rules == Rules()


def test_equal_states_give_equal_files(good: Path) -> None:
    assert all(checkpoint.to_bytes(TENSORS, _meta()) == good.read_bytes() for _ in range(8))


def test_other_tools_can_open_it(good: Path) -> None:
    assert np.array_equal(safetensors.numpy.load_file(good)["net.a"], TENSORS["net.a"])


def test_every_flipped_bit_is_noticed(good: Path) -> None:
    raw = bytearray(good.read_bytes())
    draw = random.Random(7)
    header = 8 + struct.unpack("<Q", raw[:8])[0]
    places = [(draw.randrange(len(raw)), draw.randrange(8)) for _ in range(150)]
    places += [(draw.randrange(header), draw.randrange(8)) for _ in range(150)]
    for byte, bit in places:
        raw[byte] ^= 1 << bit
        good.write_bytes(raw)
        with pytest.raises(CheckpointError):
            checkpoint.read(good)
        raw[byte] ^= 1 << bit
    good.write_bytes(raw)
    checkpoint.read(good)


def test_every_truncation_is_noticed(good: Path) -> None:
    raw = good.read_bytes()
    for length in np.linspace(0, len(raw) - 1, 200).astype(int):
        good.write_bytes(raw[:length])
        with pytest.raises(CheckpointError):
            checkpoint.read(good)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        bytes(5000),
        b"<!DOCTYPE html><html><body>404</body></html>" * 20,
        safetensors.numpy.save(TENSORS, metadata={"format": "pt"}),
        pickle.dumps({"net": [1, 2, 3]}),
        struct.pack("<Q", 2**63) + b"{}",
    ],
    ids=["empty", "zeros", "html", "other project", "pickle", "huge header"],
)
def test_other_files_are_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.safetensors"
    path.write_bytes(content)
    with pytest.raises(CheckpointError) as caught:
        checkpoint.read(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 3


def test_missing_files_and_folders_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path, tmp_path / "a\0b"):
        with pytest.raises(CheckpointError):
            checkpoint.load(path)


@pytest.mark.parametrize("text", ["NaN", "1e999", "[" * 100_000, '{"format": 99}', "[]"])
def test_a_valid_checksum_does_not_excuse_bad_json(tmp_path: Path, text: str) -> None:
    raw = safetensors.numpy.save(TENSORS, metadata={"gunzi": text, "sha256": "0" * 64})
    raw = checkpoint._ordered(raw)
    start = checkpoint._digest_span(raw)
    assert start is not None
    import hashlib

    path = tmp_path / "x.safetensors"
    path.write_bytes(raw[:start] + hashlib.sha256(raw).hexdigest().encode() + raw[start + 64 :])
    with pytest.raises(CheckpointError):
        checkpoint.read(path)


def test_other_rules_are_refused(good: Path) -> None:
    found = checkpoint.read(good)
    checkpoint.require(found, Rules())
    with pytest.raises(CheckpointError, match="follow live not dead"):
        checkpoint.require(found, Rules(follow="dead"))
    checkpoint.require(found, Rules(follow="dead"), same_rules=False)
    with pytest.raises(CheckpointError, match="3 decks"):
        checkpoint.require(found, Rules.preset("four_deck"), same_rules=False)


def test_another_version_of_the_observation_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    checkpoint.write(path, TENSORS, _meta() | {"observation": "v0-816-00000000-184"})
    with pytest.raises(CheckpointError, match="observation v0"):
        checkpoint.require(checkpoint.read(path), Rules())


def test_a_run_folder_falls_back_to_the_last_good_one(tmp_path: Path) -> None:
    folder = tmp_path / checkpoint.FOLDER
    folder.mkdir()
    for update in (8, 9, 10):
        checkpoint.write(folder / checkpoint.file_name(update), TENSORS, _meta() | {"counters": {"updates": update}})
    newest = folder / checkpoint.file_name(10)
    assert [path.name for path in checkpoint.listing(tmp_path)] == [checkpoint.file_name(u) for u in (10, 9, 8)]
    newest.write_bytes(newest.read_bytes()[:-1])
    found, damaged = checkpoint.load(tmp_path)
    assert found.meta["counters"]["updates"] == 9
    assert [error.path for error in damaged] == [newest]


def test_kill_while_saving_leaves_a_whole_file(tmp_path: Path) -> None:
    draw = random.Random(3)
    # On a busy machine some rounds may miss every save.
    assert any(faults.killed_while_saving(tmp_path, draw, 4) for _ in range(10)), "no kill fell into a save"
    assert [entry.name for entry in tmp_path.iterdir()] == [checkpoint.file_name(1)]


def test_the_test_above_notices_a_save_in_place(tmp_path: Path) -> None:
    def in_place(path: Path, tensors: dict, meta: dict) -> None:
        path.write_bytes(checkpoint.to_bytes(tensors, meta))

    with pytest.raises((faults.Broken, CheckpointError)):
        faults.killed_while_saving(tmp_path, random.Random(1), 100, in_place)


def test_full_disk_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "update-000001.safetensors"
    checkpoint.write(path, TENSORS, _meta())
    before = path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
    try:
        with pytest.raises(OSError):
            checkpoint.write(path, {"net.a": np.zeros(100_000, np.float32)}, _meta())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_metadata_must_be_plain_json() -> None:
    with pytest.raises(ValueError):
        checkpoint.to_bytes(TENSORS, {"x": float("nan")})
    with pytest.raises(TypeError):
        checkpoint.to_bytes(TENSORS, {"x": object()})
    json.loads(json.dumps(_meta()))
