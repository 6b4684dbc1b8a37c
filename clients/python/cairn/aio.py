"""Cairn for asyncio: the client of client.py, with coroutines for all calls that wait.

    import asyncio
    from cairn import aio

    async def main():
        async with aio.connect("tcp:127.0.0.1:7411") as client:
            world = await client.join("tower")
            await world.subscribe(profile="view")
            async for frame in world.frames(60):
                print(frame.tick, len(frame.bodies))

    asyncio.run(main())

One task reads the connection. A message that answers no request goes to the worlds, as in the synchronous client. Addresses
are unix:PATH, tcp:HOST:PORT and tls:HOST:PORT. Several tasks may use one client. Methods that only send (World.send,
World.focus) are not coroutines.

When the connection is lost, everything that waits raises Closed. With resumes=True one task then resumes the session, whose
mirrors, batch numbers and owned bodies continue:

    async with aio.connect(address, resumes=True) as client:
        ...
        while True:
            try:
                async for frame in world.frames(1000):
                    show(frame)
            except aio.Closed:
                await asyncio.sleep(client.retry)
                await client.resume()
"""
import asyncio
import contextlib
import hashlib
import ssl
import struct

import msgpack

from . import shapes as shape_bytes
from .client import MODES, PART, STATE, WANT_EXACT, Refused, Result, Session, Sought, State
from .client import World as _World
from .client import _hash, load_scene, moments, note_world, open_fields, past_fields, restore_fields, seek_fields
from .joints import of_list
from .manifest import MESSAGE, QUERY
from .pack import check_query, command, finite, given_command, world_options
from .queries import PAGE, PARTICLES_PAGE, particles_of, visuals_of
from .recordings import AsyncWorldRecordings
from .wire import FRAME_MAX, NAMES, Closed, frame_of, host_and_port

__all__ = ["Client", "Closed", "Refused", "World", "connect"]


async def _open(address, tls):
    if address.startswith("unix:"):
        return await asyncio.open_unix_connection(address[5:])
    scheme, _, rest = address.partition(":")
    if scheme not in ("tcp", "tls"):
        scheme, rest = "tcp", address
    host, port = host_and_port(rest)
    context = None
    if scheme == "tls":
        context = tls if isinstance(tls, ssl.SSLContext) else ssl.create_default_context(cafile=tls)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
    return await asyncio.open_connection(host, port, ssl=context)


class connect:
    """`async with connect(address) as client`, or `client = await connect(address)` and client.close() later. Options as of
    cairn.connect."""

    def __init__(self, address, role=None, name="cairn-python", timeout=None, caps=("ack", "durable", "exact"), token=None,
                 tls=None, resumes=False):
        self.client = Client(address, role, name, timeout, caps, token, tls, resumes)

    def __await__(self):
        return self.client._start().__await__()

    async def __aenter__(self):
        return await self

    async def __aexit__(self, *_):
        await self.client.close()


def _refusal(fields):
    return Refused(fields[1], fields[2], fields[5] if len(fields) > 5 else "", fields[4] if len(fields) > 4 else -1)


