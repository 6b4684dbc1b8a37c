# server/commands: the commands of cairnd besides serving: run, compare, replay, mesh.
cairnd_SOURCES += \
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
	server/commands/replay_command.c \
	server/commands/replay_command.h \
	server/commands/run.c \
	server/commands/run.h
