/* bricard.c: Bricard's linkage. */
#include "tests/lib/bricard.h"

#include "tests/lib/joined.h"

/* The frame whose x axis is a unit vector. */
static quat frame_along(vec3 axis)
{
	vec3 y, z;
	vec3_frame(axis, &y, &z);
	return quat_from_mat3((mat3){ axis, y, z });
}

struct world *bricard_world(void)
{
	struct world *world = joined_world("lcp", 60, vec3_make(0, -9.81, 0));
	const vec3 corners[] = { { 1, -1, -1 }, { 1, 1, -1 },  { -1, 1, -1 },
				 { -1, 1, 1 },	{ -1, -1, 1 }, { 1, -1, 1 } };
	body_id links[6];
	for (uint32_t i = 0; i < 6; i++)
		links[i] = joined_put(
			world, (struct joined_thing){
				       .shape = TEST_BOX,
				       .at = vec3_lerp(corners[i], corners[(i + 1) % 6], 0.5),
				       .mass = 1 });
	for (uint32_t i = 0; i < 6; i++) {
		uint32_t next = (i + 1) % 6;
		vec3 in = vec3_sub(corners[next], corners[i]);
		vec3 out = vec3_sub(corners[(next + 1) % 6], corners[next]);
		joined_join(world, JOINT_REVOLUTE, links[i], links[next], corners[next],
			    frame_along(vec3_normalize(vec3_cross(in, out))));
	}
	joined_join(world, JOINT_FIXED, 0, links[0], corners[0], quat_identity());
	return world;
}
