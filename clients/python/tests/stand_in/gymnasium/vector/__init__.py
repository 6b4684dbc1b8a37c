import enum

import numpy

from ..utils import seeding


class AutoresetMode(enum.Enum):
    NEXT_STEP = "NextStep"
    SAME_STEP = "SameStep"
    DISABLED = "Disabled"


class VectorEnv:
    """Many environments behind one interface."""
    metadata = {}
    spec = None
    render_mode = None
    closed = False
    _np_random = None
    _np_random_seed = None

    def reset(self, *, seed=None, options=None):
        if seed is not None:
            self._np_random, self._np_random_seed = seeding.np_random(seed)

    def step(self, actions):
        raise NotImplementedError

    def close(self, **kwargs):
        if self.closed:
            return
        self.close_extras(**kwargs)
        self.closed = True

    def close_extras(self, **kwargs):
        pass

    @property
    def unwrapped(self):
        return self

    def _add_info(self, vector_infos, env_info, env_num):
        """Puts the infos of one environment into arrays, each with a mask of the same name and an underscore."""
        for key, value in env_info.items():
            if isinstance(value, dict):
                array = self._add_info(vector_infos.get(key, {}), value, env_num)
            else:
                array = vector_infos.get(key)
                if array is None and isinstance(value, (int, float, bool, numpy.number)):
                    array = numpy.zeros(self.num_envs, type(value))
                elif array is None and isinstance(value, numpy.ndarray):
                    array = numpy.zeros((self.num_envs, *value.shape), value.dtype)
                elif array is None:
                    array = numpy.full(self.num_envs, None, object)
                array[env_num] = value
            mask = vector_infos.get(f"_{key}", numpy.zeros(self.num_envs, bool))
            mask[env_num] = True
            vector_infos[key], vector_infos[f"_{key}"] = array, mask
        return vector_infos


class VectorWrapper(VectorEnv):
    """Passes everything on."""

    def __init__(self, env):
        self.env = env

    def reset(self, *, seed=None, options=None):
        return self.env.reset(seed=seed, options=options)

    def step(self, actions):
        return self.env.step(actions)

    def close(self, **kwargs):
        return self.env.close(**kwargs)

    @property
    def unwrapped(self):
        return self.env.unwrapped

    def __getattr__(self, name):
        return getattr(self.env, name)
