libengine_a_SOURCES += \
	server/engine/types.h \
	server/engine/world/commands.def \
	server/engine/world/fields.def \
	server/engine/world/parameters.def \
	server/engine/world/words.def \
	server/engine/world/apply.c \
	server/engine/world/removal.h \
	server/engine/world/removal.c \
	server/engine/world/robot.c \
	server/engine/world/robot_dynamics.c \
	server/engine/world/robot_work.c \
	server/engine/world/robot_work.h \
	server/engine/world/stability.c \
	server/engine/world/sensors.h \
	server/engine/world/sensors.c \
	server/engine/world/controls.h \
	server/engine/world/controls.c \
	server/engine/world/carriers.h \
	server/engine/world/carriers.c \
	server/engine/world/body_mass.h \
	server/engine/world/body_mass.c \
	server/engine/world/changes.h \
	server/engine/world/changes.c \
	server/engine/world/checking.h \
	server/engine/world/checks.c \
	server/engine/world/command.h \
	server/engine/world/command.c \
	server/engine/world/command_bytes.h \
	server/engine/world/command_bytes.c \
	server/engine/world/commands_apply.c \
	server/engine/world/commands_check.c \
	server/engine/world/drives.h \
	server/engine/world/drives.c \
	server/engine/world/forces.c \
	server/engine/world/force_fields.c \
	server/engine/world/force_fields.h \
	server/engine/world/force_fields_invariants.c \
	server/engine/world/image.h \
	server/engine/world/image_difference.c \
	server/engine/world/image_read.c \
	server/engine/world/invariants.c \
	server/engine/world/locks.h \
	server/engine/world/locks.c \
	server/engine/world/motion.c \
	server/engine/world/joints.h \
	server/engine/world/joints.c \
	server/engine/world/joints_apply.c \
	server/engine/world/joints_check.c \
	server/engine/world/joints_invariants.c \
	server/engine/world/parameters.h \
	server/engine/world/parameters.c \
	server/engine/world/fluids.c \
	server/engine/world/particle_systems.h \
	server/engine/world/particle_descent.c \
	server/engine/world/particle_holding.c \
	server/engine/world/particle_interact.c \
	server/engine/world/particle_systems.c \
	server/engine/world/particle_invariants.c \
	server/engine/world/particle_lattice.c \
	server/engine/world/pending.h \
	server/engine/world/pending.c \
	server/engine/world/pieces.h \
	server/engine/world/pieces.c \
	server/engine/world/labels.h \
	server/engine/world/labels.c \
	server/engine/world/visuals.h \
	server/engine/world/visuals.c \
	server/engine/world/pieces_invariants.c \
	server/engine/world/plan.h \
	server/engine/world/plan.c \
	server/engine/world/plan_find.h \
	server/engine/world/plan_find.c \
	server/engine/world/queries.c \
	server/engine/world/rollback.h \
	server/engine/world/rollback.c \
	server/engine/world/rollback_code.c \
	server/engine/world/shapes.c \
	server/engine/world/snapshot.c \
	server/engine/world/tables.h \
	server/engine/world/tables.c \
	server/engine/world/tables_slots.c \
	server/engine/world/view.c \
	server/engine/world/surface.h \
	server/engine/world/surface.c \
	server/engine/world/mover_work.h \
	server/engine/world/movers.c \
	server/engine/world/movers.h \
	server/engine/world/movers_step.c \
	server/engine/world/walls.h \
	server/engine/world/walls.c \
	server/engine/world/world.h \
	server/engine/world/world.c \
	server/engine/world/world_hash.c \
	server/engine/world/world_step.c

UNIT_TESTS += \
	tests/unit/server/engine/world/test_batches \
	tests/unit/server/engine/world/test_command \
	tests/unit/server/engine/world/test_commands \
	tests/unit/server/engine/world/test_forces \
	tests/unit/server/engine/world/test_controls \
	tests/unit/server/engine/world/test_sensors \
	tests/unit/server/engine/world/test_one_way \
	tests/unit/server/engine/world/test_belts \
	tests/unit/server/engine/world/test_locks \
	tests/unit/server/engine/world/test_movers \
	tests/unit/server/engine/world/test_pieces \
	tests/unit/server/engine/world/test_force_fields \
	tests/unit/server/engine/world/test_particles \
	tests/unit/server/engine/world/test_fluid_flows \
	tests/unit/server/engine/world/test_particle_emitters \
	tests/unit/server/engine/world/test_particle_sinks \
	tests/unit/server/engine/world/test_particle_fluids \
	tests/unit/server/engine/world/test_particle_impacts \
	tests/unit/server/engine/world/test_particle_cloth \
	tests/unit/server/engine/world/test_particle_descent \
	tests/unit/server/engine/world/test_particle_limit \
	tests/unit/server/engine/world/test_particle_links \
	tests/unit/server/engine/world/test_particle_pairs \
	tests/unit/server/engine/world/test_particle_rows \
	tests/unit/server/engine/world/test_particle_plane \
	tests/unit/server/engine/world/test_particle_skin \
	tests/unit/server/engine/world/test_particle_meet \
	tests/unit/server/engine/world/test_particle_self \
	tests/unit/server/engine/world/test_fluids \
	tests/unit/server/engine/world/test_ignored \
	tests/unit/server/engine/world/test_joints \
	tests/unit/server/engine/world/test_labels \
	tests/unit/server/engine/world/test_one_by_one \
	tests/unit/server/engine/world/test_queries \
	tests/unit/server/engine/world/test_colours \
	tests/unit/server/engine/world/test_removal \
	tests/unit/server/engine/world/test_rollback \
	tests/unit/server/engine/world/test_slots \
	tests/unit/server/engine/world/test_snapshot \
	tests/unit/server/engine/world/test_step \
	tests/unit/server/engine/world/test_tables \
	tests/unit/server/engine/world/test_visuals \
	tests/unit/server/engine/world/test_waking

# Events of sensors, contacts and hits against all pairs of bodies; 10^4 random worlds with `make soak-streams`.
UNIT_TESTS += tests/property/test_streams
.PHONY: soak-streams
soak-streams: tests/property/test_streams
	CAIRN_POSES=$${CAIRN_POSES:-15} ./tests/property/test_streams

# Movers are inside nothing after random moves; 10^5 of them with `make soak-movers`.
UNIT_TESTS += tests/property/test_mover_walks
.PHONY: soak-movers
soak-movers: tests/property/test_mover_walks
	CAIRN_POSES=$${CAIRN_POSES:-38} ./tests/property/test_mover_walks

tests_lib_libtests_a_SOURCES += \
	tests/lib/eliminate.h \
	tests/lib/motions.h \
	tests/lib/eliminate.c \
	tests/lib/gen_commands.h \
	tests/lib/hall.h tests/lib/hall.c \
	tests/lib/gen_commands.c \
	tests/lib/bricard.h tests/lib/bricard.c tests/lib/joined.h tests/lib/joined.c \
	tests/lib/mechanisms.h tests/lib/mechanisms.c \
	tests/lib/linked.h tests/lib/linked.c \
	tests/lib/near.h \
	tests/lib/random_joint.h tests/lib/random_joint.c \
	tests/lib/smooth_worlds.h tests/lib/smooth_worlds.c \
	tests/lib/worlds.h \
	tests/lib/worlds.c
