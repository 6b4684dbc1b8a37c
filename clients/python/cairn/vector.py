"""Many worlds stepped by one message: actions in, observations out, as NumPy arrays.

    worlds = [client.create(f"w{i}") for i in range(64)]
    ...
    vector = client.vector(worlds, actions=[cairn.command("force", body, cairn.ACTION)],
                           observe=[cairn.observe.bodies([body], ["position", "velocity"])])
    seen = vector.step(numpy.zeros((64, 3)))
    print(seen.observations.shape)  # (64, 6)
"""
import asyncio
from dataclasses import dataclass

import numpy

from .observe import width
from .pack import Refused
from .wire import Closed


@dataclass
class Seen:
    """Outcomes of k worlds. Row i of every array is world `ids[i]` of the Vector.

    observations (k, width), or of sequences (k, steps, width), float64, read-only; of a step that was not made they are 0.
    tick (k) and steps (k): where the world is now, and actions it has made. refused {row: Refused}: worlds that were not
    stepped, or not to the end. values {row: ids} that the world's own commands made. hashes: of ticks, bytes or None;
    state_hashes: of states, if they were requested."""
    ids: object
    observations: object
    tick: object
    steps: object
    refused: dict
    values: dict
    hashes: list
    state_hashes: list


class Vector:
    """Worlds (joined, not running) that are stepped together.

    `actions`: commands with cairn.ACTION in the place of the numbers of an action, the same for every world; `observe`:
    parts of module observe; `ticks` after each action. step() waits for all worlds. send() and recv() are the
    asynchronous form: recv() returns the next `batch` worlds that are ready (default: all)."""

    def __init__(self, client, worlds, actions=(), observe=(), ticks=1, batch=None, hashes=False, anyway=False):
        self.client = client
        self.worlds = list(worlds)
        self.actions = [list(command) for command in actions]
        self.observe = [list(part) for part in observe]
        self.ticks = ticks
        self.batch = batch or len(self.worlds)
        self.hashes, self.anyway = hashes, anyway
        self.width = sum(width(part) for part in self.observe)
        self.action_width = sum(_places(command) for command in self.actions)
        self._row = {world.number: i for i, world in enumerate(self.worlds)}
        if not 1 <= self.batch <= len(self.worlds):
            raise ValueError(f"batch is {batch}: it must be within 1 and the number of worlds, {len(self.worlds)}")
        if len(self._row) != len(self.worlds):
            raise ValueError("a world is listed twice")
        self._ready = []  # of recv(): outcomes that have arrived and were not returned yet
        self._pending = 0
        self._shape = None  # steps of the asynchronous requests

    def _values(self, actions, count):
        """The numbers of STEP_WORLDS, and the number of steps (None: no axis of steps)."""
        if actions is None:
            if self.action_width:
                raise ValueError(f"an action has {self.action_width} numbers for each world; none were given")
            return b"", None
        array = numpy.ascontiguousarray(actions, dtype="<f8")
        if array.ndim == 1 and self.action_width == 1:
            array = array[:, None]
        if array.ndim not in (2, 3) or array.shape[0] != count or array.shape[-1] != self.action_width:
            raise ValueError(f"actions have shape {array.shape}; they must have ({count}, {self.action_width}), or "
                             f"({count}, steps, {self.action_width})")
        return array.tobytes(), array.shape[1] if array.ndim == 3 else None

    def _message(self, ids, actions, commands, batch, steps):
        """The fields of STEP_WORLDS, from its ref on, and the number of steps."""
        values, given = self._values(actions, len(ids))
        steps = steps if given is None else given
        entries = []
        for i in ids:
            world = self.worlds[i]
            world.request += 1
            entries.append([world.number, world.request])
        for row, own in (commands or {}).items():
            entries[row].append([list(command) for command in own])
        return (self.client.next_ref(), entries, self.ticks, steps or 1, self.actions, values, self.observe, batch,
                int(self.hashes), int(self.anyway)), steps

    def _numbers(self, ids):
        return range(len(self.worlds)) if ids is None else [int(i) for i in ids]

    def step(self, actions=None, commands=None, ids=None, steps=None):
        """Steps the worlds (or those of `ids`, indices) and returns a Seen in their order.

        `actions`: (worlds, width), or (worlds, steps, width) for a sequence; None if the Vector has no actions, then
        `steps` may repeat. `commands`: {row: commands} before the first action, such as those of a reset. A world that is
        refused, for example for a NaN in its action, is in Seen.refused; the others step. Raises Refused if the message
        is refused as a whole, ValueError."""
        message, steps = self._message(self._numbers(ids), actions, commands, 0, steps)
        self.client.wire.send("step_worlds", *message)
        fields = self.client.wait(["stepped_worlds"], lambda f: f[0] == message[0])
        items, rows = self._take(fields, steps)
        return self._seen(items, rows, steps)

    def send(self, actions=None, ids=None, commands=None, steps=None):
        """Steps these worlds (indices; None: all) and does not wait. A world must not be sent again before recv() has
        returned it."""
        self.client.wire.send("step_worlds", *self._pooled(self._numbers(ids), actions, commands, steps))

    def _pooled(self, ids, actions, commands, steps):
        """The message of send(), whose worlds are pending from now on."""
        message, steps = self._message(ids, actions, commands, self.batch, steps)
        if self._pending and steps != self._shape:
            raise ValueError("worlds with another number of steps are pending")
        self._shape = steps
        self._pending += len(ids)
        return message

    def recv(self):
        """A Seen of the next `batch` worlds that are ready, in the order in which they are. Raises ValueError if fewer are
        pending."""
        self._check_pending()
        while len(self._ready) < self.batch:
            self._collect(self.client.wait(["stepped_worlds"], lambda f: True))
        return self._next()

    def _check_pending(self):
        if self._pending < self.batch:
            raise ValueError(f"{self._pending} worlds are pending, fewer than a batch of {self.batch}")

    def _collect(self, fields):
        """Keeps the outcomes of a STEPPED_WORLDS for recv()."""
        items, rows = self._take(fields, self._shape)
        self._ready += zip(items, rows)

    def _next(self):
        """A Seen of the first `batch` outcomes that are kept."""
        chosen, self._ready = self._ready[:self.batch], self._ready[self.batch:]
        self._pending -= self.batch
        return self._seen([item for item, _ in chosen], numpy.stack([row for _, row in chosen]), self._shape)

    def _take(self, fields, steps):
        _, items, width, data = fields[:4]
        rows = numpy.frombuffer(data or b"", "<f8").reshape(len(items), steps or 1, width)
        for item in items:
            world = self.worlds[self._row[item[0]]]
            if item[3]:  # 0: refused before its host
                world.epoch, world.tick = item[3], item[4]
        return items, rows

    def _seen(self, items, rows, steps):
        columns = list(zip(*items)) if items and all(len(item) == 10 for item in items) else \
            list(zip(*[item[:10] for item in items]))
        worlds, _, codes, _, ticks, _, made, hashes, states, values = columns[:10]
        refused = {i: Refused(item[2], item[12], item[11], item[10]) for i, item in enumerate(items) if item[2]} \
            if any(codes) else {}
        return Seen(numpy.array([self._row[number] for number in worlds]), rows if steps is not None else rows[:, 0],
                    numpy.array(ticks), numpy.array(made), refused,
                    {i: own for i, own in enumerate(values) if own}, list(hashes), list(states))

    def save(self, name):
        """Saves the state of every world under a name (World.save), for restore(). Returns the states."""
        return self._each("save", "saved", range(len(self.worlds)), name)

    def restore(self, name, ids=None):
        """Restores the state that save() made in these worlds (indices; None: all)."""
        return self._each("restore", "restored", range(len(self.worlds)) if ids is None else ids, name)

    def _each(self, request, answer, ids, name):
        """Sends a request to each world before it waits for the first answer."""
        refs = {}
        for i in ids:
            refs[self.client.next_ref()] = self.worlds[int(i)]
            self.client.wire.send(request, self.client.last_ref, self.worlds[int(i)].number, name)
        found = {}
        while len(found) < len(refs):
            fields = self.client.wait([answer], lambda f: f[0] in refs)
            world = refs[fields[0]]
            world.epoch, world.tick = fields[1], fields[2]
            found[fields[0]] = fields[3].hex()
        return [found[ref] for ref in refs]


