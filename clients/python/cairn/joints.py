"""Joints of a subscription and of queries (docs/PROTOCOL.md, "joints")."""
from dataclasses import dataclass, replace

from .columns import Malformed, _Reader, read_ids
from .manifest import JOINT_COLUMN, WORDS

TYPES, MODES, SPRINGS, MOTORS, WAVES = (WORDS[f"joint_{of}"] for of in ("type", "mode", "spring", "motor", "wave"))
# ROWS is a bit of a frame's flags: ROWS follow. WHOLE is a bit of the flags of ROWS: part 0 empties the set.
ROWS, WHOLE = 4, 8
KIND = 1  # ROWS.kind of joints
PASS, ASLEEP = 1, 2
# Layouts of columns for struct, in profile exact; in view and sim every d is an f.
LAYOUTS = {"bodies": "BBII", "frames": "14d", "coordinates": "6d", "force": "6d", "owner": "Iq", "break": "2d"}
ITEMS = {"bodies": 4, "frames": 14, "coordinates": 6, "force": 6, "owner": 2, "break": 2}


def word(words, number):
    """The word for a number, or the number itself if it has none."""
    return words[number] if number < len(words) else number


@dataclass
class Joint:
    """A joint as a subscription shows it. Columns that the subscription does not contain are None."""
    id: int
    type: str = None
    passes: bool = None  # its two bodies do not collide with each other
    asleep: bool = None  # none of its bodies is awake
    a: int = None  # body ids; 0: the world
    b: int = None
    point_a: tuple = None  # m, from the body's origin in body axes; if a is 0, in world axes
    frame_a: tuple = None  # rotation of the joint's axes to the body's
    point_b: tuple = None
    frame_b: tuple = None
    coordinates: tuple = None  # m and rad, by axis
    force: tuple = None  # N, on b at its anchor, world axes, mean over the last tick
    torque: tuple = None  # N m, on b about its anchor
    owner: int = None
    tag: int = None
    break_force: float = None  # N, above which the joint breaks; 0: never
    break_torque: float = None  # N m

    def set(self, name, values):
        """Sets a column from the values of a row."""
        if name == "bodies":
            self.type, flags = word(TYPES, values[0]), values[1]
            self.passes, self.asleep = bool(flags & PASS), bool(flags & ASLEEP)
            self.a, self.b = values[2:]
        elif name == "frames":
            self.point_a, self.frame_a = tuple(values[:3]), tuple(values[3:7])
            self.point_b, self.frame_b = tuple(values[7:10]), tuple(values[10:])
        elif name == "coordinates":
            self.coordinates = tuple(values)
        elif name == "force":
            self.force, self.torque = tuple(values[:3]), tuple(values[3:])
        elif name == "owner":
            self.owner, self.tag = values
        else:
            self.break_force, self.break_torque = values

    @classmethod
    def from_row(cls, row, columns):
        """A row of profile plain."""
        joint, at = cls(row[0]), 1
        for name, bit in JOINT_COLUMN.items():
            if columns & bit:
                joint.set(name, row[at:at + ITEMS[name]])
                at += ITEMS[name]
        return joint


def mask_of(columns):
    """A mask from a mask, from names of columns (manifest.JOINT_COLUMN), or (True) of all of them."""
    if columns is True:
        return sum(JOINT_COLUMN.values())
    return columns if isinstance(columns, int) else sum(JOINT_COLUMN[name] for name in columns)


def read_rows(data, profile, columns):
    """Yields (id, column, values) for every column of every row, in profiles exact, view and sim. Raises Malformed."""
    reader = _Reader(data)
    ids = reader.ids()
    rows = [(joint, reader.mask()) for joint in ids]
    if any(mask == 0 or mask & ~columns for _, mask in rows):
        raise Malformed("a row of joints contains columns outside the subscription")
    for name, bit in JOINT_COLUMN.items():
        layout = "<" + (LAYOUTS[name] if profile == "exact" else LAYOUTS[name].replace("d", "f"))
        for joint, mask in rows:
            if mask & bit:
                yield joint, name, reader.take(layout)
    if reader.at != len(data):
        raise Malformed("rows of joints have bytes after their end")


class Joints:
    """The joints of a mirror, by id, updated by ROWS."""

    def __init__(self, columns, profile):
        self.columns, self.profile = columns, profile
        self.items = {}

    def take(self, fields):
        """One part of ROWS. Frames already returned must not change, so a changed joint becomes a new object."""
        _, _, _, kind, part, _, removed, rows, _, flags = fields[:10]
        if kind != KIND:
            raise Malformed(f"rows of kind {kind}; this client subscribes to kind {KIND} (joints) only")
        if part == 0 and flags & WHOLE:
            self.items = {}
        for gone in (removed or []) if self.profile == "plain" else read_ids(removed):
            del self.items[gone]
        if self.profile == "plain":
            self.items |= {row[0]: Joint.from_row(row, self.columns) for row in rows}
            return
        changed = {}
        for joint, name, values in read_rows(rows, self.profile, self.columns):
            if joint not in changed:
                changed[joint] = replace(self.items[joint]) if joint in self.items else Joint(joint)
            changed[joint].set(name, values)
        self.items |= changed


def of_list(item):
    """An item of the answer to QUERY joints, as a dict."""
    names = ("id", "type", "flags", "a", "b", "coordinates", "force", "torque", "anchor_a", "anchor_b", "owner", "tag")
    return _worded(dict(zip(names, item)))


def of_answer(answer):
    """The answer to QUERY joint, as a dict; `axes` as dicts with the fields of the command joint_axis; `gears` by axis, None of one
    that follows none, else a dict with the fields of the command joint_gear, and `force`, that of the gear along the axis; `rotors`
    by axis, None without armature, else a dict of `armature` and `force`, that of the rotor along the axis."""
    names = ("id", "type", "flags", "a", "b", "owner", "tag", "point_a", "frame_a", "point_b", "frame_b", "coordinates",
             "force", "torque", "anchor_a", "anchor_b", "break", "axes")
    found = _worded(dict(zip(names, answer)))
    found["break_force"], found["break_torque"] = found.pop("break")
    found["gears"] = [_gear(axis) for axis in found["axes"]]
    found["rotors"] = [_rotor(axis) for axis in found["axes"]]
    found["axes"] = [_axis(axis) for axis in found["axes"]]
    return found


def _worded(found):
    found["type"] = word(TYPES, found["type"])
    flags = found.pop("flags")
    found["passes"], found["asleep"] = bool(flags & PASS), bool(flags & ASLEEP)
    return {name: tuple(value) if isinstance(value, list) and name != "axes" else value for name, value in found.items()}


def _gear(values):
    gear = dict(zip(("leader", "leader_axis", "ratio", "offset", "force"), values[19:]))
    return gear if gear.get("leader") else None


def _rotor(values):
    rotor = dict(zip(("armature", "force"), values[24:]))
    return rotor if rotor.get("armature") else None


def _axis(values):
    names = ("mode", "lower", "upper", "restitution", "friction", "spring", "stiffness", "damping", "rest", "spring_limit",
             "motor", "target", "motor_limit", "wave", "amplitude", "hertz", "phase", "motor_stiffness", "motor_damping")
    axis = dict(zip(names, values))
    for name, words in (("mode", MODES), ("spring", SPRINGS), ("motor", MOTORS), ("wave", WAVES)):
        axis[name] = word(words, axis[name])
    return axis
