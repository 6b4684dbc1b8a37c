# make bench: our engine beside the other engines that are installed (Debian's Bullet, a float build, and ODE).
EXTRA_PROGRAMS += tests/bench/bench_cairn
BENCHES = tests/bench/bench_cairn
tests_bench_bench_cairn_SOURCES = tests/bench/bench_cairn.c tests/bench/bench.c tests/bench/bench.h
tests_bench_bench_cairn_LDADD = $(LDADD) -lm

if HAVE_BULLET
EXTRA_PROGRAMS += tests/bench/bench_bullet
BENCHES += tests/bench/bench_bullet
tests_bench_bench_bullet_SOURCES = tests/bench/bench_bullet.cpp tests/bench/bench.c tests/bench/bench.h
tests_bench_bench_bullet_CPPFLAGS = $(CAIRN_CPPFLAGS) $(BULLET_CFLAGS)
tests_bench_bench_bullet_LDADD = $(BULLET_LIBS) -lm
endif

if HAVE_ODE
EXTRA_PROGRAMS += tests/bench/bench_ode
BENCHES += tests/bench/bench_ode
tests_bench_bench_ode_SOURCES = tests/bench/bench_ode.c tests/bench/bench.c tests/bench/bench.h
tests_bench_bench_ode_CPPFLAGS = $(CAIRN_CPPFLAGS) $(ODE_CFLAGS)
tests_bench_bench_ode_LDADD = $(ODE_LIBS) -lm
endif

EXTRA_PROGRAMS += tests/bench/bench_lcp
tests_bench_bench_lcp_SOURCES = tests/bench/bench_lcp.c tests/bench/bench_lcp.h
tests_bench_bench_lcp_LDADD = $(LDADD) -lm
tests_bench_bench_lcp_CPPFLAGS = $(AM_CPPFLAGS)
if HAVE_BULLET
tests_bench_bench_lcp_SOURCES += tests/bench/bench_lcp_bullet.cpp
tests_bench_bench_lcp_CPPFLAGS += $(BULLET_CFLAGS) $(ODE_CFLAGS)
tests_bench_bench_lcp_LDADD += $(BULLET_LIBS)
else
tests_bench_bench_lcp_SOURCES += tests/bench/bench_lcp_alone.c
endif
if HAVE_ODE
tests_bench_bench_lcp_SOURCES += tests/bench/bench_lcp_ode.cpp
tests_bench_bench_lcp_LDADD += $(ODE_LIBS)
else
tests_bench_bench_lcp_SOURCES += tests/bench/bench_lcp_no_ode.c
endif

EXTRA_PROGRAMS += tests/bench/bench_lcp_sparse
tests_bench_bench_lcp_sparse_SOURCES = tests/bench/bench_lcp_sparse.c

# The verdict on walls of 100 to 10000 bricks: make bench-stability
EXTRA_PROGRAMS += tests/bench/bench_stability
tests_bench_bench_stability_SOURCES = tests/bench/bench_stability.c server/commands/batch_world.c
.PHONY: bench-stability
bench-stability: tests/bench/bench_stability
	tests/bench/bench_stability --walls $(foreach t,200 300 400 600,$(abs_top_srcdir)/clients/scenes/tower.yaml $(t))

# Collapse and verdict of towers beside what was aimed at: make bench-towers
.PHONY: bench-towers
bench-towers: cairn cairnd tests/bench/bench_stability
	$(PYTHON) $(top_srcdir)/tests/bench/bench_towers.py $(abs_top_builddir)
EXTRA_DIST += tests/bench/bench_towers.py

# How steps divide among workers: make bench-workers
EXTRA_PROGRAMS += tests/bench/bench_workers
tests_bench_bench_workers_SOURCES = tests/bench/bench_workers.c server/commands/batch_world.c
.PHONY: bench-workers
bench-workers: tests/bench/bench_workers
	tests/bench/bench_workers $(addprefix $(abs_top_srcdir)/tests/bench/scenes/,pyramid100.yaml grid16.yaml ragdoll_rain.yaml) \
		$(addprefix $(abs_top_srcdir)/clients/scenes/,pyramid.yaml spheres.yaml ragdolls.yaml)
EXTRA_DIST += tests/bench/scenes/pyramid100.yaml tests/bench/scenes/sensors.yaml tests/bench/scenes/grid16.yaml \
	tests/bench/scenes/ragdoll_rain.yaml

