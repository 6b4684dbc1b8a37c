"""NaN, infinities and 1e308 in each number of each command, of CONTROL and of each query: a refusal that names the field, by
the client before it sends, and by the server on a connection that lives on."""
import math

import cairn
import pytest
from cairn.manifest import COMMAND, DEFAULTS, LIMITS, QUERY, QUERY_LIMITS

EXTREMES = (float("nan"), float("inf"), float("-inf"), 1e308, -1e308)
COUNTS = {"F64": 1, "VEC3": 3, "QUAT": 4}
# Valid values of required fields, by kind; some by name.
VALID = {"BODY": 1, "SHAPE": 1, "JOINT": 1, "FORCE_FIELD": 1, "PARTICLES": 1, "ENUM": 1, "U32": 1, "INTEGER": 1, "SEED": 1, "F64": 1.0, "VEC3": [0, 0, 0],
         "QUAT": [1, 0, 0, 0], "TEXT": "lcp", "NAME": bytes(32), "ATTACHMENTS": [], "TARGETS": [[1, 0, 0.0]],
         "POINTS": [[0.0, 0.0]]}
NAMED = {("parameter", "name"): "sleep.time"}


def valid(name, field, kind):
    return NAMED.get((name, field), DEFAULTS.get(name, {}).get(field, VALID[kind]))


def placed(value, kind):
    """The field's value with `value` in each place of a number in turn."""
    if kind == "F64":
        yield value
    elif kind in COUNTS:
        for k in range(COUNTS[kind]):
            yield [value if i == k else float(kind == "QUAT" and i == 0) for i in range(COUNTS[kind])]
    elif kind == "TARGETS":
        yield [[1, 0, value]]
    elif kind == "POINTS":
        yield [[0.0, value]]
        yield [[value, 0.0]]
    elif kind == "ATTACHMENTS":
        yield [[1, [value, 0, 0]]]
        yield [[1, [0, 0, 0], [1, value, 0, 0]]]


def refusals():
    """(command, field, its value, the command in wire form) for each extreme in each place."""
    for name, (number, _, fields) in COMMAND.items():
        for at, (field, kind) in enumerate(fields):
            for value in EXTREMES:
                for content in placed(value, kind):
                    packed = [valid(name, *other) for other in fields[:at]]
                    yield name, field, content, [number, *packed, content, *[
                        valid(name, *other) for other in fields[at + 1:] if other[0] not in DEFAULTS.get(name, ())]]


@pytest.fixture
def world(cairn_server, request):
    with cairn_server.connect() as client:
        world = client.create(request.node.name[:40])
        yield world


def refused(call, field):
    """The call is refused with a text that names the field."""
    with pytest.raises((cairn.Refused, ValueError)) as why:
        call()
    if isinstance(why.value, cairn.Refused):
        assert why.value.status in ("not_finite", "range"), (field, str(why.value))
        assert why.value.field == field, (field, str(why.value))
    else:
        assert field in str(why.value)


def test_every_number_of_every_command(world):
    world.spawn(mass=1.0)
    world.shape(sphere=1)
    world.joint_create("spherical", 0, 1)
    before, count = world.step(0).hash, 0
    for name, field, content, packed in refusals():
        refused(lambda packed=packed: world.apply(packed), field)
        with pytest.raises(cairn.BadNumber) as unsent:
            cairn.command(name, **{other: valid(name, other, kind) for other, kind in COMMAND[name][2]} | {field: content})
        assert unsent.value.field == field and f"{field} " in str(unsent.value), (name, field)
        count += 1
    assert count > 500 and world.step(0).hash == before


def test_the_client_and_the_server_have_the_same_limits(world):
    """One step beyond a limit both refuse, with one status; at the limit neither calls it out of range."""
    world.spawn(mass=1.0)
    world.shape(sphere=1)
    world.joint_create("spherical", 0, 1)
    count = 0
    for name, limits in LIMITS.items():
        number, _, fields = COMMAND[name]
        kinds = dict(fields)
        for field, (least, most, _) in limits.items():
            kind = kinds[field]
            if kind not in ("F64", "U32", "INTEGER", "ENUM"):
                continue
            usual = {other: valid(name, other, of) for other, of in fields}
            at = 1 + list(kinds).index(field)
            for limit, away in ((least, -math.inf), (most, math.inf)):
                beyond = math.nextafter(limit, away) if kind == "F64" else limit + (1 if away > 0 else -1)
                with pytest.raises(cairn.BadNumber) as unsent:
                    cairn.command(name, **usual | {field: beyond})
                packed = cairn.command(name, **usual | {field: limit})
                packed[at] = beyond
                with pytest.raises(cairn.Refused) as why:
                    world.apply(packed)
                # An integer that its type cannot hold is of another type for the server.
                assert why.value.field == field and why.value.status in (unsent.value.status, "type"), (name, field, limit)
                count += 1
    assert count > 100 and world.step(0).tick == 0


