# libcairnproto.a: messages, their encoding and validation, for server and clients.
libcairnproto_a_SOURCES += \
	protocol/limits.h \
	protocol/locks_text.h \
	protocol/locks_text.c \
	protocol/messages.def \
	protocol/message.h \
	protocol/message.c \
	protocol/capabilities.def \
	protocol/capabilities.h \
	protocol/capabilities.c \
	protocol/packer.h \
	protocol/packer.c \
	protocol/cursor.h \
	protocol/cursor.c \
	protocol/complaint.h \
	protocol/complaint.c \
	protocol/frame.h \
	protocol/frame.c \
	protocol/validate.h \
	protocol/validate.c \
	protocol/pack.h \
	protocol/pack.c \
	protocol/unpack.h \
	protocol/unpack.c \
	protocol/handshake.h \
	protocol/handshake.c \
	protocol/token.h \
	protocol/token.c \
	protocol/area.h \
	protocol/area.c \
	protocol/columns.def \
	protocol/condition.c \
	protocol/condition.h \
	protocol/contacts.h \
	protocol/contacts.c \
	protocol/columns.h \
	protocol/columns.c \
	protocol/varint.h \
	protocol/scale.h \
	protocol/scale.c \
	protocol/quantise.h \
	protocol/quantise.c \
	protocol/block.h \
	protocol/block.c \
	protocol/block_quantised.h \
	protocol/block_quantised.c \
	protocol/delta.h \
	protocol/delta.c \
	protocol/joint_rows.h \
	protocol/joint_rows.c \
	protocol/particle_columns.h \
	protocol/particle_columns.c \
	protocol/particle_blocks.h \
	protocol/particle_blocks.c \
	protocol/mirror_joints.h \
	protocol/mirror_joints.c \
	protocol/mirror_particles.h \
	protocol/mirror_particles.c \
	protocol/mirror.h \
	protocol/mirror.c \
	protocol/command_wire.h \
	protocol/command_wire.c \
	protocol/result_wire.h \
	protocol/result_wire.c \
	protocol/observations.def \
	protocol/group_wire.h \
	protocol/group_wire.c \
	protocol/queries.def \
	protocol/query_ask.c \
	protocol/query_items.h \
	protocol/query_joints.c \
	protocol/query_fields.c \
	protocol/query_particles.c \
	protocol/query_lists.c \
	protocol/query_long.c \
	protocol/query_robot.c \
	protocol/query_stability.c \
	protocol/stability_text.h \
	protocol/stability_text.c \
	protocol/query_wire.h \
	protocol/query_wire.c

tests_lib_libtests_a_SOURCES += \
	tests/lib/gen_message.h \
	tests/lib/shipped_scenes.h \
	tests/lib/scene_text.h \
	tests/lib/gen_message.c \
	tests/lib/wire_vectors.h \
	tests/lib/wire_queries.c \
	tests/lib/wire_vectors.c \
	tests/lib/wire_session.c \
	tests/lib/wire_particles.c \
	tests/lib/wire_streams.h \
	tests/lib/wire_streams.c
check_PROGRAMS += tests/wire/wire_vectors
EXTRA_DIST += tests/wire/update docs/PROTOCOL.md tests/data/wire/messages.json \
	tests/data/wire/bodies.json tests/data/wire/hostile.json
EXTRA_DIST += tests/data/wire/queries.json tests/data/wire/streams.json \
	tests/data/wire/particles.json
PYTHON_TESTS += tests/unit/protocol/test_page.py tests/unit/protocol/test_vectors.py
UNIT_TESTS += \
	tests/unit/protocol/test_message \
	tests/unit/protocol/test_frame \
	tests/unit/protocol/test_validate \
	tests/unit/protocol/test_unpack \
	tests/unit/protocol/test_handshake \
	tests/unit/protocol/test_token \
	tests/unit/protocol/test_area \
	tests/unit/protocol/test_contacts \
	tests/unit/protocol/test_quantise \
	tests/unit/protocol/test_joint_rows \
	tests/unit/protocol/test_particle_blocks \
	tests/unit/protocol/test_mirror \
	tests/unit/protocol/test_vectors \
	tests/unit/protocol/test_streams \
	tests/unit/protocol/test_query_wire \
	tests/unit/protocol/test_command_wire

FUZZ_TARGETS += tests/fuzz/fuzz_token
tests_fuzz_fuzz_token_LDADD = $(LDADD_FUZZ)
EXTRA_DIST += tests/fuzz/corpus/token
FUZZ_TARGETS += tests/fuzz/fuzz_client_frame tests/fuzz/fuzz_server_frame tests/fuzz/fuzz_delta
tests_fuzz_fuzz_client_frame_LDADD = $(LDADD_FUZZ)
tests_fuzz_fuzz_server_frame_LDADD = $(LDADD_FUZZ)
tests_fuzz_fuzz_delta_LDADD = $(LDADD_FUZZ)
EXTRA_DIST += tests/fuzz/corpus/client_frame tests/fuzz/corpus/server_frame tests/fuzz/corpus/delta

FUZZ_TARGETS += tests/fuzz/fuzz_commands
tests_fuzz_fuzz_commands_LDADD = $(LDADD_FUZZ)
EXTRA_DIST += tests/fuzz/corpus/commands

include protocol/scene/local.mk
