# Shapes: cooking, mass, nearest points, rays.
libengine_a_SOURCES += \
	server/engine/geometry/aabb.h \
	server/engine/geometry/box.c \
	server/engine/geometry/surface_points.h \
	server/engine/geometry/surface_points.c \
	server/engine/geometry/capsule.c \
	server/engine/geometry/closest.h \
	server/engine/geometry/closest.c \
	server/engine/geometry/cook.h \
	server/engine/geometry/curve.h \
	server/engine/geometry/curve.c \
	server/engine/geometry/curve_cook.c \
	server/engine/geometry/decompose.h \
	server/engine/geometry/decompose.c \
	server/engine/geometry/decompose_box.h \
	server/engine/geometry/decompose_box.c \
	server/engine/geometry/decompose_cap.c \
	server/engine/geometry/decompose_cut.h \
	server/engine/geometry/decompose_cut.c \
	server/engine/geometry/decompose_measure.h \
	server/engine/geometry/decompose_measure.c \
	server/engine/geometry/decompose_piece.h \
	server/engine/geometry/decompose_piece.c \
	server/engine/geometry/distance_field.h \
	server/engine/geometry/distance_field.c \
	server/engine/geometry/distance_field_build.c \
	server/engine/geometry/distance_field_cell.h \
	server/engine/geometry/distance_field_probe.c \
	server/engine/geometry/distance_field_sides.h \
	server/engine/geometry/distance_field_sides.c \
	server/engine/geometry/distance_field_surface.c \
	server/engine/geometry/heightfield.h \
	server/engine/geometry/heightfield.c \
	server/engine/geometry/hull.h \
	server/engine/geometry/hull.c \
	server/engine/geometry/hull_build.h \
	server/engine/geometry/hull_exact.c \
	server/engine/geometry/hull_merge.c \
	server/engine/geometry/hull_points.c \
	server/engine/geometry/intersect_box_sphere.h \
	server/engine/geometry/intersect_box_triangle.h \
	server/engine/geometry/intersect_box_triangle.c \
	server/engine/geometry/intersect_coplanar.h \
	server/engine/geometry/intersect_coplanar.c \
	server/engine/geometry/intersect_obb_obb.h \
	server/engine/geometry/intersect_obb_obb.c \
	server/engine/geometry/intersect_point_mesh.h \
	server/engine/geometry/intersect_point_mesh.c \
	server/engine/geometry/intersect_segment_box.h \
	server/engine/geometry/intersect_segment_box.c \
	server/engine/geometry/intersect_segment_sphere.h \
	server/engine/geometry/intersect_segment_triangle.h \
	server/engine/geometry/intersect_segment_triangle.c \
	server/engine/geometry/intersect_sphere_sphere.h \
	server/engine/geometry/intersect_sphere_triangle.h \
	server/engine/geometry/intersect_triangle_triangle.h \
	server/engine/geometry/intersect_triangle_triangle.c \
	server/engine/geometry/mass.h \
	server/engine/geometry/mass.c \
	server/engine/geometry/minkowski.h \
	server/engine/geometry/minkowski.c \
	server/engine/geometry/mesh.h \
	server/engine/geometry/mesh.c \
	server/engine/geometry/mesh_crossings.c \
	server/engine/geometry/mesh_repair.h \
	server/engine/geometry/mesh_repair.c \
	server/engine/geometry/mesh_tree.c \
	server/engine/geometry/plane.c \
	server/engine/geometry/orient.h \
	server/engine/geometry/orient.c \
	server/engine/geometry/polygon.c \
	server/engine/geometry/polyhedron.h \
	server/engine/geometry/polyhedron.c \
	server/engine/geometry/ray.h \
	server/engine/geometry/ray.c \
	server/engine/geometry/rounded.h \
	server/engine/geometry/rounded.c \
	server/engine/geometry/ray_curved.h \
	server/engine/geometry/ray_curved.c \
	server/engine/geometry/shape.h \
	server/engine/geometry/shape.c \
	server/engine/geometry/solid.h \
	server/engine/geometry/solid.c \
	server/engine/geometry/sphere.c \
	server/engine/geometry/submerged.h \
	server/engine/geometry/submerged.c \
	server/engine/geometry/submerged_parts.h \
	server/engine/geometry/submerged_rounded.c \
	server/engine/geometry/support.h \
	server/engine/geometry/support.c
tests_lib_libtests_a_SOURCES += tests/lib/shapes.h tests/lib/shapes.c \
	tests/lib/closed_meshes.h tests/lib/closed_meshes.c \
	tests/lib/field_collide.h tests/lib/field_collide.c tests/lib/model.h tests/lib/model.c \
	tests/lib/oracle_primitives.h tests/lib/oracle_primitives.c

UNIT_TESTS += \
	tests/unit/server/engine/geometry/test_closest \
	tests/unit/server/engine/geometry/test_curved \
	tests/unit/server/engine/geometry/test_decompose \
	tests/unit/server/engine/geometry/test_decompose_models \
	tests/unit/server/engine/geometry/test_distance_field \
	tests/unit/server/engine/geometry/test_hull \
	tests/unit/server/engine/geometry/test_intersect \
	tests/unit/server/engine/geometry/test_intersect_mesh \
	tests/unit/server/engine/geometry/test_mass \
	tests/unit/server/engine/geometry/test_surface_points \
	tests/unit/server/engine/geometry/test_submerged \
	tests/unit/server/engine/geometry/test_mesh \
	tests/unit/server/engine/geometry/test_minkowski \
	tests/unit/server/engine/geometry/test_mesh_repair \
	tests/unit/server/engine/geometry/test_orient \
	tests/unit/server/engine/geometry/test_ray \
	tests/unit/server/engine/geometry/test_shape
tests_unit_server_engine_geometry_test_hull_LDADD = $(LDADD) $(QHULL_LIBS)

FUZZ_TARGETS += tests/fuzz/fuzz_shape
tests_fuzz_fuzz_shape_LDADD = $(LDADD_FUZZ)
FUZZ_TARGETS += tests/fuzz/fuzz_solid
tests_fuzz_fuzz_solid_LDADD = $(LDADD_FUZZ)

# Hulls compared with Qhull; 10^4 point clouds with `make soak-hulls`.
UNIT_TESTS += tests/property/test_hull_qhull
tests_property_test_hull_qhull_LDADD = $(LDADD) $(QHULL_LIBS)
tests_lib_libtests_a_SOURCES += tests/lib/qhull_volume.h
.PHONY: soak-hulls
soak-hulls: tests/property/test_hull_qhull
	CAIRN_HULLS=10000 ./tests/property/test_hull_qhull

# make bench-shapes: real meshes (glmark2-data, assimp-testmodels) as convex parts and distance fields.
EXTRA_PROGRAMS += tests/bench/bench_shapes
tests_bench_bench_shapes_SOURCES = tests/bench/bench_shapes.c
.PHONY: bench-shapes
bench-shapes: tests/bench/bench_shapes
	tests/bench/bench_shapes
	tests/bench/bench_shapes --field

FUZZ_TARGETS += tests/fuzz/fuzz_mesh
tests_fuzz_fuzz_mesh_LDADD = $(LDADD_FUZZ)
