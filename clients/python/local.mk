# The Python client: nothing to build; its tests need a daemon.
PYTHON_TESTS += \
	clients/python/tests/test_aio.py \
	clients/python/tests/test_client.py \
	clients/python/tests/test_commands.py \
	clients/python/tests/test_extremes.py \
	clients/python/tests/test_gym.py \
	clients/python/tests/test_joints.py \
	clients/python/tests/test_manifest.py \
	clients/python/tests/test_package.py \
	clients/python/tests/test_particles.py \
	clients/python/tests/test_streams.py \
	clients/python/tests/test_vector.py
EXTRA_DIST += \
	clients/python/README.md \
	clients/manifests.py \
	clients/python/make_manifest.py \
	clients/python/pyproject.toml \
	clients/python/cairn/__init__.py \
	clients/python/cairn/py.typed \
	clients/python/cairn/areas.py \
	clients/python/cairn/aio.py \
	clients/python/cairn/arrays.py \
	clients/python/cairn/client.py \
	clients/python/cairn/queries.py \
	clients/python/cairn/robots.py \
	clients/python/cairn/recordings.py \
	clients/python/cairn/columns.py \
	clients/python/cairn/commands.py \
	clients/python/cairn/gym.py \
	clients/python/cairn/hashes.py \
	clients/python/cairn/joints.py \
	clients/python/cairn/manifest.py \
	clients/python/cairn/observe.py \
	clients/python/cairn/pack.py \
	clients/python/cairn/particles.py \
	clients/python/cairn/server.py \
	clients/python/cairn/shapes.py \
	clients/python/cairn/tasks.py \
	clients/python/cairn/testing.py \
	clients/python/cairn/vector.py \
	clients/python/cairn/view.py \
	clients/python/cairn/websocket.py \
	clients/python/cairn/wire.py \
	clients/python/tests/conftest.py \
	clients/python/tests/stand_in/gymnasium/__init__.py \
	clients/python/tests/stand_in/gymnasium/error.py \
	clients/python/tests/stand_in/gymnasium/spaces/__init__.py \
	clients/python/tests/stand_in/gymnasium/utils/__init__.py \
	clients/python/tests/stand_in/gymnasium/utils/seeding.py \
	clients/python/tests/stand_in/gymnasium/vector/__init__.py