# Steps of the exact velocity methods: make bench-velocity
EXTRA_PROGRAMS += tests/bench/bench_velocity
tests_bench_bench_velocity_SOURCES = tests/bench/bench_velocity.c
.PHONY: bench-velocity
bench-velocity: tests/bench/bench_velocity
	tests/bench/bench_velocity walls heap towers
# 512 boxes under impact, lcp and projection: columns with the share of each stage, and a heap that lands; 990 contacts of
# generalized reflections; instructions of events alone and beside 20 000 bodies (valgrind).
.PHONY: bench-impact
bench-impact: tests/bench/bench_velocity
	tests/bench/bench_velocity columns drop racks
	$(PYTHON) $(top_srcdir)/tests/bench/bench_events.py tests/bench/bench_velocity
EXTRA_DIST += tests/bench/bench_events.py

# Steps of `pile`, boxes of 27 to 9261 spheres and hourglasses: make bench-pile
EXTRA_PROGRAMS += tests/bench/bench_pile
tests_bench_bench_pile_SOURCES = tests/bench/bench_pile.c
.PHONY: bench-pile
bench-pile: tests/bench/bench_pile
	tests/bench/bench_pile
# An hourglass of 1000 spheres to rest, each step checked: make soak-pile
.PHONY: soak-pile
soak-pile: tests/bench/bench_pile
	tests/bench/bench_pile soak
# A box of spheres to rest, each step checked: make soak-pile-box WIDE=13 HIGH=13
EXTRA_PROGRAMS += tests/bench/soak_pile
tests_bench_soak_pile_SOURCES = tests/bench/soak_pile.c
WIDE = 13
HIGH = 13
.PHONY: soak-pile-box
soak-pile-box: tests/bench/soak_pile
	tests/bench/soak_pile $(WIDE) $(HIGH) pile.work=0

# A body of 64 cubes on a fine mesh: make bench-compound
EXTRA_PROGRAMS += tests/bench/bench_compound
tests_bench_bench_compound_SOURCES = tests/bench/bench_compound.c
.PHONY: bench-compound
bench-compound: tests/bench/bench_compound
	tests/bench/bench_compound

# 1000 bodies on a heightfield of 1024 x 1024 samples, and on the same surface as a mesh: make bench-heightfield
EXTRA_PROGRAMS += tests/bench/bench_heightfield
tests_bench_bench_heightfield_SOURCES = tests/bench/bench_heightfield.c
.PHONY: bench-heightfield
bench-heightfield: tests/bench/bench_heightfield
	tests/bench/bench_heightfield

# Joints: chains, arms, and their errors; cost of sending them to clients: make bench-joints
EXTRA_PROGRAMS += tests/bench/bench_joints
tests_bench_bench_joints_SOURCES = tests/bench/bench_joints.c
tests_bench_bench_joints_LDADD = $(LDADD) -lm
.PHONY: bench-joints
bench-joints: tests/bench/bench_joints tests/bench/bench_joint_wire cairnd
	tests/bench/bench_joints
	tests/bench/bench_joint_wire part
	tests/bench/bench_joint_wire query ./cairnd
EXTRA_PROGRAMS += tests/bench/bench_joint_wire
tests_bench_bench_joint_wire_SOURCES = tests/bench/bench_joint_wire.c

# Robots on servos, beside MuJoCo where it is installed, and an arm stepped by a client: make bench-robots
EXTRA_PROGRAMS += tests/bench/bench_robots
tests_bench_bench_robots_SOURCES = tests/bench/bench_robots.c
if HAVE_MUJOCO
tests_bench_bench_robots_CPPFLAGS = $(AM_CPPFLAGS) -DHAVE_MUJOCO=1
tests_bench_bench_robots_LDADD = $(LDADD) $(MUJOCO_LIBS)
else
tests_bench_bench_robots_CPPFLAGS = $(AM_CPPFLAGS) -DHAVE_MUJOCO=0
endif
.PHONY: bench-robots
bench-robots: tests/bench/bench_robots cairnd cairn
	CAIRN_SRCDIR=$(abs_top_srcdir) tests/bench/bench_robots
	$(PYTHON) $(top_srcdir)/tests/bench/bench_robot_steps.py $(abs_top_srcdir) $(abs_top_builddir)
EXTRA_DIST += tests/bench/bench_robot_steps.py

# Errors of smooth motions, 30 Hz to 10 kHz: make bench-motion
EXTRA_PROGRAMS += tests/bench/bench_motion
tests_bench_bench_motion_SOURCES = tests/bench/bench_motion.c
.PHONY: bench-motion
bench-motion: tests/bench/bench_motion
	tests/bench/bench_motion

