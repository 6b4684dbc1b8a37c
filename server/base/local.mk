libbase_a_SOURCES += \
	server/base/base.h \
	server/base/base.c \
	server/base/status.def \
	server/base/status.h \
	server/base/status.c \
	server/base/utf8.h \
	server/base/utf8.c \
	server/base/parallel.h \
	server/base/processor.h \
	server/base/processor.c \
	server/base/prefetch.h \
	server/base/profile.h \
	server/base/profile.c \
	server/base/stages.def \
	server/base/parallel.c \
	server/base/heap.h \
	server/base/heap.c \
	server/base/min_heap.h \
	server/base/min_heap.c \
	server/base/arena.h \
	server/base/arena.c \
	server/base/array.h \
	server/base/bitset.h \
	server/base/bitset.c \
	server/base/body_hash.h \
	server/base/body_hash.c \
	server/base/bytes.h \
	server/base/bytes.c \
	server/base/hash.h \
	server/base/hash.c \
	server/base/sha256.c \
	server/base/inline.h \
	server/base/json_text.h \
	server/base/json_text.c \
	server/base/output_name.h \
	server/base/output_name.c \
	server/base/ring.h \
	server/base/progress_text.h \
	server/base/progress_text.c \
	server/base/rng.h \
	server/base/rng.c \
	server/base/sort.h \
	server/base/sort.c \
	server/base/suggestion.h \
	server/base/suggestion.c \
	server/base/table.h \
	server/base/target.h \
	server/base/union_find.h \
	server/base/table.c

UNIT_TESTS += tests/unit/base/test_status
UNIT_TESTS += \
	tests/unit/server/base/test_arena \
	tests/unit/server/base/test_profile \
	tests/unit/server/base/test_bitset \
	tests/unit/server/base/test_bytes \
	tests/unit/server/base/test_hash \
	tests/unit/server/base/test_heap \
	tests/unit/server/base/test_json_text \
	tests/unit/server/base/test_output_name \
	tests/unit/server/base/test_progress_text \
	tests/unit/server/base/test_rng \
	tests/unit/server/base/test_min_heap \
	tests/unit/server/base/test_sort \
	tests/unit/server/base/test_table \
	tests/unit/server/base/test_utf8
