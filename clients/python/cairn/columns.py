"""Blocks of bodies in the profiles exact, view and sim (docs/PROTOCOL.md, "state")."""
import math
import struct
from dataclasses import dataclass

from .manifest import COLUMN

PROFILES = {"plain": 0, "exact": 1, "view": 2, "sim": 3}
# Steps per metre, steps per 1 m/s and per 1 rad/s, and the largest integer of a rotation's component.
SCALES = {"view": (512, 128, 255), "sim": (4096, 1024, 16383)}
WIDTHS = {"position": 3, "rotation": 4, "velocity": 3, "spin": 3}
ROOT_HALF = 0.7071067811865476
SHAPE_BYTES = 88
ABSOLUTE = 1


class Malformed(ValueError):
    """A block that violates docs/PROTOCOL.md."""


class _Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def byte(self):
        if self.at >= len(self.data):
            raise Malformed("a block is cut short")
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = 0
        for shift in range(0, 56, 7):
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise Malformed("malformed frame: a variable-length integer has more than 8 bytes")

    def mask(self):
        low = self.byte()
        return low if low < 0x80 else low & 0x7F | self.byte() << 8

    def zigzag(self):
        return _unzigzag(self.varint())

    def take(self, layout):
        end = self.at + struct.calcsize(layout)
        if end > len(self.data):
            raise Malformed("a block is cut short")
        values = struct.unpack_from(layout, self.data, self.at)
        self.at = end
        return values

    def ids(self):
        count, last, ids = self.varint(), 0, []
        if count > len(self.data):
            raise Malformed("the id count is larger than the block")
        for _ in range(count):
            last += self.varint() + 1
            ids.append(last)
        return ids


def _unzigzag(value):
    return value >> 1 if value % 2 == 0 else -(value + 1 >> 1)


def read_ids(data):
    """A list of ids: `created` or `removed` of these profiles (nil: none)."""
    return _Reader(data).ids() if data else []


def _runs(reader):
    """[(id, mask), …] of a block in view or sim."""
    count, last, rows = reader.varint(), 0, []
    if count > len(reader.data):
        raise Malformed("the row count is larger than the block")
    while len(rows) < count:
        head = reader.varint()
        length = reader.varint() + 2 if head % 2 else 1
        mask = reader.mask()
        if length > count - len(rows):
            raise Malformed("a run extends beyond the last row")
        first = last + head // 2 + 1
        last = first + length - 1
        rows += [(body, mask) for body in range(first, last + 1)]
    return rows


class Steps:
    """The quantised columns of a body, to which deltas of view and sim are added."""

    __slots__ = ("position", "largest", "rotation", "velocity", "spin")

    def __init__(self):
        self.position, self.velocity, self.spin = [0, 0, 0], [0, 0, 0], [0, 0, 0]
        self.largest, self.rotation = 0, [0, 0, 0]

    def zero(self, name):
        setattr(self, name, [0, 0, 0])
        if name == "rotation":
            self.largest = 0

    def change(self, name, reader):
        if name != "rotation":
            setattr(self, name, [value + _unzigzag(reader.varint()) for value in getattr(self, name)])
            return
        first = reader.varint()
        if first % 2:
            self.largest = first >> 1
            if self.largest > 3:
                raise Malformed(f"rotation component {self.largest} is not in 0 ... 3")
            self.rotation = [_unzigzag(reader.varint()) for _ in range(3)]
        else:
            changes = [first >> 1, reader.varint(), reader.varint()]
            self.rotation = [value + _unzigzag(change) for value, change in zip(self.rotation, changes)]

    def shown(self, name, profile):
        """The column in SI units; a rotation as a unit quaternion (w, x, y, z)."""
        metre, speed, most = SCALES[profile]
        if name != "rotation":
            scale = metre if name == "position" else speed
            return tuple(value / scale for value in getattr(self, name))
        unit = ROOT_HALF / most
        three = [value * unit for value in self.rotation]
        left = 1.0
        for value in three:
            left -= value * value
        three.insert(self.largest, math.sqrt(max(left, 0.0)))
        return tuple(three)


