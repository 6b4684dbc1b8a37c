"""The client and its worlds. See the package's docstring for a first example."""
import contextlib
import hashlib
import os
import pathlib
import subprocess
import time
from dataclasses import dataclass, field, replace

from . import arrays, columns, joints, particles
from . import shapes as shape_bytes
from .commands import Commands
from .manifest import COLUMN, QUERY, STATUS
from .pack import Refused, command, finite, given_command, number, world_options
from .queries import STATUSES, WorldQueries
from .recordings import WorldRecordings
from .view import View
from .wire import Closed, Wire

PART = 57344  # bytes of a shape in one SHAPE_UPLOAD
EXPIRED = 35
RESULTS_KEPT = 1024  # results that result() has not returned; older ones are dropped
WAITING = next(number for number, (name, _) in STATUS.items() if name == "waiting")
FULL = next(number for number, (name, _) in STATUS.items() if name == "full")
WANT_HASH, WANT_BODIES, WANT_TOTALS, WANT_EXACT, WANT_JOINTS, WANT_JOINTS_HASH = 1, 2, 4, 8, 16, 32
MODES = ["running", "paused", "lockstep", "barrier", "failed"]
EVENTS = ["", "contact_begin", "contact_end", "sleep", "wake", "out_of_bounds", "quarantine", "fallback",
          "limit", "joint_break", "births", "deaths", "sensor_begin", "sensor_end", "hit", "squeezed", "link_torn"]


# Messages that update a subscription's mirror.
STATE = ("snapshot", "delta", "rows", "blocks", "events", "notice", "sought")


def _hash(value):
    return value.hex() if value is not None else None


@dataclass
class Body:
    """A body as a subscription shows it: position m, rotation (w, x, y, z), velocity m/s and spin rad/s in world axes.
    Columns that the subscription does not contain are None."""
    id: int
    position: tuple = None
    rotation: tuple = None
    velocity: tuple = None
    spin: tuple = None
    status: str = None
    asleep: bool = None
    fast: bool = None  # it does not pass through dynamic bodies either
    sensor: bool = None  # it has no contacts and tells which bodies it overlaps
    owner: int = None
    tag: int = None
    shapes: list = None  # of (name: 32 bytes, position, rotation)
    contacts: list = None  # of columns.Contact

    @classmethod
    def from_row(cls, row, fields):
        items = iter(row)
        body = cls(next(items))
        take = lambda count: tuple(next(items) for _ in range(count))
        if fields & COLUMN["position"]:
            body.position = take(3)
        if fields & COLUMN["rotation"]:
            body.rotation = take(4)
        if fields & COLUMN["velocity"]:
            body.velocity = take(3)
        if fields & COLUMN["spin"]:
            body.spin = take(3)
        if fields & COLUMN["status"]:
            body.status = STATUSES[next(items)]
            flags = next(items)
            body.asleep, body.fast, body.sensor = bool(flags & 1), bool(flags & 4), bool(flags & 8)
        if fields & COLUMN["owner"]:
            body.owner, body.tag = take(2)
        if fields & COLUMN["shapes"]:
            body.shapes = [(s[0], tuple(s[1:4]), tuple(s[4:8])) for s in next(items)]
        if fields & COLUMN["contacts"]:
            body.contacts = [columns.Contact.of(numbers) for numbers in next(items)]
        return body


    def set(self, name, value):
        """Sets a column from a value that `columns.read_block` yields."""
        if name == "status":
            self.status, flags = STATUSES[value[0]], value[1]
            self.asleep, self.fast, self.sensor = bool(flags & 1), bool(flags & 4), bool(flags & 8)
        elif name == "owner":
            self.owner, self.tag = value
        else:
            setattr(self, name, value)


@dataclass
class Result:
    """The result of a batch: the tick boundary at which it was applied, and for each command the id it created (or 0)."""
    batch: int
    tick: int
    values: list
    edit: int = 0  # (epoch, tick, edit) names the first state that contains the batch

    @classmethod
    def take(cls, item):
        batch, tick, code, index, values = item[:5]
        if code != 0:
            raise Refused(code, item[6] if len(item) > 6 else "", item[5] if len(item) > 5 else "", index)
        return cls(batch, tick, values, item[7] if len(item) > 7 else 0)


@dataclass
class State:
    """A saved or restored state: the result of save() and restore(). `hash`: 16 hexadecimal digits."""
    epoch: int
    tick: int
    hash: str
    world: int = None
    other_bits: bool = False  # restore: saved by a build whose floating-point results differ in their bits
    edit: int = 0


@dataclass
class Stepped:
    """The result of a STEP: the state after it, and the observations that were requested (else None)."""
    tick: int
    epoch: int
    hash: str
    tick_hash: str
    bodies: dict = None  # id -> Body
    kinetic: float = None  # J
    potential: float = None  # J, zero at the origin
    linear: tuple = None  # N s
    angular: tuple = None  # N m s, about the origin
    values: list = field(default_factory=list)  # ids the commands made
    edit: int = 0
    joints: dict = None  # id -> Joint
    joints_hash: str = None  # given together with joints
    arrays: object = None  # arrays.Arrays: all bodies
    kept: bool = True  # False: the state was to be kept for rollbacks (`save`), and is not: a limit, or no memory


