# tests/sim: the whole daemon on the simulated twin (tests/lib/server_sim.h).
tests_lib_libtests_a_SOURCES += \
	tests/lib/server_sim.h \
	tests/lib/server_sim.c \
	tests/lib/sim_client.h \
	tests/lib/sim_client.c \
	tests/lib/sim_script.c

UNIT_TESTS += \
	tests/sim/test_flow \
	tests/sim/test_hostile \
	tests/sim/test_memory \
	tests/sim/test_random \
	tests/sim/test_resume \
	tests/sim/test_smoke \
	tests/sim/test_snapshots \
	tests/sim/test_stepping \
	tests/sim/test_tokens
