# Methods: interchangeable solvers of a step.
libengine_a_SOURCES += \
	server/engine/methods/free.c \
	server/engine/methods/gauss.c \
	server/engine/methods/gauss.h \
	server/engine/methods/gauss_carried.c \
	server/engine/methods/gauss_mirror.c \
	server/engine/methods/impact.c \
	server/engine/methods/impact.h \
	server/engine/methods/impact_batch.c \
	server/engine/methods/impact_fields.c \
	server/engine/methods/impact_island.c \
	server/engine/methods/impact_links.c \
	server/engine/methods/impact_parts.c \
	server/engine/methods/impact_path.c \
	server/engine/methods/impact_regions.c \
	server/engine/methods/impact_stages.c \
	server/engine/methods/impact_stiff.c \
	server/engine/methods/lcp.c \
	server/engine/methods/method.c \
	server/engine/methods/method.h \
	server/engine/methods/penalty.c \
	server/engine/methods/pile.c \
	server/engine/methods/pile.h \
	server/engine/methods/pile_basis.c \
	server/engine/methods/pile_convex.c \
	server/engine/methods/pile_group.h \
	server/engine/methods/pile_interior.c \
	server/engine/methods/pile_matrix.c \
	server/engine/methods/pile_matrix.h \
	server/engine/methods/pile_obstacles.c \
	server/engine/methods/pile_pairs.c \
	server/engine/methods/pile_potential.c \
	server/engine/methods/pile_programme.c \
	server/engine/methods/pile_rows.c \
	server/engine/methods/pile_solve.c \
	server/engine/methods/pile_soft.c \
	server/engine/methods/pile_spring.c \
	server/engine/methods/pile_zones.c \
	server/engine/methods/projection.c \
	server/engine/methods/reflection.c \
	server/engine/methods/soft_arms.c \
	server/engine/methods/soft_arms.h \
	server/engine/methods/soft_body.c \
	server/engine/methods/soft_branch.h \
	server/engine/methods/soft_closed.c \
	server/engine/methods/soft_cluster.c \
	server/engine/methods/soft_cluster.h \
	server/engine/methods/soft_colour.c \
	server/engine/methods/soft_fill.h \
	server/engine/methods/soft_gear.c \
	server/engine/methods/soft_hard.c \
	server/engine/methods/soft_joint.c \
	server/engine/methods/soft_joint.h \
	server/engine/methods/soft_joint_core.c \
	server/engine/methods/soft_joint_plan.c \
	server/engine/methods/soft_joint_rows.c \
	server/engine/methods/soft_joint_taut.c \
	server/engine/methods/soft_joint_tree.c \
	server/engine/methods/soft_calm.h \
	server/engine/methods/soft_contact.h \
	server/engine/methods/soft_kernels.c \
	server/engine/methods/soft_kernels_1.c \
	server/engine/methods/soft_kernels_16.c \
	server/engine/methods/soft_kernels_4.c \
	server/engine/methods/soft_kernels_8.c \
	server/engine/methods/soft_lanes.h \
	server/engine/methods/soft_move.h \
	server/engine/methods/soft_passes.h \
	server/engine/methods/soft_prepare.c \
	server/engine/methods/soft_seams.c \
	server/engine/methods/soft_six.h \
	server/engine/methods/soft_sleepers.c \
	server/engine/methods/soft_sides.h \
	server/engine/methods/soft_solve.c \
	server/engine/methods/soft_step.c \
	server/engine/methods/soft_step.h \
	server/engine/methods/soft_tree.c \
	server/engine/methods/soft_tree.h \
	server/engine/methods/soft_tree_drive.c \
	server/engine/methods/soft_tree_groups.c \
	server/engine/methods/soft_tree_kernels_1.c \
	server/engine/methods/soft_tree_kernels_2.c \
	server/engine/methods/soft_tree_kernels_4.c \
	server/engine/methods/soft_tree_lanes.h \
	server/engine/methods/soft_tree_passes.h \
	server/engine/methods/soft_tree_plan.c \
	server/engine/methods/soft_tree_rows.c \
	server/engine/methods/soft_tree_step.c \
	server/engine/methods/soft_wide.c \
	server/engine/methods/soft_wide.h \
	server/engine/methods/soft_wide_lanes.h \
	server/engine/methods/soft_wide_passes.h \
	server/engine/methods/soft_wide_rows.h \
	server/engine/methods/velocity.c \
	server/engine/methods/velocity.h \
	server/engine/methods/velocity_end.c \
	server/engine/methods/velocity_impact.c \
	server/engine/methods/velocity_island.c \
	server/engine/methods/velocity_joint.c \
	server/engine/methods/velocity_printed.c \
	server/engine/methods/velocity_reflect.c \
	server/engine/methods/velocity_rotor.c \
	server/engine/methods/velocity_rows.c \
	server/engine/methods/velocity_sparse.c \
	server/engine/methods/velocity_rank.c \
	server/engine/methods/velocity_taut.c \
	server/engine/methods/velocity_tree.c

tests_lib_libtests_a_SOURCES += tests/lib/method_probe.h tests/lib/method_probe.c