@dataclass
class Frame:
    """A subscription's state at a tick, with the events since the frame before."""
    epoch: int
    tick: int
    bodies: dict  # id -> Body
    events: list  # of (tick, kind, ...), the fields of EVENTS in docs/PROTOCOL.md
    edit: int = 0
    joints: dict = field(default_factory=dict)  # id -> Joint, if the subscription has joints
    particles: list = field(default_factory=list)  # Particle, by system and serial, if the subscription has particles
    systems: dict = field(default_factory=dict)  # id of a particle system -> its particles, likewise


@dataclass
class Sought:
    """The answer to a SEEK: where in the past a subscription is. World.sought has the last one of each subscription; one that
    is played gets another one when it stops at an end of the past."""
    epoch: int
    tick: int
    speed: float  # world time per wall time, negative backward; 0: it stands
    first: int  # ticks that can be shown
    last: int
    present: bool  # the subscription shows the present

    @staticmethod
    def take(fields):
        return Sought(fields[2], fields[3], fields[4], fields[5], fields[6], bool(fields[7]))


@dataclass
class When:
    """A tick at which a condition holds, and what may have caused it."""
    epoch: int
    tick: int
    body: int
    value: float
    commands: list  # [(session, batch, name), …] applied to the body at the boundary before the tick
    contacts: list  # [(body, impulse (N s)), …] that it touches at the tick, strongest first

    @staticmethod
    def take(answer):
        epoch, tick, body, value, commands, contacts = answer
        return When(epoch, tick, body, value, [tuple(item) for item in commands], [tuple(item) for item in contacts])


def waiting_time():
    """Seconds that a client waits for an answer if its `timeout` is None: $CAIRN_TIMEOUT (milliseconds, as the option
    --timeout of `cairn`), or 10. Raises ValueError."""
    text = os.environ.get("CAIRN_TIMEOUT", "10000")
    if not text.isdecimal() or not 0 < int(text) < 2**31:
        raise ValueError(f"CAIRN_TIMEOUT is {text}: it must be milliseconds from 1 to {2**31 - 1}")
    return int(text) / 1000


class Session:
    """State that the synchronous and the asyncio client share: identity, joined worlds, and what a resume needs."""

    def __init__(self, address, role, name, timeout, caps, token, tls, resumes):
        self.address, self.tls = address, tls
        self.timeout = waiting_time() if timeout is None else timeout
        self.redirect, self.retry = "", 0.0  # from the last GOODBYE: address to connect to, seconds to wait
        self.last_ref = 0
        self.worlds = {}
        self.has_ack = "ack" in caps
        self.resumes = resumes
        self.hello = {"protocol": [1, 0], "client": name, "caps": [*caps, "resume"] if resumes else list(caps)}
        if role is not None:
            self.hello["role"] = role
        self.token = token.encode() if isinstance(token, str) else token
        self.welcome = {}

    def next_ref(self):
        self.last_ref += 1
        return self.last_ref

    def _first_hello(self):
        return self.hello if self.token is None else self.hello | {"token": self.token}

    def _resume_hello(self):
        """HELLO of a resume: the resume token of the last WELCOME, and the last frame of every complete mirror."""
        token = self.welcome.get("resume_token")
        if not token:
            raise Refused(EXPIRED, "the server gave no resume token; open a new session with connect(…, resumes=True)")
        return self.hello | {"resume": token, "applied": [
            [sub, mirror.epoch, mirror.tick, mirror.event_count, mirror.edit] for world in self.worlds.values()
            for sub, mirror in world.subscriptions.items() if mirror.whole]}

    def _pending_messages(self):
        """The messages to repeat after a resume: the last FOCUS of each subscription, and batches without a result."""
        for world in self.worlds.values():
            for sub, mirror in world.subscriptions.items():
                if mirror.focus is not None:
                    yield "focus", sub, *mirror.focus
            for fields in world.unanswered.values():
                yield "commands", *fields

    def _welcomed(self, welcome):
        self.welcome = welcome
        self.session, self.role = welcome["session"], welcome["role"]

    def _goodbye(self, fields):
        """The error to raise for a GOODBYE; stores its retry delay and its redirect."""
        self.retry, self.redirect = fields[1] / 1000, fields[2]
        return Closed(f"the server ended the connection: {fields[3]}", STATUS.get(fields[0], ("?",))[0])


