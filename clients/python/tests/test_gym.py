"""The environments of cairn.gym by the API of Gymnasium 1.x: spaces, seeds, the three modes of resetting, infos with masks,
terminated and truncated. Without Gymnasium its base classes are those of stand_in/."""
import pathlib
import sys

import cairn
import numpy
import pytest

try:
    import gymnasium
except ImportError:
    sys.path.insert(0, str(pathlib.Path(__file__).parent / "stand_in"))
    import gymnasium
from cairn import tasks
from cairn.gym import CartPole, CartPoleVector, TaskVectorEnv
from gymnasium.vector import AutoresetMode, VectorWrapper

COUNT = 3


class Short(tasks.CartPole):
    """An episode is truncated after five actions."""
    limit = 5


class Continuous(tasks.CartPole):
    """An action is a force of -10 to 10 N."""
    choices, action_low, action_high = None, (-10,), (10,)

    def numbers(self, actions):
        return numpy.asarray(actions, float).reshape(-1, 1)


@pytest.fixture
def client(cairn_server):
    with cairn_server.connect() as client:
        yield client


def vector(client, mode=AutoresetMode.NEXT_STEP, task=None, **options):
    return TaskVectorEnv(task or tasks.CartPole(), COUNT, client, mode, **options)


def at_start(observations):
    return bool((abs(observations) <= 0.0501).all())


def test_spaces_and_metadata_are_those_of_a_vector(client):
    envs = vector(client)
    assert isinstance(envs, gymnasium.vector.VectorEnv) and envs.num_envs == COUNT
    assert envs.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert envs.single_observation_space.shape == (4,) and envs.observation_space.shape == (COUNT, 4)
    assert envs.single_action_space.n == 2 and envs.action_space.shape == (COUNT,)
    observations, infos = envs.reset(seed=1)
    assert infos == {} and envs.observation_space.contains(observations)
    observations, rewards, terminations, truncations, infos = envs.step(envs.action_space.sample())
    assert envs.observation_space.contains(observations)
    assert (rewards.dtype, terminations.dtype, truncations.dtype) == (numpy.float64, bool, bool)
    assert rewards.shape == terminations.shape == truncations.shape == (COUNT,) and infos == {}
    envs.close()
    envs.close()
    assert envs.closed and not [name for _, name, _, _ in client.list() if name.startswith("gym")]


def test_a_step_before_the_first_reset_is_refused(client):
    envs, env = vector(client), CartPole(client)
    for one, action in ((envs, numpy.zeros(COUNT, int)), (env, 0)):
        with pytest.raises(gymnasium.error.ResetNeeded):
            one.step(action)
        one.close()


def test_a_seed_is_that_of_the_first_environment_and_a_list_of_all(client):
    envs = vector(client)
    first, _ = envs.reset(seed=7)
    again, _ = envs.reset(seed=[7, 8, 9])
    other, _ = envs.reset(seed=8)
    assert (first == again).all() and (first[1:] == other[:-1]).all()
    assert (envs.reset()[0] != first).any()
    env = CartPole(client)
    assert all((env.reset(seed=7 + i)[0] == first[i]).all() for i in range(COUNT))
    for wrong in ([1, 2], [1] * (COUNT + 1)):
        with pytest.raises((ValueError, AssertionError)):
            envs.reset(seed=wrong)
    envs.close()
    env.close()


def play(envs, actions, seed=3):
    """Observations, rewards, terminations, truncations of these actions, stacked."""
    first, _ = envs.reset(seed=seed)
    steps = [envs.step(action)[:4] for action in actions]
    return first, [numpy.stack(values) for values in zip(*steps)]


def test_a_seed_and_actions_determine_an_episode_bit_for_bit(client):
    actions = numpy.random.default_rng(5).integers(0, 2, (60, COUNT))
    envs = vector(client)
    first, once = play(envs, actions)
    play(envs, 1 - actions, seed=9)
    again, twice = play(envs, actions)
    assert (first == again).all() and all((a == b).all() for a, b in zip(once, twice))
    envs.close()


def test_an_env_is_a_world_of_the_vector(client):
    actions = numpy.random.default_rng(6).integers(0, 2, (8, COUNT))
    envs, env = vector(client), CartPole(client)
    first, (observations, rewards, terminations, truncations) = play(envs, actions)
    for i in range(COUNT):
        assert (env.reset(seed=3 + i)[0] == first[i]).all()
        for t in range(len(actions)):
            seen, reward, terminated, truncated, infos = env.step(int(actions[t, i]))
            assert (type(reward), type(terminated), type(truncated), infos) == (float, bool, bool, {})
            assert env.observation_space.contains(seen) and (seen == observations[t, i]).all()
            assert (reward, terminated, truncated) == (rewards[t, i], terminations[t, i], truncations[t, i])
    envs.close()
    env.close()


