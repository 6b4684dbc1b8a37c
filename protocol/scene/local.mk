# libcairnscene.a: from scene files and meshes to shapes and commands.
libcairnscene_a_SOURCES += \
	protocol/scene/scene.h \
	protocol/scene/scene.c \
	protocol/scene/compile.h \
	protocol/scene/shapes.c \
	protocol/scene/bodies.c \
	protocol/scene/colours.c \
	protocol/scene/movers.c \
	protocol/scene/carried.c \
	protocol/scene/expat_reader.h \
	protocol/scene/expat_reader.c \
	protocol/scene/expand.h \
	protocol/scene/expand.c \
	protocol/scene/files.h \
	protocol/scene/files.c \
	protocol/scene/folder.h \
	protocol/scene/folder.c \
	protocol/scene/formula.h \
	protocol/scene/formula.c \
	protocol/scene/generate.c \
	protocol/scene/include.c \
	protocol/scene/heightfields.c \
	protocol/scene/heights.h \
	protocol/scene/heights.c \
	protocol/scene/joints.c \
	protocol/scene/gears.c \
	protocol/scene/joint_axes.c \
	protocol/scene/fields.c \
	protocol/scene/particles.c \
	protocol/scene/expect.c \
	protocol/scene/cloud.h \
	protocol/scene/cloud.c \
	protocol/scene/mesh.h \
	protocol/scene/mesh.c \
	protocol/scene/pieces.c \
	protocol/scene/schema.def \
	protocol/scene/schema.h \
	protocol/scene/schema.c \
	protocol/scene/scatter.c \
	protocol/scene/synonyms.c \
	protocol/scene/synonyms.def \
	protocol/scene/nodes.h \
	protocol/scene/nodes.c \
	protocol/scene/variables.h \
	protocol/scene/visuals.c \
	protocol/scene/labels.c \
	protocol/scene/placed.c \
	protocol/scene/placed.h \
	protocol/scene/variables.c \
	protocol/scene/yaml.h \
	protocol/scene/yaml.c \
	protocol/scene/robot/arrange.c \
	protocol/scene/robot/convert.c \
	protocol/scene/robot/convert.h \
	protocol/scene/robot/grammar.c \
	protocol/scene/robot/grammar.h \
	protocol/scene/robot/mjcf.c \
	protocol/scene/robot/mjcf.h \
	protocol/scene/robot/mjcf_defaults.c \
	protocol/scene/robot/mjcf_geoms.c \
	protocol/scene/robot/mjcf_links.c \
	protocol/scene/robot/model.c \
	protocol/scene/robot/model.h \
	protocol/scene/robot/notes.c \
	protocol/scene/robot/notes.h \
	protocol/scene/robot/robot.def \
	protocol/scene/robot/tensor.c \
	protocol/scene/robot/tensor.h \
	protocol/scene/robot/urdf.c \
	protocol/scene/robot/weigh.c \
	protocol/scene/robot/write.c \
	protocol/scene/robot/write.h \
	protocol/scene/robot/write_joints.c \
	protocol/scene/robot/xml.c \
	protocol/scene/robot/xml.h

