"""Robots by the names of their axes: what World.robot_view returns."""

AXES = ("x", "y", "z", "rx", "ry", "rz")
TURN = ("qw", "qx", "qy", "qz")


def unique(names, axes):
    """Names that several axes have get the id of their joint: `knee@7`."""
    return [name if names.count(name) == 1 else f"{name}@{joint}" for name, (joint, _) in zip(names, axes)]


class Robot:
    """The robot to which a body belongs: its axes by name, and its state at the last refresh().

    names   of the axes, in the order of q', accelerations and forces. An axis has the name of its joint; of several axes of a
            joint, of a ball and of a floating base also its letters: `hip.rx`, `torso.x`. A joint without a name is `jointID`, a
            base is its body's name or `bodyID`. The world keeps 31 bytes of a name; names that are equal then get the id of the
            joint: `knee@7`
    q_names of the coordinates: those of the axes, but for a ball and a floating base, whose turn is a quaternion: `torso.qw` …
    q, qd, tau   coordinates (m, rad), their rates, and the forces (N, N m) that the joints exerted along the axes, mean over
            the last tick; tuples, or with `arrays` NumPy arrays
    links, bodies   as World.robot has them, and {name: id} of its bodies with names
    """

    def __init__(self, world, body, arrays=False):
        self.world, self.body, self.arrays = world, body, arrays
        labels, joints = world.names(), world.joint_names()
        self.state = world.robot(body, arrays)
        self.links = self.state["links"]
        self.bodies = {labels[link[0]]: link[0] for link in self.links if link[0] in labels}
        self.names, self.q_names, self.axes = [], [], []
        for link, _, joint, kind, axes in self.links:
            self._add_link(labels.get(link, f"body{link}") if kind == "base" else joints.get(joint, f"joint{joint}"),
                           joint, kind, axes)
        self.names = unique(self.names, self.axes)
        self.index = {name: place for place, name in enumerate(self.names)}

    def _add_link(self, name, joint, kind, axes):
        """The names of a link's axes and coordinates."""
        own = [name] if len(axes) == 1 and kind == "axes" else [f"{name}.{AXES[axis]}" for axis in axes]
        turns = [axis for axis in axes if axis >= 3]
        self.names += own
        self.axes += [(joint, axis) for axis in axes]
        if kind != "axes" and len(turns) == 3:
            own = [word for word, axis in zip(own, axes) if axis < 3] + [f"{name}.{word}" for word in TURN]
        self.q_names += own

    def refresh(self):
        """Asks for the present state; returns self. Raises ValueError if the robot's links are no longer the same."""
        state = self.world.robot(self.body, self.arrays)
        if state["links"] != self.links:
            raise ValueError(f"the robot of body {self.body} has other links now: make another view")
        self.state = state
        return self

    @property
    def q(self):
        return self.state["q"]

    @property
    def qd(self):
        return self.state["rates"]

    @property
    def tau(self):
        return self.state["forces"]

    def target(self, targets):
        """Sets the targets of motors: {name of an axis: m, rad, m/s, rad/s, N, N m, as its motor has it}. Raises KeyError for a name
        that no axis has, and Refused if one has no motor."""
        items = [(*self.axes[self.index[name]], float(value)) for name, value in targets.items()]
        return self.world.joint_targets(items)

    def forward(self, tau=(), still=False):
        """Accelerations of the axes under forces of the axes, as World.forward_dynamics."""
        return self.world.forward_dynamics([self.body], tau, still, self.arrays)[0]["accelerations"]

    def inverse(self, qdd=(), still=False):
        """Forces of the axes that cause accelerations of the axes, as World.inverse_dynamics."""
        return self.world.inverse_dynamics([self.body], qdd, still, self.arrays)[0]["forces"]
