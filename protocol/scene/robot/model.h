/* model.h: a robot as links, joints and shapes, whatever its file's format. Private to this
 * folder.
 *
 * Everything is in the file's world, with z up, in the model's own pose: where every
 * coordinate is 0 (URDF) or has its `ref` (MJCF). Links are in an order in which parents come
 * before their children. SI units and radians. Texts are borrowed from the tree of the file.
 */
#ifndef CAIRN_PROTOCOL_SCENE_ROBOT_MODEL_H
#define CAIRN_PROTOCOL_SCENE_ROBOT_MODEL_H

#include "protocol/scene/robot/convert.h"
#include "protocol/scene/robot/grammar.h"
#include "protocol/scene/robot/tensor.h"
#include "server/base/array.h"

#define ROBOT_NONE UINT32_MAX
enum {
	ROBOT_LINKS_MAX = 4096, /* the most names of a scene */
	ROBOT_PATH_MAX = 256,
};

enum robot_shape {
	SHAPE_PLANE,
	SHAPE_SPHERE,
	SHAPE_CAPSULE,
	SHAPE_ELLIPSOID,
	SHAPE_CYLINDER,
	SHAPE_BOX,
	SHAPE_MESH
};
struct robot_geom {
	const struct xml_node *node;
	uint32_t link; /* ROBOT_NONE: the world, a static body of its own */
	enum robot_shape shape;
	vec3 size; /* as in MJCF: radius, half length; half lengths; of a mesh: its scale */
	pose at;   /* in the link's axes; a capsule and a cylinder are along z */
	char file[ROBOT_PATH_MAX];
	bool collides;
	bool shown; /* pictures show it; if its body has one that is shown and does not collide */
	uint32_t type, affinity; /* bits */
	double friction[3];	 /* sliding; spinning and rolling, m */
	int32_t colour;		 /* 0xRRGGBB, or −1 */
	double mass;		 /* what it adds to its link, kg; −1: not known, of a mesh */
	struct tensor inertia;	 /* about its centre, in its axes */
};

struct robot_link {
	const struct xml_node *node;
	const char *name;
	uint32_t parent; /* index; ROBOT_NONE: the world */
	pose at;	 /* in the world */
	double mass;
	vec3 centre;	       /* in its axes */
	struct tensor inertia; /* about the centre, in its axes */
	bool given;	       /* mass and so on are the file's, not those of its shapes */
	bool still;	       /* fixed to the world */
	bool animated;
	bool jointed;  /* it has a joint, or is free */
	uint32_t into; /* the link that it is part of: itself, or one with mass */
	uint32_t
		weld; /* the link to which this one is fixed, directly or through others: itself if none */
	int32_t colour;
	double gravity_scale;
	uint32_t defaults; /* of MJCF: the class of what is in it */
	uint32_t geom_first, geom_count;
	uint32_t joint_first, joint_count; /* set by robot_arrange */
	uint32_t mover; /* the link whose joints move this body: itself, or one it stands for */
	uint32_t weld_count,
		weld_next;  /* bodies fixed to each other: how many (of `weld`); the next */
	uint32_t part_next; /* the next link with this `into`, likewise; ROBOT_NONE: none */
};

enum robot_joint_type {
	ROBOT_HINGE,
	ROBOT_SLIDE,
	ROBOT_BALL,
	ROBOT_FREE,
	ROBOT_FIXED,
	ROBOT_PLANAR
};
/* In ascending order of precedence. */
enum robot_drive { DRIVE_NONE, DRIVE_FORCE, DRIVE_VELOCITY, DRIVE_POSITION };
struct robot_joint {
	const struct xml_node *node;
	const char *name; /* NULL: none */
	uint32_t link;	  /* the child; its parent is the other side */
	enum robot_joint_type type;
	vec3 anchor, axis; /* in the world; the axis has length 1 */
	bool limited;
	double lower, upper;
	double stiffness, rest, damping, friction;
	double armature; /* kg m², kg */
	double ref;	 /* the file's coordinate where ours is 0 */
	enum robot_drive drive;
	double target, drive_limit;	       /* 0: no limit */
	double drive_stiffness, drive_damping; /* gains; both 0: it has none */
	/* q = gear_ratio × that of the leader + gear_offset; NULL: it follows none. */
	const struct xml_node *gear;
	uint32_t leader; /* of robot.joints */
	double gear_ratio, gear_offset;
};

struct robot;
/* Makes a joint follow another one, or that one the first if it follows one already. By line of `node`:
 * RANGE where they are no two hinges or slides, EXISTS where both have a leader. */
