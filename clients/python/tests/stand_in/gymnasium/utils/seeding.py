import numpy


def np_random(seed=None):
    """(generator, seed)"""
    if seed is not None and not (isinstance(seed, int) and seed >= 0):
        raise ValueError(f"seed is {seed!r}: it must be an integer, 0 or more")
    sequence = numpy.random.SeedSequence(seed)
    return numpy.random.Generator(numpy.random.PCG64(sequence)), sequence.entropy
