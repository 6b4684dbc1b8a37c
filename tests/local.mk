# tests/local.mk: the common test library and how each kind of test is run.
#
# A unit test is one program of one source, tests/unit/<path>/test_<noun>.c. The room adds it with
#   UNIT_TESTS += tests/unit/<path>/test_<noun>
# in its own local.mk. It prints TAP and links every archive. Helpers used by several tests go into
# tests/lib:
#   tests_lib_libtests_a_SOURCES += tests/lib/near.h tests/lib/near.c
check_LIBRARIES = tests/lib/libtests.a
tests_lib_libtests_a_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS) $(UV_CFLAGS) $(MSGPACK_CFLAGS) \
	$(SQLITE_CFLAGS) $(ZSTD_CFLAGS)
tests_lib_libtests_a_SOURCES = tests/lib/check_main.h tests/lib/check_main.c

check_PROGRAMS += $(UNIT_TESTS)
TESTS += $(UNIT_TESTS)

LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
# Tests find their data here; they write only into the build directory.
AM_TESTS_ENVIRONMENT = CAIRN_SRCDIR='$(abs_top_srcdir)'; export CAIRN_SRCDIR; \
	CAIRN_BUILDDIR='$(abs_top_builddir)'; export CAIRN_BUILDDIR;
