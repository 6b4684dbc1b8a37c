"""Tasks to learn, as many worlds at once. Needs NumPy; module gym makes Gymnasium environments of them.

    with cairn.launch() as client:
        worlds = cairn.tasks.Worlds(client, cairn.tasks.CartPole(), 16)
        observations = worlds.start(seeds=range(16))
        observations, rewards, terminated, seen = worlds.step(numpy.ones(16, int))
"""
import numpy

from .observe import bodies
from .pack import ACTION, command


class Task:
    """What there is in a world, what an agent does and sees, and what it is paid for. Subclasses set the attributes and
    write the methods; CartPole is an example."""

    options = {"rate": 50}  # of Client.create
    ticks = 1  # of an action
    limit = None  # actions of an episode, after which it is truncated
    # Bounds of an observation, and of an action; `choices`: the action is one of 0 … choices - 1 instead.
    low = high = ()
    action_low = action_high = ()
    choices = None

    def build(self, world):
        """Makes the bodies. The ids that it gets are the same in every world."""
        raise NotImplementedError

    def actions(self):
        """The commands of an action, with ACTION in the place of its numbers; called after build()."""
        raise NotImplementedError

    def observe(self):
        """Parts of module observe; called after build()."""
        raise NotImplementedError

    def start(self, rng):
        """Commands that begin an episode, from the state that build() has left; `rng` is a numpy.random.Generator."""
        return []

    def numbers(self, actions):
        """The numbers of k actions, as an array (k, width)."""
        return numpy.asarray(actions, float).reshape(len(actions), -1)

    def judge(self, numbers):
        """Of k states, observed as an array (k, width): observations (k, …), rewards (k), and whether the episode is over
        for good (k)."""
        raise NotImplementedError


class CartPole(Task):
    """A pole on a cart, as in Barto, Sutton and Anderson (1983): push the cart left (0) or right (1) with 10 N, 50 times a
    second, so that the pole stays within 12° and the cart within 2.4 m. One point for each push, 500 at most.

    A box of 1 kg on a prismatic joint, and on it a pole of 0.1 kg and 1 m on a revolute one. Observations: position (m)
    and velocity (m/s) of the cart, angle (rad) and angular velocity (rad/s) of the pole, positive to the left."""

    limit = 500
    force = 10.0
    reach, lean = 2.4, numpy.radians(12)
    low = (-2 * reach, -numpy.inf, -2 * lean, -numpy.inf)
    high = (2 * reach, numpy.inf, 2 * lean, numpy.inf)
    choices = 2

    def build(self, world):
        cart, pole = world.shape(box=(0.5, 0.3, 0.3)), world.shape(capsule=(0.02, 0.96))
        self.cart = world.spawn(shapes=[cart], mass=1.0, flags=0, mask=0)
        self.pole = world.spawn(position=(0, 0.5, 0), shapes=[pole], mass=0.1, flags=0, mask=0)
        world.joint_create("prismatic", 0, self.cart, place=1)
        about_z = (numpy.sqrt(0.5), 0, -numpy.sqrt(0.5), 0)
        world.joint_create("revolute", self.cart, self.pole, frame_a=about_z, place=1)

    def actions(self):
        return [command("force", self.cart, (ACTION, 0, 0), ticks=self.ticks)]

    def observe(self):
        return [bodies([self.cart], ["position", "velocity"]), bodies([self.pole], ["rotation", "spin"])]

    def start(self, rng):
        x, speed, angle, turn = rng.uniform(-0.05, 0.05, 4)
        c, s = numpy.cos(angle), numpy.sin(angle)
        return [command("set_pose", self.cart, (x, 0, 0)),
                command("set_velocity", self.cart, (speed, 0, 0)),
                command("set_pose", self.pole, (x - 0.5 * s, 0.5 * c, 0), (numpy.cos(angle / 2), 0, 0, numpy.sin(angle / 2))),
                command("set_velocity", self.pole, (speed - 0.5 * c * turn, -0.5 * s * turn, 0), (0, 0, turn))]

    def numbers(self, actions):
        return self.force * (2.0 * numpy.asarray(actions).reshape(-1, 1) - 1)

    def judge(self, numbers):
        angle = 2 * numpy.arctan2(numbers[:, 9], numbers[:, 6])
        observations = numpy.stack([numbers[:, 0], numbers[:, 3], angle, numbers[:, 12]], axis=1)
        over = (abs(observations[:, 0]) > self.reach) | (abs(angle) > self.lean)
        return observations, numpy.ones(len(numbers)), over


class Worlds:
    """`count` worlds of a task, named `name`-0, `name`-1, …, made on the client's server."""

    def __init__(self, client, task, count, name="task"):
        self.client, self.task, self.count = client, task, count
        self.worlds = [client.create(f"{name}-{i}", **task.options) for i in range(count)]
        for world in self.worlds:
            task.build(world)
        self.vector = client.vector(self.worlds, task.actions(), task.observe(), task.ticks)
        self.look = client.vector(self.worlds, (), task.observe(), 0)
        self.vector.save("start")
        self.rngs = [numpy.random.default_rng() for _ in range(count)]

    def start(self, seeds=None, ids=None):
        """Begins an episode in these worlds (indices; None: all) and returns their observations. `seeds`: one for each, or
        None for those that continue their random numbers. A seed and the actions determine an episode bit for bit."""
        ids = list(range(self.count)) if ids is None else [int(i) for i in ids]
        for i, seed in zip(ids, seeds if seeds is not None else [None] * len(ids)):
            if seed is not None:
                self.rngs[i] = numpy.random.default_rng(seed)
        self.vector.restore("start", ids)
        seen = self.look.step(commands={row: self.task.start(self.rngs[i]) for row, i in enumerate(ids)}, ids=ids)
        if seen.refused:
            raise next(iter(seen.refused.values()))
        return self.task.judge(seen.observations)[0]

    def step(self, actions, ids=None):
        """Acts in these worlds (indices; None: all). Returns observations, rewards, terminated, and the vector.Seen. A world
        that is refused, for a NaN in its action, has not moved: its row is that of its present state, with reward 0."""
        seen = self.vector.step(self.task.numbers(actions), ids=ids)
        observations, rewards, terminated = self.task.judge(seen.observations)
        if seen.refused:
            rows = sorted(seen.refused)
            now = self.look.step(ids=seen.ids[rows])
            observations[rows], _, terminated[rows] = self.task.judge(now.observations)
            rewards[rows] = 0
        return observations, rewards, terminated, seen

    def close(self):
        """Ends the worlds."""
        for world in self.worlds:
            world.destroy()