class Client(Session):
    """One connection. Made by connect."""

    def __init__(self, *options):
        super().__init__(*options)
        self.error = Closed("not connected yet")  # None: messages may be sent
        self.wire = self  # the synchronous World sends through client.wire
        self.vectors = {}  # number of a world -> the AsyncVector that awaits its outcome
        self._waiting = []  # (kinds, matches, number of the request's message, its ref or None, future)
        self._task = self._writer = None

    async def _start(self):
        await self._greet(self.address, self._first_hello())
        return self

    async def _greet(self, address, hello):
        """Connects and sends HELLO. Until WELCOME arrives (_take) no other message is sent."""
        try:
            self._reader, self._writer = await asyncio.wait_for(_open(address, self.tls), self.timeout)
            self._task = asyncio.create_task(self._read())
            await self._answer(["welcome"], lambda _: True, "hello", None, lambda: self._write("hello", hello))
        except BaseException:
            await self._drop(Closed("the connection could not be made"))
            raise

    async def close(self):
        """Closes the connection. A resumable session ends too, because GOODBYE is sent first."""
        if self.error is None and self.welcome.get("resume_token"):
            self._write("goodbye", 0)
        await self._drop(Closed("this client has closed the connection"))

    async def _drop(self, error):
        """Closes the transport; everything that waits raises `error`."""
        if self._task is not None:
            self._task.cancel()
        self._end(error)
        if self._writer is None:
            return
        self._writer.close()
        try:
            await self._writer.wait_closed()
        except (ConnectionError, ssl.SSLError):
            pass  # the connection had ended already

    async def resume(self):
        """As cairn.Client.resume: resumes the session after Closed (wait `retry` seconds first), at the redirect of the last
        GOODBYE, else at the old address. Raises Refused ("expired") if the session has expired."""
        hello = self._resume_hello()
        await self._drop(Closed("the connection is replaced by a new one"))
        await self._greet(self.redirect or self.address, hello)

    # ---- messages --------------------------------------------------------------------------------

    def _write(self, name, *fields):
        most = 0 if name == "hello" else self.welcome.get("limits", {}).get("frame_up", 0)
        self._writer.write(frame_of(name, fields, most))

    def send(self, name, *fields):
        """Queues a message; the event loop sends it."""
        if self.error is not None:
            raise self.error
        self._write(name, *fields)

    async def _drain(self):
        """Waits until the send buffer has drained. An end of the connection is reported by the reading task."""
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            await self._writer.drain()

    async def _answer(self, kinds, matches, name, ref, send):
        """Calls send(), then waits for the first message of one of `kinds` for which matches(fields) is true. Raises Refused
        for the ERROR about message `name` with `ref`."""
        future = asyncio.get_running_loop().create_future()
        entry = (kinds, matches, MESSAGE[name], ref, future)
        self._waiting.append(entry)
        try:
            send()
            await self._drain()
            return await asyncio.wait_for(future, self.timeout)
        except asyncio.TimeoutError:
            raise Closed(f"no answer within {self.timeout:g} s") from None
        finally:
            if entry in self._waiting:
                self._waiting.remove(entry)
            if future.done() and not future.cancelled():
                future.exception()  # if sending failed first, its error is raised; mark this one as retrieved

    async def _request(self, kinds, matches, ref, name, *fields):
        return await self._answer(kinds, matches, name, ref, lambda: self.send(name, *fields))

    async def ask(self, answer, name, *fields):
        """Sends a request whose first field is a new ref and returns the fields of its answer. Raises Refused, Closed."""
        ref = self.next_ref()
        return await self._request([answer], lambda f: f[0] == ref, ref, name, ref, *fields)

    async def _read(self):
        try:
            while True:
                head = await self._reader.readexactly(5)
                length = struct.unpack_from(">I", head, 1)[0]
                if head[0] != 0xC6 or length > FRAME_MAX:
                    raise Closed("a frame does not begin with byte 0xc6; the peer does not speak this protocol")
                message = msgpack.unpackb(await self._reader.readexactly(length), raw=False, strict_map_key=False)
                self._take(NAMES.get(message[0], ""), message[1:])
        except asyncio.IncompleteReadError:
            self._end(Closed("the server closed the connection"))
        except (ConnectionError, ssl.SSLError) as error:
            self._end(error if isinstance(error, Closed) else Closed(str(error)))

    def _deliver(self, kind, fields):
        """Passes a message to the task that waits for it, if any."""
        for entry in self._waiting:
            kinds, matches, number, ref, future = entry
            refused = kind == "error" and (ref is None or (fields[0] == ref and fields[3] == number))
            if future.done() or not (refused or (kind in kinds and matches(fields))):
                continue
            self._waiting.remove(entry)
            if refused:
                future.set_exception(_refusal(fields))
            else:
                future.set_result(fields)
            return

    def _take(self, kind, fields):
        if kind == "welcome":
            self._take_welcome(fields[0])
        self._deliver(kind, fields)
        if kind == "ping":
            self._write("pong", fields[0])
        elif kind == "goodbye":
            raise self._goodbye(fields)
        elif kind in STATE:
            for world in self.worlds.values():
                world.take_state(kind, fields)
        elif kind == "result" and fields[0] in self.worlds:
            self.worlds[fields[0]].take_results(fields[1])
        elif kind == "stepped_worlds":
            for vector in {self.vectors[item[0]] for item in fields[1] if item[0] in self.vectors}:
                vector.take(fields)
        elif kind == "error" and fields[3] == MESSAGE["step_worlds"]:
            for vector in set(self.vectors.values()):
                vector.refuse(fields[0], _refusal(fields))
        elif kind == "error" and fields[3] == MESSAGE["commands"]:
            for world in self.worlds.values():
                world.take_refusal(fields[0], _refusal(fields))
        elif kind == "durable" and fields[0] in self.worlds:
            self.worlds[fields[0]].take_durable(*fields[1:4])
        elif kind == "world_info" and fields[1] in self.worlds:
            self.worlds[fields[1]].take_info(fields)

    def _take_welcome(self, welcome):
        """Handles WELCOME before later messages of the session, and before any other task can send."""
        resumed = bool(self.welcome)
        self._welcomed(welcome)
        self.error = None
        for world in self.worlds.values():
            world.end(None)
        for message in self._pending_messages() if resumed else ():
            self._write(*message)

    def _end(self, error):
        if self.error is None:
            self.error = error
        for *_, future in self._waiting:
            if not future.done():
                future.set_exception(error)
        for vector in set(self.vectors.values()):
            vector.refuse(None, self.error)
        for world in self.worlds.values():
            world.end(self.error)

    # ---- worlds ----------------------------------------------------------------------------------

    async def list(self):
        """[(number, name, mode, tick), …]"""
        ref, found = self.next_ref(), []

        def is_last(info):
            if info[0] != ref:
                return False
            found.append(info)
            return info[1] == 0 or info[10] + 1 >= info[11]
        await self._request(["world_info"], is_last, ref, "world_list", ref)
        return [(info[1], info[9], MODES[info[6]], info[3]) for info in found if info[1] != 0]

    async def create(self, name, **options):
        """Creates a world, paused unless running=True, and joins it. Options as of cairn.Client.create."""
        await self.ask("world_info", "world_create", name, world_options(options))
        return await self.join(name)

    async def join(self, name):
        info = await self.ask("world_info", "world_join", 0, name)
        if info[1] not in self.worlds:
            self.worlds[info[1]] = World(self, info[1], name)
        self.worlds[info[1]].take_info(info)
        return self.worlds[info[1]]

    async def scenes(self):
        """As cairn.Client.scenes."""
        found = []
        while True:
            page = (await self.ask("reply", "scene_list", found[-1][0] if found else ""))[1]
            if not page:
                return found
            found += [tuple(entry) for entry in page]

    async def open_scene(self, scene, name=None, variables=None, running=True, text=b"", base=None, balance=False,
                   joint_link_share=None):
        """As cairn.Client.open_scene."""
        name = name or scene.rsplit("/", 1)[-1].rsplit(".", 1)[0]
        info = await self.ask("world_info", "scene_open", *open_fields(name, scene, variables, running, text, base, balance,
                                                                  joint_link_share))
        return note_world(await self.join(name), info)

    async def load(self, scene, name=None, base=None, balance=False, variables=None, joint_link_share=None):
        """As cairn.Client.load."""
        return await self.join(await asyncio.to_thread(load_scene, self, scene, name, base, balance,
                                                 variables, joint_link_share))

    def vector(self, worlds, actions=(), observe=(), ticks=1, batch=None, hashes=False, anyway=False):
        """As cairn.Client.vector, with coroutines for the methods that wait (vector.AsyncVector). Needs NumPy."""
        from .vector import AsyncVector
        return AsyncVector(self, worlds, actions, observe, ticks, batch, hashes, anyway)

    async def info(self, what=""):
        return (await self.ask("reply", "info", what))[1]


