/* convert.h: a robot file, URDF or MJCF, as a scene file. scene.h reads both through it;
 * `cairn convert` prints its text. */
#ifndef CAIRN_PROTOCOL_SCENE_ROBOT_CONVERT_H
#define CAIRN_PROTOCOL_SCENE_ROBOT_CONVERT_H

#include "protocol/scene/scene.h"
#include "protocol/scene/yaml.h"

struct robot_scene {
	char *text; /* owned: YAML, docs/SCENES.md */
	size_t bytes;
	uint32_t *
		lines; /* owned: for each line of the text, the line of the robot's file that it is of */
	uint32_t line_count;
	bool urdf; /* no MJCF */
	char *notes; /* owned: what is not taken: lines "FILE:LINE: …" with a line feed; "" if all is */
};

/* True for a text that begins as XML does; no scene does. */
bool robot_is_file(const char *text, size_t bytes);
/* Converts a text; `source` names it, `base` is its folder (NULL: it has no other files),
 * `options` may be NULL. On a refusal, the reason's text begins with "FILE:LINE: " and *out is
 * empty. */
MUST_CHECK enum status robot_convert(const struct source *source, const char *text, size_t bytes,
				     const char *base, const struct scene_options *options,
				     struct robot_scene *out);
void robot_scene_release(struct robot_scene *self);

#endif
