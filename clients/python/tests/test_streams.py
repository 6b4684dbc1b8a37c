"""The recorded streams that the tests of every client read (tests/data/wire/streams.json): after each frame, of any kind,
the mirror has the recorded state of the world."""
import json
import os
import pathlib

import msgpack
import pytest

from cairn import joints
from cairn.client import STATUSES, _Mirror
from cairn.manifest import MESSAGE

SOURCE = pathlib.Path(os.environ.get("CAIRN_SRCDIR", pathlib.Path(__file__).parents[3]))
STREAMS = json.loads((SOURCE / "tests" / "data" / "wire" / "streams.json").read_text())
KINDS = {number: name for name, number in MESSAGE.items()}


def message_of(part):
    number, *fields = msgpack.unpackb(msgpack.unpackb(bytes.fromhex(part)), strict_map_key=False)
    return number, fields


def shown(body):
    return {"id": body.id, "position": list(body.position), "rotation": list(body.rotation),
            "velocity": list(body.velocity), "spin": list(body.spin), "status": body.status, "asleep": body.asleep,
            "fast": body.fast, "sensor": body.sensor, "owner": body.owner, "tag": body.tag}


def meant(body):
    flags = body["flags"]
    return {key: value for key, value in body.items() if key != "flags"} | {
        "status": STATUSES[body["status"]], "asleep": bool(flags & 1), "fast": bool(flags & 4),
        "sensor": bool(flags & 8)}


def shown_joint(joint):
    row = {name: list(value) if isinstance(value, tuple) else value for name, value in vars(joint).items()}
    row["breaks"] = [row.pop("break_force"), row.pop("break_torque")]
    return row


def meant_joint(joint):
    flags = joint["flags"]
    return {key: value for key, value in joint.items() if key != "flags"} | {
        "type": joints.TYPES[joint["type"]], "passes": bool(flags & 1), "asleep": bool(flags & 2)}


@pytest.mark.parametrize("stream", STREAMS["streams"], ids=lambda stream: stream["profile"])
def test_a_mirror_has_the_recorded_state_after_frames_of_every_kind(stream):
    mirror = _Mirror(STREAMS["fields"], stream["profile"], STREAMS["joints"])
    kinds = []
    for frame in stream["frames"]:
        done = []
        for part in frame["parts"]:
            number, fields = message_of(part)
            done.append(mirror.take(KINDS[number], fields))
        assert done == [False] * (len(done) - 1) + [True], frame["kind"]
        assert (mirror.epoch, mirror.tick) == (frame["epoch"], frame["tick"])
        assert sorted(mirror.bodies) == [body["id"] for body in frame["bodies"]], (frame["kind"], frame["tick"])
        for body in frame["bodies"]:
            assert shown(mirror.bodies[body["id"]]) == meant(body), (frame["kind"], frame["tick"])
        shown_joints = mirror.frames[-1].joints
        assert sorted(shown_joints) == [joint["id"] for joint in frame["joints"]], (frame["kind"], frame["tick"])
        for joint in frame["joints"]:
            assert shown_joint(shown_joints[joint["id"]]) == meant_joint(joint), (frame["kind"], frame["tick"])
        kinds.append(frame["kind"])
    assert set(kinds) == {"snapshot", "difference", "joined", "absolute"}
