/* fuzz_image.c: images of worlds with valid checksums and a few wrong values, so that reading gets
 * past the checksum, the tables and their columns. Byte 0 chooses a valid image; then edits of six
 * bytes each:
 *
 *	0-2  place in the image, before its checksum
 *	3    the edit: set the byte; set, increase or decrease a number of 4 or 8 bytes; write an extreme
 *	     double (infinities, NaN, the least and the largest); copy 8 bytes from another place
 *	4-5  the value, or the place to copy from
 *
 * The image is packed as in a file and unpacked again. Then it is refused, or its world keeps every
 * invariant, is equal after a save and a load, and can be stepped. */
#include <math.h>
#include <string.h>

#include "server/base/hash.h"
#include "server/store/image.h"
#include "server/engine/methods/method.h"
#include "tests/lib/worlds.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { EDITS_MAX = 32, EDIT_BYTES = 6, TICKS = 3, SUM_BYTES = 8 };

static const char *const METHODS[] = { "soft-step",  "free",   "lcp",	 "projection",
				       "reflection", "impact", "penalty" };
enum { VALID_COUNT = 2 * COUNT_OF(METHODS) };
static struct bytes valid_images[VALID_COUNT];

/* Adds a rope, and a hinge with limits and a motor that follows a table. */
static void add_joints(struct world *world, body_id hinged, body_id roped)
{
	struct command command = test_command(COMMAND_JOINT_CREATE);
	struct joint_point points[3] = { { 0, 0 }, { 0.2, 0.5 }, { 0.4, -0.5 } };
	command.joint_create.type = JOINT_REVOLUTE;
	command.joint_create.body_b = hinged;
	command.joint_create.point_a = vec3_make(4, 3.5, 1);
	command.joint_create.place = 1;
	command.joint_create.break_force = 1e4;
	joint_id joint = test_do(world, &command);
	command.joint_create.type = JOINT_DISTANCE;
	command.joint_create.body_a = hinged;
	command.joint_create.body_b = roped;
	command.joint_create.point_b = vec3_make(0, 1, 0);
	test_do(world, &command);
	command = test_command(COMMAND_JOINT_AXIS);
	command.joint_axis.joint = joint;
	command.joint_axis.axis = 3;
	command.joint_axis.mode = JOINT_LIMITED;
	command.joint_axis.lower = -1;
	command.joint_axis.upper = 1;
	command.joint_axis.motor = JOINT_MOTOR_POSITION;
	test_do(world, &command);
	command = test_command(COMMAND_JOINT_TABLE);
	command.joint_table.joint = joint;
	command.joint_table.axis = 3;
	command.joint_table.points = (struct point_list){ points, COUNT_OF(points) };
	command.joint_table.period = 0.5;
	test_do(world, &command);
}

/* A valid image: bodies that touch, sleep and fall, forces, and waiting batches; `later` adds
 * joints. */
static struct bytes make_valid(const char *method, bool later)
{
	struct world *world = test_world(false, method);
	struct command commands[2];
	struct batch_result result;
	test_spawn(world, TEST_PLANE, vec3_make(0, 0, 0));
	for (int i = 0; i < 3; i++)
		test_spawn(world, i % 2 == 0 ? TEST_BOX : TEST_SPHERE,
			   vec3_make(0.1 * i, 0.6 + 1.01 * i, 0));
	body_id last = test_spawn(world, TEST_HULL, vec3_make(4, 3, 1));
	command_defaults(&commands[0], COMMAND_FORCE);
	commands[0].force.body = last;
	commands[0].force.force = vec3_make(3, 20, 1);
	commands[0].force.ticks = 500;
	ASSERT(test_batch(world, commands, 1, &result) == STATUS_OK);
	if (later && method_find(method)->joints)
		add_joints(world, last, 2);
	test_step(world, later ? 40 : 4);
	commands[1] = commands[0];
	struct batch batch = { .session = 3,
			       .number = 9,
			       .at = world_info(world).tick + 2,
			       .restricted = later,
			       .commands = &commands[1],
			       .count = 1 };
	ASSERT(world_apply(world, &batch, 1, &result) == STATUS_OK);
	struct bytes image = test_save(world);
	world_destroy(world);
	return image;
}

