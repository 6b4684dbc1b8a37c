# libcairnscene.a: from scene files and meshes to shapes and commands.
libcairnscene_a_SOURCES += \
	protocol/scene/scene.h \
	protocol/scene/scene.c \
	protocol/scene/compile.h \
	protocol/scene/shapes.c \
	protocol/scene/bodies.c \
	protocol/scene/generate.c \
	protocol/scene/joints.c \
	protocol/scene/joint_axes.c \
	protocol/scene/fields.c \
	protocol/scene/expect.c \
	protocol/scene/cloud.h \
	protocol/scene/cloud.c \
	protocol/scene/mesh.h \
	protocol/scene/mesh.c \
	protocol/scene/schema.def \
	protocol/scene/schema.h \
	protocol/scene/schema.c \
	protocol/scene/yaml.h \
	protocol/scene/yaml.c

# Installed and packed by server/package/local.mk.
SCENES = \
	clients/scenes/bomb.yaml \
	clients/scenes/bridge.yaml \
	clients/scenes/car.yaml \
	clients/scenes/chain.yaml \
	clients/scenes/cradle.yaml \
	clients/scenes/crane.yaml \
	clients/scenes/cubes901.yaml \
	clients/scenes/door.yaml \
	clients/scenes/escapement.yaml \
	clients/scenes/falling.yaml \
	clients/scenes/gallery/arch101.yaml \
	clients/scenes/gallery/arch25.yaml \
	clients/scenes/gallery/arch951.yaml \
	clients/scenes/gallery/billiard.yaml \
	clients/scenes/gallery/bounce.yaml \
	clients/scenes/gallery/bowling.yaml \
	clients/scenes/gallery/cards2.yaml \
	clients/scenes/gallery/cards3.yaml \
	clients/scenes/gallery/cards4.yaml \
	clients/scenes/gallery/coin.yaml \
	clients/scenes/gallery/cradle.yaml \
	clients/scenes/gallery/dome.yaml \
	clients/scenes/gallery/dominoes.yaml \
	clients/scenes/gallery/edges.yaml \
	clients/scenes/gallery/painleve.yaml \
	clients/scenes/gallery/racket.yaml \
	clients/scenes/gallery/rolling.yaml \
	clients/scenes/gallery/slope.yaml \
	clients/scenes/gallery/spikes.yaml \
	clients/scenes/gallery/tippetop.yaml \
	clients/scenes/gallery/top.yaml \
	clients/scenes/controls.yaml \
	clients/scenes/fields.yaml \
	clients/scenes/gallery/wrecking.yaml \
	clients/scenes/grid.yaml \
	clients/scenes/joints.yaml \
	clients/scenes/meshes.yaml \
	clients/scenes/mixed.yaml \
	clients/scenes/planar.yaml \
	clients/scenes/pyramid.yaml \
	clients/scenes/ragdolls.yaml \
	clients/scenes/solids.yaml \
	clients/scenes/spheres.yaml \
	clients/scenes/tower.yaml

UNIT_TESTS += \
	tests/unit/protocol/scene/test_cloud \
	tests/unit/protocol/scene/test_errors \
	tests/unit/protocol/scene/test_expect \
	tests/unit/protocol/scene/test_joints \
	tests/unit/protocol/scene/test_scene \
	tests/property/test_joint_scenes

FUZZ_TARGETS += tests/fuzz/fuzz_scene
tests_fuzz_fuzz_scene_LDADD = $(LDADD_FUZZ)
EXTRA_DIST += tests/fuzz/corpus/scene
