# The viewer: bundled on demand by Node.js (make viewer), served by cairnd, tested in headless Chromium.
VIEWER_FILES = \
	clients/web/build.mjs \
	clients/web/index.html \
	clients/web/package.json \
	clients/web/package-lock.json \
	clients/web/style.css \
	clients/web/src/banner.js \
	clients/web/src/contacts.js \
	clients/web/src/crowd.js \
	clients/web/src/fields.js \
	clients/web/src/focus.js \
	clients/web/src/geometry.js \
	clients/web/src/hand.js \
	clients/web/src/inspector.js \
	clients/web/src/joints.js \
	clients/web/src/link.js \
	clients/web/src/main.js \
	clients/web/src/method.js \
	clients/web/src/parameter.js \
	clients/web/src/physics.js \
	clients/web/src/playback.js \
	clients/web/src/stage.js \
	clients/web/src/statistics.js \
	clients/web/src/timeline.js
EXTRA_DIST += \
	$(VIEWER_FILES) \
	clients/web/README.md \
	clients/web/build \
	clients/web/check \
	clients/web/test/endurance.mjs \
	clients/web/test/joint_pictures \
	clients/web/test/mcap.test.js \
	clients/web/test/screenshot.mjs \
	clients/web/test/timeline.test.js \
	clients/web/test/viewer.test.js
TESTS += clients/web/check

.PHONY: viewer
viewer:
	$(top_srcdir)/clients/web/build $(abs_top_srcdir) $(abs_top_builddir)

# A picture of each scene with joints, in BUILD/pictures.
.PHONY: joint-pictures
joint-pictures: viewer cairnd
	cd npm/web && CAIRN_SRCDIR=$(abs_top_srcdir) CAIRN_BUILDDIR=$(abs_top_builddir) \
		./test/joint_pictures $(abs_top_builddir)/pictures

# The picture of force fields, docs/images/fields.jpg, in BUILD/pictures.
.PHONY: field-pictures
field-pictures: viewer cairnd
	mkdir -p pictures
	cd npm/web && CAIRN_SRCDIR=$(abs_top_srcdir) CAIRN_BUILDDIR=$(abs_top_builddir) \
		node test/screenshot.mjs $(abs_top_builddir)/pictures/fields.jpg fields 1 fields bare ticks=100 near=1.05 960x480

# Checks the decoding time of frames with 5000 moving bodies in headless Chromium, and that the heap does not grow; not part of
# check.
SOAK_VIEWER_MINUTES = 10
.PHONY: soak-viewer
soak-viewer: viewer cairnd
	cd npm/web && CAIRN_SRCDIR=$(abs_top_srcdir) CAIRN_BUILDDIR=$(abs_top_builddir) \
		node test/endurance.mjs $(SOAK_VIEWER_MINUTES)

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
