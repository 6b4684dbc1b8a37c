# server/commands: the commands of cairnd besides serving: run, compare, replay, past, mesh, pack, stability, scene, draw, store.
cairnd_SOURCES += \
	server/commands/check_files.c \
	server/commands/check_files.h \
	server/commands/batch_world.c \
	server/commands/batch_world.h \
	server/commands/command_words.c \
	server/commands/command_words.h \
	server/commands/compare.c \
	server/commands/compare.h \
	server/commands/compare_command.c \
	server/commands/compare_command.h \
	server/commands/compare_plot.c \
	server/commands/compare_report.c \
	server/commands/draw_command.c \
	server/commands/draw_command.h \
	server/commands/film.c \
	server/commands/film.h \
	server/commands/film_svg.c \
	server/commands/film_svg.h \
	server/commands/mesh_command.c \
	server/commands/mesh_command.h \
	server/commands/export.h \
	server/commands/export_mcap.c \
	server/commands/export_rows.c \
	server/commands/export_sqlite.c \
	server/commands/pack_command.c \
	server/commands/pack_command.h \
	server/commands/pack_scene.c \
	server/commands/pack_scene.h \
	server/commands/pack_svg.c \
	server/commands/pack_svg.h \
	server/commands/past_command.c \
	server/commands/past_command.h \
	server/commands/replay_command.c \
	server/commands/replay_command.h \
	server/commands/run.c \
	server/commands/run.h \
	server/commands/run_output.c \
	server/commands/run_output.h \
	server/commands/scene_command.c \
	server/commands/scene_command.h \
	server/commands/stability_command.c \
	server/commands/stability_command.h \
	server/commands/store_command.c \
	server/commands/store_command.h \
	server/commands/tower.c \
	server/commands/tower.h \
	server/commands/tower_frames.c \
	server/commands/tower_kinds.c

FUZZ_TARGETS += tests/fuzz/fuzz_drawing
tests_fuzz_fuzz_drawing_SOURCES = tests/fuzz/fuzz_drawing.c server/commands/pack_svg.c
tests_fuzz_fuzz_drawing_LDADD = $(LDADD_FUZZ)
