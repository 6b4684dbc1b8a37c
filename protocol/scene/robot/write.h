/* write.h: the text of a scene, with the line of the robot's file for each of its lines.
 * Private to this folder. */
#ifndef CAIRN_PROTOCOL_SCENE_ROBOT_WRITE_H
#define CAIRN_PROTOCOL_SCENE_ROBOT_WRITE_H

#include "protocol/scene/robot/model.h"

struct pen {
	const struct robot *robot;
	ARRAY_OF(char) text;
	ARRAY_OF(uint32_t) lines;
	uint32_t line;	/* of the file: what is written now is of it */
	uint32_t begun; /* of the file: where the present line of the text began */
	bool inside;	/* the present line has a character */
	bool failed;	/* out of memory */
};
void pen_put(struct pen *self, const char *format, ...) PRINTF_LIKE(2, 3);
/* The shortest text that reads as the number. */
enum { REAL_BYTES = 32 };
const char *real_text(double value, char room[REAL_BYTES]);
void pen_real(struct pen *self, const char *before, double value);
/* The numbers of a list, and its closing bracket. */
void pen_reals(struct pen *self, const char *before, const double *values, uint32_t count);
/* A text in double quotes. */
void pen_quote(struct pen *self, const char *text);
void pen_vector(struct pen *self, const char *key, vec3 v);
/* Nothing for the identity. */
void pen_turn(struct pen *self, const char *key, quat q);

/* Points and rotations of the file, with z up, as those of scenes, with y up. */
vec3 turn_up(vec3 v);
quat turn_up_rotation(quat q);
/* The name of a link's body in quotes, or world for ROBOT_NONE and the link that is the world. */
void pen_side(struct pen *self, const char *key, uint32_t link);
/* Whether another body than the link's own can touch its shapes. */
bool link_collides(const struct robot *robot, uint32_t link);

/* The section `joints`. write_joints.c */
void write_joints(struct pen *pen);
/* How many links of their own the joints of a link need, beside its body. */
uint32_t joint_helpers(const struct robot *robot, uint32_t link);

#endif
