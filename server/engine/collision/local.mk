# Collision: broad phase, distances, separating axes, manifolds.
libengine_a_SOURCES += \
	server/engine/collision/advance.h \
	server/engine/collision/advance.c \
	server/engine/collision/bisect.h \
	server/engine/collision/bisect.c \
	server/engine/collision/box_queries.h \
	server/engine/collision/box_queries.c \
	server/engine/collision/broad_grid.h \
	server/engine/collision/broad_grid.c \
	server/engine/collision/broad_kind.h \
	server/engine/collision/broad_phase.h \
	server/engine/collision/broad_phase.c \
	server/engine/collision/broad_sweep.c \
	server/engine/collision/broad_tree.c \
	server/engine/collision/clip.h \
	server/engine/collision/clip.c \
	server/engine/collision/contact_polygon.h \
	server/engine/collision/contact_polygon.c \
	server/engine/collision/continuous_box.h \
	server/engine/collision/continuous_box.c \
	server/engine/collision/continuous_mesh.h \
	server/engine/collision/continuous_mesh.c \
	server/engine/collision/continuous_sphere.h \
	server/engine/collision/continuous_sphere.c \
	server/engine/collision/continuous_triangle.h \
	server/engine/collision/continuous_triangle.c \
	server/engine/collision/crossing.h \
	server/engine/collision/crossing.c \
	server/engine/collision/curved_axis.c \
	server/engine/collision/curved_face.c \
	server/engine/collision/curved_pair.h \
	server/engine/collision/pairs_curved.c \
	server/engine/collision/epa.h \
	server/engine/collision/epa.c \
	server/engine/collision/face_contact.h \
	server/engine/collision/face_contact.c \
	server/engine/collision/free_region.h \
	server/engine/collision/free_region.c \
	server/engine/collision/gjk.h \
	server/engine/collision/gjk.c \
	server/engine/collision/gjk_curved.c \
	server/engine/collision/gjk_exact.h \
	server/engine/collision/gjk_exact.c \
	server/engine/collision/hierarchy.h \
	server/engine/collision/hierarchy.c \
	server/engine/collision/hierarchy_walk.c \
	server/engine/collision/manifold.h \
	server/engine/collision/mesh_corner.h \
	server/engine/collision/mesh_corner.c \
	server/engine/collision/mesh_pair.h \
	server/engine/collision/mesh_pair.c \
	server/engine/collision/mover.c \
	server/engine/collision/walker.c \
	server/engine/collision/walker.h \
	server/engine/collision/obb.h \
	server/engine/collision/obb.c \
	server/engine/collision/pairs.h \
	server/engine/collision/pairs.c \
	server/engine/collision/pairs_box.c \
	server/engine/collision/pairs_core.c \
	server/engine/collision/pairs_field.c \
	server/engine/collision/field_pair.h \
	server/engine/collision/field_features.c \
	server/engine/collision/pairs_hull.c \
	server/engine/collision/pairs_mesh.c \
	server/engine/collision/pairs_plane.c \
	server/engine/collision/pairs_polygon.c \
	server/engine/collision/pairs_round.c \
	server/engine/collision/placed.h \
	server/engine/collision/placed.c server/engine/collision/placed_near.c \
	server/engine/collision/placed_regions.c \
	server/engine/collision/query.h \
	server/engine/collision/query.c \
	server/engine/collision/regions.h \
	server/engine/collision/regions.c \
	server/engine/collision/regions_cross.c \
	server/engine/collision/regions_flood.c \
	server/engine/collision/regions_measure.c \
	server/engine/collision/regions_way.c \
	server/engine/collision/regions_work.h \
	server/engine/collision/sat.h \
	server/engine/collision/sat.c \
	server/engine/collision/sphere_tree.h \
	server/engine/collision/sphere_tree.c \
	server/engine/collision/swept_ball.h \
	server/engine/collision/swept_ball.c \
	server/engine/collision/tree.h \
	server/engine/collision/time_of_impact.c \
	server/engine/collision/time_of_impact.h \
	server/engine/collision/triangle.c \
	server/engine/collision/triangle.h \
	server/engine/collision/tree.c \
	server/engine/collision/vclip.h \
	server/engine/collision/vclip.c

UNIT_TESTS += \
	tests/property/test_agreement \
	tests/unit/server/engine/collision/test_advance \
	tests/unit/server/engine/collision/test_bisect \
	tests/unit/server/engine/collision/test_broad_phase \
	tests/unit/server/engine/collision/test_contact_polygon \
	tests/unit/server/engine/collision/test_field \
	tests/unit/server/engine/collision/test_curved_pairs \
	tests/unit/server/engine/collision/test_continuous \
	tests/unit/server/engine/collision/test_continuous_mesh \
	tests/unit/server/engine/collision/test_epa \
	tests/unit/server/engine/collision/test_free_region \
	tests/unit/server/engine/collision/test_gjk \
	tests/unit/server/engine/collision/test_hierarchy \
	tests/unit/server/engine/collision/test_manifold \
	tests/unit/server/engine/collision/test_pair_order \
	tests/unit/server/engine/collision/test_pairs \
	tests/unit/server/engine/collision/test_placed \
	tests/unit/server/engine/collision/test_heightfield \
	tests/unit/server/engine/collision/test_query \
	tests/unit/server/engine/collision/test_regions \
	tests/unit/server/engine/collision/test_sat \
	tests/unit/server/engine/collision/test_time_of_impact \
	tests/unit/server/engine/collision/test_tree \
	tests/unit/server/engine/collision/test_vclip

tests_lib_libtests_a_SOURCES += \
	tests/lib/agree.h \
	tests/lib/agree.c \
	tests/lib/oracle_convex.h \
	tests/lib/oracle_convex.c \
	tests/lib/oracle_collision.h \
	tests/lib/oracle_collision.c \
	tests/lib/poses.h \
	tests/lib/solids.h \
	tests/lib/solids.c

# Cost of a query: make tests/bench/bench_collision && tests/bench/bench_collision
EXTRA_PROGRAMS += tests/bench/bench_collision

# Compares the four closest-feature algorithms with each other and with brute force on 1.1 million poses: minutes.
EXTRA_PROGRAMS += tests/agree/agree
tests_agree_agree_SOURCES = tests/agree/agree.c
.PHONY: agree
agree: tests/agree/agree
	tests/agree/agree

FUZZ_TARGETS += tests/fuzz/fuzz_convex tests/fuzz/fuzz_pairs
tests_fuzz_fuzz_convex_LDADD = $(LDADD_FUZZ)
tests_fuzz_fuzz_pairs_LDADD = $(LDADD_FUZZ)
FUZZ_TARGETS += tests/fuzz/fuzz_broad_phase tests/fuzz/fuzz_regions
tests_fuzz_fuzz_broad_phase_LDADD = $(LDADD_FUZZ)
tests_fuzz_fuzz_regions_LDADD = $(LDADD_FUZZ)
