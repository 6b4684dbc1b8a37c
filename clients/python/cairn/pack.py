"""Commands and queries in wire form. Their numbers are checked here, so that a mistake is reported without a round trip."""
import contextlib
import math
import sys

from .manifest import COMMAND, DEFAULTS, LENGTH_MAX, LIMITS, QUERY_LIMITS, STATUS, WORDED, WORDS

CODES = {name: code for code, (name, _) in STATUS.items()}
FRICTIONS = ("static_friction", "dynamic_friction")
LARGEST = sys.float_info.max
LONGEST = 4 * LENGTH_MAX


class Refused(Exception):
    """The server refused a request: `status` (short name of the status), `field` (name, or ""), `index` (of the refused
    item in a batch or list, or -1) and a text."""

    def __init__(self, code, text, field_name="", index=-1):
        self.code = code
        self.status = STATUS.get(code, (str(code), ""))[0]
        self.field = field_name
        self.index = index
        super().__init__(f"{self.status}: {text}" + (f" ({field_name})" if field_name else ""))


class BadNumber(Refused, ValueError):
    """A number that the server would refuse; it was not sent. `status` is not_finite, range or type."""


class NoNumber(BadNumber, TypeError):
    """What is no number stands where one must be; it was not sent. `status` is type."""


# ---- numbers -----------------------------------------------------------------------------------------


def _bad(field, value, least, most, unit=""):
    if not math.isfinite(value):
        return BadNumber(CODES["not_finite"], f"{field} is {value}: it must be finite", field)
    ends = f"from {least:.10g} to {most:.10g}" + (f" {unit}" if unit else "")
    return BadNumber(CODES["range"], f"{field} is {value:.10g}: it must be {ends}", field)


