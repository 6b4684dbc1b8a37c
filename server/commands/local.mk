# server/commands: the commands of cairnd besides serving: run, compare, replay, past, mesh, stability, scene, store.
cairnd_SOURCES += \
	server/commands/check_files.c \
	server/commands/check_files.h \
	server/commands/batch_world.c \
	server/commands/batch_world.h \
	server/commands/compare.c \
	server/commands/compare.h \
	server/commands/compare_command.c \
	server/commands/compare_command.h \
	server/commands/compare_plot.c \
	server/commands/compare_report.c \
	server/commands/mesh_command.c \
	server/commands/mesh_command.h \
	server/commands/export.h \
	server/commands/export_mcap.c \
	server/commands/export_rows.c \
	server/commands/export_sqlite.c \
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
	server/commands/tower_kinds.c
