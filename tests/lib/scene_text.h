/* scene_text.h: scenes given as text, and what they consist of. */
#ifndef CAIRN_TESTS_SCENE_TEXT_H
#define CAIRN_TESTS_SCENE_TEXT_H

#include <string.h>

#include "protocol/command_wire.h"
#include "protocol/scene/scene.h"
#include "server/base/hash.h"
#include "tests/lib/check_main.h"

/* Fails the test if the text is refused. Returned owned. */
static inline struct scene *scene_of_text(const char *text)
{
	struct scene *scene = NULL;
	struct reason why = { 0 };
	enum status status = scene_parse(text, strlen(text), NULL, &scene, &why);
	ck_assert_msg(status == STATUS_OK, "%s: %s: %s", status_name(status), why.field, why.text);
	return scene;
}

/* The index-th command of a kind. */
static inline const struct command *scene_command(const struct scene *scene, uint16_t op,
						  uint32_t index)
{
	for (uint32_t i = 0; i < scene->command_count; i++)
		if (scene->commands[i].op == op && index-- == 0)
			return &scene->commands[i];
	ck_abort_msg("there is no such command");
}

static inline uint32_t scene_count(const struct scene *scene, uint16_t op)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < scene->command_count; i++)
		count += scene->commands[i].op == op;
	return count;
}

/* Of all commands, as they are sent, and of all shapes. */
static inline uint64_t scene_digest(const struct scene *scene)
{
	static uint8_t packed[1 << 20];
	struct hasher hasher;
	hasher_init(&hasher, 0);
	for (uint32_t i = 0; i < scene->command_count; i++) {
		struct wire_packer out = wire_packer_over(packed, sizeof packed);
		command_pack(&out, &scene->commands[i]);
		ck_assert_int_eq(wire_packer_status(&out), STATUS_OK);
		hasher_update(&hasher, packed, out.bytes);
	}
	for (uint32_t i = 0; i < scene->shape_count; i++)
		hasher_update(&hasher, scene->shapes[i].canonical, scene->shapes[i].bytes);
	return hasher_digest(&hasher);
}

#endif
