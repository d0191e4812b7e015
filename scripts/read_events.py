#!/usr/bin/env python3
"""Reads a run's TensorBoard files with TensorBoard itself, and makes the golden record of their test.

    pip install tensorboard==2.21.0 tbparse==0.0.9
    scripts/read_events.py check RUN     every scalar against metrics.jsonl; steps, wall times, checksums
    scripts/read_events.py golden        the record that crates/cli/src/tensorboard/record.rs holds

TensorBoard's loader checks both checksums of every record and stops at the first that is wrong.
"""

import json
import pathlib
import struct
import sys
import tempfile

TAGS = {
    "train/loss": "loss",
    "train/episode_return": "episode_return",
    "train/episodes": "episodes",
    "train/ruined_episodes": "terminated",
    "train/exploration": "epsilon",
    "train/share_beyond_support": "edge_share",
    "train/saturated_rewards": "saturated",
    "train/optimiser_steps": "steps",
    "train/skipped_steps": "skipped",
}


def f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def check(run):
    from tbparse import SummaryReader
    from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
    from tensorboard.util import tensor_util

    members = {}
    for line in (run / "metrics.jsonl").read_text().splitlines():
        report = json.loads(line)
        members.setdefault(report["id"], []).append(report)
    finished = (run / "finished.json").exists()
    count = 0
    for id, reports in members.items():
        folder = run / "tensorboard" / f"member_{id:06}"
        (path,) = folder.iterdir()
        events = list(EventFileLoader(str(path)).Load())
        assert events[0].file_version == "brain.Event:2", events[0]
        # A loader passes over a damaged tail in silence: the length says that it read all.
        assert len(events) == 1 + len(reports), (path, len(events), len(reports))
        for event, report in zip(events[1:], reports):
            assert event.step == event.wall_time == report["epoch"] + 1, event
            got = {v.tag: float(tensor_util.make_ndarray(v.tensor)) for v in event.summary.value}
            score = got.pop("validation/return", None)
            assert (score is not None) == finished, (path, event.step)
            want = {tag: f32(report[key]) for tag, key in TAGS.items() if report[key] is not None}
            assert got == want, (path, event.step, got, want)
            count += len(want)
        if finished:
            frame = SummaryReader(str(path)).scalars
            scores = frame[frame.tag == "validation/return"].set_index("step").value
            choice = next(c for c in json.loads((run / "selection.json").read_text()) if c["member"] == id)
            assert scores.idxmax() == choice["epoch"] and len(scores) == choice["of"], (scores, choice)
            assert f32(choice["validation_return"]) == f32(scores.max()), (scores, choice)
            count += len(scores)
    print(f"{run}: {len(members)} members, {count} scalars as metrics.jsonl has them")


def golden():
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.record_writer import RecordWriter

    value = Summary.Value(tag="train/loss", simple_value=0.5)
    event = Event(wall_time=3, step=3, summary=Summary(value=[value]))
    with tempfile.TemporaryFile() as file:
        RecordWriter(file).write(event.SerializeToString())
        file.seek(0)
        print(file.read().hex())


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["check", run]:
            check(pathlib.Path(run))
        case ["golden"]:
            golden()
        case _:
            sys.exit(__doc__)