# Quality of contacts at default settings, beside the targets: make bench-contact
EXTRA_PROGRAMS += tests/bench/bench_contact
tests_bench_bench_contact_SOURCES = tests/bench/bench_contact.c
tests_bench_bench_contact_LDADD = $(LDADD) -lm
.PHONY: bench-contact
bench-contact: tests/bench/bench_contact
	tests/bench/bench_contact

# make bench-solvers: walls, cold and warm, beside the dense solver; dense problems beside other solvers; whole steps.
.PHONY: bench-solvers
bench-solvers: tests/bench/bench_lcp tests/bench/bench_lcp_sparse tests/bench/bench_velocity
	tests/bench/bench_lcp_sparse 14 100 1000 5000
	tests/bench/bench_lcp
	tests/bench/bench_velocity

EXTRA_PROGRAMS += tests/bench/bench_reflection
tests_bench_bench_reflection_SOURCES = tests/bench/bench_reflection.c

if HAVE_CLP
EXTRA_PROGRAMS += tests/bench/bench_lp
tests_bench_bench_lp_SOURCES = tests/bench/bench_lp.c tests/lib/lp_clp.c tests/lib/lp_clp.h
tests_bench_bench_lp_LDADD = $(LDADD) -lClp -lCoinUtils

# make bench-lp: linear programs of several families, pivots and times beside CLP's.
bench-lp: tests/bench/bench_lp
	tests/bench/bench_lp

# make bench-lp-sets SETS=DIRECTORY: programs in MPS files beside CLP. tests/bench/lp_sets DIRECTORY fetches public ones.
EXTRA_PROGRAMS += tests/bench/bench_lp_sets
tests_bench_bench_lp_sets_SOURCES = tests/bench/bench_lp_sets.c tests/bench/mps.c tests/bench/mps.h \
	tests/lib/lp_clp.c tests/lib/lp_clp.h
