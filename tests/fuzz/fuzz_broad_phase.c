/* fuzz_broad_phase.c: arbitrary bytes as changes of boxes, applied to every kind of broad phase.
 * After each search every kind must have the pairs that brute force finds; queries and rays must
 * find the same proxies.
 *
 * A change: u8 kind, u8 slot, then six f32 as a box (sorted by axis; not finite or too far: 0). */
#include "server/base/array.h"
#include "server/base/bytes.h"
#include "server/engine/collision/broad_phase.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { SLOTS = 48 };

struct world {
	struct broad_phase *kinds[BROAD_PHASE_KINDS];
	struct proxy_pairs pairs;
	struct aabb box[SLOTS];
	bool used[SLOTS], still[SLOTS], moved[SLOTS];
};

static double coordinate(const uint8_t *at)
{
	float value;
	memcpy(&value, at, sizeof value);
	return value >= -1e9f && value <= 1e9f ? (double)value : 0;
}

static struct aabb read_box(const uint8_t *at)
{
	vec3 a = vec3_make(coordinate(at), coordinate(at + 4), coordinate(at + 8));
	vec3 b = vec3_make(coordinate(at + 12), coordinate(at + 16), coordinate(at + 20));
	return aabb_make(vec3_min(a, b), vec3_max(a, b));
}

static void change(struct world *world, uint8_t what, uint32_t slot, struct aabb box)
{
	bool remove = world->used[slot] && what % 8 == 7;
	for (uint32_t k = 0; k < BROAD_PHASE_KINDS; k++) {
		if (!world->used[slot])
			broad_phase_add(world->kinds[k], slot, &box,
					what % 4 == 3 ? PROXY_STATIC : 0);
		else if (remove)
			broad_phase_remove(world->kinds[k], slot);
		else if (what % 8 == 6)
			broad_phase_touch(world->kinds[k], slot);
		else
			broad_phase_move(world->kinds[k], slot, &box);
	}
	if (!world->used[slot])
		world->still[slot] = what % 4 == 3;
	if (!world->used[slot] || what % 8 < 6)
		world->box[slot] = box;
	world->used[slot] = !remove;
	world->moved[slot] = !remove;
}

static bool is_pair(const struct world *world, uint32_t a, uint32_t b)
{
	return world->used[a] && world->used[b] && (world->moved[a] || world->moved[b]) &&
	       !(world->still[a] && world->still[b]) && aabb_overlaps(world->box[a], world->box[b]);
}

static void check_pairs(struct world *world)
{
	for (uint32_t k = 0; k < BROAD_PHASE_KINDS; k++) {
		uint32_t at = 0;
		if (broad_phase_pairs(world->kinds[k], &parallel_serial, NULL, NULL, UINT32_MAX,
				      &world->pairs) != STATUS_OK)
			return;
		for (uint32_t a = 0; a < SLOTS; a++)
			for (uint32_t b = a + 1; b < SLOTS; b++)
				if (is_pair(world, a, b)) {
					ASSERT(at < world->pairs.count);
					ASSERT(world->pairs.items[at++] == ((uint64_t)a << 32 | b));
				}
		ASSERT(at == world->pairs.count);
		broad_phase_settle(world->kinds[k]);
	}
	memset(world->moved, 0, sizeof world->moved);
}

struct found_slots {
	uint8_t count[SLOTS];
};

static bool collect_slot(uint32_t slot, void *context)
{
	((struct found_slots *)context)->count[slot]++;
	return true;
}

static double collect_ray_slot(uint32_t slot, double fraction_max, void *context)
{
	((struct found_slots *)context)->count[slot]++;
	return fraction_max;
}

static void check_queries(const struct world *world, struct aabb box)
{
	struct found_slots by_tree = { { 0 } };
	for (uint32_t k = 0; k < BROAD_PHASE_KINDS; k++) {
		struct found_slots boxes = { { 0 } }, rays = { { 0 } };
		broad_phase_query(world->kinds[k], &box, collect_slot, &boxes);
		broad_phase_ray(world->kinds[k], box.min, vec3_sub(box.max, box.min), 1,
				collect_ray_slot, &rays);
		for (uint32_t i = 0; i < SLOTS; i++)
			ASSERT(boxes.count[i] ==
			       (world->used[i] && aabb_overlaps(world->box[i], box)));
		if (k == BROAD_PHASE_TREE)
			by_tree = rays;
		ASSERT(memcmp(&by_tree, &rays, sizeof rays) == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	enum { RECORD = 26 };
	struct world world = { .pairs = { 0 } };
	for (uint32_t k = 0; k < BROAD_PHASE_KINDS; k++) {
		enum status status = broad_phase_create(k, &world.kinds[k]);
		if (status == STATUS_OK)
			status = broad_phase_reserve(world.kinds[k], SLOTS);
		ASSERT(status == STATUS_OK);
	}
	for (size_t at = 0; at + RECORD <= bytes; at += RECORD) {
		struct aabb box = read_box(data + at + 2);
		if (data[at] >= 0xf0)
			check_pairs(&world);
		else if (data[at] >= 0xe0)
			check_queries(&world, box);
		else
			change(&world, data[at], data[at + 1] % SLOTS, box);
	}
	check_pairs(&world);
	for (uint32_t k = 0; k < BROAD_PHASE_KINDS; k++)
		broad_phase_destroy(world.kinds[k]);
	ARRAY_RELEASE(&world.pairs);
	return 0;
}