class World(AsyncWorldRecordings, _World):
    """A world this client has joined; as cairn.World, with coroutines for the methods that wait."""

    def __init__(self, client, number, name):
        super().__init__(client, number, name)
        self._news = asyncio.Event()  # set, and replaced by a new one, with every frame and result
        self._ended = None
        self._refusals = {}  # batch -> Refused, of batches that result() waits for

    def _wake(self):
        """Wakes all tasks in _wait."""
        self._news.set()
        self._news = asyncio.Event()

    def end(self, error):
        """Wakes all waiting tasks with the error of the connection; None: it is open again."""
        self._ended = error
        self._wake()

    async def _wait(self, timeout):
        if self._ended is not None:
            raise self._ended
        await asyncio.wait_for(self._news.wait(), timeout)
        if self._ended is not None:
            raise self._ended

    # ---- pace and input --------------------------------------------------------------------------

    async def control(self, action, value=1.0):
        self.take_info(await self.client.ask("world_info", "control", self.number, action, finite("value", value)))

    async def colours(self):
        """{id: 0xRRGGBB} of the bodies that have a colour."""
        found, first = {}, 0
        while True:
            runs = (await self.client.ask("reply", "looks", self.number, first))[1]
            for body, count, colour in runs:
                found.update(dict.fromkeys(range(body, body + count), colour))
            if len(runs) < PAGE:
                return found
            first = runs[-1][0] + runs[-1][1]

    async def visuals(self):
        """What pictures show of bodies in place of their shapes, as World.visuals of cairn.client."""
        return visuals_of(await self._looks(1))

    async def names(self):
        """{id: name} of the bodies that have one, as World.names of cairn.client."""
        return dict(await self._looks(2))

    async def joint_names(self):
        """{id: name} of the joints that have one, as World.joint_names of cairn.client."""
        return dict(await self._looks(3))

    async def _looks(self, what):
        found, first = [], 0
        while True:
            page = (await self.client.ask("reply", "looks", self.number, first, what))[1]
            found += page
            if not page:
                return found
            first = page[-1][0] + 1

    async def pause(self):
        await self.control(0)

    async def resume(self):
        await self.control(1)

    async def speed(self, factor):
        await self.control(2, factor)

    async def lockstep(self):
        await self.control(3)

    async def barrier(self, sessions):
        await self.control(4, sessions)

    async def shape(self, data=None, **kind):
        """The id of a shape in this world: shape(sphere=0.5), shape(box=(1, 2, 3)), or canonical bytes. Uploads the shape
        once; a player may only name shapes that the world has."""
        if data is None:
            data = shape_bytes.of_kind(**kind)
        name = hashlib.sha256(data).digest()
        if name not in self.shape_ids:
            if self.client.role != "player":
                await self.upload(name, data)
            self.shape_ids[name] = (await self.apply(command("shape_use", name))).values[0]
        return self.shape_ids[name]

    async def upload(self, name, data):
        ref, of = self.client.next_ref(), max(1, -(-len(data) // PART))
        part = lambda i: (ref, self.number, name, i, of, data[i * PART:(i + 1) * PART])
        for i in range(of - 1):
            self.client.send("shape_upload", *part(i))
            await self.client._drain()
        return await self.client._request(["shape_info"], lambda f: f[0] == ref, ref, "shape_upload", *part(of - 1))

    def take_results(self, items):
        super().take_results(items)
        self._wake()

    def take_refusal(self, batch, refused):
        if batch in self._refusals:
            self._refusals[batch] = refused
            self.unused(batch)
            self._wake()

    def take_durable(self, epoch, tick, edit=0):
        self.durable = (epoch, tick, edit)
        self._wake()

    async def result(self, batch):
        """Waits for the result of a batch of send(). Raises Refused."""
        self._refusals[batch] = None
        try:
            while batch not in self.results:
                await self._wait(self.client.timeout)
                if self._refusals[batch] is not None:
                    raise self._refusals[batch]
        finally:
            del self._refusals[batch]
        return Result.take(self.results.pop(batch))

    async def apply(self, *commands):
        """Sends a batch and waits for its Result; in a world that is not running it is applied without a tick. Raises
        Refused."""
        if self.mode != "running":
            stepped = await self.step(0, commands=commands, want=0)
            return Result(0, stepped.tick, stepped.values, stepped.edit)
        return await self.result(self.send(*commands))

    async def _command(self, name, /, **fields):
        return (await self.apply(given_command(name, fields))).values[0] or None

    # ---- harness ---------------------------------------------------------------------------------

    async def step(self, n=1, commands=(), bodies=False, totals=False, from_tick=None, want=None, joints=False,
                   arrays=False, restore="", save=""):
        """Applies commands, then n ticks, as cairn.World.step."""
        self.request += 1
        request = self.request
        if want is None:
            want = self._want(bodies, totals, joints, arrays)
        return self._stepped(await self.client._request(
            ["stepped"], lambda f: f[0] == self.number and f[1] == request, request,
            "step", self.number, request, from_tick, n, list(commands), want, *moments(restore, save)))

    async def state(self):
        """All bodies as NumPy arrays, as cairn.World.state."""
        return (await self.step(0, want=WANT_EXACT)).arrays

    async def destroy(self):
        """Ends the world and removes its file; for an administrator. Raises Refused ("forbidden")."""
        await self.client.ask("reply", "world_destroy", self.number)
        self.client.worlds.pop(self.number, None)

    async def save(self, name, rollback=False):
        """Saves the state, as cairn.World.save."""
        fields = await self.client.ask("saved", "save", self.number, name, *((1,) if rollback else ()))
        return State(fields[1], fields[2], _hash(fields[3]), edit=fields[4] if len(fields) > 4 else 0)

    async def restore(self, name="", tick=None, epoch=0, rollback=False):
        """Restores a saved state or a tick of the past, as cairn.World.restore."""
        fields = await self.client.ask("restored", "restore", self.number, name, *restore_fields(tick, epoch, rollback))
        self.epoch, self.tick = fields[1], fields[2]
        return State(fields[1], fields[2], _hash(fields[3]), other_bits=len(fields) > 4 and bool(fields[4]),
                     edit=fields[5] if len(fields) > 5 else 0)

    async def restart(self):
        """Returns to the state before the world's first tick; a new epoch begins."""
        return await self.restore("start")

    async def step_back(self, ticks=1):
        """Returns a world that does not run to the state `ticks` ticks ago, to tick 0 if there were fewer. Raises Refused ("range")."""
        return await self.restore(tick=max(self.tick - ticks, 0))

    async def fork(self, name, snapshot="", tick=None, epoch=0, recording=""):
        """Copies the present state (or the saved state `snapshot`, or that of a `tick` of the past, or of a recording) into a new,
        paused world `name`; returns it joined."""
        await self.client.ask("forked", "fork", self.number, name, snapshot, *past_fields(tick, epoch, recording))
        return await self.client.join(name)

    async def seek(self, tick=None, sub=1, speed=0.0, epoch=0, recording=""):
        fields = await self.client.ask("sought", "seek", *seek_fields(sub, tick, speed, epoch, recording))
        return Sought.take(fields)

    async def wait_durable(self, tick, timeout=None, edit=0):
        """Waits until everything up to (`tick`, `edit`) of the present epoch is on the server's disk. Raises TimeoutError
        after `timeout` seconds (default: the client's timeout)."""
        seconds = self.client.timeout if timeout is None else timeout

        async def reached():
            while self.durable is None or self.durable < (self.epoch, tick, edit):
                await self._wait(seconds)
        await asyncio.wait_for(reached(), seconds)

    async def query(self, *query):
        return (await self.client.ask("answer", "query", self.number, list(check_query(query))))[2]

    async def geometry(self, name):
        """The canonical bytes of a shape (its 32-byte name) that this world may use."""
        data, part, of = b"", 0, 1
        while part < of:
            _, of, more = await self.query(6, name, part)
            data, part = data + more, part + 1
        return data

    async def joints(self, body=0):
        """The joints of a body, or (0) all joints, as cairn.World.joints."""
        return [of_list(item) for item in await self._pages("joints", body, lambda item: item[0])]

    async def linked(self, body):
        """Ids of all bodies connected to `body` by joints, `body` included."""
        return await self._pages("linked", body, lambda item: item)

    async def particles(self, system):
        """The particles of a system, as cairn.World.particles."""
        found, page = [], None
        while page is None or len(page) == PARTICLES_PAGE:
            after = found[-1][0] if found else 0
            page = particles_of(await self.query(QUERY["particles"], system, after, PARTICLES_PAGE, 0))
            found += page
        return found

    async def _pages(self, name, body, id_of):
        found, first = [], 0
        while True:
            items = await self.query(QUERY[name], body, PAGE, first)
            found += items
            if len(items) < PAGE:
                return found
            first = id_of(items[-1]) + 1

    # ---- watching --------------------------------------------------------------------------------

    async def subscribe(self, sub=1, fields=31, divisor=1, events=0, profile="plain", hash_every=1, areas=(),
                        follow=(), budget=0, joints=0, particles=0, sample=1):
        """Subscribes as cairn.World.subscribe and waits for the first frame; frames() then yields the frames."""
        message = self._subscription(sub, fields, divisor, events, profile, hash_every, areas, follow, budget,
                                     joints, particles, sample)
        try:
            await self.client._request(["snapshot", "delta"], lambda f: f[0] == sub, sub, "subscribe", *message)
            while not self.subscriptions[sub].frames:
                await self._wait(self.client.timeout)
        except BaseException:
            self.subscriptions.pop(sub, None)
            raise

    async def unsubscribe(self, sub=1):
        try:
            await self.client._request(["reply"], lambda f: f[0] == sub, sub, "unsubscribe", sub)
        finally:
            self.subscriptions.pop(sub, None)

    def take_state(self, kind, fields):
        super().take_state(kind, fields)
        self._wake()

    async def frames(self, count, sub=1, timeout=None):
        """Yields `count` frames as they arrive; ends early if none arrives within `timeout` seconds (default: the client's
        timeout)."""
        mirror = self.subscriptions[sub]
        while count > 0:
            if mirror.frames:
                count -= 1
                yield mirror.frames.pop(0)
                continue
            try:
                await self._wait(self.client.timeout if timeout is None else timeout)
            except asyncio.TimeoutError:
                return


class _QueryNeeded(Exception):
    """Raised by _AnswerStub for a query whose answer it does not have."""

    def __init__(self, query):
        super().__init__()
        self.query = query


class _AnswerStub(_World):
    """A stand-in for a world that returns one given answer, or raises _QueryNeeded with the query if it has none."""

    def __init__(self, answer):
        self.answer = answer

    def query(self, *query):
        if self.answer is None:
            raise _QueryNeeded(query)
        return self.answer[0]


def _query_coroutine(method):
    """A coroutine for a query method of the synchronous World, with the same request and the same decoding."""
    async def ask(self, *arguments, **named):
        try:
            return method(_AnswerStub(None), *arguments, **named)
        except _QueryNeeded as needed:
            answer = await self.query(*needed.query)
        return method(_AnswerStub([answer]), *arguments, **named)
    ask.__name__, ask.__doc__ = method.__name__, method.__doc__
    return ask


for _name in ("ray", "overlap", "contacts", "totals", "body", "cast", "closest", "mass", "move", "regions",
              "methods", "parameters", "joint", "forces", "fields", "field_force", "past", "when", "difference", "sensed", "pieces", "carriers", "stability",
              "robot", "inertia", "jacobian", "forward_dynamics", "inverse_dynamics"):
    setattr(World, _name, _query_coroutine(getattr(_World, _name)))
