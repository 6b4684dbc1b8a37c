"""A stand-in for the base classes of Gymnasium 1.x that cairn.gym uses, for machines without it (Debian does not package
it). It has the published names and signatures, and checks what the real one leaves to its users: shapes, types, spaces."""
from . import error, spaces, utils, vector  # noqa: F401


class Env:
    """A single environment."""
    metadata = {"render_modes": []}
    render_mode = None
    spec = None
    action_space = None
    observation_space = None
    _np_random = None
    _np_random_seed = None

    def step(self, action):
        raise NotImplementedError

    def reset(self, *, seed=None, options=None):
        if seed is not None:
            self._np_random, self._np_random_seed = utils.seeding.np_random(seed)

    def render(self):
        raise NotImplementedError

    def close(self):
        pass

    @property
    def unwrapped(self):
        return self

    @property
    def np_random(self):
        if self._np_random is None:
            self._np_random, self._np_random_seed = utils.seeding.np_random()
        return self._np_random

    @np_random.setter
    def np_random(self, value):
        self._np_random, self._np_random_seed = value, -1

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
        return False
