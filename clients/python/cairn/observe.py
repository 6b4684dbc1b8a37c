"""What is observed of each world of a Vector after each action, as numbers in this order:

    client.vector(worlds, observe=[observe.bodies([cart, pole], ["position", "velocity"]), observe.contacts([(cart, 0)])])
"""
from .manifest import COLUMN, OBSERVATION

WIDTHS = {"position": 3, "rotation": 4, "velocity": 3, "spin": 3, "status": 2}


def bodies(ids, columns=("position", "rotation", "velocity", "spin")):
    """Columns of bodies: position (m), rotation (w, x, y, z), velocity (m/s), spin (rad/s), status (the status, and 1 if
    asleep), always in this order."""
    unknown = set(columns) - set(WIDTHS)
    if unknown:
        raise ValueError(f"no column {sorted(unknown)[0]!r}; there are {', '.join(WIDTHS)}")
    return [OBSERVATION["bodies"], [int(body) for body in ids], sum(COLUMN[name] for name in columns)]


def rays(*rays):
    """For each ray the distance to what it hits (m; its length if nothing) and the id of that body (0: none)."""
    return [OBSERVATION["rays"], list(rays)]


def ray(origin, direction, length, body=0, category=0xFFFFFFFF, mask=0xFFFFFFFF, ignore=0):
    """A ray for rays(), in world axes, or with `body` from that body's origin in its axes. `ignore`: a body to skip."""
    return [[float(v) for v in origin], [float(v) for v in direction], float(length), body, category, mask, ignore]


def contacts(pairs):
    """For each (body, other), other 0 for any: the number of contact points, the sum of their normal impulses (N s over the
    last tick), and the impulse (x, y, z) on the body, friction included."""
    return [OBSERVATION["contacts"], [list(pair) for pair in pairs]]


def joints(ids):
    """For each joint its 6 coordinates (m, rad), and force (N) and torque (N m) on its second body."""
    return [OBSERVATION["joints"], [int(joint) for joint in ids]]


def totals():
    """Kinetic and potential energy (J), momentum (N s), angular momentum about the origin (N m s)."""
    return [OBSERVATION["totals"], []]


def width(part):
    """Numbers that a part contributes."""
    names = {number: name for name, number in OBSERVATION.items()}
    kind, items = part[:2]
    if names[kind] == "bodies":
        return len(items) * sum(count for name, count in WIDTHS.items() if part[2] & COLUMN[name])
    return {"rays": 2 * len(items), "contacts": 5 * len(items), "joints": 12 * len(items), "totals": 8}[names[kind]]
