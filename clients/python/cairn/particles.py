"""Particles of a subscription (docs/PROTOCOL.md, "particles")."""
import math
import struct
from bisect import bisect_left
from dataclasses import dataclass, field, replace

from .columns import SCALES, Malformed, _Reader
from .manifest import PARTICLE_COLUMN

# BLOCKS is a bit of a frame's flags: BLOCKS follow. WHOLE is a bit of the flags of BLOCKS: the frame begins without particles.
BLOCKS, WHOLE = 16, 8
KIND = 3  # BLOCKS.kind of particles
SMALL, SAME, FAR = 125, 125, 126  # codes of changes
NONE, ALL, SOME = range(3)  # ways to send values
BLOCK_ROWS = 512
MOST = {"velocity": 1 << 28, "position": 1 << 39}  # steps
ITEMS = {"velocity": 3, "position": 3, "size": 2, "life": 2, "density": 1, "pressure": 1}
LAYOUTS = {"velocity": "<3d", "position": "<3d", "size": "<2d", "life": "<2Q", "density": "<d", "pressure": "<d"}
# Bytes of a rounded density and pressure, by profile: the upper ones of a float.
ROUNDED = {"view": {"density": 3, "pressure": 2}, "sim": {"density": 3, "pressure": 3}}


@dataclass(frozen=True)
class Particle:
    """A particle as a subscription shows it. Columns that the subscription does not contain are None."""
    system: int
    serial: int  # within its system
    velocity: tuple = None  # m/s
    position: tuple = None  # m
    radius: float = None  # m
    mass: float = None  # kg
    birth: int = None  # tick at whose end it was made
    death: int = None  # tick at whose end it dies; 0: never
    density: float = None  # of the fluid there, kg/m3; 0: of no fluid
    pressure: float = None  # of the fluid there, Pa; 0: of no fluid
    steps: dict = field(default=None, repr=False, compare=False)  # integers of view and sim, by column

    @property
    def key(self):
        return self.system, self.serial


def mask_of(columns):
    """A mask from a mask, from names of columns (manifest.PARTICLE_COLUMN), or (True) of all of them."""
    if columns is True:
        return sum(PARTICLE_COLUMN.values())
    return columns if isinstance(columns, int) else sum(PARTICLE_COLUMN[name] for name in columns)


def _fields(name, values):
    """The fields of Particle that a column's values set."""
    if name == "size":
        return {"radius": values[0], "mass": values[1]}
    if name == "life":
        return {"birth": values[0], "death": values[1]}
    if name in ("density", "pressure"):
        return {name: values[0]}
    return {name: tuple(values)}


def _rounded(value, most):
    return math.floor(min(max(value, -most), most) + 0.5)


class _Forecast:
    """What the steps of a particle in free flight become."""

    def __init__(self, numbers=(0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)):
        self.carry, self.shift, self.decay, self.gain = numbers[0], numbers[1:4], numbers[4], numbers[5:]

    def velocity(self, old):
        return [_rounded(self.decay * value + gain, MOST["velocity"]) for value, gain in zip(old, self.gain)]

    def position(self, old, old_velocity, velocity):
        corrections = [new - expected for new, expected in zip(velocity, self.velocity(old_velocity))]
        return [_rounded(place + self.carry * (speed + correction / 2) + shift, MOST["position"])
                for place, speed, correction, shift in zip(old, old_velocity, corrections, self.shift)]


