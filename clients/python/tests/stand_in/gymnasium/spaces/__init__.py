import numpy


class Space:
    def __init__(self, shape, dtype):
        self.shape, self.dtype = tuple(shape), numpy.dtype(dtype)
        self.rng = numpy.random.default_rng()

    def seed(self, seed=None):
        self.rng = numpy.random.default_rng(seed)


class Box(Space):
    def __init__(self, low, high, shape=None, dtype=numpy.float32):
        self.low, self.high = numpy.asarray(low, dtype), numpy.asarray(high, dtype)
        assert self.low.shape == self.high.shape and (shape is None or self.low.shape == tuple(shape))
        super().__init__(self.low.shape, dtype)

    def contains(self, value):
        return (isinstance(value, numpy.ndarray) and value.shape == self.shape and value.dtype == self.dtype and
                bool(((value >= self.low) & (value <= self.high)).all()))

    def sample(self):
        return self.rng.uniform(numpy.maximum(self.low, -1e3), numpy.minimum(self.high, 1e3)).astype(self.dtype)


class Discrete(Space):
    def __init__(self, n):
        self.n = numpy.int64(n)
        super().__init__((), numpy.int64)

    def contains(self, value):
        return isinstance(value, (int, numpy.integer)) and 0 <= value < self.n

    def sample(self):
        return numpy.int64(self.rng.integers(self.n))


class MultiDiscrete(Space):
    def __init__(self, nvec):
        self.nvec = numpy.asarray(nvec, numpy.int64)
        super().__init__(self.nvec.shape, numpy.int64)

    def contains(self, value):
        return value.shape == self.shape and bool(((value >= 0) & (value < self.nvec)).all())

    def sample(self):
        return self.rng.integers(self.nvec)
