# Programs that generate parts of docs/ from the lists of the source.
noinst_PROGRAMS += tests/tools/docs_tables tests/tools/scene_tables tests/tools/robot_tables
tests_tools_docs_tables_SOURCES = tests/tools/docs_tables.c tests/tools/say.h
tests_tools_scene_tables_SOURCES = tests/tools/scene_tables.c tests/tools/say.h
tests_tools_robot_tables_SOURCES = tests/tools/robot_tables.c tests/tools/say.h
TESTS += tests/tools/docs_current
EXTRA_DIST += tests/tools/docs_current docs/COMMANDS.md docs/FIELDS.md docs/DETERMINISM.md

.PHONY: docs-tables
docs-tables: tests/tools/docs_tables tests/tools/scene_tables tests/tools/robot_tables
	tests/tools/docs_tables commands >$(top_srcdir)/docs/COMMANDS.md
	tests/tools/docs_tables fields >$(top_srcdir)/docs/FIELDS.md
	tests/tools/scene_tables $(top_srcdir)/docs/SCENES.md >SCENES.md.new
	mv SCENES.md.new $(top_srcdir)/docs/SCENES.md
	tests/tools/robot_tables $(top_srcdir)/docs/ROBOTS.md >ROBOTS.md.new
	mv ROBOTS.md.new $(top_srcdir)/docs/ROBOTS.md

# The gallery: every scene must give the numbers that it states; draws the plots of docs/GALLERY.md.
.PHONY: gallery
gallery: cairnd
	@failed=0; scenes=0; for scene in $(top_srcdir)/clients/scenes/gallery/*.yaml; do \
		name=`basename $$scene .yaml`; scenes=$$((scenes + 1)); \
		./cairnd compare $$scene --plot $(top_srcdir)/docs/images/gallery/$$name.svg >gallery.txt \
			&& echo "ok $$name" || { cat gallery.txt; echo "not ok $$name"; failed=$$((failed + 1)); }; \
	done; rm -f gallery.txt; \
	test $$failed = 0 && echo "gallery: all bounds of $$scenes scenes hold" || \
		{ echo "gallery: $$failed of $$scenes scenes have a bound that does not hold"; exit 1; }

# The same towers under four methods: the table of docs/TOWERS.md, and its pictures.
.PHONY: compare-towers
compare-towers: cairn cairnd
	$(PYTHON) $(top_srcdir)/docs/images/compare_towers.py $(abs_top_builddir)

# make verify-recordings CAIRNDS="A/cairnd B/cairnd": recordings of the gallery and of the other scenes by builds of several
# compilers and levels, each verified by all; not part of check.
.PHONY: verify-recordings
VERIFY_TICKS = 120
verify-recordings: cairnd
	for folder in gallery .; do $(PYTHON) $(top_srcdir)/tests/tools/verify_recordings \
		$(top_srcdir)/clients/scenes/$$folder $(VERIFY_TICKS) ./cairnd $(CAIRNDS) || exit 1; done
EXTRA_DIST += tests/tools/verify_recordings

# make verify-aarch64: the same with a cairnd for aarch64 under qemu-user, which is some thirty times slower.
.PHONY: verify-aarch64
verify-aarch64: cairnd
	$(top_srcdir)/tests/tools/aarch64_build $(abs_top_srcdir) aarch64 cairnd -O2
	$(MAKE) verify-recordings CAIRNDS=aarch64/cairnd-O2 VERIFY_TICKS=15
EXTRA_DIST += tests/tools/aarch64_build

# Pictures of shapes: docs/images/draw_shapes.py draws the output of this program.
EXTRA_PROGRAMS += tests/tools/shape_dump
tests_tools_shape_dump_SOURCES = tests/tools/shape_dump.c
.PHONY: pictures
pictures: tests/tools/shape_dump
	SHAPE_DUMP=tests/tools/shape_dump $(PYTHON) $(top_srcdir)/docs/images/draw_shapes.py