class Client(Session):
    """One connection, for use by one thread."""

    def __init__(self, address, role=None, name="cairn-python", timeout=None, caps=("ack", "durable"),
                 token=None, tls=None, resumes=False):
        super().__init__(address, role, name, timeout, caps, token, tls, resumes)
        self.wire = Wire(address, self.timeout, tls)
        self._greet(self._first_hello())

    def _greet(self, hello):
        self.wire.send("hello", hello)
        answer = self.wire.receive()
        if answer is None:
            raise Closed(f"no WELCOME within {self.timeout:g} s")
        kind, fields = answer
        if kind != "welcome":
            raise Refused(fields[1], fields[2])
        self._welcomed(fields[0])
        self.wire.frame_up = self.welcome.get("limits", {}).get("frame_up", 0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Closes the connection. A resumable session ends too, because GOODBYE is sent first."""
        if self.welcome.get("resume_token"):
            with contextlib.suppress(OSError):
                self.wire.send("goodbye", 0)
        self.wire.close()

    def resume(self):
        """Resumes the session after Closed (wait `retry` seconds first); for a client made with resumes=True. Connects to
        the redirect of the last GOODBYE, else to the old address. Mirrors and batch numbers continue, bodies stay owned,
        and batches without a result are sent again. Raises Refused ("expired") if the session has expired."""
        hello = self._resume_hello()
        self.wire.close()
        self.wire = Wire(self.redirect or self.address, self.timeout, self.tls)
        self._greet(hello)
        for message in self._pending_messages():
            self.wire.send(*message)

    # ---- messages --------------------------------------------------------------------------------

    def take(self, timeout=None):
        """Receives one message, and handles it if it is not an answer (PING, frames, RESULT, ...). Returns it, or None after
        `timeout` seconds. Raises Closed at GOODBYE."""
        message = self.wire.receive(self.timeout if timeout is None else timeout)
        if message is None:
            return None
        kind, fields = message
        if kind == "ping":
            self.wire.send("pong", fields[0])
        elif kind == "goodbye":
            raise self._goodbye(fields)
        elif kind in STATE:
            for world in self.worlds.values():
                world.take_state(kind, fields)
        elif kind == "result" and fields[0] in self.worlds:
            self.worlds[fields[0]].take_results(fields[1])
        elif kind == "durable" and fields[0] in self.worlds:
            self.worlds[fields[0]].durable = tuple(fields[1:4])
        elif kind == "world_info" and fields[0] == 0 and fields[1] in self.worlds:
            self.worlds[fields[1]].take_info(fields)
        return message

    def wait(self, kinds, matches, ref=None):
        """Fields of the first message of one of `kinds` for which matches(fields) is true. Raises Refused for an ERROR
        about `ref` (None: one that matches), and Closed if no message arrives within the client's timeout."""
        while True:
            message = self.take()
            if message is None:
                raise Closed(f"no answer within {self.timeout:g} s")
            kind, fields = message
            if kind in kinds and matches(fields):
                return fields
            if kind == "error" and (matches(fields) if ref is None else fields[0] == ref):
                raise Refused(fields[1], fields[2], fields[5] if len(fields) > 5 else "",
                              fields[4] if len(fields) > 4 else -1)

    def ask(self, answer, name, *fields):
        """Sends a request whose first field is a new ref and returns the fields of its answer. Raises Refused, Closed."""
        ref = self.next_ref()
        self.wire.send(name, ref, *fields)
        return self.wait([answer], lambda f: f[0] == ref)

    # ---- worlds ----------------------------------------------------------------------------------

    def list(self):
        """[(number, name, mode, tick), …]"""
        ref = self.next_ref()
        self.wire.send("world_list", ref)
        found = []
        while True:
            info = self.wait(["world_info"], lambda f: f[0] == ref)
            if info[1] == 0:
                return found
            found.append((info[1], info[9], MODES[info[6]], info[3]))
            if info[10] + 1 >= info[11]:
                return found

    def create(self, name, **options):
        """Creates a world, paused unless running=True, and joins it. Options: rate (Hz or (num, den)), planar, gravity (m/s²),
        seed, method, running, and others of WORLD_CREATE. Raises Refused ("exists", "range", ...)."""
        self.ask("world_info", "world_create", name, world_options(options))
        return self.join(name)

    def join(self, name):
        """Joins a world by name and returns it. Raises Refused ("unknown_world")."""
        info = self.ask("world_info", "world_join", 0, name)
        number = info[1]
        if number not in self.worlds:
            self.worlds[number] = World(self, number, name)
        self.worlds[number].take_info(info)
        return self.worlds[number]

    def scenes(self):
        """[(name, bytes, title), …]: the scenes of the server's folder (`cairnd --scene-folder`). Raises Refused
        ("unsupported": there is none)."""
        found = []
        while True:
            page = self.ask("reply", "scene_list", found[-1][0] if found else "")[1]
            if not page:
                return found
            found += [tuple(entry) for entry in page]

    def open_scene(self, scene, name=None, variables=None, running=True, text=b"", base=None, balance=False,
                   joint_link_share=None):
        """Makes a world `name` (default: the scene's name without its ending) of a scene of the server's folder, or of `text`,
        a scene or robot file's bytes, and joins it; `world.notes` says what a robot file asks for and does not get.
        `variables`, `base`, `balance`, `joint_link_share`: as of load. Raises Refused, of a fault in the file with its line."""
        name = name or scene.rsplit("/", 1)[-1].rsplit(".", 1)[0]
        info = self.ask("world_info", "scene_open", *open_fields(name, scene, variables, running, text, base, balance,
                                                                  joint_link_share))
        return note_world(self.join(name), info)

    def load(self, scene, name=None, base=None, balance=False, variables=None, joint_link_share=None):
        """Sends the scene file or robot file to a world `name` (default: the file's name without its ending), which is made if
        it does not exist, and returns it joined. `variables`: other values of variables of the scene, {name: number or formula}. `base`, `balance`, `joint_link_share` (1e-15 to 0.1): as of `cairn load`, for robots. The program `cairn` reads
        the file (server.find_program). Raises RuntimeError with its error, FileNotFoundError."""
        return self.join(load_scene(self, scene, name, base, balance, variables, joint_link_share))

    def vector(self, worlds, actions=(), observe=(), ticks=1, batch=None, hashes=False, anyway=False):
        """Many worlds that are stepped by one message (vector.Vector). Needs NumPy."""
        from .vector import Vector
        return Vector(self, worlds, actions, observe, ticks, batch, hashes, anyway)

    def info(self, what=""):
        """The server's facts and counters, as a dict. `what`: "" for all, or one of server, worlds, refused, quotas."""
        return self.ask("reply", "info", what)[1]


def open_fields(name, scene, variables, running, text, base, balance, joint_link_share):
    """The fields of SCENE_OPEN after its ref."""
    base, share = robot_options(base, joint_link_share)
    fields = (name, scene, bytes(text), let_words(variables)[1::2], BASES.index(base), int(balance), int(running))
    return fields if share is None else (*fields, share)


def robot_options(base, joint_link_share):
    """Both as they are. Raises ValueError for another base, BadNumber for a share outside its limits (0 is none: on the wire it
    is the initial one)."""
    if base not in BASES:
        raise ValueError(f"base is {base!r}: it must be None, 'fixed' or 'floating'")
    return base, None if joint_link_share is None else number("joint_link_share", joint_link_share, 1e-15, 0.1)


def note_world(world, info):
    """Keeps the notes of the answer to SCENE_OPEN."""
    world.notes = info[14].splitlines() if len(info) > 14 and info[14] else []
    return world


BASES = (None, "fixed", "floating")


def let_words(variables):
    """The options that give a scene's variables other values; numbers as they are, or formulas as text."""
    return [word for name, value in (variables or {}).items()
            for word in ("--let", f"{name}={value if isinstance(value, str) else repr(float(value))}")]


def load_scene(client, scene, name=None, base=None, balance=False, variables=None, joint_link_share=None):
    """Runs `cairn load` against the client's server; returns the world's name."""
    from .server import find_program  # which needs this module
    name = name or pathlib.Path(scene).stem
    base, share = robot_options(base, joint_link_share)
    words = [find_program("cairn"), "--connect", client.address, "load", name, os.fspath(scene)]
    words += ([] if base is None else ["--base", base]) + (["--balance"] if balance else []) + let_words(variables)
    words += [] if share is None else ["--joint-link-share", repr(share)]
    environment = dict(os.environ)
    if client.token is not None:
        environment["CAIRN_TOKEN"] = client.token.decode()
    if isinstance(client.tls, (str, os.PathLike)):
        words[3:3] = ["--tls-ca", os.fspath(client.tls)]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"cairn load {scene}: {done.stderr.strip() or done.stdout.strip()}")
    return name


