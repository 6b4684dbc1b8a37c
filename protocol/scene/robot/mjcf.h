/* mjcf.h: what the readers of MJCF share. Private to this folder. */
#ifndef CAIRN_PROTOCOL_SCENE_ROBOT_MJCF_H
#define CAIRN_PROTOCOL_SCENE_ROBOT_MJCF_H

#include "protocol/scene/robot/model.h"

enum { MJCF_CLASSES_MAX = 1024 };

/* A class of defaults; the first is that of the file. A class may have several elements, if
 * files are included. */
struct mjcf_class {
	const char *name;
	uint32_t parent; /* ROBOT_NONE: of the first */
	const struct xml_node *node;
	uint32_t more; /* the next entry of the same class; ROBOT_NONE: none */
};

struct mjcf {
	struct robot *robot;
	ARRAY_OF(struct mjcf_class) classes;
	struct names class_names, bodies, joints, meshes, materials;
	double angle; /* rad for one of the file's units */
	bool autolimits;
	enum { FROM_GEOM_FALSE, FROM_GEOM_TRUE, FROM_GEOM_AUTO } from_geom;
	double group_least, group_most; /* groups of geoms that have mass */
	const char *eulerseq, *mesh_folder;
	/* Ranges of hinges: the largest number, to see radians among degrees. */
	double range_most;
	const struct xml_node *range_node;
};

/* Collects the classes. mjcf_defaults.c */
MUST_CHECK enum status mjcf_classes(struct mjcf *self);
/* The class of an element: its own, or that of what it is in. */
MUST_CHECK enum status mjcf_class_of(const struct mjcf *self, const struct xml_node *node,
				     uint32_t around, uint32_t *out);
/* The value of an attribute: the element's, that of its class, or the initial one; NULL: none. */
const char *mjcf_text(const struct mjcf *self, const struct xml_node *node, uint32_t class_,
		      const char *name);
uint32_t mjcf_reals(const struct mjcf *self, const struct xml_node *node, uint32_t class_,
		    const char *name, double out[GRAMMAR_REALS_MAX]);
/* Of an attribute that has an initial value. */
double mjcf_real(const struct mjcf *self, const struct xml_node *node, uint32_t class_,
		 const char *name);
/* The rotation by quat, axisangle, xyaxes, zaxis or euler. */
MUST_CHECK enum status mjcf_rotation(const struct mjcf *self, const struct xml_node *node,
				     uint32_t class_, quat *out);
/* The shortest turn of the z axis to a unit vector. */
quat mjcf_turn_z(vec3 to);

/* A geom, added to the robot; `link` is ROBOT_NONE for the world's. mjcf_geoms.c */
MUST_CHECK enum status mjcf_geom(struct mjcf *self, const struct xml_node *node, uint32_t link,
				 uint32_t around);
/* The names of meshes and materials. */
MUST_CHECK enum status mjcf_assets(struct mjcf *self);
/* Actuators, equalities and excluded contacts. mjcf_links.c */
MUST_CHECK enum status mjcf_connections(struct mjcf *self);

#endif