static double extreme_double(uint16_t value)
{
	static const double VALUES[] = { 0,	 -0.0, 1,    -1,  1e-310, 1e308,
					 -1e308, 1e18, 1e-9, 0.5, 2,	  1e6 };
	if (value % 16 == 12)
		return INFINITY;
	if (value % 16 == 13)
		return NAN;
	return VALUES[value % COUNT_OF(VALUES)];
}

static void edit(struct bytes *image, const uint8_t *e)
{
	size_t room = image->count - SUM_BYTES;
	size_t at = ((size_t)e[0] | (size_t)e[1] << 8 | (size_t)e[2] << 16) % room;
	uint16_t value = (uint16_t)(e[4] | e[5] << 8);
	uint8_t *place = image->data + at;
	double number = extreme_double(value);
	if (at + 8 > room || e[3] % 8 == 0) {
		*place = (uint8_t)value;
		return;
	}
	switch (e[3] % 8) {
	case 1:
		put_le32(place, value);
		break;
	case 2:
		put_le32(place, get_le32(place) + (uint32_t)(int16_t)value);
		break;
	case 3:
		put_le32(place, UINT32_MAX - value);
		break;
	case 4:
		put_le64(place, get_le64(place) + (uint64_t)(int16_t)value);
		break;
	case 5:
		put_le64(place, UINT64_MAX >> (value % 64));
		break;
	case 6:
		memcpy(place, &number, sizeof number);
		break;
	default:
		memmove(place, image->data + (value * 8u) % (room - 7), 8);
	}
}

/* Packs the image as in a file and unpacks it; false: refused. */
static bool round_trip_by_file(const struct bytes *image, struct bytes *out)
{
	struct bytes packed = { 0 };
	struct reason why;
	ASSERT(image_pack(image, &packed) == STATUS_OK);
	enum status status = image_unpack(packed.data, packed.count, image->count,
					  hash64(image->data, image->count, 0), out, &why);
	ASSERT(status == STATUS_OK || status == STATUS_CORRUPT);
	ASSERT(status != STATUS_OK ||
	       (out->count == image->count && memcmp(out->data, image->data, out->count) == 0));
	bytes_release(&packed);
	return status == STATUS_OK;
}

static void step_and_check(struct world *world)
{
	struct world *copy;
	struct reason why;
	ASSERT(world_check(world, &why) == STATUS_OK);
	struct bytes image = test_save(world);
	ASSERT(world_load(image.data, image.count, test_shape_source(), &copy, &why) == STATUS_OK);
	ASSERT(test_hash(copy) == test_hash(world));
	for (int tick = 0; tick < TICKS; tick++) {
		enum status one = world_step(world, &parallel_serial, &why);
		enum status other = world_step(copy, &parallel_serial, &why);
		ASSERT(one == other);
		if (one != STATUS_OK)
			break;
		ASSERT(world_check(world, &why) == STATUS_OK);
		ASSERT(test_hash(copy) == test_hash(world));
	}
	world_destroy(copy);
	bytes_release(&image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct bytes image = { 0 }, read = { 0 };
	struct world *world;
	struct reason why;
	if (bytes < 1 || bytes > 1 + EDITS_MAX * EDIT_BYTES)
		return 0;
	for (int i = 0; i < VALID_COUNT && valid_images[i].count == 0; i++)
		valid_images[i] = make_valid(METHODS[i / 2], i % 2 == 1);
	const struct bytes *from = &valid_images[data[0] % VALID_COUNT];
	ASSERT(bytes_append(&image, from->data, from->count) == STATUS_OK);
	for (size_t at = 1; at + EDIT_BYTES <= bytes; at += EDIT_BYTES)
		edit(&image, data + at);
	put_le64(image.data + image.count - SUM_BYTES,
		 hash64(image.data, image.count - SUM_BYTES, 0));
	if (round_trip_by_file(&image, &read) &&
	    world_load(read.data, read.count, test_shape_source(), &world, &why) == STATUS_OK) {
		step_and_check(world);
		world_destroy(world);
	}
	bytes_release(&image);
	bytes_release(&read);
	return 0;
}