def test_numbers_of_queries_are_checked_before_they_are_sent(world):
    class Unsent:
        def send(self, *_):
            raise AssertionError("a message was sent")
    world.client.wire, wire = Unsent(), world.client.wire
    count = 0
    for fields, number in ((QUERY_LIMITS.get(number, ()), number) for number in QUERY.values()):
        usual = {"PLACE": [0, 0, 0], "DIRECTION": [0, 1, 0], "WAY": [0, 1, 0], "ROTATION": [1, 0, 0, 0], "LENGTH": 1}
        values = [usual.get(kind, least) for _, kind, least, _ in fields]
        for at, (field, kind, _, _) in enumerate(fields):
            for value in EXTREMES:
                if kind in ("SHAPE", "NAME", "BODIES", "NUMBERS") or kind == "DIRECTION" and abs(value) == 1e308:
                    continue
                bad = [value, *values[at][1:]] if isinstance(values[at], list) else value
                with pytest.raises(cairn.BadNumber) as unsent:
                    world.query(number, *values[:at], bad, *values[at + 1:])
                assert unsent.value.field == field
                count += 1
    world.client.wire = wire
    assert count > 200


def test_the_value_of_control(world):
    for value in EXTREMES:
        for action in (2, 4):
            refused(lambda action=action, value=value: world.control(action, value), "value")
            refused(lambda action=action, value=value: world.client.ask("world_info", "control", world.number, action, value),
                    "value")
    assert world.step(0).tick == 0


def test_every_number_of_every_query(world):
    world.spawn(mass=1.0)
    sphere, zero, up = cairn.sphere(0.5), (0, 0, 0), (0, 1, 0)
    for value in EXTREMES:
        for k in range(3):
            bad = tuple(value if i == k else 0.0 for i in range(3))
            turn = (1.0, *bad)
            for field, call in (
                    ("origin", lambda: world.ray(bad, up, 1)), ("direction", lambda: world.ray(zero, bad, 1)),
                    ("position", lambda: world.overlap(sphere, bad)), ("rotation", lambda: world.overlap(sphere, zero, turn)),
                    ("position", lambda: world.cast(sphere, bad, up)), ("way", lambda: world.cast(sphere, zero, bad)),
                    ("rotation", lambda: world.cast(sphere, zero, up, turn)),
                    ("position", lambda: world.move(sphere, bad, up)), ("way", lambda: world.move(sphere, zero, bad)),
                    ("rotation", lambda: world.move(sphere, zero, up, turn))):
                # A direction has any length but 0, up to the largest number.
                if field == "direction" and abs(value) == 1e308:
                    continue
                refused(call, field)
        for field, call in (
                ("length", lambda: world.ray(zero, up, value)), ("reach", lambda: world.closest(1, reach=value)),
                ("slope", lambda: world.move(sphere, zero, up, slope=value)),
                ("step", lambda: world.move(sphere, zero, up, step=value)),
                ("skin", lambda: world.move(sphere, zero, up, skin=value))):
            refused(call, field)
    assert world.totals()[0] == 0


def test_the_numbers_of_areas_and_of_new_worlds(world):
    areas, zero = cairn.areas, (0, 0, 0)
    for value in EXTREMES:
        bad = (0, value, 0)
        for field, area in (("minimum", lambda: areas.box(bad, zero)), ("maximum", lambda: areas.box(zero, bad)),
                            ("centre", lambda: areas.ball(bad, 1)), ("radius", lambda: areas.ball(zero, value)),
                            ("eye", lambda: areas.frustum(bad, (1, 0, 0, 0), 1, 1, 1, 2)),
                            ("rotation", lambda: areas.frustum(zero, (1, *bad), 1, 1, 1, 2)),
                            ("half_width", lambda: areas.frustum(zero, (1, 0, 0, 0), value, 1, 1, 2)),
                            ("near", lambda: areas.frustum(zero, (1, 0, 0, 0), 1, 1, value, 2)),
                            ("far", lambda: areas.frustum(zero, (1, 0, 0, 0), 1, 1, 1, value))):
            if not math.isfinite(value):  # the limits are the server's
                refused(area, field)
        refused(lambda: world.client.create("never", gravity=bad), "gravity")
    with pytest.raises(cairn.BadNumber, match="rate is nan"):
        world.client.create("never", rate=math.nan)
    assert world.step(0).tick == 0 and "never" not in [name for _, name, *_ in world.client.list()]
