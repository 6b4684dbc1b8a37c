/* fuzz_scene.c: arbitrary bytes as a scene. It is refused with a status and a message that names a
 * line, and leaves nothing allocated; or its commands pass every check that needs no world, and its
 * shapes are named by the hash of their bytes. */
#include "protocol/scene/scene.h"
#include "server/base/hash.h"
#include "server/base/heap.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* Generators make many bodies of few bytes; an input that would take a second is skipped. */
static bool is_large(const uint8_t *data, size_t bytes)
{
	size_t digits = 0, longest = 0;
	for (size_t i = 0; i < bytes; i++) {
		digits = data[i] >= '0' && data[i] <= '9' ? digits + 1 : 0;
		longest = digits > longest ? digits : longest;
	}
	return longest > 3 && memmem(data, bytes, "count", 5) != NULL;
}

static void check_shapes(const struct scene *scene)
{
	for (uint32_t i = 0; i < scene->shape_count; i++) {
		uint8_t name[SHA256_BYTES];
		hash_sha256(scene->shapes[i].canonical, scene->shapes[i].bytes, name);
		ASSERT(memcmp(name, scene->shapes[i].name.bytes, SHA256_BYTES) == 0);
		ASSERT(memchr(scene->shapes[i].label, '\0', sizeof scene->shapes[i].label) != NULL);
	}
}

static void check_commands(const struct scene *scene)
{
	for (uint32_t i = 0; i < scene->command_count; i++) {
		struct command command = scene->commands[i];
		struct reason why;
		enum status status = command_check_values(&command, i, &why);
		ASSERT(status == STATUS_OK);
		if (command.op != COMMAND_SPAWN)
			continue;
		for (uint32_t k = 0; k < command.spawn.shapes.count; k++) {
			int64_t shape = command.spawn.shapes.items[k].shape;
			ASSERT(shape < 0);
			ASSERT(-shape <= (int64_t)scene->shape_count);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	int64_t live = heap_live();
	struct scene *scene = NULL;
	struct reason why;
	if (is_large(data, bytes))
		return 0;
	memset(&why, 0xa5, sizeof why);
	enum status status = scene_parse((const char *)data, bytes, NULL, &scene, &why);
	if (status != STATUS_OK) {
		ASSERT(scene == NULL);
		ASSERT(why.status == status);
		ASSERT(memchr(why.text, '\0', sizeof why.text) != NULL);
		ASSERT(strncmp(why.text, "scene:", 6) == 0);
		ASSERT(heap_live() == live);
		return 0;
	}
	check_shapes(scene);
	check_commands(scene);
	scene_destroy(scene);
	ASSERT(heap_live() == live);
	return 0;
}