UNIT_TESTS += \
	tests/unit/server/engine/methods/test_gauss \
	tests/unit/server/engine/methods/test_gauss_carried \
	tests/unit/server/engine/methods/test_gauss_joints \
	tests/unit/server/engine/methods/test_impact \
	tests/unit/server/engine/methods/test_impact_book \
	tests/unit/server/engine/methods/test_impact_checks \
	tests/unit/server/engine/methods/test_impact_integrators \
	tests/unit/server/engine/methods/test_impact_lists \
	tests/unit/server/engine/methods/test_impact_rolling \
	tests/unit/server/engine/methods/test_impact_rough \
	tests/unit/server/engine/methods/test_impact_rows \
	tests/unit/server/engine/methods/test_impact_shapes \
	tests/unit/server/engine/methods/test_impact_stiff \
	tests/unit/server/engine/methods/test_impact_ways \
	tests/unit/server/engine/methods/test_friction_axis \
	tests/unit/server/engine/methods/test_method \
	tests/unit/server/engine/methods/test_free \
	tests/unit/server/engine/methods/test_parameters \
	tests/unit/server/engine/methods/test_penalty \
	tests/unit/server/engine/methods/test_pile \
	tests/unit/server/engine/methods/test_pile_pairs \
	tests/unit/server/engine/methods/test_pile_pieces \
	tests/unit/server/engine/methods/test_pile_polyhedra \
	tests/unit/server/engine/methods/test_pile_potential \
	tests/unit/server/engine/methods/test_pile_spring \
	tests/unit/server/engine/methods/test_velocity \
	tests/unit/server/engine/methods/test_joint_book \
	tests/unit/server/engine/methods/test_joint_gimbal \
	tests/unit/server/engine/methods/test_pendulums \
	tests/unit/server/engine/methods/test_joint_push \
	tests/unit/server/engine/methods/test_joint_torque \
	tests/unit/server/engine/methods/test_linkage_book \
	tests/unit/server/engine/methods/test_loop_impulse \
	tests/unit/server/engine/methods/test_gear \
	tests/unit/server/engine/methods/test_armature \
	tests/unit/server/engine/methods/test_servo \
	tests/unit/server/engine/methods/test_velocity_joint \
	tests/unit/server/engine/methods/test_velocity_mechanism \
	tests/unit/server/engine/methods/test_velocity_scenes \
	tests/unit/server/engine/methods/test_velocity_tree \
	tests/unit/server/engine/methods/test_tree_landing \
	tests/unit/server/engine/methods/test_soft_tree \
	tests/property/test_energy \
	tests/unit/server/engine/methods/test_soft_cluster \
	tests/unit/server/engine/methods/test_soft_contact \
	tests/unit/server/engine/methods/test_soft_rows \
	tests/unit/server/engine/methods/test_soft_small \
	tests/unit/server/engine/methods/test_soft_motion \
	tests/unit/server/engine/methods/test_soft_joint \
	tests/unit/server/engine/methods/test_soft_taut \
	tests/unit/server/engine/methods/test_soft_wide \
	tests/unit/server/engine/methods/test_soft_loop \
	tests/unit/server/engine/methods/test_soft_sleepers \
	tests/unit/server/engine/methods/test_curved_bodies \
	tests/unit/server/engine/methods/test_soft_step
EXTRA_DIST += tests/data/make_pendulums.py tests/data/pendulums.h

# Times of collisions by distances alone, work in another order, towers and clouds; 1000 scenes and 10^4 ticks with
# `make soak-impact`.
UNIT_TESTS += tests/property/test_impact_events
SOAKS_IMPACT = tests/property/test_impact_events tests/unit/server/engine/methods/test_impact \
	tests/unit/server/engine/methods/test_velocity_scenes
.PHONY: soak-impact
soak-impact: $(SOAKS_IMPACT)
	for program in $(SOAKS_IMPACT); do \
		CAIRN_IMPACT_SCENES=$${CAIRN_IMPACT_SCENES:-1000} CAIRN_SCENES=$${CAIRN_SCENES:-1000} \
		CAIRN_IMPACT_TICKS=$${CAIRN_IMPACT_TICKS:-10000} CK_TIMEOUT_MULTIPLIER=100 \
		./$$program || exit 1; done

# Bodies on uneven surfaces; 12 000 with `make soak-surfaces`.
UNIT_TESTS += tests/property/test_impact_surfaces
.PHONY: soak-surfaces
soak-surfaces: tests/property/test_impact_surfaces
	CAIRN_SURFACES=$${CAIRN_SURFACES:-12000} CK_TIMEOUT_MULTIPLIER=1000 ./$<

# Mechanisms in reduced and in maximal coordinates; 100 of each kind over 1000 steps with `make soak-trees`, one of its
# twelve parts with `make soak-trees CASES=drives METHODS=impact`.
CASES = trees drives loops
METHODS = lcp projection reflection impact
.PHONY: soak-trees
soak-trees: tests/unit/server/engine/methods/test_velocity_tree
	for method in $(METHODS); do for case in $(CASES); do CAIRN_MECHANISM_METHOD=$$method CK_RUN_CASE=$$case \
		CAIRN_MECHANISMS=$${CAIRN_MECHANISMS:-100} CAIRN_MECHANISM_STEPS=$${CAIRN_MECHANISM_STEPS:-1000} \
		CAIRN_MECHANISM_RATE=$${CAIRN_MECHANISM_RATE:-4000} \
		CAIRN_MECHANISM_TOLERANCE=$${CAIRN_MECHANISM_TOLERANCE:-1e-12} \
		CK_TIMEOUT_MULTIPLIER=1000 ./$< || exit 1; done; done
