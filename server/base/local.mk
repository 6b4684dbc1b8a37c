libbase_a_SOURCES += \
	server/base/base.h \
	server/base/base.c \
	server/base/status.def \
	server/base/status.h \
	server/base/status.c \
	server/base/parallel.h \
	server/base/parallel.c

UNIT_TESTS += tests/unit/base/test_status
