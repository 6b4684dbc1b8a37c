# Bodies, contacts, forces, islands and sleep: the base of the methods.
libengine_a_SOURCES += \
	server/engine/dynamics/belt.c \
	server/engine/dynamics/spatial_inertia.h \
	server/engine/dynamics/tree_mass.c \
	server/engine/dynamics/tree_mass.h \
	server/engine/dynamics/tree_place.c \
	server/engine/dynamics/mover_list.c \
	server/engine/dynamics/mover_list.h \
	server/engine/dynamics/belt.h \
	server/engine/dynamics/body.c \
	server/engine/dynamics/body.h \
	server/engine/dynamics/carrier.c \
	server/engine/dynamics/carrier.h \
	server/engine/dynamics/collide.c \
	server/engine/dynamics/collide.h \
	server/engine/dynamics/collide_balls.c \
	server/engine/dynamics/collide_balls.h \
	server/engine/dynamics/constraint.c \
	server/engine/dynamics/constraint.h \
	server/engine/dynamics/contact.c \
	server/engine/dynamics/contact.h \
	server/engine/dynamics/contact_force.c \
	server/engine/dynamics/contact_force.h \
	server/engine/dynamics/contact_index.c \
	server/engine/dynamics/contact_index.h \
	server/engine/dynamics/contact_words.h \
	server/engine/dynamics/coupled_motion.c \
	server/engine/dynamics/coupled_motion.h \
	server/engine/dynamics/dynamics.c \
	server/engine/dynamics/dynamics.h \
	server/engine/dynamics/force.c \
	server/engine/dynamics/force.h \
	server/engine/dynamics/force_field.c \
	server/engine/dynamics/force_field.h \
	server/engine/dynamics/frame_rate.c \
	server/engine/dynamics/frame_rate.h \
	server/engine/dynamics/gear.c \
	server/engine/dynamics/gear.h \
	server/engine/dynamics/integrate.c \
	server/engine/dynamics/integrate.h \
	server/engine/dynamics/islands.c \
	server/engine/dynamics/islands.h \
	server/engine/dynamics/joint.c \
	server/engine/dynamics/joint.h \
	server/engine/dynamics/joint_list.c \
	server/engine/dynamics/joint_list.h \
	server/engine/dynamics/joint_project.c \
	server/engine/dynamics/joint_torque.c \
	server/engine/dynamics/joint_torque.h \
	server/engine/dynamics/joint_turn.c \
	server/engine/dynamics/joint_turn.h \
	server/engine/dynamics/labels.c \
	server/engine/dynamics/labels.h \
	server/engine/dynamics/locks.h \
	server/engine/dynamics/locks.c \
	server/engine/dynamics/mass_blocks.c \
	server/engine/dynamics/mass_blocks.h \
	server/engine/dynamics/mass_operator.c \
	server/engine/dynamics/mass_operator.h \
	server/engine/dynamics/ode.c \
	server/engine/dynamics/ode.h \
	server/engine/dynamics/one_way.c \
	server/engine/dynamics/one_way.h \
	server/engine/dynamics/pairs.c \
	server/engine/dynamics/pairs.h \
	server/engine/dynamics/piece.c \
	server/engine/dynamics/piece.h \
	server/engine/dynamics/row.h \
	server/engine/dynamics/row_system.c \
	server/engine/dynamics/row_system.h \
	server/engine/dynamics/sleep.c \
	server/engine/dynamics/step.c \
	server/engine/dynamics/step.h \
	server/engine/dynamics/step_joints.c \
	server/engine/dynamics/step_joints.h \
	server/engine/dynamics/step_hits.c \
	server/engine/dynamics/step_reach.c \
	server/engine/dynamics/step_touch.c \
	server/engine/dynamics/sweep.c \
	server/engine/dynamics/sweep.h \
	server/engine/dynamics/sweep_list.h \
	server/engine/dynamics/sweep_pairs.c \
	server/engine/dynamics/sweep_path.c \
	server/engine/dynamics/sweep_path.h \
	server/engine/dynamics/tuning.h

tests_lib_libtests_a_SOURCES += tests/lib/stage.h tests/lib/stage.c \
	tests/lib/stage_scenes.h tests/lib/stage_scenes.c \
	tests/lib/pile_scenes.h tests/lib/pile_scenes.c

UNIT_TESTS += \
	tests/unit/server/engine/dynamics/test_body \
	tests/unit/server/engine/dynamics/test_contact \
	tests/unit/server/engine/dynamics/test_constraint \
	tests/unit/server/engine/dynamics/test_contact_force \
	tests/unit/server/engine/dynamics/test_dynamics \
	tests/unit/server/engine/dynamics/test_force \
	tests/unit/server/engine/dynamics/test_frame_rate \
	tests/unit/server/engine/dynamics/test_joint \
	tests/unit/server/engine/dynamics/test_joint_end \
	tests/unit/server/engine/dynamics/test_mass_operator \
	tests/unit/server/engine/dynamics/test_ode \
	tests/unit/server/engine/dynamics/test_step \
	tests/unit/server/engine/dynamics/test_field \
	tests/unit/server/engine/dynamics/test_integrate \
	tests/unit/server/engine/dynamics/test_island \
	tests/unit/server/engine/dynamics/test_pair_sides \
	tests/unit/server/engine/dynamics/test_solid \
	tests/unit/server/engine/dynamics/test_hits \
	tests/unit/server/engine/dynamics/test_sweep \
	tests/property/test_extremes \
	tests/property/test_workers

# Nothing passes through obstacles; 10^5 trials of each family, and 10 simulated minutes of a closed room, with
# `make soak-tunnel`.
UNIT_TESTS += tests/property/test_tunnel
.PHONY: soak-tunnel
soak-tunnel: tests/property/test_tunnel
	CAIRN_TUNNEL=$${CAIRN_TUNNEL:-100000} CAIRN_TUNNEL_MINUTES=$${CAIRN_TUNNEL_MINUTES:-10} \
		./tests/property/test_tunnel

# Sliding over seams; 10^4 seams of each floor with `make soak-seams`.
UNIT_TESTS += tests/property/test_seams
.PHONY: soak-seams
soak-seams: tests/property/test_seams
	CAIRN_SEAMS=$${CAIRN_SEAMS:-10000} ./tests/property/test_seams
