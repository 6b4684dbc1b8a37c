libcairnd_a_SOURCES += \
	server/session/address_limits.c \
	server/session/address_limits.h \
	server/session/keyring.c \
	server/session/keyring.h \
	server/session/monitor.c \
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
	server/session/remember.h \
	server/session/remember.c \
	server/session/resume.h \
	server/session/service.h \
	server/session/session.c \
	server/session/session.h

UNIT_TESTS += \
	tests/unit/server/session/test_address_limits \
	tests/unit/server/session/test_keyring \
	tests/unit/server/session/test_ledger \
	tests/unit/server/session/test_proxy \
	tests/unit/server/session/test_quota \
	tests/unit/server/session/test_registry

FUZZ_TARGETS += tests/fuzz/fuzz_proxy
tests_fuzz_fuzz_proxy_LDADD = $(LDADD_FUZZ)
EXTRA_DIST += tests/fuzz/corpus/proxy
