/* synonyms.c: words of other engines and formats for what a scene calls otherwise. They are not read: an
 * error names the word that is. */
#include <string.h>

#include "protocol/scene/schema.h"

static const struct {
	const char *word, *ours;
} SYNONYMS[] = {
	/* bodies and their placements */
	{ "pos", "at" },
	{ "translation", "at" },
	{ "location", "at" },
	{ "origin", "at" },
	{ "orientation", "rotation" },
	{ "quaternion", "rotation" },
	{ "quat", "rotation" },
	{ "euler", "rotation" },
	{ "vel", "velocity" },
	{ "linear_velocity", "velocity" },
	{ "speed", "velocity" },
	{ "omega", "angular_velocity" },
	{ "angvel", "angular_velocity" },
	{ "spin", "angular_velocity" },
	{ "weight", "mass" },
	{ "com", "centre" },
	{ "center", "centre" },
	{ "center_of_mass", "centre" },
	{ "moments", "inertia" },
	{ "geom", "shape" },
	{ "geometry", "shape" },
	{ "collider", "shape" },
	{ "geoms", "shapes" },
	{ "colliders", "shapes" },
	{ "type", "status" },
	{ "fixed", "status" },
	{ "kinematic", "status" },
	{ "static", "status" },
	{ "layer", "category" },
	{ "damping", "linear_damping" },
	{ "fixedRotation", "fixed_rotation" },
	/* materials */
	{ "bounce", "restitution" },
	{ "bounciness", "restitution" },
	{ "elasticity", "restitution" },
	{ "mu", "friction" },
	/* worlds */
	{ "dt", "rate" },
	{ "timestep", "rate" },
	{ "fps", "rate" },
	{ "hz", "rate" },
	{ "g", "gravity" },
	{ "solver", "method" },
	/* shapes */
	{ "type", "kind" },
	{ "r", "radius" },
	{ "height", "length" },
	{ "extents", "size" },
	{ "dimensions", "size" },
	{ "vertices", "points" },
	{ "faces", "triangles" },
	{ "indices", "triangles" },
	{ "path", "file" },
	{ "filename", "file" },
	/* kinds of shapes */
	{ "cuboid", "box" },
	{ "cube", "box" },
	{ "brick", "box" },
	{ "ball", "sphere" },
	{ "pill", "capsule" },
	{ "convex", "hull" },
	{ "convex_hull", "hull" },
	{ "trimesh", "mesh" },
	{ "ground", "plane" },
	{ "floor", "plane" },
	{ "halfspace", "plane" },
	{ "half_space", "plane" },
};

void schema_offer(struct suggestion *self, const char *name)
{
	ASSERT(self->wrong != NULL);
	suggestion_offer(self, name);
	for (size_t i = 0; i < COUNT_OF(SYNONYMS); i++)
		if (strcmp(SYNONYMS[i].word, self->wrong) == 0 &&
		    strcmp(SYNONYMS[i].ours, name) == 0) {
			self->nearest = name;
			self->distance = 0;
		}
}
