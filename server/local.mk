# server/*.c but main.c, and the rooms of the daemon below the sessions.
libcairnd_a_SOURCES += \
	server/options.def \
	server/options.h \
	server/options.c \
	server/options_check.h \
	server/options_check.c \
	server/server.h \
	server/server.c

UNIT_TESTS += \
	tests/unit/server/test_options

FUZZ_TARGETS += tests/fuzz/fuzz_config
tests_fuzz_fuzz_config_LDADD = $(LDADD_FUZZ)
EXTRA_DIST += tests/fuzz/corpus/config

include server/io/local.mk
include server/tick/local.mk
include server/host/local.mk
include server/session/local.mk
include server/past/local.mk
include server/sync/local.mk
include server/store/local.mk
include server/worlds/local.mk
include server/requests/local.mk
include server/web/local.mk
bin_PROGRAMS += cairnd
EXTRA_DIST += server/cairnd.service
cairnd_SOURCES = server/main.c
include server/commands/local.mk
cairnd_LDADD = $(DAEMON_LIBS)
