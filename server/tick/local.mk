# server/tick: when a world steps and with which commands.
libcairnd_a_SOURCES += \
	server/tick/clock.h \
	server/tick/clock.c \
	server/tick/schedule.h \
	server/tick/schedule.c \
	server/tick/inbox.h \
	server/tick/inbox.c \
	server/tick/runnable.h \
	server/tick/tick_costs.h \
	server/tick/tick_costs.c \
	server/tick/profile_credit.h \
	server/tick/profile_credit.c \
	server/tick/pool.h \
	server/tick/pool.c \
	server/tick/pool_state.h \
	server/tick/pool_balance.c

TICK_TESTS = \
	tests/unit/server/tick/test_inbox \
	tests/unit/server/tick/test_pool
UNIT_TESTS += $(TICK_TESTS) \
	tests/unit/server/tick/test_clock \
	tests/unit/server/tick/test_profile_credit \
	tests/unit/server/tick/test_schedule \
	tests/unit/server/tick/test_tick_costs
THREAD_TESTS += $(TICK_TESTS)

# How well worlds keep their rate, and the cost of a hand-over: make tests/bench/bench_tick, then run it.
EXTRA_PROGRAMS += tests/bench/bench_tick tests/bench/bench_round_trip
