libcairnd_a_SOURCES += \
	server/session/crowd.c \
	server/session/crowd.h \
	server/session/dispatch.c \
	server/session/handlers_admin.c \
	server/session/handlers_input.c \
	server/session/handlers_operations.c \
	server/session/handlers_shape.c \
	server/session/handlers_state.c \
	server/session/handlers_world.c \
	server/session/keyring.c \
	server/session/keyring.h \
	server/session/nonces.c \
	server/session/nonces.h \
	server/session/ledger.c \
	server/session/ledger.h \
	server/session/proxy.c \
	server/session/proxy.h \
	server/session/quota.c \
	server/session/quota.h \
	server/session/quota.def \
	server/session/reading.c \
	server/session/reading.h \
	server/session/registry.c \
	server/session/registry.h \
	server/session/resume.c \
	server/session/resume.h \
	server/session/session.c \
	server/session/session.h

UNIT_TESTS += \
	tests/unit/server/session/test_crowd \
	tests/unit/server/session/test_keyring \
	tests/unit/server/session/test_ledger \
	tests/unit/server/session/test_proxy \
	tests/unit/server/session/test_quota \
	tests/unit/server/session/test_registry

FUZZ_TARGETS += tests/fuzz/fuzz_proxy
tests_fuzz_fuzz_proxy_LDADD = $(LDADD_FUZZ)
EXTRA_DIST += tests/fuzz/corpus/proxy
