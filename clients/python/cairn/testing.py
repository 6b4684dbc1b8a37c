"""A private daemon for tests, removed at the end of the block.

    from cairn.testing import daemon
    with daemon() as server, server.connect() as client:
        ...
        frames = frames_to(world)  # of a subscription, up to the world's tick

With pytest, put `pytest_plugins = ["cairn.testing"]` into conftest.py. Fixtures: `cairn_client`, a client of a daemon of its
own for each test; `cairn_server`, one daemon (cairn.server.Daemon) for all tests of a module. When a test that uses one of
them fails, its report has what the daemon logged during the test.
"""
from .server import Daemon, daemon, find_program, start, stop  # noqa: F401

def frames_to(world, sub=1):
    """The frames of a subscription that have not been read, up to that of the world's tick."""
    frames = []
    for frame in world.frames(10000, sub):
        frames.append(frame)
        if (frame.epoch, frame.tick) == (world.epoch, world.tick):
            return frames
    raise AssertionError(f"no frame of tick {world.tick}")


try:
    import pytest
except ImportError:
    pass
else:
    @pytest.fixture
    def cairn_client(request):
        """A client of a private daemon."""
        with daemon() as server, server.connect() as client:
            request.node.cairn_servers = [(server, 0)]
            yield client

    @pytest.fixture(scope="module")
    def cairn_server(request):
        """A daemon for the tests of a module."""
        with daemon() as server:
            request.node.cairn_server = server
            yield server

    def pytest_runtest_setup(item):
        """Remembers how long the module's log is before the test."""
        module = item.getparent(pytest.Module)
        server = getattr(module, "cairn_server", None)
        item.cairn_servers = [(server, len(server.log))] if server else []

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(item, call):
        """Adds the daemons' logs to the report of a test that failed."""
        outcome = yield
        report = outcome.get_result()
        if call.when != "call" or not report.failed:
            return
        servers = getattr(item, "cairn_servers", [])
        module = getattr(item.getparent(pytest.Module), "cairn_server", None)
        if module is not None and all(server is not module for server, _ in servers):
            servers = [*servers, (module, 0)]
        for server, before in servers:
            report.sections.append(("cairnd", server.log[before:]))
