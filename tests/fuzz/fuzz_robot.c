/* fuzz_robot.c: arbitrary bytes as a robot file. It is refused with a status and a message
 * that names a line, and leaves nothing allocated; or its commands pass every check that needs
 * no world. What it converts to is the same scene. */
#include "protocol/scene/robot/convert.h"
#include "server/base/heap.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void check_commands(const struct scene *scene)
{
	for (uint32_t i = 0; i < scene->command_count; i++) {
		struct command command = scene->commands[i];
		struct reason why;
		enum status status = command_check_values(&command, i, &why);
		ASSERT(status == STATUS_OK);
	}
}

/* Mesh files are refused without a folder, so a text that converts needs no other file. */
static void check_text(const struct robot_scene *robot, const struct scene *scene)
{
	struct scene *again = NULL;
	enum status status = scene_parse(robot->text, robot->bytes, NULL, &again, NULL);
	ASSERT(status == STATUS_OK);
	ASSERT(again->command_count == scene->command_count);
	scene_destroy(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	int64_t live = heap_live();
	struct scene *scene = NULL;
	struct robot_scene robot;
	struct reason why;
	const char *text = (const char *)data;
	if (!robot_is_file(text, bytes))
		return 0;
	memset(&why, 0xa5, sizeof why);
	enum status status = scene_parse(text, bytes, NULL, &scene, &why);
	if (status != STATUS_OK) {
		ASSERT(scene == NULL);
		ASSERT(why.status == status);
		ASSERT(memchr(why.text, '\0', sizeof why.text) != NULL);
		ASSERT(strncmp(why.text, "scene:", 6) == 0);
		ASSERT(heap_live() == live);
		return 0;
	}
	check_commands(scene);
	const struct source source = { .file = "scene" };
	status = robot_convert(&source, text, bytes, NULL, NULL, &robot);
	ASSERT(status == STATUS_OK);
	check_text(&robot, scene);
	robot_scene_release(&robot);
	scene_destroy(scene);
	ASSERT(heap_live() == live);
	return 0;
}
