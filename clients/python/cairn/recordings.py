"""Recordings of a world: methods of World (docs/RECORDING.md, "Recordings"). A recording is a file on the server like a world's own."""
from dataclasses import dataclass

from .manifest import QUERY

PART = 57344  # bytes of a file in one message
ACTIONS = ("start", "stop", "save", "remove", "read", "write")


@dataclass
class Recorded:
    """A recording that was started, stopped, saved or sent: its first and last (epoch, tick), and the bytes of its file."""
    name: str
    first: tuple
    last: tuple
    bytes: int

    @classmethod
    def take(cls, fields):
        _, name, first_epoch, first, last_epoch, last, size = fields[:7]
        return cls(name, (first_epoch, first), (last_epoch, last), size)


@dataclass
class Recording:
    """An item of World.recordings(). `since`: begun or written then, UTC. One that cannot be read has the reason as its title."""
    name: str
    title: str
    since: str
    bytes: int
    first: tuple
    last: tuple
    running: bool

    @classmethod
    def take(cls, item):
        name, title, since, size, first, last, running = item
        return cls(name, title, since, size, tuple(first), tuple(last), bool(running))


def record_fields(world, action, name, title="", tick=None, epoch=0, seconds=0, size=0, offset=0, data=b""):
    """RECORD after its ref."""
    return world, ACTIONS.index(action), name, title, tick, epoch, seconds, size, offset, data


def parts_of(data):
    """(offset, part) of each message that sends a file; the last part is empty."""
    return [(offset, data[offset:offset + PART]) for offset in [*range(0, len(data), PART), len(data)]]


class WorldRecordings:
    """Methods of the synchronous client's World."""

    def _record(self, action, name, **fields):
        return self.client.ask("recorded", "record", *record_fields(self.number, action, name, **fields))

    def record(self, name, title="", seconds=0, size=0):
        """Starts a recording of the world, a file on the server that stop_recording() writes. `seconds`: only the last so many of
        world time are kept (a ring). `size` (bytes): the oldest part is dropped while the world's file is larger; 0: the
        server's limit. It goes on after a restart of the server. Returns a Recorded. Raises Refused ("exists", "range",
        "unsupported")."""
        return Recorded.take(self._record("start", name, title=title, seconds=seconds, size=size))

    def stop_recording(self, name=""):
        """Ends the running recording and writes its file, under another name if one is given. Returns a Recorded. Raises Refused
        ("missing", "exists", "full"); after "exists" and "full" it goes on."""
        return Recorded.take(self._record("stop", name))

    def save_recording(self, name, title="", tick=None, epoch=0):
        """Writes the past, from the last stored state at or before `tick` on (None: all of it), as a recording."""
        return Recorded.take(self._record("save", name, title=title, tick=tick, epoch=epoch))

    def recordings(self, limit=256):
        """The recordings of the world as a list of Recording, the running one first."""
        return [Recording.take(item) for item in self.query(QUERY["recordings"], limit)]

    def remove_recording(self, name):
        """Removes a recording's file. Raises Refused ("missing")."""
        self._record("remove", name)

    def read_recording(self, name):
        """The bytes of a recording's file, which `cairn replay`, `export` and a data directory take like a world's file."""
        data = b""
        while part := self._record("read", name, offset=len(data))[7]:
            data += part
        return data

    def write_recording(self, name, data):
        """Sends the bytes of a recording's file to the server as a recording of this world. Returns a Recorded. Raises Refused
        ("exists", "corrupt", "version", "full")."""
        for offset, part in parts_of(data):
            fields = self._record("write", name, offset=offset, data=part)
        return Recorded.take(fields)


class AsyncWorldRecordings:
    """The same as coroutines, for the asyncio client."""

    async def _record(self, action, name, **fields):
        return await self.client.ask("recorded", "record", *record_fields(self.number, action, name, **fields))

    async def record(self, name, title="", seconds=0, size=0):
        return Recorded.take(await self._record("start", name, title=title, seconds=seconds, size=size))

    async def stop_recording(self, name=""):
        return Recorded.take(await self._record("stop", name))

    async def save_recording(self, name, title="", tick=None, epoch=0):
        return Recorded.take(await self._record("save", name, title=title, tick=tick, epoch=epoch))

    async def recordings(self, limit=256):
        return [Recording.take(item) for item in await self.query(QUERY["recordings"], limit)]

    async def remove_recording(self, name):
        await self._record("remove", name)

    async def read_recording(self, name):
        data = b""
        while part := (await self._record("read", name, offset=len(data)))[7]:
            data += part
        return data

    async def write_recording(self, name, data):
        for offset, part in parts_of(data):
            fields = await self._record("write", name, offset=offset, data=part)
        return Recorded.take(fields)