class Particles:
    """The particles of a mirror, in order of (system, serial), updated by BLOCKS. Frames already returned must not change, so
    every frame makes a new list, and a changed particle is a new object."""

    def __init__(self, mask, profile):
        self.mask, self.profile = mask, profile
        self.columns = [name for name in ITEMS if mask & PARTICLE_COLUMN[name]]
        self.stepped = ("velocity", "position") if profile in SCALES else ()
        self.items = []
        self.systems = {}  # id -> particles that it has, seen or not
        self._next, self._read, self._last, self._forecast = [], 0, (0, 0), _Forecast()

    def clear(self):
        """Before a SNAPSHOT."""
        self.items, self.systems = [], {}

    def take(self, fields):
        """One part of BLOCKS. Raises Malformed."""
        _, _, _, kind, part, of, systems, blocks, _, flags = fields[:10]
        if kind != KIND:
            raise Malformed(f"blocks of kind {kind}; this client subscribes to kind {KIND} (particles) only")
        if part == 0:
            self._next, self._last, self._forecast = [], (0, 0), _Forecast()
            self._read = len(self.items) if flags & WHOLE else 0
        self.systems = dict(systems)
        if self.profile == "plain":
            for block in blocks:
                self._take_plain(*block[:5])
        elif blocks:
            reader = _Reader(blocks)
            while reader.at < len(blocks):
                self._take_block(reader)
        if part + 1 == of:
            self._keep_before((math.inf, 0))
            self.items = self._next

    def _keep_before(self, key):
        """Takes over the particles before a key, except those of systems that are gone."""
        end = max(bisect_left(self.items, key, key=lambda item: item.key), self._read)
        self._next += [item for item in self.items[self._read:end] if item.system in self.systems]
        self._read = end

    def _range(self, system, first, last, removed, created):
        """Begins a block: (kept particles, new particles) of its range, in order."""
        if system not in self.systems or not 1 <= first <= last or (system, first) <= self._last:
            raise Malformed(f"a range of particle system {system} is out of order")
        self._last = system, last
        self._keep_before((system, first))
        end = bisect_left(self.items, (system, last + 1), key=lambda item: item.key)
        old, self._read = self.items[self._read:end], end
        here, gone = {item.serial for item in old}, set(removed)
        if not gone <= here or here & set(created):
            raise Malformed(f"a block of particle system {system} does not fit the particles here")
        return [item for item in old if item.serial not in gone], [Particle(system, serial) for serial in created]

    # ---- exact, view, sim ------------------------------------------------------------------------

    def _take_block(self, reader):
        system, first, last = (reader.varint() for _ in range(3))
        removed, created = (_serials(reader, first, last) for _ in range(2))
        if self.stepped and reader.byte():
            self._forecast = _Forecast(reader.take("<8d"))
        before, new = self._range(system, first, last, removed, created)
        changes = [{} for _ in before]  # fields by particle
        for name in self.columns:
            if name in self.stepped:
                self._take_changes(reader, name, before, changes)
            else:
                self._take_values(reader, name, changes)
        kept = [self._changed(item, found) if found else item for item, found in zip(before, changes)]
        fresh = [{} for _ in new]
        for name in self.columns:
            for found in fresh:
                found[name] = [reader.zigzag() for _ in range(3)] if name in self.stepped else self._value(reader, name)
        kept += [self._changed(item, found) for item, found in zip(new, fresh)]
        self._next += sorted(kept, key=lambda item: item.serial)

    def _changed(self, item, found):
        """A particle with these columns, in steps where it has some."""
        values, steps = {}, dict(item.steps or {})
        for name, numbers in found.items():
            if name in self.stepped:
                if any(abs(number) > MOST[name] for number in numbers):
                    raise Malformed(f"the {name} of a particle is out of range")
                steps[name] = numbers
                scale = SCALES[self.profile][0 if name == "position" else 1]
                numbers = [number / scale for number in numbers]
            values |= _fields(name, numbers)
        return replace(item, steps=steps if self.stepped else None, **values)

    def _value(self, reader, name):
        upper = ROUNDED.get(self.profile, {}).get(name)
        if upper is not None:
            values = struct.unpack("<f", bytes(4 - upper) + bytes(reader.byte() for _ in range(upper)))
            if not math.isfinite(values[0]):
                raise Malformed(f"the {name} of a particle is not finite")
            return values
        return reader.take("<2f" if name == "size" and self.stepped else LAYOUTS[name])

    def _take_values(self, reader, name, changes):
        how = reader.byte()
        if how not in (NONE, ALL, SOME):
            raise Malformed("values of particles are sent in an unknown way")
        bits = [reader.byte() for _ in range((len(changes) + 7) // 8)] if how == SOME else []
        for i, found in enumerate(changes):
            if how == ALL or how == SOME and bits[i // 8] >> i % 8 & 1:
                found[name] = self._value(reader, name)

    def _take_changes(self, reader, name, before, changes):
        i = 0
        while i < len(before):
            code = reader.byte()
            if code == SAME:
                i += reader.varint() + 1
                continue
            if code < SMALL:
                difference = [code % 5 - 2, code // 5 % 5 - 2, code // 25 - 2]
            elif code == FAR:
                difference = [reader.zigzag() for _ in range(3)]
            else:
                raise Malformed(f"code {code} of a particle is unknown")
            expected = self._expected(name, before[i].steps, changes[i])
            changes[i][name] = [value + more for value, more in zip(expected, difference)]
            i += 1
        if i > len(before):
            raise Malformed("a run of particles extends beyond its range")

    def _expected(self, name, steps, found):
        velocity = steps.get("velocity", [0, 0, 0])
        if name == "velocity":
            return self._forecast.velocity(velocity)
        if "velocity" not in self.columns:
            return [_rounded(place + shift, MOST["position"]) for place, shift in zip(steps["position"], self._forecast.shift)]
        return self._forecast.position(steps["position"], velocity, found.get("velocity", velocity))

    # ---- plain -----------------------------------------------------------------------------------

    def _take_plain(self, system, first, last, removed, rows):
        self._keep_before((system, first))
        known = {item.serial for item in self.items[self._read:] if item.system == system and item.serial <= last}
        rows = {row[0]: row[1:] for row in rows}
        kept, new = self._range(system, first, last, removed, [serial for serial in rows if serial not in known])
        items = []
        for item in kept + new:
            row, at = rows.pop(item.serial, None), 0
            for name in self.columns if row is not None else ():
                item = replace(item, **_fields(name, row[at:at + ITEMS[name]]))
                at += ITEMS[name]
            items.append(item)
        if rows:
            raise Malformed(f"a particle of system {system} is removed and changed")
        self._next += sorted(items, key=lambda item: item.serial)


def _serials(reader, first, last):
    """A list of serial numbers, ascending within first … last."""
    count, serial, serials = reader.varint(), first - 1, []
    if count > BLOCK_ROWS:
        raise Malformed(f"a block lists {count} particles")
    for _ in range(count):
        serial += reader.varint() + 1
        serials.append(serial)
    if serial > last:
        raise Malformed(f"particle {serial} is beyond its range")
    return serials
