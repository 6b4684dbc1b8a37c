# The viewer: bundled on demand by Node.js (make viewer), served by cairnd, tested in headless Chromium.
VIEWER_FILES = \
	clients/web/build.mjs \
	clients/web/index.html \
	clients/web/package.json \
	clients/web/package-lock.json \
	clients/web/player.html \
	clients/web/style.css \
	clients/web/src/address.js \
	clients/web/src/ball.js \
	clients/web/src/banner.js \
	clients/web/src/bodies.js \
	clients/web/src/capture.js \
	clients/web/src/contacts.js \
	clients/web/src/coordinates.js \
	clients/web/src/crowd.js \
	clients/web/src/drop.js \
	clients/web/src/edges.js \
	clients/web/src/eye.js \
	clients/web/src/fields.js \
	clients/web/src/film.js \
	clients/web/src/particles.js \
	clients/web/src/first_view.js \
	clients/web/src/focus.js \
	clients/web/src/fluid.js \
	clients/web/src/geometry.js \
	clients/web/src/hand.js \
	clients/web/src/inspector.js \
	clients/web/src/instances.js \
	clients/web/src/islands.js \
	clients/web/src/joints.js \
	clients/web/src/keys.js \
	clients/web/src/layers.js \
	clients/web/src/link.js \
	clients/web/src/looks.js \
	clients/web/src/main.js \
	clients/web/src/menu.js \
	clients/web/src/mesh_file.js \
	clients/web/src/method.js \
	clients/web/src/parameter.js \
	clients/web/src/particle_grip.js \
	clients/web/src/physics.js \
	clients/web/src/playback.js \
	clients/web/src/player.js \
	clients/web/src/plots.js \
	clients/web/src/posed.js \
	clients/web/src/pulse.js \
	clients/web/src/save.js \
	clients/web/src/scenes.js \
	clients/web/src/shade.js \
	clients/web/src/side.js \
	clients/web/src/pulls.js \
	clients/web/src/sinks.js \
	clients/web/src/stability.js \
	clients/web/src/stage.js \
	clients/web/src/statistics.js \
	clients/web/src/surface.js \
	clients/web/src/steering.js \
	clients/web/src/timeline.js \
	clients/web/src/weave.js \
	clients/web/src/view.js
# Each is a program of its own, because all together take minutes.
VIEWER_TESTS = \
	clients/web/test/axe.test.js \
	clients/web/test/coordinates.test.js \
	clients/web/test/drop.test.js \
	clients/web/test/faces.test.js \
	clients/web/test/film.test.js \
	clients/web/test/first_view.test.js \
	clients/web/test/fluid.test.js \
	clients/web/test/pulls.test.js \
	clients/web/test/sinks.test.js \
	clients/web/test/layers.test.js \
	clients/web/test/mcap.test.js \
	clients/web/test/particle_grip.test.js \
	clients/web/test/playback.test.js \
	clients/web/test/shade.test.js \
	clients/web/test/scenes.test.js \
	clients/web/test/stability.test.js \
	clients/web/test/steering.test.js \
	clients/web/test/timeline.test.js \
	clients/web/test/viewer.test.js \
	clients/web/test/weave.test.js
EXTRA_DIST += \
	$(VIEWER_FILES) \
	clients/web/README.md \
	clients/web/build \
	clients/web/check \
	clients/web/test/browser.js \
	clients/web/test/endurance.mjs \
	clients/web/test/figures.mjs \
	clients/web/test/doc_pictures \
	clients/web/test/scene_pictures.mjs \
	clients/web/test/screenshot.mjs \
	$(VIEWER_TESTS)
TESTS += $(VIEWER_TESTS)

.PHONY: viewer
viewer:
	$(top_srcdir)/clients/web/build $(abs_top_srcdir) $(abs_top_builddir)

# The pictures of README and docs/images, in BUILD/pictures; PICTURES names some of them (joints/crane.jpg).
.PHONY: doc-pictures
doc-pictures: viewer cairnd
	cd npm/web && CAIRN_SRCDIR=$(abs_top_srcdir) CAIRN_BUILDDIR=$(abs_top_builddir) \
		./test/doc_pictures $(abs_top_builddir)/pictures $(PICTURES)

# A picture of every shipped scene at its first view, and docs/PICTURES.md, which shows them, in BUILD/pictures/scenes.
.PHONY: scene-pictures
scene-pictures: viewer cairnd
	cd npm/web && CAIRN_SRCDIR=$(abs_top_srcdir) CAIRN_BUILDDIR=$(abs_top_builddir) \
		node test/scene_pictures.mjs $(abs_top_builddir)/pictures/scenes

# Checks the decoding time of frames with 5000 moving bodies in headless Chromium, and that the heap does not grow; not part of
# check.
SOAK_VIEWER_MINUTES = 30
.PHONY: soak-viewer
soak-viewer: viewer cairnd
	cd npm/web && CAIRN_SRCDIR=$(abs_top_srcdir) CAIRN_BUILDDIR=$(abs_top_builddir) \
		node test/endurance.mjs $(SOAK_VIEWER_MINUTES)

# What the page costs: its size, draw calls and bytes of a picture of 10 000 bodies, time of 5000, an idle page; not part of check.
.PHONY: viewer-figures
viewer-figures: viewer cairnd
	cd npm/web && CAIRN_SRCDIR=$(abs_top_srcdir) CAIRN_BUILDDIR=$(abs_top_builddir) node test/figures.mjs

# The viewer is installed if it has been built.
install-data-hook:
	if test -f npm/web/dist/viewer.js; then \
		$(MKDIR_P) "$(DESTDIR)$(pkgdatadir)/web" && \
		$(INSTALL_DATA) npm/web/dist/* "$(DESTDIR)$(pkgdatadir)/web"; \
	fi
uninstall-hook:
	rm -rf "$(DESTDIR)$(pkgdatadir)/web"
distclean-local:
	rm -rf npm