MARKS = ("epoch", "snapshot", "commands")
QUANTITIES = ("x", "y", "z", "speed", "spin")


def moments(restore, save):
    """The last fields of STEP."""
    return (0, restore, save) if restore or save else ()


def restore_fields(tick, epoch, rollback):
    """The last fields of RESTORE."""
    return (tick, epoch, 1) if rollback else past_fields(tick, epoch)


def past_fields(tick, epoch, recording=""):
    """The last fields of RESTORE and FORK."""
    if recording:
        return tick, epoch, recording
    return () if tick is None else (tick, epoch)


def seek_fields(sub, tick, speed, epoch, recording):
    return (sub, tick, float(speed), epoch, *([recording] if recording else []))


class World(WorldQueries, WorldRecordings, Commands):
    """A world this client has joined."""

    def __init__(self, client, number, name):
        self.client = client
        self.number = number
        self.name = name
        self.notes = []  # of open_scene
        self.batch = 0
        self.request = 0
        self.shape_ids = {}
        self.subscriptions = {}
        self.unanswered = {}  # batch -> fields of COMMANDS, of a client that resumes
        self.results = {}  # batch -> item of RESULT that result() has not returned yet
        self.waiting = {}  # batch -> tick for which the server holds it
        self.sought = {}  # sub -> the last Sought, also of a past that has been played to its end
        self.durable = None  # (epoch, tick, edit): the newest state on the server's disk

    def take_info(self, info):
        """Stores pace and counts from the fields of WORLD_INFO."""
        self.epoch, self.tick, self.rate = info[2], info[3], info[4]
        self.method, self.mode, self.body_count = info[5], MODES[info[6]], info[8]

    # ---- pace ------------------------------------------------------------------------------------

    def control(self, action, value=1.0):
        """Sends CONTROL: action 0 pause, 1 resume, 2 speed (value: multiple of real time), 3 lockstep, 4 barrier (value:
        sessions). Raises Refused ("forbidden", "leased", "range")."""
        self.take_info(self.client.ask("world_info", "control", self.number, action, finite("value", value)))

    def pause(self):
        self.control(0)

    def resume(self):
        self.control(1)

    def speed(self, factor):
        """Sets the speed as a multiple of real time."""
        self.control(2, factor)

    def lockstep(self):
        """Takes the stepping lease: no other session may step until pause(), resume() or the end of this session."""
        self.control(3)

    def barrier(self, sessions):
        """From now on a tick runs when this many sessions have sent a STEP for it."""
        self.control(4, sessions)

    # ---- input -----------------------------------------------------------------------------------

    def shape(self, data=None, **kind):
        """The id of a shape in this world: shape(sphere=0.5), shape(box=(1, 2, 3)), or canonical bytes. Uploads the shape
        once; a player may only name shapes that the world has."""
        if data is None:
            data = shape_bytes.of_kind(**kind)
        name = hashlib.sha256(data).digest()
        if name not in self.shape_ids:
            if self.client.role != "player":
                self.upload(name, data)
            self.shape_ids[name] = self.apply(command("shape_use", name)).values[0]
        return self.shape_ids[name]

    def upload(self, name, data):
        """Uploads canonical bytes under their SHA-256 (32 bytes) without using the shape in the world. Raises Refused."""
        ref = self.client.next_ref()
        parts = max(1, -(-len(data) // PART))
        for part in range(parts):
            self.client.wire.send("shape_upload", ref, self.number, name, part, parts,
                                  data[part * PART:(part + 1) * PART])
        return self.client.wait(["shape_info"], lambda f: f[0] == ref)

    def send(self, *commands, at=None, late=0):
        """Sends a batch of commands and returns its number; result(number) waits for the result. `at`: the tick at which
        to apply it (None: the next one); `late`: as in COMMANDS, docs/PROTOCOL.md."""
        self.client.wire.send("commands", *self._batch(commands, at, late))
        return self.batch

    def _batch(self, commands, at, late):
        """The fields of COMMANDS with the next batch number. A client that resumes stores them until the result arrives."""
        self.batch += 1
        fields = (self.number, self.batch, at, late, list(commands))
        if self.client.resumes:
            self.unanswered[self.batch] = fields
        return fields

    def take_results(self, items):
        for item in items:
            if item[2] == WAITING:  # the batch waits for a later tick: another result follows
                self.waiting[item[0]] = item[1]
                continue
            self.results[item[0]] = item
            self.waiting.pop(item[0], None)
            self.unanswered.pop(item[0], None)
            if len(self.results) > RESULTS_KEPT:
                del self.results[min(self.results)]

    def unused(self, batch):
        """Forgets a batch that an ERROR refused. An ERROR does not use up the batch's number; the next batch takes it."""
        self.unanswered.pop(batch, None)
        if self.batch == batch:
            self.batch -= 1

    def result(self, batch):
        """Waits for the result of a batch, also of one that waits for a later tick (World.waiting). Raises Refused if the
        batch was refused, and Closed if no message arrives within the client's timeout."""
        while batch not in self.results:
            fields = self.client.wait(
                ["result", "error"],
                lambda f: f[0] == self.number or (f[0] == batch and isinstance(f[1], int)))
            if isinstance(fields[1], int):
                self.unused(batch)
                raise Refused(fields[1], fields[2])
        return Result.take(self.results.pop(batch))

    def wait_durable(self, tick, timeout=None, edit=0):
        """Waits until everything up to (`tick`, `edit`) of the present epoch is on the server's disk. Raises TimeoutError
        after `timeout` seconds (default: the client's timeout)."""
        end = time.monotonic() + (self.client.timeout if timeout is None else timeout)
        while self.durable is None or self.durable < (self.epoch, tick, edit):
            if time.monotonic() > end:
                raise TimeoutError(f"tick {tick} is not on disk")
            self.client.take(0.1)

    def apply(self, *commands):
        """Sends a batch and waits for its Result; in a world that is not running it is applied without a tick. Raises
        Refused."""
        if self.mode != "running":
            stepped = self.step(0, commands=commands, want=0)
            return Result(0, stepped.tick, stepped.values, stepped.edit)
        return self.result(self.send(*commands))

    def _command(self, name, /, **fields):
        """Applies one command; the id that it made, or None."""
        return self.apply(given_command(name, fields)).values[0] or None

    def push(self, body, vector, ticks=1, impulse=False, point=None):
        """Pushes a body with a force (N, world axes) for some ticks, or with an impulse (N s), at its mass centre or at `point`
        (m, from there in body axes). Raises Refused."""
        if impulse:
            return self.impulse(body, vector, point)
        return self.force(body, vector, point, ticks)

    # ---- harness ---------------------------------------------------------------------------------

    def step(self, n=1, commands=(), bodies=False, totals=False, from_tick=None, want=None, joints=False, arrays=False,
             restore="", save=""):
        """Applies commands, then n ticks (0: none), to a world that is not running; returns a Stepped with the state's hash
        and the observations chosen by bodies, totals, joints and arrays (or by `want`, the mask of STEP). `arrays` needs
        NumPy and costs a tenth of `bodies`. `from_tick`: the tick the world must be at, or Refused ("tick"); None: any.
        A rollback in one round trip: `restore` is a state kept with save(rollback=True) or an earlier step, to return to before
        the commands; `save` is the name to keep the state after the ticks as (Stepped.kept: whether it is)."""
        self.request += 1
        if want is None:
            want = self._want(bodies, totals, joints, arrays)
        request = self.request
        self.client.wire.send("step", self.number, request, from_tick, n, list(commands), want, *moments(restore, save))
        fields = self.client.wait(["stepped"], lambda f: f[0] == self.number and f[1] == request, request)
        return self._stepped(fields)

    def state(self):
        """All bodies of a world that is not running, as NumPy arrays (arrays.Arrays). Raises Refused ("running"), ImportError
        without NumPy."""
        return self.step(0, want=WANT_EXACT).arrays

    @staticmethod
    def _want(bodies, totals, with_joints, with_arrays):
        return (WANT_HASH | (WANT_EXACT if with_arrays else 0) | (WANT_BODIES if bodies else 0) | (WANT_TOTALS if totals else 0) |
                (WANT_JOINTS | WANT_JOINTS_HASH if with_joints else 0))

    def _stepped(self, fields):
        _, _, tick, state_hash, observation, results, epoch, tick_hash = fields[:8]
        self.tick, self.epoch = tick, epoch
        stepped = Stepped(tick, epoch, _hash(state_hash), _hash(tick_hash), edit=fields[9] if len(fields) > 9 else 0)
        stepped.kept = len(fields) <= 8 or fields[8] in (0, FULL)
        if len(fields) > 10 and fields[10] is not None:
            stepped.joints_hash = _hash(fields[10])
        if observation is not None and observation[0] is not None:
            rows = observation[0]
            tick_columns = sum(COLUMN[c] for c in ("position", "rotation", "velocity", "spin", "status"))
            stepped.bodies = {row[0]: Body.from_row(row, tick_columns) for row in rows}
        if observation is not None and observation[1] is not None:
            stepped.kinetic, stepped.potential = observation[1][:2]
            stepped.linear, stepped.angular = (tuple(v) for v in observation[1][2:4])
        if observation is not None and observation[2] is not None:
            stepped.arrays = arrays.read(observation[2])
        if observation is not None and len(observation) > 3:
            stepped.joints = {row[0]: joints.Joint.from_row(row, joints.mask_of(True)) for row in observation[3]}
        for item in results:
            stepped.values = Result.take(item).values
        return stepped

    def view(self, web=None, height=480):
        """The viewer of this world as a notebook shows it inline; `url` opens it in a browser. `web`: HOST:PORT of the server's
        viewer; None: that of a client of launch(web=True). `height` in pixels. Raises ValueError if there is no viewer."""
        web = web or getattr(getattr(self.client, "server", None), "viewer", None)
        if web is None:
            raise ValueError("no viewer is known: give web=HOST:PORT of cairnd --web, or use launch(web=True)")
        return View(web, self.name, height)

    def destroy(self):
        """Ends the world and removes its file; for an administrator. Raises Refused ("forbidden")."""
        self.client.ask("reply", "world_destroy", self.number)
        self.client.worlds.pop(self.number, None)

    def save(self, name, rollback=False):
        """Saves the state on the server under a name. `rollback`: in memory only, for rollbacks; such states have names
        of their own, and end with the server. Raises Refused."""
        fields = self.client.ask("saved", "save", self.number, name, *((1,) if rollback else ()))
        return State(fields[1], fields[2], _hash(fields[3]), edit=fields[4] if len(fields) > 4 else 0)

    def restore(self, name="", tick=None, epoch=0, rollback=False):
        """Restores a saved state (`rollback`: one saved with rollback=True), or any `tick` of the past (epoch 0: the last epoch
        that has it); a new epoch begins. Raises Refused ("unknown_snapshot", "range")."""
        fields = self.client.ask("restored", "restore", self.number, name, *restore_fields(tick, epoch, rollback))
        self.epoch, self.tick = fields[1], fields[2]
        return State(fields[1], fields[2], _hash(fields[3]), other_bits=len(fields) > 4 and bool(fields[4]),
                     edit=fields[5] if len(fields) > 5 else 0)

    def restart(self):
        """Returns to the state before the world's first tick; a new epoch begins."""
        return self.restore("start")

    def step_back(self, ticks=1):
        """Returns a world that does not run to the state `ticks` ticks ago, to tick 0 if there were fewer. Raises Refused ("range")."""
        return self.restore(tick=max(self.tick - ticks, 0))

    def fork(self, name, snapshot="", tick=None, epoch=0, recording=""):
        """Copies the present state (or the saved state `snapshot`, or that of a `tick` of the past, or of a recording: its end
        without a tick) into a new, paused world `name`; returns it joined."""
        self.client.ask("forked", "fork", self.number, name, snapshot, *past_fields(tick, epoch, recording))
        return self.client.join(name)

    # ---- the past --------------------------------------------------------------------------------

    def seek(self, tick=None, sub=1, speed=0.0, epoch=0, recording=""):
        """Shows `tick` of the world's past in a subscription, or plays from there: `speed` is world time per wall time,
        negative backward. tick None: the present again. frames() then yields states of the past; nobody else sees them.
        `recording`: of this recording of the world in place of its past; a tick beyond it is its end.
        Returns a Sought. Raises Refused ("range", "unsupported", "busy", "forbidden")."""
        fields = self.client.ask("sought", "seek", *seek_fields(sub, tick, speed, epoch, recording))
        return Sought.take(fields)

    def past(self, limit=256):
        """What there is of the past, as a dict: epochs [(epoch, first tick, last tick, cause), …]; spacing (ticks), keyframes
        and bytes of the states in memory; marks [(epoch, tick, kind, text), …] with kind epoch, snapshot or commands."""
        epochs, (spacing, keyframes, size), marks = self.query(QUERY["past"], limit)
        return {"epochs": [tuple(epoch) for epoch in epochs], "spacing": spacing, "keyframes": keyframes, "bytes": size,
                "marks": [(epoch, tick, MARKS[kind], text) for epoch, tick, kind, text in marks]}

    def when(self, quantity, above=None, below=None, body=0, last=False):
        """The first (or last) tick of the past at which a quantity of a body (0: of any) is above or below a value, as a
        When; None: never. `quantity`: x, y, z (m), speed (m/s) or spin (rad/s)."""
        answer = self.query(QUERY["when"], body, QUANTITIES.index(quantity), int(below is None),
                            float(above if below is None else below), int(last))
        return When.take(answer) if answer else None

    def difference(self, tick, other_tick, epoch=0, other_epoch=0):
        """The first difference between the states of two ticks of the past, as (text, table, row, column); None: they are
        equal. A row is -1 if the tables differ in their length."""
        answer = self.query(QUERY["difference"], epoch, tick, other_epoch, other_tick)
        return tuple(answer) if answer else None

    # ---- watching --------------------------------------------------------------------------------

    def subscribe(self, sub=1, fields=31, divisor=1, events=0, profile="plain", hash_every=1, areas=(), follow=(),
                  budget=0, joints=0, particles=0, sample=1):
        """Subscribes to the world and waits for the first frame; frames() then yields the frames. `sub` is a number of the session.
        Raises Refused, and ValueError for a subscription that there is. `fields`: a mask, or names of columns (manifest.COLUMN).
        `events`: mask of event kinds. `profile`: plain, exact (needs capability exact), or view and sim,
        which quantise poses and velocities and need a tenth of the bytes. `areas` (module areas) and `follow` (ids)
        select a part of the world; `budget` is in bytes per second (0: no limit). `joints`: columns of joints
        (manifest.JOINT_COLUMN) as a mask or names, True for all: frames then contain the joints of the visible bodies.
        `particles`: columns of particles (manifest.PARTICLE_COLUMN) likewise: frames then contain the particles in the areas; ["count"]: only
        how many each system has. `sample`: only those whose serial number is a multiple of it."""
        message = self._subscription(sub, fields, divisor, events, profile, hash_every, areas, follow, budget, joints, particles,
                                     sample)
        try:
            self.client.wire.send("subscribe", *message)
            self.client.wait(["snapshot", "delta"], lambda f: f[0] == sub, sub)
        except BaseException:
            self.subscriptions.pop(sub, None)
            raise

    def _subscription(self, sub, fields, divisor, events, profile, hash_every, areas, follow, budget, joint_columns,
                      particle_columns=0, sample=1):
        """The fields of SUBSCRIBE, and an empty mirror. The frames of a subscription that there is need the one that it has."""
        if any(sub in world.subscriptions for world in self.client.worlds.values()):
            raise ValueError(f"subscription {sub} exists already: unsubscribe it first, or choose another number")
        if not isinstance(fields, int):
            fields = sum(COLUMN[name] for name in fields)
        joint_columns = joints.mask_of(joint_columns)
        particle_columns = particles.mask_of(particle_columns)
        self.subscriptions[sub] = _Mirror(fields, profile, joint_columns, particle_columns)
        message = (sub, self.number, fields, None, list(follow), divisor, columns.PROFILES[profile], events, budget,
                   list(areas), hash_every)
        if particle_columns:
            return *message, joint_columns, particle_columns, sample
        return (*message, joint_columns) if joint_columns else message

    def focus(self, sub=1, areas=(), follow=()):
        """Replaces the areas and followed bodies of a subscription, as often as a camera moves. If both are empty the
        subscription covers the whole world."""
        self.subscriptions[sub].focus = (None, list(follow), list(areas))
        self.client.wire.send("focus", sub, None, list(follow), list(areas))

    def unsubscribe(self, sub=1):
        """Ends a subscription."""
        try:
            self.client.wire.send("unsubscribe", sub)
            self.client.wait(["reply"], lambda f: f[0] == sub)
        finally:
            self.subscriptions.pop(sub, None)

    def take_state(self, kind, fields):
        if kind == "sought":
            self._take_sought(fields)
            return
        mirror = self.subscriptions.get(fields[0])
        if mirror is not None and mirror.take(kind, fields) and self.client.has_ack:
            self.client.wire.send("ack", fields[0], mirror.epoch, mirror.tick, mirror.edit)

    def _take_sought(self, fields):
        """What follows is of another time: frames that were not read are dropped. An end of playing drops none."""
        mirror = self.subscriptions.get(fields[1])
        if mirror is not None and fields[0] != 0:
            mirror.frames.clear()
        if mirror is not None:
            self.sought[fields[1]] = Sought.take(fields)

    def frames(self, count, sub=1, timeout=None):
        """Yields `count` frames as they arrive; ends early if no message arrives within `timeout` seconds."""
        mirror = self.subscriptions[sub]
        while count > 0:
            if mirror.frames:
                count -= 1
                yield mirror.frames.pop(0)
            elif self.client.take(timeout) is None:
                return


class _Mirror:
    """Bodies, joints and particles of one subscription, updated by SNAPSHOT, DELTA, ROWS and BLOCKS."""

    def __init__(self, fields, profile="plain", joint_columns=0, particle_columns=0):
        self.fields = fields
        self.profile = profile
        self.bodies = {}
        self.steps = {}  # id -> columns.Steps, in view and sim
        self.joints = joints.Joints(joint_columns, profile)
        self.particles = particles.Particles(particle_columns, profile)
        self.events = []
        self.frames = []
        self.skipped = self.lost = 0
        self.epoch = self.tick = self.edit = 0
        self.whole = False  # all parts of the last frame have arrived
        self.follow = 0  # of the flags ROWS and BLOCKS: what has not arrived yet
        self.event_count = 0
        self.focus = None  # the last FOCUS's fields

    def take(self, kind, fields):
        """Applies one message. True if it completes a frame, which must then be acknowledged."""
        if kind == "notice":
            self.skipped += fields[1]
            self.lost += fields[2]
            return False
        if kind == "events":
            _, _, tick, items = fields[:4]
            self.event_count += len(items)
            self.events += [(tick, EVENTS[item[0]], *item[1:]) for item in items]
            return False
        self.whole = False
        if kind == "rows":
            self.joints.take(fields)
            return self._end_part(fields, joints.ROWS)
        if kind == "blocks":
            self.particles.take(fields)
            return self._end_part(fields, particles.BLOCKS)
        if kind == "snapshot":
            _, self.epoch, tick, part, of, rows = fields[:6]
            flags = fields[7] if len(fields) > 7 else 0
            edit = fields[8] if len(fields) > 8 else 0
            absolute = True
            if part == 0:
                self.bodies, self.steps, self.joints.items = {}, {}, {}
                self.particles.clear()
        else:
            _, self.epoch, tick, _, part, of, _, removed, rows, _, flags = fields[:11]
            edit = fields[11] if len(fields) > 11 else 0
            absolute = bool(flags & columns.ABSOLUTE)
            for gone in removed if self.profile == "plain" else columns.read_ids(removed):
                del self.bodies[gone]
                self.steps.pop(gone, None)
        if self.profile == "plain":
            for row in rows:
                self.bodies[row[0]] = Body.from_row(row, self.fields)
        else:
            self.take_block(rows, absolute)
        self.follow = flags & (joints.ROWS | particles.BLOCKS)
        return self._complete(tick, edit) if part + 1 == of else False

    def _end_part(self, fields, flag):
        """Handles the end of a part of ROWS or BLOCKS."""
        _, _, tick, _, part, of = fields[:6]
        if part + 1 < of:
            return False
        self.follow &= ~flag
        return self._complete(tick, fields[10] if len(fields) > 10 else 0)

    def _complete(self, tick, edit):
        """A frame is complete when everything that it announced has arrived."""
        self.whole = self.follow == 0
        if not self.whole:
            return False
        self.tick, self.edit = tick, edit
        self.frames.append(Frame(self.epoch, tick, dict(self.bodies), self.events, edit, dict(self.joints.items), self.particles.items,
                                 dict(self.particles.systems)))
        self.events = []
        return True

    def take_block(self, data, absolute):
        """Applies the rows of a block. Raises columns.Malformed."""
        # Frames already returned must not change, so a changed body becomes a new object.
        changed = {}
        for body, name, value in columns.read_block(data, self.profile, self.fields, self.steps, absolute):
            if body not in changed:
                changed[body] = replace(self.bodies[body]) if body in self.bodies else Body(body)
            changed[body].set(name, value)
        self.bodies.update(changed)


def connect(address, role=None, name="cairn-python", timeout=None, caps=("ack", "durable"), token=None, tls=None,
            resumes=False):
    """Opens a session. `address`: unix:PATH, tcp:HOST:PORT, tls:HOST:PORT, ws://HOST:PORT or wss://HOST:PORT. `role`: a
    lower role than the connection would get. `timeout`: seconds to wait for an answer; None: waiting_time(). `token`: an access token, bytes or
    str. `tls`: an ssl.SSLContext, or the path of a PEM file with certificates to trust. `resumes`: after the connection is
    lost the server keeps the session for 30 s, for Client.resume(). Raises Refused ("auth", "forbidden", ...), Closed, OSError."""
    return Client(address, role, name, timeout, caps, token, tls, resumes)
