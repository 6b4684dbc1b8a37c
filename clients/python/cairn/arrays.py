"""Bodies and robots as NumPy arrays, read straight from the columns of a message. Needs NumPy (python3-numpy)."""
from dataclasses import dataclass

from .columns import Malformed
from .manifest import COLUMN

TICK_COLUMNS = {"position": 3, "rotation": 4, "velocity": 3, "spin": 3}
MASK = sum(COLUMN[name] for name in (*TICK_COLUMNS, "status"))


@dataclass
class Arrays:
    """All n bodies of a state, ids ascending: row i of every array is body id[i]. World axes, SI units.

    id (n) uint32; position (n, 3) m, of the origin; rotation (n, 4) w first; velocity (n, 3) m/s, of the mass centre;
    spin (n, 3) rad/s; status (n) uint8 (0 inactive, 1 static, 2 dynamic, 3 animated); asleep, fast and sensor (n) bool. The
    arrays are read-only views of one message; copy() what must change."""
    id: object
    position: object
    rotation: object
    velocity: object
    spin: object
    status: object
    asleep: object
    fast: object
    sensor: object

    def rows(self, ids):
        """The rows of these bodies, as an array of indices. Raises KeyError for an id that is not in the state."""
        import numpy
        ids = numpy.asarray(ids, dtype=numpy.uint32)
        at = numpy.searchsorted(self.id, ids)
        missing = ids[(at >= len(self.id)) | (self.id[numpy.minimum(at, max(len(self.id) - 1, 0))] != ids)
                      if len(self.id) else numpy.ones(len(ids), bool)]
        if len(missing):
            raise KeyError(f"no body {int(missing[0])} in this state")
        return at


def real_array(column):
    """The numbers of a column of an answer, as a read-only array. Raises ImportError without NumPy."""
    import numpy
    return numpy.frombuffer(column, "<f8")


def symmetric_array(size, lower):
    """The symmetric matrix whose lower triangle a column of an answer has by rows."""
    import numpy
    matrix = numpy.empty((size, size))
    rows, columns = numpy.tril_indices(size)
    matrix[rows, columns] = matrix[columns, rows] = real_array(lower)
    return matrix


def _numbers(numpy, data, at, count):
    """`count` variable-length integers from byte `at` on, and the place behind them."""
    found = numpy.zeros(count, numpy.uint64)
    first = numpy.frombuffer(data, numpy.uint8, min(count, len(data) - at), at)
    if len(first) == count and not (first & 0x80).any():  # the usual case: ids without large gaps
        return first.astype(numpy.uint64), at + count
    for i in range(count):
        value = shift = 0
        while True:
            if at >= len(data):
                raise Malformed("a block is cut short")
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
            if shift > 49:
                raise Malformed("malformed frame: a variable-length integer has more than 8 bytes")
        found[i] = value
    return found, at


def read(data):
    """Arrays of a block of profile exact in which every row has the columns of a tick, as STEPPED's observation is.
    Raises Malformed, ImportError without NumPy."""
    import numpy
    (count,), at = _numbers(numpy, data, 0, 1)
    count = int(count)
    if count > len(data):
        raise Malformed("the row count is larger than the block")
    gaps, at = _numbers(numpy, data, at, count)
    ids = numpy.cumsum(gaps + 1, dtype=numpy.uint64).astype(numpy.uint32)
    masks = numpy.frombuffer(data, numpy.uint8, count, at)
    if (masks != MASK).any():
        raise Malformed("a row lacks a column of the tick")
    at += count
    columns = {}
    for name, width in TICK_COLUMNS.items():
        columns[name] = numpy.frombuffer(data, "<f8", count * width, at).reshape(count, width)
        at += 8 * count * width
    status = numpy.frombuffer(data, numpy.uint8, 2 * count, at).reshape(count, 2)
    if at + 2 * count != len(data):
        raise Malformed("a block has bytes after its end")
    return Arrays(ids, **columns, status=status[:, 0], asleep=(status[:, 1] & 1).astype(bool),
                  fast=(status[:, 1] & 4).astype(bool), sensor=(status[:, 1] & 8).astype(bool))