def _real(field, value):
    """`value` as a float. Raises NoNumber."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise NoNumber(CODES["type"], f"{field} is {value!r:.40}: it must be a number", field) from None


def number(field, value, least, most, unit=""):
    """`value` as a float within the limits. Raises BadNumber."""
    value = _real(field, value)
    if not least <= value <= most:
        raise _bad(field, value, least, most, unit)
    return value


def finite(field, value):
    """`value` as a float. Raises BadNumber if it is NaN or infinite."""
    return number(field, value, -LARGEST, LARGEST)


def _vector(field, values, least, most, unit=""):
    return [None if v is ACTION else number(field, v, least, most, unit) for v in values]


def _long(field, values, least, most, about):
    """`values` as floats, of a length within the limits."""
    values = [_real(field, v) for v in values]
    length = math.hypot(*values)
    if not least <= length <= most:
        if not all(map(math.isfinite, values)):
            raise BadNumber(CODES["not_finite"], f"{field} is {values}: its numbers must be finite", field)
        ends = f"{least:g} and {most:.10g}{about}"
        raise BadNumber(CODES["range"], f"{field} has length {length:.10g}: it must be within {ends}", field)
    return values


def _rotation(field, values):
    return _long(field, values, 0.5, 2, ", and is then made 1")


# ---- commands ----------------------------------------------------------------------------------------

# By default spawn() makes a dynamic body (status 2) at the origin.
FALLBACKS = DEFAULTS | {"spawn": {"status": 2, "position": (0, 0, 0)} | DEFAULTS["spawn"]}


class _Action:
    """In the place of a number, a vector or a rotation of a command: it comes from the action (Vector.step)."""

    def __repr__(self):
        return "cairn.ACTION"


ACTION = _Action()


def _attachment(field, item, limits):
    """A shape on a body: [shape, position?, rotation?]."""
    if not isinstance(item, (list, tuple)):
        return [item]
    return [*item[:1], *(_vector(field, place, *limits) for place in item[1:2]),
            *(_rotation(field, turn) for turn in item[2:])]


def _pack_field(field, kind, value, words, limits):
    if value is ACTION:
        return None
    if kind == "F64":
        return number(field, value, *limits)
    if kind == "VEC3":
        return _vector(field, value, *limits)
    if kind == "QUAT":
        return _vector(field, value, -LARGEST, LARGEST) if any(v is ACTION for v in value) else _rotation(field, value)
    if kind == "TARGETS":
        return [[None if v is ACTION else v for v in item[:2]] + _vector(field, item[2:], *limits) for item in value]
    if kind == "POINTS":
        return [_vector(field, item, *limits) for item in value]
    if kind == "ATTACHMENTS":
        return [_attachment(field, item, limits) for item in value]
    if isinstance(value, str) and words:
        if value not in words:
            raise ValueError(f"{value!r} is not one of {', '.join(word for word in words if word)}")
        return words.index(value)
    if limits and isinstance(value, (int, float)) and not limits[0] <= value <= limits[1]:
        raise _bad(field, value, *limits)
    return value


def _both_frictions(fields, named):
    """The fields with `friction` as the static and the dynamic friction that are not given themselves, as in scenes."""
    if "friction" not in named or "friction" in fields or FRICTIONS[0] not in fields:
        return named
    named = dict(named)
    return dict.fromkeys(FRICTIONS, named.pop("friction")) | named


def command(name, /, *values, **named):
    """A command in wire form, [number, field, ...]: command("spawn", 2, (0, 1, 0)), or with fields by name. `friction` sets
    static_friction and dynamic_friction, unless they are given. Raises TypeError for an unknown or missing field, ValueError
    for an unknown word, BadNumber (a Refused and a ValueError) for a number that is not finite or outside its limits."""
    code, _, fields = COMMAND[name]
    names = [field_name for field_name, _ in fields]
    named = _both_frictions(names, named)
    unknown = set(named) - set(names)
    if unknown:
        raise TypeError(f"{name} has no field {sorted(unknown)[0]}; it has {', '.join(names)}")
    given = dict(zip(names, values)) | named
    last = max((names.index(n) for n in given), default=-1)
    packed = [code]
    limits = LIMITS.get(name, {})
    for field_name, kind in fields[:last + 1]:
        if field_name not in given and field_name not in FALLBACKS.get(name, ()):
            raise TypeError(f"{name} needs {field_name}")
        value = given[field_name] if field_name in given else FALLBACKS[name][field_name]
        packed.append(_pack_field(field_name, kind, value, WORDS.get(WORDED.get((name, field_name)), ()),
                                  limits.get(field_name, ())))
    return packed


def given_command(name, fields):
    """command() with the fields that are not None."""
    return command(name, **{field_name: value for field_name, value in fields.items() if value is not None})


# ---- worlds ------------------------------------------------------------------------------------------

def world_options(options):
    """Options of WORLD_CREATE as they are packed: a rate may be a number. Raises BadNumber."""
    packed = {name: finite(name, value) if isinstance(value, float) else value for name, value in options.items()}
    if isinstance(packed.get("rate"), int):
        packed["rate"] = [packed["rate"], 1]
    if "gravity" in packed:
        packed["gravity"] = [finite("gravity", value) for value in packed["gravity"]]
    return packed


# ---- queries -----------------------------------------------------------------------------------------

def _check_asked(field, kind, value, least, most):
    if kind == "PLACE":
        _vector(field, value, -LENGTH_MAX, LENGTH_MAX, "m")
    elif kind == "DIRECTION":
        _vector(field, value, -LARGEST, LARGEST)
    elif kind == "WAY":
        _long(field, value, 0, LONGEST, " m")
    elif kind == "LENGTH":
        number(field, value, 0, LONGEST, "m")
    elif kind == "ROTATION":
        _rotation(field, value)
    elif kind in ("REAL", "U32"):
        number(field, value, least, most)
    elif kind == "NUMBERS":
        for each in memoryview(value).cast("d"):
            number(field, each, -LARGEST, LARGEST)


def check_query(query):
    """The query [kind, ...] if its numbers are finite and within their limits. Raises BadNumber. What is no number where one
    must be is left to the server."""
    for (field, kind, least, most), value in zip(QUERY_LIMITS.get(query[0], ()), query[1:]):
        with contextlib.suppress(TypeError):
            _check_asked(field, kind, value, least, most)
    return query
