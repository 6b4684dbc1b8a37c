# The JavaScript client: nothing to build; its tests need Node and a daemon.
TESTS += clients/js/check
EXTRA_DIST += \
	clients/npm_stage \
	clients/js/README.md \
	clients/js/check \
	clients/js/examples/backend.mjs \
	clients/js/examples/player.mjs \
	clients/js/make_manifest.py \
	clients/js/package.json \
	clients/js/package-lock.json \
	clients/js/src/areas.d.ts \
	clients/js/src/areas.js \
	clients/js/src/client.js \
	clients/js/src/columns.js \
	clients/js/src/commands.js \
	clients/js/src/group.js \
	clients/js/src/hash.js \
	clients/js/src/index.d.ts \
	clients/js/src/index.js \
	clients/js/src/joints.js \
	clients/js/src/particles.js \
	clients/js/src/manifest.d.ts \
	clients/js/src/manifest.js \
	clients/js/src/mirror.js \
	clients/js/src/numbers.js \
	clients/js/src/queries.js \
	clients/js/src/shapes.d.ts \
	clients/js/src/shapes.js \
	clients/js/src/tcp.d.ts \
	clients/js/src/tcp.js \
	clients/js/src/websocket.js \
	clients/js/src/wire.js \
	clients/js/src/world.js \
	clients/js/test/client.test.js \
	clients/js/test/daemon.js \
	clients/js/test/extremes.test.js \
	clients/js/test/group.test.js \
	clients/js/test/joints.test.js \
	clients/js/test/particles.test.js \
	clients/js/test/numbers.test.js \
	clients/js/test/past.test.js \
	clients/js/test/queries.test.js \
	clients/js/test/resume.test.js \
	clients/js/test/streams.test.js \
	clients/js/test/types.test.js \
	clients/js/test/wire.test.js