# Installed and packed by server/package/local.mk.
SCENES = \
	clients/scenes/bomb.yaml \
	clients/scenes/bridge.yaml \
	clients/scenes/car.yaml \
	clients/scenes/castle.yaml \
	clients/scenes/chain.yaml \
	clients/scenes/cradle.yaml \
	clients/scenes/crane.yaml \
	clients/scenes/cubes901.yaml \
	clients/scenes/diamond.yaml \
	clients/scenes/door.yaml \
	clients/scenes/escapement.yaml \
	clients/scenes/explosion.yaml \
	clients/scenes/falling.yaml \
	clients/scenes/fracture.yaml \
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
	clients/scenes/gallery/current.yaml \
	clients/scenes/gallery/deep.yaml \
	clients/scenes/gallery/dome.yaml \
	clients/scenes/gallery/dominoes.yaml \
	clients/scenes/gallery/edges.yaml \
	clients/scenes/gallery/painleve.yaml \
	clients/scenes/gallery/racket.yaml \
	clients/scenes/gallery/rolling.yaml \
	clients/scenes/gallery/skis.yaml \
	clients/scenes/gallery/slope.yaml \
	clients/scenes/gallery/spikes.yaml \
	clients/scenes/gallery/tippetop.yaml \
	clients/scenes/gallery/top.yaml \
	clients/scenes/controls.yaml \
	clients/scenes/conveyor.yaml \
	clients/scenes/mover.yaml \
	clients/scenes/hammock.yaml \
	clients/scenes/harbour.yaml \
	clients/scenes/fields.yaml \
	clients/scenes/basin.yaml \
	clients/scenes/overflow.yaml \
	clients/scenes/curtain.yaml \
	clients/scenes/dam-break.yaml \
	clients/scenes/droplet.yaml \
	clients/scenes/fire.yaml \
	clients/scenes/fireworks.yaml \
	clients/scenes/fluid-burst.yaml \
	clients/scenes/fluid-column.yaml \
	clients/scenes/fluid-inside.yaml \
	clients/scenes/fluid-neutral.yaml \
	clients/scenes/fluid-phase.yaml \
	clients/scenes/fluid-tanks.yaml \
	clients/scenes/fountain.yaml \
	clients/scenes/fountain-basin.yaml \
	clients/scenes/bricks.yaml \
	clients/scenes/frameworks.yaml \
	clients/scenes/gallery/wrecking.yaml \
	clients/scenes/grid.yaml \
	clients/scenes/heightfield.yaml \
	clients/scenes/hourglass.yaml \
	clients/scenes/folds.yaml \
	clients/scenes/sand.yaml \
	clients/scenes/layers.yaml \
	clients/scenes/ember.yaml \
	clients/scenes/jet.yaml \
	clients/scenes/rockets.yaml \
	clients/scenes/joints.yaml \
	clients/scenes/lava-lamp.yaml \
	clients/scenes/locks.yaml \
	clients/scenes/meshes.yaml \
	clients/scenes/parts/bricks.yaml \
	clients/scenes/parts/frameworks.yaml \
	clients/scenes/parts/masonry.yaml \
	clients/scenes/pieces.yaml \
	clients/scenes/platforms.yaml \
	clients/scenes/mixed.yaml \
	clients/scenes/planar.yaml \
	clients/scenes/shapes.yaml \
	clients/scenes/pearl.yaml \
	clients/scenes/pile-box.yaml \
	clients/scenes/pile-clump.yaml \
	clients/scenes/pile-jacks.yaml \
	clients/scenes/pile-polyhedra.yaml \
	clients/scenes/pyramid.yaml \
	clients/scenes/ragdolls.yaml \
	clients/scenes/rain.yaml \
	clients/scenes/smoke.yaml \
	clients/scenes/snow.yaml \
	clients/scenes/solids.yaml \
	clients/scenes/spheres.yaml \
	clients/scenes/visuals.yaml \
	clients/scenes/tower.yaml \
	clients/scenes/trampoline.yaml \
	clients/scenes/drops.yaml

# Robots, read as scenes.
SCENES += \
	clients/scenes/robots/arm.urdf \
	clients/scenes/robots/crane.xml \
	clients/scenes/robots/excavator.xml \
	clients/scenes/robots/humanoid.xml \
	clients/scenes/robots/quadruped.xml

UNIT_TESTS += \
	tests/unit/protocol/scene/test_cloud \
	tests/unit/protocol/scene/test_errors \
	tests/unit/protocol/scene/test_expand \
	tests/unit/protocol/scene/test_expect \
	tests/unit/protocol/scene/test_joints \
	tests/unit/protocol/scene/test_placed \
	tests/unit/protocol/scene/test_robot \
	tests/property/test_robots \
	tests/unit/protocol/scene/test_scene \
	tests/unit/protocol/scene/test_heightfields \
	tests/unit/protocol/scene/test_scene_pieces \
	tests/property/test_joint_scenes

FUZZ_TARGETS += tests/fuzz/fuzz_scene tests/fuzz/fuzz_robot
tests_fuzz_fuzz_scene_LDADD = $(LDADD_FUZZ)
tests_fuzz_fuzz_robot_LDADD = $(LDADD_FUZZ)
EXTRA_DIST += tests/fuzz/corpus/scene tests/fuzz/corpus/robot

# Robots beside MuJoCo, where it is installed.
if HAVE_MUJOCO
UNIT_TESTS += tests/property/test_robot_mujoco
tests_property_test_robot_mujoco_LDADD = $(LDADD) $(MUJOCO_LIBS)
endif
EXTRA_DIST += tests/property/test_robot_mujoco.c tests/data/robots
