libcairnd_a_SOURCES += \
	server/store/journal.h \
	server/store/journal.c \
	server/store/care.h \
	server/store/care.c \
	server/store/durability.h \
	server/store/durability.c \
	server/store/session_file.h \
	server/store/session_file.c \
	server/store/shape_library.h \
	server/store/shape_library.c \
	server/store/store.h \
	server/store/store.c \
	server/store/store_state.h \
	server/store/recover.c \
	server/store/sql.h \
	server/store/sql.c \
	server/store/schema.h \
	server/store/schema.c \
	server/store/keep.h \
	server/store/keep.c \
	server/store/archive.h \
	server/store/archive.c \
	server/store/new_file.h \
	server/store/new_file.c \
	server/store/record.h \
	server/store/record.c \
	server/store/image.h \
	server/store/image.c \
	server/store/prune.h \
	server/store/prune.c \
	server/store/used_tokens.h \
	server/store/used_tokens.c \
	server/store/world_file.h \
	server/store/world_file.c \
	server/store/keyframes.h \
	server/store/keyframes.c \
	server/store/recording.h \
	server/store/recording.c \
	server/store/player.h \
	server/store/player.c \
	server/store/replay.h \
	server/store/replay.c

tests_lib_libtests_a_SOURCES += tests/lib/recorder.h tests/lib/recorder.c
UNIT_TESTS += \
	tests/unit/server/store/test_archive \
	tests/unit/server/store/test_care \
	tests/unit/server/store/test_image \
	tests/unit/server/store/test_journal \
	tests/unit/server/store/test_keyframes \
	tests/unit/server/store/test_prune \
	tests/unit/server/store/test_recover \
	tests/unit/server/store/test_replay \
	tests/unit/server/store/test_shape_library \
	tests/unit/server/store/test_store_threads

THREAD_TESTS += tests/unit/server/store/test_store_threads

# make soak-flips: one wrong bit in each byte of a small file in turn; not part of check.
.PHONY: soak-flips
soak-flips: tests/unit/server/store/test_care
	export CK_TIMEOUT_MULTIPLIER=10 EVERY=2; \
	FIRST=0 tests/unit/server/store/test_care & other=$$!; \
	FIRST=1 tests/unit/server/store/test_care && wait $$other

FUZZ_TARGETS += tests/fuzz/fuzz_journal
tests_fuzz_fuzz_journal_LDADD = $(LDADD_FUZZ)
EXTRA_DIST += tests/fuzz/corpus/image
FUZZ_TARGETS += tests/fuzz/fuzz_image
tests_fuzz_fuzz_image_LDADD = $(LDADD_FUZZ)
