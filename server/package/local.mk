# What is installed beside the programs: manual pages and completions, made from the lists of the programs; files for
# pkg-config, CMake and systemd; scenes and documents. And how packages are made of it.
noinst_PROGRAMS += server/package/manual
server_package_manual_SOURCES = server/package/manual.c server/package/pages.c server/package/pages.h \
	clients/bot/options.c clients/cli/completion.c clients/cli/usage.c
server_package_manual_LDADD = $(CLIENT_LIBS)

MANUALS = package/man/cairn.1 package/man/cairn-bot.1 package/man/libcairn.3 package/man/cairnd.yaml.5 \
	package/man/cairn-scene.5 package/man/cairnd.8
man_MANS = $(MANUALS)
$(MANUALS): server/package/manual clients/c/cairn.h clients/c/cairn_manifest.h
	@$(MKDIR_P) package/man
	$(AM_V_GEN)page=$(@F); server/package/manual page "$${page%.*}" $(top_srcdir)/clients/c/cairn.h >$@.new && mv $@.new $@

COMPLETIONS = \
	package/bash/cairn package/bash/cairnd package/bash/cairn-bot \
	package/zsh/_cairn package/zsh/_cairnd package/zsh/_cairn-bot \
	package/fish/cairn.fish package/fish/cairnd.fish package/fish/cairn-bot.fish
$(COMPLETIONS): server/package/manual
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)program=$(@F); program=$${program#_}; \
		server/package/manual completion $(notdir $(@D)) "$${program%.fish}" >$@.new && mv $@.new $@
bashcompdir = $(datadir)/bash-completion/completions
zshcompdir = $(datadir)/zsh/vendor-completions
fishcompdir = $(datadir)/fish/vendor_completions.d
bashcomp_DATA = $(filter package/bash/%,$(COMPLETIONS))
zshcomp_DATA = $(filter package/zsh/%,$(COMPLETIONS))
fishcomp_DATA = $(filter package/fish/%,$(COMPLETIONS))

pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = server/package/cairn.pc
cmakedir = $(libdir)/cmake/cairn
cmake_DATA = server/package/cairn-config.cmake server/package/cairn-config-version.cmake

# The unit names the paths of this installation.
systemdsystemunitdir = $(prefix)/lib/systemd/system
systemdsystemunit_DATA = package/cairnd.service
package/cairnd.service: server/cairnd.service Makefile
	@$(MKDIR_P) package
	$(AM_V_GEN)sed -e 's|/usr/local/bin|$(bindir)|; s|/usr/local/share/doc/cairn|$(docdir)|; s|/etc/cairnd|$(sysconfdir)/cairnd|' \
		$(top_srcdir)/server/cairnd.service >$@

scenesdir = $(pkgdatadir)/scenes
galleryscenesdir = $(scenesdir)/gallery
dist_scenes_DATA = $(filter-out clients/scenes/gallery/% clients/scenes/robots/% clients/scenes/parts/%,$(SCENES))
partscenesdir = $(scenesdir)/parts
dist_partscenes_DATA = $(filter clients/scenes/parts/%,$(SCENES))
robotscenesdir = $(scenesdir)/robots
dist_robotscenes_DATA = $(filter clients/scenes/robots/%,$(SCENES))
dist_galleryscenes_DATA = $(filter clients/scenes/gallery/%,$(SCENES))
# Pages for users; those for developers stay in the source.
dist_doc_DATA = README.md docs/ARCHITECTURE.md docs/BENCHMARKS.md docs/CHANGELOG.md docs/COLLISION.md docs/COMMANDS.md \
	docs/DETERMINISM.md docs/FIELDS.md docs/FLUIDS.md docs/GALLERY.md docs/METHODS.md docs/MOVERS.md docs/OPERATIONS.md \
	docs/PARTICLES.md docs/PILES.md docs/PROTOCOL.md docs/RECORDING.md docs/ROBOTS.md docs/SCENES.md docs/SHAPES.md \
	docs/SOURCES.md docs/TOWERS.md
examplesdir = $(docdir)/examples
dist_examples_DATA = clients/c/examples/hello.c clients/c/examples/watch.cpp

CLEANFILES += $(MANUALS) $(COMPLETIONS) package/cairnd.service

# The Python and the JavaScript client need no build.
pythonclientdir = $(prefix)/lib/python3/dist-packages/cairn
jsclientdir = $(datadir)/nodejs/cairn-client
.PHONY: install-clients uninstall-clients
install-clients:
	$(MKDIR_P) '$(DESTDIR)$(pythonclientdir)' '$(DESTDIR)$(jsclientdir)/src'
	$(INSTALL_DATA) $(top_srcdir)/clients/python/cairn/*.py $(top_srcdir)/clients/python/cairn/py.typed \
		'$(DESTDIR)$(pythonclientdir)'
	$(INSTALL_DATA) $(top_srcdir)/clients/js/package.json $(top_srcdir)/clients/js/README.md '$(DESTDIR)$(jsclientdir)'
	$(INSTALL_DATA) $(top_srcdir)/clients/js/src/* '$(DESTDIR)$(jsclientdir)/src'
uninstall-clients:
	rm -rf '$(DESTDIR)$(pythonclientdir)' '$(DESTDIR)$(jsclientdir)'
install-data-local: install-clients
uninstall-local: uninstall-clients

# Debian packages in BUILD/deb, and a root file system with the daemon for containers in BUILD/container.
.PHONY: deb container
deb: dist
	$(top_srcdir)/server/package/make_deb $(abs_top_builddir) $(distdir)
container:
	$(top_srcdir)/server/package/make_container $(abs_top_builddir)
EXTRA_DIST += server/package/make_deb server/package/make_container server/package/oci_layout.py server/package/debian \
	server/package/CONTAINER.md

# All of it in fresh root file systems (tests/package/run).
.PHONY: check-package
check-package:
	$(top_srcdir)/tests/package/run $(abs_top_srcdir) $(abs_top_builddir)
EXTRA_DIST += tests/package/run