class AsyncVector(Vector):
    """Vector of the asyncio client: step(), recv(), save() and restore() are coroutines; send() does not wait."""

    def __init__(self, *options):
        super().__init__(*options)
        self._sent = {}  # ref of a message of send() -> its worlds, while worlds are pending
        self._error = None
        self._news = asyncio.Event()

    async def step(self, actions=None, commands=None, ids=None, steps=None):
        """As Vector.step."""
        message, steps = self._message(self._numbers(ids), actions, commands, 0, steps)
        ref = message[0]
        fields = await self.client._request(["stepped_worlds"], lambda f: f[0] == ref, ref, "step_worlds", *message)
        items, rows = self._take(fields, steps)
        return self._seen(items, rows, steps)

    def send(self, actions=None, ids=None, commands=None, steps=None):
        """As Vector.send. The message is queued; the event loop sends it."""
        message = self._pooled(self._numbers(ids), actions, commands, steps)
        self._sent[message[0]] = [world for world, *_ in message[1]]
        self.client.vectors |= dict.fromkeys(self._sent[message[0]], self)
        self.client.send("step_worlds", *message)

    async def recv(self):
        """As Vector.recv. Raises Refused if a message was refused as a whole, Closed."""
        self._check_pending()
        while len(self._ready) < self.batch:
            if self._error is not None:
                error, self._error = self._error, None
                raise error
            self._news.clear()
            try:
                await asyncio.wait_for(self._news.wait(), self.client.timeout)
            except asyncio.TimeoutError:
                raise Closed(f"no outcome within {self.client.timeout:g} s") from None
        return self._next()

    def take(self, fields):
        """Keeps outcomes for recv(); the server may put worlds of several vectors into one message (aio.Client)."""
        ref, items, size, data = fields[:4]
        mine = [i for i, item in enumerate(items) if self.client.vectors.get(item[0]) is self]
        rows = numpy.frombuffer(data or b"", "<f8").reshape(len(items), -1)[mine]
        self._collect((ref, [items[i] for i in mine], size, rows.tobytes()))
        for i in mine:
            del self.client.vectors[items[i][0]]
        if self._pending == len(self._ready):
            self._sent.clear()
        self._news.set()

    def refuse(self, ref, error):
        """recv() raises the error of a message of send(), of ref None: of all, whose worlds have no outcome (aio.Client)."""
        for sent in [ref] if ref is not None else list(self._sent):
            for world in self._sent.pop(sent, ()):
                self._pending -= self.client.vectors.pop(world, None) is not None
                self._error = error
        self._news.set()

    async def _each(self, request, answer, ids, name):
        worlds = [self.worlds[int(i)] for i in ids]
        found = await asyncio.gather(*(self.client.ask(answer, request, world.number, name) for world in worlds))
        for world, fields in zip(worlds, found):
            world.epoch, world.tick = fields[1], fields[2]
        return [fields[3].hex() for fields in found]


def _places(command):
    """Numbers of an action that a command takes."""
    from .manifest import COMMAND
    kinds = next(fields for number, _, fields in COMMAND.values() if number == command[0])
    count = 0
    for value, (_, kind) in zip(command[1:], kinds):
        if value is None:
            count += {"VEC3": 3, "QUAT": 4}.get(kind, 1)
        elif isinstance(value, list):
            count += sum(item is None for item in value) + sum(
                inner is None for item in value if isinstance(item, list) for inner in item)
    return count