tests_bench_bench_lp_sets_LDADD = $(LDADD) -lClp -lCoinUtils -lm
SETS = lp-sets
bench-lp-sets: tests/bench/bench_lp_sets
	tests/bench/bench_lp_sets $$(ls -Sr $(SETS)/*.mps)
endif
.PHONY: bench-lp bench-lp-sets

# Closest features, depths and meshes beside libccd and Bullet, if they are installed: make bench-closest
EXTRA_PROGRAMS += tests/bench/bench_closest
tests_bench_bench_closest_SOURCES = tests/bench/bench_closest.c tests/bench/bench_closest.h \
	tests/bench/bench_closest_none.c
tests_bench_bench_closest_CPPFLAGS = $(AM_CPPFLAGS)
tests_bench_bench_closest_LDADD = $(LDADD) -lm
if HAVE_BULLET
tests_bench_bench_closest_SOURCES += tests/bench/bench_closest_bullet.cpp
tests_bench_bench_closest_CPPFLAGS += -DBENCH_HAVE_BULLET=1 $(BULLET_CFLAGS)
tests_bench_bench_closest_LDADD += $(BULLET_LIBS)
endif
if HAVE_CCD
tests_bench_bench_closest_SOURCES += tests/bench/bench_closest_ccd.c
tests_bench_bench_closest_CPPFLAGS += -DBENCH_HAVE_CCD=1 $(CCD_CFLAGS)
tests_bench_bench_closest_LDADD += $(CCD_LIBS)
endif
EXTRA_DIST += tests/bench/bench_closest_bullet.cpp tests/bench/bench_closest_ccd.c
.PHONY: bench-closest
bench-closest: tests/bench/bench_closest
	tests/bench/bench_closest

.PHONY: bench
bench: $(BENCHES)
	$(PYTHON) $(top_srcdir)/tests/bench/run $(abs_top_builddir)
# All tables of soft-step's speed: make bench-soft
.PHONY: bench-soft
bench-soft: $(BENCHES) tests/bench/bench_workers tests/bench/bench_joints cairnd
	$(PYTHON) $(top_srcdir)/tests/bench/run $(abs_top_builddir) all

EXTRA_DIST += tests/bench/run tests/bench/lp_sets tests/bench/scaling.py tests/bench/bench_lcp_bullet.cpp tests/bench/bench_lcp_alone.c \
	tests/bench/bench_lcp_ode.cpp tests/bench/bench_lcp_no_ode.c

# make bench-server: a cairnd of this build and its clients: round trips, fan-out, many worlds, commands.
EXTRA_PROGRAMS += tests/bench/bench_step
tests_bench_bench_step_SOURCES = tests/bench/bench_step.c
.PHONY: bench-server
bench-server: tests/bench/bench_step tests/bench/bench_fanout tests/bench/bench_commands cairnd
	$(PYTHON) $(top_srcdir)/tests/bench/server $(abs_top_srcdir) $(abs_top_builddir)
# make bench-durable: durable commands, and the cost of files; DIRECTORY chooses the disk.
EXTRA_PROGRAMS += tests/bench/bench_checkpoint
tests_bench_bench_checkpoint_SOURCES = tests/bench/bench_checkpoint.c
.PHONY: bench-durable
bench-durable: cairnd tests/bench/bench_checkpoint
	tests/bench/bench_checkpoint $(abs_top_srcdir)/clients/scenes/spheres.yaml
	$(PYTHON) $(top_srcdir)/tests/bench/durable $(abs_top_srcdir) $(abs_top_builddir)
EXTRA_DIST += tests/bench/durable
# make bench-rollback: bytes of rollback images by what they are for, and what saving and restoring cost.
EXTRA_PROGRAMS += tests/bench/bench_rollback
tests_bench_bench_rollback_SOURCES = tests/bench/bench_rollback.c
.PHONY: bench-rollback
bench-rollback: tests/bench/bench_rollback
	tests/bench/bench_rollback 5 55 $(addprefix $(abs_top_srcdir)/clients/scenes/,\
		spheres.yaml grid.yaml mixed.yaml tower.yaml meshes.yaml solids.yaml joints.yaml chain.yaml \
		ragdolls.yaml bridge.yaml)
EXTRA_DIST += tests/bench/server tests/bench/fair tests/bench/attacks
EXTRA_PROGRAMS += tests/bench/bench_commands
tests_bench_bench_commands_SOURCES = tests/bench/bench_commands.c
EXTRA_PROGRAMS += tests/bench/bench_fanout
tests_bench_bench_fanout_SOURCES = tests/bench/bench_fanout.c

# make bench-stream: bytes and time of watching 901 cubes in each profile. make soak-stream: 10^5 ticks of
# them with clients that join, leave and stall; every mirror is compared with the world.
EXTRA_PROGRAMS += tests/bench/bench_stream
tests_bench_bench_stream_SOURCES = tests/bench/bench_stream.c
.PHONY: bench-stream soak-stream
bench-stream: tests/bench/bench_stream
	CAIRN_SRCDIR='$(abs_top_srcdir)' tests/bench/bench_stream figures
SOAK_TICKS = 100000
soak-stream: tests/bench/bench_stream
	CAIRN_SRCDIR='$(abs_top_srcdir)' tests/bench/bench_stream soak $(SOAK_TICKS)

# Broad phases beside Bullet's and ODE's: make tests/bench/bench_broad && tests/bench/bench_broad
EXTRA_PROGRAMS += tests/bench/bench_broad
tests_bench_bench_broad_SOURCES = tests/bench/bench_broad.c tests/bench/bench_broad.h
tests_bench_bench_broad_CPPFLAGS = $(AM_CPPFLAGS)
tests_bench_bench_broad_LDADD = $(LDADD) -lm
if HAVE_BULLET
tests_bench_bench_broad_SOURCES += tests/bench/bench_broad_bullet.cpp
tests_bench_bench_broad_CPPFLAGS += -DBENCH_HAVE_BULLET=1 $(BULLET_CFLAGS)
tests_bench_bench_broad_LDADD += $(BULLET_LIBS)
endif
if HAVE_ODE
tests_bench_bench_broad_SOURCES += tests/bench/bench_broad_ode.c
tests_bench_bench_broad_CPPFLAGS += -DBENCH_HAVE_ODE=1 $(ODE_CFLAGS)
tests_bench_bench_broad_LDADD += $(ODE_LIBS)
endif

# make bench-mechanisms: errors of mechanisms of joints, under each method.
EXTRA_PROGRAMS += tests/bench/bench_mechanisms
tests_bench_bench_mechanisms_SOURCES = tests/bench/bench_mechanisms.c
tests_bench_bench_mechanisms_LDADD = $(LDADD) -lm
.PHONY: bench-mechanisms
bench-mechanisms: tests/bench/bench_mechanisms
	tests/bench/bench_mechanisms

# make bench-joint-scenes: joint errors and energy of whole scenes.
EXTRA_PROGRAMS += tests/bench/bench_joint_scenes
tests_bench_bench_joint_scenes_SOURCES = tests/bench/bench_joint_scenes.c
tests_bench_bench_joint_scenes_LDADD = $(LDADD) -lm
.PHONY: bench-joint-scenes
bench-joint-scenes: tests/bench/bench_joint_scenes
	CAIRN_SRCDIR='$(abs_top_srcdir)' tests/bench/bench_joint_scenes

# make bench-vector: many worlds in one message, and arrays, from Python; beside `cairnd run` and an unobserved step.
.PHONY: bench-vector
bench-vector: cairnd cairn
	$(PYTHON) $(top_srcdir)/tests/bench/bench_vector.py $(abs_top_srcdir) $(abs_top_builddir)
EXTRA_DIST += tests/bench/bench_vector.py
# What the past of a world costs: seeks, questions, many clients; an hour of its time takes some minutes to make.
EXTRA_DIST += tests/bench/bench_past.py
.PHONY: bench-past
bench-past: cairnd cairn
	CAIRN_SRCDIR=$(abs_top_srcdir) CAIRN_BUILDDIR=$(abs_top_builddir) PATH="$(abs_top_builddir):$$PATH" \
		/usr/bin/python3 $(top_srcdir)/tests/bench/bench_past.py $(PAST_MINUTES) $(PAST_BODIES)
PAST_MINUTES = 60
PAST_BODIES = 250

# Cost of particles: ns a particle-step, ticks/s with hashing.
EXTRA_PROGRAMS += tests/bench/bench_particles
tests_bench_bench_particles_SOURCES = tests/bench/bench_particles.c tests/bench/bench_sheet.c tests/bench/bench_sheet.h
tests_bench_bench_particles_LDADD = $(LDADD) -lm
EXTRA_PROGRAMS += tests/bench/bench_cloth
tests_bench_bench_cloth_SOURCES = tests/bench/bench_cloth.c tests/bench/bench_sheet.c tests/bench/bench_sheet.h
.PHONY: bench-particles
bench-particles: tests/bench/bench_particles tests/bench/bench_particle_frames
	tests/bench/bench_particles
	tests/bench/bench_particles 100000 2
	tests/bench/bench_particles 1000000
	tests/bench/bench_particle_frames
# bench-fluid: the cost of fluids; soak-fluid: pools, floating cubes, channels, waves, drops and a dam
# break against what is known.
EXTRA_PROGRAMS += tests/bench/bench_fluid
tests_bench_bench_fluid_SOURCES = tests/bench/bench_fluid.c tests/lib/channels.h \
	tests/lib/potential_dam.h
tests_bench_bench_fluid_LDADD = $(LDADD) -lm
.PHONY: bench-fluid soak-fluid
bench-fluid: tests/bench/bench_fluid
	tests/bench/bench_fluid cost 1
	tests/bench/bench_fluid cost 2
	tests/bench/bench_fluid million 2
	tests/bench/bench_fluid extreme 2
soak-fluid: tests/bench/bench_fluid
	tests/bench/bench_fluid rest
	tests/bench/bench_fluid float
	tests/bench/bench_fluid channels
	tests/bench/bench_fluid slosh
	tests/bench/bench_fluid pour
	tests/bench/bench_fluid spin
	tests/bench/bench_fluid dam
	tests/bench/bench_fluid drop
EXTRA_PROGRAMS += tests/bench/bench_particle_frames
tests_bench_bench_particle_frames_SOURCES = tests/bench/bench_particle_frames.c

# Reduced coordinates: µs a degree of freedom to build a forest, and for its inverse and forward dynamics.
EXTRA_PROGRAMS += tests/bench/bench_articulated
tests_bench_bench_articulated_SOURCES = tests/bench/bench_articulated.c
tests_bench_bench_articulated_LDADD = $(LDADD) -lm
.PHONY: bench-articulated
bench-articulated: tests/bench/bench_articulated
	tests/bench/bench_articulated

# Closed mechanisms and gears for a million steps each: make soak-mechanisms
EXTRA_PROGRAMS += tests/bench/soak_mechanisms
tests_bench_soak_mechanisms_SOURCES = tests/bench/soak_mechanisms.c
tests_bench_soak_mechanisms_LDADD = $(LDADD) -lm
.PHONY: soak-mechanisms
soak-mechanisms: tests/bench/soak_mechanisms
	tests/bench/soak_mechanisms

# All programs of this folder, so that one that no longer builds is noticed (tests/run); nothing is run.
.PHONY: bench-programs
bench-programs: $(filter tests/bench/%,$(EXTRA_PROGRAMS))
