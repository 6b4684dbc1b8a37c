# tests/sim: the whole daemon, simulated (tests/lib/server_sim.h).
tests_lib_libtests_a_SOURCES += \
	tests/lib/bad_disk.h \
	tests/lib/bad_disk.c \
	tests/lib/lying_disk.h \
	tests/lib/lying_disk.c \
	tests/lib/sim_life.h \
	tests/lib/sim_life.c \
	tests/lib/sim_life_acts.c \
	tests/lib/sim_life_judge.c \
	tests/lib/server_sim.h \
	tests/lib/server_sim.c \
	tests/lib/sim_client.h \
	tests/lib/sim_client.c \
	tests/lib/pack_text.h \
	tests/lib/pack_text.c \
	tests/lib/sim_script.c

UNIT_TESTS += \
	tests/sim/test_contacts \
	tests/sim/test_drags \
	tests/sim/test_durability \
	tests/sim/test_edits \
	tests/sim/test_fairness \
	tests/sim/test_flow \
	tests/sim/test_grants \
	tests/sim/test_hostile \
	tests/sim/test_joints \
	tests/sim/test_particle_frames \
	tests/sim/test_memory \
	tests/sim/test_random \
	tests/sim/test_resume \
	tests/sim/test_rollback \
	tests/sim/test_rules \
	tests/sim/test_shares \
	tests/sim/test_smoke \
	tests/sim/test_snapshots \
	tests/sim/test_stepping \
	tests/sim/test_tokens

# make soak-twin: thousands of random runs of the simulated daemon on all cores; prints failing seeds and how to repeat them; not
# part of check. SEEDS, FIRST_SEED and SOAK_TWIN_MINUTES (0: until all are done) are set by the caller.
SOAK_TWIN_MINUTES = 0
.PHONY: soak-twin
soak-twin: tests/sim/test_random
	$(PYTHON) $(top_srcdir)/tests/sim/soak tests/sim/test_random $${SEEDS:-10000} $${FIRST_SEED:-1} \
		$(SOAK_TWIN_MINUTES)
EXTRA_DIST += tests/sim/soak

# make soak-disk: losses of power on a disk that forgets what was not synced, from 10 000 seeds; SEEDS and CAIRN_SEED are set by the
# caller; not part of check.
.PHONY: soak-disk
soak-disk: tests/sim/test_durability
	SEEDS=$${SEEDS:-10000} tests/sim/test_durability

# make soak-particles: mirrors of particles in all profiles, equal bit for bit to the world's over 10^5 ticks; SEEDS and CAIRN_SEED are
# set by the caller; not part of check.
.PHONY: soak-particles
soak-particles: tests/sim/test_particle_frames
	SEEDS=$${SEEDS:-1} tests/sim/test_particle_frames

FUZZ_TARGETS += tests/fuzz/fuzz_server
tests_fuzz_fuzz_server_LDADD = $(LDADD_FUZZ)
EXTRA_DIST += tests/fuzz/corpus/server