def _shapes(reader):
    shapes = []
    for _ in range(reader.byte()):
        name, *numbers = reader.take("<32s7d")
        shapes.append((name, tuple(numbers[:3]), tuple(numbers[3:])))
    return shapes


@dataclass
class Contact:
    """A contact point of a body (the owner of the list) with another one: SI units, world axes."""
    other: int  # id of the other body
    child: int  # piece of the owner's shape
    other_child: int
    point: tuple
    normal: tuple  # from the other body to the owner
    separation: float  # < 0: overlap
    impulse: float  # N s over the tick, along the normal
    friction: tuple  # N s over the tick, on the owner

    @classmethod
    def of(cls, numbers):
        other, child, other_child, *reals = numbers
        return cls(other, child, other_child, tuple(reals[:3]), tuple(reals[3:6]), reals[6], reals[7], tuple(reals[8:11]))


def _exact_contacts(reader):
    return [Contact.of(reader.take("<3I11d")) for _ in range(reader.varint())]


def _impulse(reader, profile):
    half = profile == "view"
    return struct.unpack("<f", b"\0\0" + bytes(reader.take("<2B")) if half else bytes(reader.take("<4B")))[0]


def _short_contacts(reader, profile):
    """Contacts in view and sim, each encoded as a difference to the one before it."""
    scale, contacts = SCALES[profile][0], []
    other, children, normal, steps = 0, (0, 0), (0.0, 0.0, 0.0), [0, 0, 0]
    for _ in range(reader.varint()):
        head = reader.byte()
        if head & 1:
            other, children = other + reader.varint(), (0, 0)
        if head & 2:
            children = reader.varint(), reader.varint()
        if head & 4:
            x, y, z = reader.take("<3b" if profile == "view" else "<3h")
            length = math.sqrt(x * x + y * y + z * z)
            normal = (x / length, y / length, z / length) if length > 0 else (0.0, 0.0, 0.0)
        steps = [step + reader.zigzag() for step in steps]
        separation = reader.zigzag() / scale
        impulse = _impulse(reader, profile)
        friction = tuple(_impulse(reader, profile) for _ in range(3)) if head & 8 else (0.0, 0.0, 0.0)
        contacts.append(Contact(other, *children, tuple(step / scale for step in steps), normal, separation, impulse,
                                friction))
    return contacts


def _exact_column(name, reader):
    if name in WIDTHS:
        return reader.take(f"<{WIDTHS[name]}d")
    if name == "status":
        return reader.take("<BB")
    if name == "owner":
        return reader.take("<Iq")
    return _exact_contacts(reader) if name == "contacts" else _shapes(reader)


def read_block(data, profile, fields, steps, absolute):
    """Yields (id, column, value) for every column of every row of a block. `steps` {id: Steps} is updated in view and
    sim; `absolute`: differences are to zeros. A column is one of manifest.COLUMN; the value of status is (status,
    flags), of owner (owner, tag). Raises Malformed."""
    reader = _Reader(data)
    if profile == "exact":
        ids = reader.ids()
        rows = [(body, reader.mask()) for body in ids]
    else:
        rows = _runs(reader)
    if any(mask == 0 or mask & ~fields for _, mask in rows):
        raise Malformed("a row contains columns outside the subscription")
    for name, bit in COLUMN.items():
        for body, mask in rows:
            if not mask & bit:
                continue
            if profile != "exact" and name == "contacts":
                yield body, name, _short_contacts(reader, profile)
                continue
            if profile == "exact" or name not in WIDTHS:
                yield body, name, _exact_column(name, reader)
                continue
            values = steps.setdefault(body, Steps())
            if absolute:
                values.zero(name)
            values.change(name, reader)
            yield body, name, values.shown(name, profile)
    if reader.at != len(data):
        raise Malformed("a block has bytes after its end")
