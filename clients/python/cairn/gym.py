"""Gymnasium environments of a task (tasks.Task), by the API of Gymnasium 1.x, which this module needs.

    from cairn.gym import CartPole, CartPoleVector          # gymnasium.Env, gymnasium.vector.VectorEnv
    envs = CartPoleVector(num_envs=16)
    observations, infos = envs.reset(seed=1)
    observations, rewards, terminations, truncations, infos = envs.step(envs.action_space.sample())

Each starts a daemon of its own unless it is given a client.
"""
import itertools

import gymnasium
import numpy
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv

from . import tasks
from .server import launch

_names = itertools.count()


def _space(task, count=None):
    """Spaces of observations and actions: of one world, or of `count`."""
    def box(low, high, kind):
        low, high = numpy.array(low, kind), numpy.array(high, kind)
        if count is not None:
            low, high = numpy.tile(low, (count, 1)), numpy.tile(high, (count, 1))
        return spaces.Box(low, high, dtype=kind)
    if task.choices is None:
        action = box(task.action_low, task.action_high, numpy.float64)
    else:
        action = spaces.Discrete(task.choices) if count is None else spaces.MultiDiscrete([task.choices] * count)
    return box(task.low, task.high, numpy.float64), action


class _Worlds:
    """The worlds of an environment, and the daemon if it is its own."""

    def __init__(self, task, count, client):
        self.own = client is None
        self.client = launch() if self.own else client
        try:
            self.worlds = tasks.Worlds(self.client, task, count, f"gym{next(_names)}")
        except BaseException:
            if self.own:
                self.client.close()
            raise

    def close(self):
        if self.own:
            self.client.close()
        else:
            self.worlds.close()


class TaskEnv(gymnasium.Env):
    """One world of a task. `client`: the server to use (None: a daemon of its own)."""

    metadata = {"render_modes": []}

    def __init__(self, task, client=None):
        self.task = task
        self.observation_space, self.action_space = _space(task)
        self._held = _Worlds(task, 1, client)
        self._steps = None

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        # np_random is what a seed determines; the world draws from the same generator.
        worlds = self._held.worlds
        worlds.rngs[0] = self.np_random
        self._steps = 0
        return worlds.start()[0], {}

    def step(self, action):
        if self._steps is None:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        observations, rewards, terminated, seen = self._held.worlds.step(numpy.asarray(action)[None])
        if seen.refused:
            raise seen.refused[0]
        self._steps += 1
        truncated = self.task.limit is not None and self._steps >= self.task.limit
        return observations[0], float(rewards[0]), bool(terminated[0]), bool(truncated), {}

    def close(self):
        if self._held is not None:
            self._held.close()
        self._held = None


class TaskVectorEnv(VectorEnv):
    """`num_envs` worlds of a task, stepped by one message.

    `autoreset_mode`: NEXT_STEP (the step after an end ignores the action, and returns the first observation with reward 0),
    SAME_STEP (the first observation comes with the end; infos have final_obs and final_info), or DISABLED (end an episode
    with reset(options={"reset_mask": mask})). `copy`: observations are copies. A world whose action was refused (a NaN) has
    infos["refused"], a text; it has not moved, and the others have."""

    def __init__(self, task, num_envs=1, client=None, autoreset_mode=AutoresetMode.NEXT_STEP, copy=True):
        self.task, self.num_envs, self.copy = task, num_envs, copy
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {"render_modes": [], "autoreset_mode": self.autoreset_mode}
        self.single_observation_space, self.single_action_space = _space(task)
        self.observation_space, self.action_space = _space(task, num_envs)
        self._held = _Worlds(task, num_envs, client)
        self._observations = numpy.zeros((num_envs, len(task.low)))
        self._steps = numpy.zeros(num_envs, int)
        self._over = numpy.zeros(num_envs, bool)
        self._begun = numpy.zeros(num_envs, bool)

    def _seeds(self, seed):
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, (int, numpy.integer)):
            return [int(seed) + i for i in range(self.num_envs)]
        if len(seed) != self.num_envs:
            raise ValueError(f"{len(seed)} seeds were given for {self.num_envs} environments")
        return list(seed)

    def _mask(self, options):
        """The worlds to reset. options without reset_mask: all."""
        if not options or "reset_mask" not in options:
            return numpy.ones(self.num_envs, bool)
        mask = options["reset_mask"]
        if not isinstance(mask, numpy.ndarray) or mask.shape != (self.num_envs,) or mask.dtype != numpy.bool_:
            raise ValueError(f"reset_mask must be an array of {self.num_envs} bools")
        if not mask.any():
            raise ValueError("reset_mask selects no environment")
        return mask

    def _start(self, mask, seeds=None):
        ids = numpy.flatnonzero(mask)
        if len(ids) == 0:
            return
        self._observations[ids] = self._held.worlds.start([seeds[i] for i in ids] if seeds else None, ids)
        self._steps[ids] = 0
        self._over[ids] = False
        self._begun[ids] = True

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed if isinstance(seed, int) else None)
        self._start(self._mask(options), self._seeds(seed))
        return self._result(), {}

    def _result(self):
        return self._observations.copy() if self.copy else self._observations

    def _act(self, actions, ids):
        """Steps the worlds `ids`: their rewards, terminations, truncations, refusals."""
        observations, rewards, terminated, seen = self._held.worlds.step(actions[ids], ids)
        self._observations[ids] = observations
        moved = numpy.ones(len(ids), bool)
        moved[list(seen.refused)] = False
        self._steps[ids] += moved
        truncated = self._steps[ids] >= self.task.limit if self.task.limit is not None else numpy.zeros(len(ids), bool)
        return rewards, terminated, truncated & moved, {int(ids[row]): str(why) for row, why in seen.refused.items()}

    def step(self, actions):
        actions = numpy.asarray(actions)
        if not self._begun.all():
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        if self.autoreset_mode == AutoresetMode.DISABLED and self._over.any():
            raise ValueError(f"episodes {numpy.flatnonzero(self._over).tolist()} are over: reset them with "
                             'reset(options={"reset_mask": mask})')
        again = self._over.copy()  # only with NEXT_STEP
        rewards = numpy.zeros(self.num_envs)
        terminations, truncations = numpy.zeros(self.num_envs, bool), numpy.zeros(self.num_envs, bool)
        infos, ids = {}, numpy.flatnonzero(~again)
        self._start(again)
        if len(ids):
            rewards[ids], terminations[ids], truncations[ids], refused = self._act(actions, ids)
            for i, why in refused.items():
                infos = self._add_info(infos, {"refused": why}, i)
        self._over = terminations | truncations
        if self.autoreset_mode == AutoresetMode.SAME_STEP and self._over.any():
            for i in numpy.flatnonzero(self._over):
                infos = self._add_info(infos, {"final_obs": self._observations[i].copy(), "final_info": {}}, int(i))
            self._start(self._over.copy())
        return self._result(), rewards, terminations, truncations, infos

    def close_extras(self, **kwargs):
        if self._held is not None:
            self._held.close()
        self._held = None


class CartPole(TaskEnv):
    """tasks.CartPole as a gymnasium.Env."""

    def __init__(self, client=None):
        super().__init__(tasks.CartPole(), client)


class CartPoleVector(TaskVectorEnv):
    """tasks.CartPole as a gymnasium.vector.VectorEnv."""

    def __init__(self, num_envs=1, client=None, autoreset_mode=AutoresetMode.NEXT_STEP, copy=True):
        super().__init__(tasks.CartPole(), num_envs, client, autoreset_mode, copy)