def test_next_step_ignores_the_action_after_an_end(client):
    envs = vector(client, AutoresetMode.NEXT_STEP)
    envs.reset(seed=1)
    over = numpy.zeros(COUNT, bool)
    ended = 0
    for _ in range(60):
        actions = numpy.where(over, 99, 1)  # 99 is no action
        observations, rewards, terminations, truncations, infos = envs.step(actions)
        assert infos == {} and not truncations.any()
        assert (rewards == numpy.where(over, 0, 1)).all()
        assert not terminations[over].any() and at_start(observations[over])
        assert not any(at_start(row) for row in observations[terminations])
        over = terminations
        ended += terminations.sum()
    assert ended >= 2 * COUNT
    envs.close()


def test_same_step_has_the_last_observation_in_infos(client):
    envs, kept = vector(client, AutoresetMode.SAME_STEP), vector(client, AutoresetMode.DISABLED)
    envs.reset(seed=1)
    kept.reset(seed=1)
    over = numpy.zeros(COUNT, bool)
    while not over.any():
        last, _, over, _, _ = kept.step(numpy.ones(COUNT, int))
        observations, rewards, terminations, truncations, infos = envs.step(numpy.ones(COUNT, int))
        assert (terminations == over).all() and (rewards == 1).all()
    assert (infos["_final_obs"] == over).all() and (infos["_final_info"] == over).all()
    for i in numpy.flatnonzero(over):
        assert (infos["final_obs"][i] == last[i]).all() and at_start(observations[i])
    for i in numpy.flatnonzero(~over):
        assert (observations[i] == last[i]).all()
    assert "final_obs" not in envs.step(numpy.zeros(COUNT, int))[4]  # a new dict each time
    envs.close()
    kept.close()


def test_disabled_needs_a_reset_of_those_that_are_over(client):
    envs = vector(client, AutoresetMode.DISABLED)
    envs.reset(seed=1)
    over = numpy.zeros(COUNT, bool)
    while not over.any():
        before, _, over, _, infos = envs.step(numpy.ones(COUNT, int))
    assert infos == {}
    with pytest.raises((ValueError, AssertionError)):
        envs.step(numpy.ones(COUNT, int))
    for wrong in (over.tolist(), over.astype(int), over[:-1], numpy.zeros(COUNT, bool)):
        with pytest.raises((ValueError, AssertionError)):
            envs.reset(options={"reset_mask": wrong})
    observations, infos = envs.reset(options={"reset_mask": over})
    assert infos == {} and at_start(observations[over]) and (observations[~over] == before[~over]).all()
    envs.step(numpy.ones(COUNT, int))
    envs.close()


def test_truncated_is_not_terminated(client):
    envs = vector(client, AutoresetMode.SAME_STEP, Short())
    envs.reset(seed=1)
    flags = [envs.step(numpy.arange(COUNT) % 2)[2:4] for _ in range(5)]
    assert not any(terminations.any() for terminations, _ in flags)
    assert [truncations.tolist() for _, truncations in flags] == [[False] * COUNT] * 4 + [[True] * COUNT]
    envs.close()


def test_observations_are_copies_unless_asked_otherwise(client):
    for copy in (True, False):
        envs = vector(client, copy=copy)
        first, _ = envs.reset(seed=1)
        kept = first.copy()
        second = envs.step(numpy.ones(COUNT, int))[0]
        assert (second is first) != copy and (first == kept).all() == copy
        envs.close()


def test_a_nan_is_refused_for_its_world_alone(client):
    envs = vector(client, task=Continuous())
    first, _ = envs.reset(seed=1)
    actions = numpy.array([[1.0], [numpy.nan], [1.0]])
    observations, rewards, terminations, truncations, infos = envs.step(actions)
    assert infos["_refused"].tolist() == [False, True, False] and "not_finite" in infos["refused"][1]
    assert rewards.tolist() == [1, 0, 1] and not (terminations | truncations).any()
    assert (observations[1] == first[1]).all() and (observations[[0, 2]] != first[[0, 2]]).any(axis=1).all()
    assert envs.step(numpy.ones((COUNT, 1)))[4] == {}
    envs.close()


class Returns(VectorWrapper):
    """Sums the rewards of each episode, by the rules of its mode."""

    def __init__(self, env):
        super().__init__(env)
        self.sums, self.done, self.over = numpy.zeros(env.num_envs), [[] for _ in range(env.num_envs)], None

    def step(self, actions):
        result = self.env.step(actions)
        _, rewards, terminations, truncations, _ = result
        self.sums += rewards
        for i in numpy.flatnonzero(terminations | truncations):
            self.done[i].append(float(self.sums[i]))
            self.sums[i] = 0
        return result


def test_all_modes_have_the_same_episodes_through_a_wrapper(client):
    found = []
    for mode in AutoresetMode:
        envs = Returns(vector(client, mode))
        envs.reset(seed=4)
        while min(len(done) for done in envs.done) < 3:
            _, _, terminations, truncations, _ = envs.step(numpy.ones(COUNT, int))
            over = terminations | truncations
            if mode == AutoresetMode.DISABLED and over.any():
                envs.reset(options={"reset_mask": over})
        found.append([done[:3] for done in envs.done])
        envs.close()
    assert found[0] == found[1] == found[2]


def test_an_environment_has_a_daemon_of_its_own():
    envs = CartPoleVector(num_envs=2)
    process = envs.unwrapped._held.client.server.process
    envs.reset(seed=1)
    envs.close()
    assert process.poll() is not None
