# The Python client: nothing to build; its tests need a daemon.
PYTHON_TESTS += \
	clients/python/tests/test_aio.py \
	clients/python/tests/test_client.py \
	clients/python/tests/test_commands.py \
	clients/python/tests/test_joints.py \
	clients/python/tests/test_manifest.py \
	clients/python/tests/test_package.py \
	clients/python/tests/test_streams.py
EXTRA_DIST += \
	clients/python/README.md \
	clients/python/make_manifest.py \
	clients/python/pyproject.toml \
	clients/python/cairn/__init__.py \
	clients/python/cairn/py.typed \
	clients/python/cairn/areas.py \
	clients/python/cairn/aio.py \
	clients/python/cairn/arrays.py \
	clients/python/cairn/client.py \
	clients/python/cairn/columns.py \
	clients/python/cairn/commands.py \
	clients/python/cairn/joints.py \
	clients/python/cairn/manifest.py \
	clients/python/cairn/server.py \
	clients/python/cairn/shapes.py \
	clients/python/cairn/testing.py \
	clients/python/cairn/view.py \
	clients/python/cairn/websocket.py \
	clients/python/cairn/wire.py \
	clients/python/tests/conftest.py