MUST_CHECK enum status robot_gear(struct robot *self, const struct xml_node *node, uint32_t joint,
				  uint32_t leader, double ratio, double offset);

/* A loop, or two bodies that pass through each other. */
enum robot_tie { TIE_CONNECT, TIE_WELD, TIE_PASS };
struct robot_loop {
	const struct xml_node *node;
	enum robot_tie tie;
	uint32_t a, b; /* links; ROBOT_NONE: the world */
	vec3 anchor;   /* in the world */
};

struct robot {
	const struct scene_options *options;
	const char *base; /* the folder of its file, or NULL */
	struct xml_tree *tree;
	struct notes *notes;
	const char *name;
	vec3 gravity;	 /* z up */
	double timestep; /* s; 0: not given */
	bool is_mjcf, balance;
	double helper_share; /* of a body's mass and inertia: of each link between two of its joints */
	double mass_least, inertia_least, mass_total; /* of MJCF's compiler; mass_total < 0: none */
	ARRAY_OF(struct robot_link) links;
	ARRAY_OF(struct robot_joint) joints; /* ascending by link */
	ARRAY_OF(struct robot_geom) geoms;   /* those of a link in a row */
	ARRAY_OF(struct robot_loop) loops;
};

/* Names and what they stand for; sorted by names_sort, before names_find. */
struct name_entry {
	const char *name;
	const struct xml_node *node;
	uint32_t index;
};
struct names {
	ARRAY_OF(struct name_entry) list;
};
MUST_CHECK enum status names_add(struct names *self, const struct xml_node *node, const char *name,
				 uint32_t index);
/* EXISTS, by line, if a name is there twice; `what` is "link" and so on. */
MUST_CHECK enum status names_sort(struct names *self, const char *what);
/* MISSING, with the nearest name. */
MUST_CHECK enum status names_find_entry(const struct names *self, const char *what,
					const struct xml_node *use, const char *field,
					const char *name, const struct name_entry **out);
MUST_CHECK enum status names_find(const struct names *self, const char *what,
				  const struct xml_node *use, const char *field, const char *name,
				  uint32_t *index);
void names_release(struct names *self);

/* Fails at an element. */
#define node_fail(node, status, field, ...)                                                        \
	source_fail((node)->source, (node)->line, status, field, __VA_ARGS__)
#define node_note(robot, node, key, ...)                                                           \
	notes_add((robot)->notes, key, source_name((node)->source, (node)->source->file),          \
		  (node)->line, __VA_ARGS__)

/* The readers. */
MUST_CHECK enum status urdf_read(struct robot *self);
MUST_CHECK enum status mjcf_read(struct robot *self);

/* A unit vector along an axis; DEGENERATE if its length is 0. */
MUST_CHECK enum status robot_axis(const struct xml_node *node, const double v[3], vec3 *out);
/* Adds a link and a joint with their defaults. */
MUST_CHECK enum status robot_link_add(struct robot *self, const struct xml_node *node,
				      struct robot_link **out);
MUST_CHECK enum status robot_joint_add(struct robot *self, const struct xml_node *node,
				       struct robot_joint **out);
/* Volume (0 for planes and meshes), and mass and inertia for a density or a given mass. */
double shape_volume(enum robot_shape shape, vec3 size);
void geom_weigh(struct robot_geom *geom, double mass);
/* The name of a mesh file as a scene has it: below `folder`, and found, if there are files at
 * all. */
MUST_CHECK enum status robot_mesh_file(const struct robot *self, const struct xml_node *node,
				       const char *folder, const char *name,
				       char out[ROBOT_PATH_MAX]);
/* 0xRRGGBB of three or four numbers from 0 to 1. */
int32_t robot_colour(const double rgba[]);

/* Which links are still, and to which each is fixed. */
void robot_find_welds(struct robot *self);
/* Masses of the links from what the file gives and from their shapes; refuses those that no
 * body has. */
MUST_CHECK enum status robot_weigh(struct robot *self);
/* Which links are part of others, and the joints of each. */
MUST_CHECK enum status robot_arrange(struct robot *self);
/* RANGE, by a link's line, where the links between its joints would have more than half of its mass, or
 * one of them less than MASS_MIN. */
MUST_CHECK enum status robot_check_helpers(const struct robot *self);
/* The scene as text, and the line of the file for each of its lines. */
MUST_CHECK enum status robot_write(const struct robot *self, struct robot_scene *out);

#endif
