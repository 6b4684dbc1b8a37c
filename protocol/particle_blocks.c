/* See particle_blocks.h. */
#include "protocol/particle_blocks.h"

#include <string.h>

#include "protocol/pack.h"
#include "protocol/packer.h"
#include "protocol/varint.h"
#include "server/base/body_hash.h"

enum {
	/* Upper bounds in bytes: of what a particle adds to a block in any profile; of a block
	 * without particles; of a part without blocks. */
	ROW_BYTES_MAX = 120,
	BLOCK_BYTES_MAX =
		5 + 2 * 8 + 2 * 5 + 1 + WIRE_FORECAST_BYTES + WIRE_PARTICLE_COLUMN_COUNT + 64,
	PART_BYTES_MAX = WIRE_HEAD_MAX + 5 * 9 + 3 + WIRE_SYSTEMS_MAX * 11 + 10 + 10 + 2 + 5,
};
_Static_assert(WIRE_BLOCK_ROWS *ROW_BYTES_MAX + BLOCK_BYTES_MAX + PART_BYTES_MAX <=
		       WIRE_FRAME_PARTICLES,
	       "a block fits into the least frame");

/* A block that is being encoded: what became of the particles of its range. */
struct particle_block {
	const struct particle_frame *frame;
	uint32_t system;
	uint64_t first, last;
	uint32_t removed_count, created_count, kept_count;
	uint64_t removed[WIRE_BLOCK_ROWS];
	const struct wire_particle *created[WIRE_BLOCK_ROWS];
	const struct wire_particle *kept[WIRE_BLOCK_ROWS], *before[WIRE_BLOCK_ROWS];
	struct wire_particle_steps steps[WIRE_BLOCK_ROWS], steps_before[WIRE_BLOCK_ROWS];
	const struct wire_forecast *forecast;
	bool forecast_new; /* another than that of the block before */
};

void particle_parts_release(struct particle_parts *self)
{
	bytes_release(&self->data);
	ARRAY_RELEASE(&self->items);
}

static bool is_stepped(const struct particle_frame *frame, wire_mask bit)
{
	return wire_profile_quantised(frame->profile) && (bit & WIRE_PARTICLE_COLUMNS_STEPS) != 0;
}

static wire_mask column_of(const struct particle_frame *frame, uint32_t i)
{
	return frame->columns & WIRE_PARTICLE_COLUMNS_OWN & (wire_mask)(1u << i);
}

/* ---- exact, view, sim
 * ---------------------------------------------------------------------------- */

static uint8_t *put_serials(uint8_t *at, const struct particle_block *block, bool removed)
{
	uint32_t count = removed ? block->removed_count : block->created_count;
	uint64_t before = block->first - 1;
	at = varint_put(at, count);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t serial = removed ? block->removed[i] : block->created[i]->serial;
		at = varint_put(at, serial - before - 1);
		before = serial;
	}
	return at;
}

static uint8_t *put_values(uint8_t *at, const struct particle_block *block, wire_mask bit)
{
	uint32_t changed = 0;
	for (uint32_t i = 0; i < block->kept_count; i++)
		changed += wire_particle_differs(block->frame->profile, block->kept[i],
						 block->before[i], bit);
	bool all = changed == block->kept_count;
	*at++ = changed == 0 ? PARTICLE_VALUES_NONE
		: all	     ? PARTICLE_VALUES_ALL
			     : PARTICLE_VALUES_SOME;
	if (changed == 0)
		return at;
	uint8_t *bits = at;
	if (!all) {
		at += (block->kept_count + 7) / 8;
		memset(bits, 0, (size_t)(at - bits));
	}
	for (uint32_t i = 0; i < block->kept_count; i++) {
		bool differs = all || wire_particle_differs(block->frame->profile, block->kept[i],
							    block->before[i], bit);
		if (!all && differs)
			bits[i / 8] |= (uint8_t)(1u << i % 8);
		if (differs)
			at = wire_particle_put(block->frame->profile, at, block->kept[i], bit);
	}
	return at;
}

static const int64_t *steps_of(const struct wire_particle_steps *steps, wire_mask bit)
{
	return bit == WIRE_PARTICLE_VELOCITY ? steps->velocity : steps->position;
}

static bool is_same(const struct particle_block *block, uint32_t i, wire_mask bit)
{
	const int64_t *now = steps_of(&block->steps[i], bit);
	const int64_t *before = steps_of(&block->steps_before[i], bit);
	return now[0] == before[0] && now[1] == before[1] && now[2] == before[2];
}

/* The difference to the forecast. */
static void find_differences(const struct particle_block *block, uint32_t i, wire_mask bit,
			     int64_t out[3])
{
	const struct wire_particle_steps *now = &block->steps[i], *before = &block->steps_before[i];
	for (uint32_t axis = 0; axis < 3; axis++) {
		int64_t correction = 0;
		if (block->frame->columns & WIRE_PARTICLE_VELOCITY)
			correction = now->velocity[axis] -
				     wire_expected_velocity(block->forecast, before, axis);
		out[axis] = bit == WIRE_PARTICLE_VELOCITY
				    ? correction
				    : now->position[axis] -
					      wire_expected_position(block->forecast, before,
								     correction, axis);
	}
}

static uint8_t *put_three(uint8_t *at, const int64_t values[3])
{
	for (uint32_t axis = 0; axis < 3; axis++)
		at = varint_put(at, zigzag(values[axis]));
	return at;
}

static uint8_t *put_changes(uint8_t *at, const struct particle_block *block, wire_mask bit)
{
	int64_t d[3];
	for (uint32_t i = 0; i < block->kept_count; i++) {
		find_differences(block, i, bit, d);
		bool small = true;
		for (uint32_t axis = 0; axis < 3; axis++)
			small = small && d[axis] >= -2 && d[axis] <= 2;
		uint32_t run = 0;
		while (i + run < block->kept_count && is_same(block, i + run, bit))
			run++;
		/* A single particle takes one byte as a small difference, two as a run. */
		if (run > 1 || (run == 1 && !small)) {
			*at++ = PARTICLE_SAME;
			at = varint_put(at, run - 1);
			i += run - 1;
		} else if (small) {
			*at++ = (uint8_t)(d[0] + 2 + 5 * (d[1] + 2) + 25 * (d[2] + 2));
		} else {
			*at++ = PARTICLE_FAR;
			at = put_three(at, d);
		}
	}
	return at;
}

static uint8_t *put_created(uint8_t *at, const struct particle_block *block, wire_mask bit)
{
	const struct particle_frame *frame = block->frame;
	for (uint32_t i = 0; i < block->created_count; i++) {
		struct wire_particle_steps steps;
		if (!is_stepped(frame, bit)) {
			at = wire_particle_put(frame->profile, at, block->created[i], bit);
			continue;
		}
		wire_particle_quantise(frame->profile, block->created[i], bit, &steps);
		at = put_three(at, steps_of(&steps, bit));
	}
	return at;
}

static uint8_t *put_forecast(uint8_t *at, const struct wire_forecast *forecast)
{
	const double numbers[8] = { forecast->carry,	forecast->shift[0], forecast->shift[1],
				    forecast->shift[2], forecast->decay,    forecast->gain[0],
				    forecast->gain[1],	forecast->gain[2] };
	for (uint32_t i = 0; i < 8; i++, at += 8)
		put_le64(at, bits_of_f64(numbers[i]));
	return at;
}

static uint8_t *put_block(uint8_t *at, struct particle_block *block)
{
	const struct particle_frame *frame = block->frame;
	at = varint_put(at, block->system);
	at = varint_put(at, block->first);
	at = varint_put(at, block->last);
	at = put_serials(at, block, true);
	at = put_serials(at, block, false);
	if (wire_profile_quantised(frame->profile)) {
		*at++ = block->forecast_new;
		if (block->forecast_new)
			at = put_forecast(at, block->forecast);
		for (uint32_t i = 0; i < block->kept_count; i++) {
			wire_particle_quantise(frame->profile, block->kept[i], frame->columns,
					       &block->steps[i]);
			wire_particle_quantise(frame->profile, block->before[i], frame->columns,
					       &block->steps_before[i]);
		}
	}
	for (uint32_t i = 0; i < WIRE_PARTICLE_COLUMN_COUNT; i++) {
		wire_mask bit = column_of(frame, i);
		if (bit != 0)
			at = is_stepped(frame, bit) ? put_changes(at, block, bit)
						    : put_values(at, block, bit);
	}
	for (uint32_t i = 0; i < WIRE_PARTICLE_COLUMN_COUNT; i++)
		if (column_of(frame, i) != 0)
			at = put_created(at, block, column_of(frame, i));
	return at;
}

/* ---- plain
 * --------------------------------------------------------------------------------------- */

static uint32_t plain_items(wire_mask columns)
{
	uint32_t items = 1;
	items += columns & WIRE_PARTICLE_VELOCITY ? 3 : 0;
	items += columns & WIRE_PARTICLE_POSITION ? 3 : 0;
	items += columns & WIRE_PARTICLE_SIZE ? 2 : 0;
	items += columns & WIRE_PARTICLE_LIFE ? 2 : 0;
	items += columns & WIRE_PARTICLE_DENSITY ? 1 : 0;
	items += columns & WIRE_PARTICLE_PRESSURE ? 1 : 0;
	return items;
}

static void pack_plain_row(struct wire_packer *out, wire_mask columns,
			   const struct wire_particle *particle)
{
	wire_pack_array(out, plain_items(columns));
	wire_pack_uint(out, particle->serial);
	for (uint32_t i = 0; i < 3 && (columns & WIRE_PARTICLE_VELOCITY); i++)
		wire_pack_real(out, particle->velocity[i]);
	for (uint32_t i = 0; i < 3 && (columns & WIRE_PARTICLE_POSITION); i++)
		wire_pack_real(out, particle->position[i]);
	for (uint32_t i = 0; i < 2 && (columns & WIRE_PARTICLE_SIZE); i++)
		wire_pack_real(out, particle->size[i]);
	for (uint32_t i = 0; i < 2 && (columns & WIRE_PARTICLE_LIFE); i++)
		wire_pack_uint(out, particle->life[i]);
	if (columns & WIRE_PARTICLE_DENSITY)
		wire_pack_real(out, particle->density);
	if (columns & WIRE_PARTICLE_PRESSURE)
		wire_pack_real(out, particle->pressure);
}

static bool has_changed(const struct particle_block *block, uint32_t i)
{
	for (uint32_t k = 0; k < WIRE_PARTICLE_COLUMN_COUNT; k++) {
		wire_mask bit = column_of(block->frame, k);
		if (bit != 0 && wire_particle_differs(block->frame->profile, block->kept[i],
						      block->before[i], bit))
			return true;
	}
	return false;
}

static uint8_t *pack_plain_block(uint8_t *at, uint32_t room, const struct particle_block *block)
{
	struct wire_packer out = wire_packer_over(at, room);
	wire_mask columns = block->frame->columns;
	uint32_t rows = block->created_count, kept = 0, created = 0;
	wire_pack_array(&out, 5);
	wire_pack_uint(&out, block->system);
	wire_pack_uint(&out, block->first);
	wire_pack_uint(&out, block->last);
	wire_pack_array(&out, block->removed_count);
	for (uint32_t i = 0; i < block->removed_count; i++)
		wire_pack_uint(&out, block->removed[i]);
	for (uint32_t i = 0; i < block->kept_count; i++)
		rows += has_changed(block, i);
	wire_pack_array(&out, rows);
	while (kept < block->kept_count || created < block->created_count) {
		bool old = created == block->created_count ||
			   (kept < block->kept_count &&
			    block->kept[kept]->serial < block->created[created]->serial);
		if (!old)
			pack_plain_row(&out, columns, block->created[created++]);
		else if (has_changed(block, kept))
			pack_plain_row(&out, columns, block->kept[kept++]);
		else
			kept++;
	}
	ASSERT(out.status == STATUS_OK); /* ROW_BYTES_MAX */
	return at + out.bytes;
}

/* ---- ranges
 * -------------------------------------------------------------------------------------- */

/* Where the encoding of a frame stands. */
struct walk {
	const struct particle_frame *frame;
	uint32_t base, now; /* next particles */
	const struct wire_forecast *forecast;
	struct particle_block block;
};

/* True while item i of a list is one of the system. */
static bool is_of(const struct wire_particle *items, uint32_t count, uint32_t i, uint32_t system)
{
	return i < count && items[i].system == system;
}

/* Takes the next particles of the system, at most WIRE_BLOCK_ROWS. False: there are none. */
static bool take_block(struct walk *walk, uint32_t system, uint64_t first)
{
	const struct particle_frame *frame = walk->frame;
	struct particle_block *block = &walk->block;
	block->frame = frame;
	block->system = system;
	block->first = first;
	block->removed_count = block->created_count = block->kept_count = 0;
	for (uint32_t rows = 0; rows < WIRE_BLOCK_ROWS; rows++) {
		const struct wire_particle *old = NULL, *new = NULL;
		if (is_of(frame->base, frame->base_count, walk->base, system))
			old = &frame->base[walk->base];
		if (is_of(frame->now, frame->now_count, walk->now, system))
			new = &frame->now[walk->now];
		if (old == NULL && new == NULL)
			return rows > 0;
		if (new == NULL || (old != NULL && old->serial < new->serial)) {
			block->removed[block->removed_count++] = block->last = old->serial;
			walk->base++;
			continue;
		}
		block->last = new->serial;
		walk->now++;
		if (old == NULL || old->serial > new->serial) {
			block->created[block->created_count++] = new;
			continue;
		}
		block->before[block->kept_count] = old;
		block->kept[block->kept_count++] = new;
		walk->base++;
	}
	return true;
}

/* True if the block says anything. */
static bool tells_something(const struct particle_block *block)
{
	if (block->removed_count + block->created_count > 0)
		return true;
	for (uint32_t i = 0; i < block->kept_count; i++)
		if (has_changed(block, i))
			return true;
	return false;
}

/* Appends the block to the last part, or, if it does not fit there, to a new one. */
static enum status add_block(struct walk *walk, uint32_t room, struct particle_parts *out)
{
	struct particle_block *block = &walk->block;
	uint32_t rows = block->removed_count + block->created_count + block->kept_count;
	uint32_t most = rows * ROW_BYTES_MAX + BLOCK_BYTES_MAX;
	if (bytes_reserve(&out->data, most) != STATUS_OK)
		return STATUS_NO_MEMORY;
	block->forecast_new = memcmp(walk->forecast, block->forecast, sizeof *block->forecast) != 0;
	walk->forecast = block->forecast;
	uint8_t *start = out->data.data + out->data.count;
	uint8_t *end = walk->frame->profile == WIRE_PROFILE_PLAIN
			       ? pack_plain_block(start, most, block)
			       : put_block(start, block);
	size_t bytes = (size_t)(end - start);
	ASSERT(bytes <= most);
	struct particle_part *part = &out->items.items[out->items.count - 1];
	if (part->bytes + bytes > room) {
		if (out->items.count == WIRE_PARTS_MAX)
			return STATUS_FULL;
		if (ARRAY_RESERVE(&out->items, out->items.count + 1u) != STATUS_OK)
			return STATUS_NO_MEMORY;
		part = &out->items.items[out->items.count++];
		*part = (struct particle_part){ .first = out->data.count };
	}
	part->bytes += bytes;
	part->blocks++;
	out->data.count += bytes;
	return STATUS_OK;
}

static enum status add_system(struct walk *walk, uint32_t index, uint32_t room,
			      struct particle_parts *out)
{
	static const struct wire_forecast none = { .decay = 1 };
	const struct particle_frame *frame = walk->frame;
	uint32_t system = frame->systems[index].system;
	bool moves = frame->forecasts != NULL && (frame->columns & WIRE_PARTICLE_VELOCITY);
	enum status status = STATUS_OK;
	uint64_t first = 1;
	/* Particles of a system that is gone are not listed. */
	while (walk->base < frame->base_count && frame->base[walk->base].system < system)
		walk->base++;
	while (status == STATUS_OK && take_block(walk, system, first)) {
		walk->block.forecast = moves ? &frame->forecasts[index] : &none;
		first = walk->block.last + 1;
		out->rows += walk->block.kept_count + walk->block.created_count;
		if (tells_something(&walk->block))
			status = add_block(walk, room, out);
	}
	return status;
}

enum status particle_parts_make(const struct particle_frame *frame, uint32_t content_max,
				struct particle_parts *out)
{
	static const struct wire_forecast none = { .decay = 1 };
	ASSERT(content_max >= WIRE_FRAME_PARTICLES && content_max <= WIRE_FRAME_DOWN);
	out->data.count = 0;
	out->items.count = 0;
	out->rows = 0;
	struct walk *walk = heap_alloc_zero(sizeof *walk);
	enum status status = walk != NULL ? ARRAY_RESERVE(&out->items, 1u) : STATUS_NO_MEMORY;
	if (status == STATUS_OK) {
		out->items.items[out->items.count++] = (struct particle_part){ 0 };
		walk->frame = frame;
		walk->forecast = &none;
	}
	bool own = (frame->columns & WIRE_PARTICLE_COLUMNS_OWN) != 0;
	for (uint32_t i = 0; i < frame->system_count && own && status == STATUS_OK; i++)
		status = add_system(walk, i, content_max - PART_BYTES_MAX, out);
	heap_free(walk);
	return status;
}

/* ---- parts
 * --------------------------------------------------------------------------------------- */

enum status particle_parts_pack_tail(const struct particle_frame *frame,
				     const struct particle_parts *parts, uint32_t index,
				     uint8_t *data, uint32_t capacity, uint32_t *bytes)
{
	ASSERT(index < parts->items.count);
	const struct particle_part *part = &parts->items.items[index];
	struct wire_packer out = wire_packer_over(data, capacity);
	/* The fields of messages.def in their order; a test reads them back with message_unpack. */
	wire_pack_uint(&out, frame->epoch);
	wire_pack_uint(&out, frame->tick);
	wire_pack_uint(&out, WIRE_VISIBLE_PARTICLE);
	wire_pack_uint(&out, index);
	wire_pack_uint(&out, parts->items.count);
	wire_pack_array(&out, frame->system_count);
	for (uint32_t i = 0; i < frame->system_count; i++) {
		wire_pack_array(&out, 2);
		wire_pack_uint(&out, frame->systems[i].system);
		wire_pack_uint(&out, frame->systems[i].alive);
	}
	if (frame->profile == WIRE_PROFILE_PLAIN)
		wire_pack_array(&out, part->blocks);
	else
		wire_pack_bin_header(&out, (uint32_t)part->bytes);
	if (part->bytes > 0)
		wire_pack_raw(&out, parts->data.data + part->first, (uint32_t)part->bytes);
	if (index + 1 == parts->items.count && frame->hash.set)
		wire_pack_hash(&out, frame->hash.value);
	else
		wire_pack_nil(&out);
	wire_pack_uint(&out, frame->flags);
	wire_pack_uint(&out, frame->edit);
	*bytes = out.bytes;
	return out.status;
}

uint64_t particle_frame_hash(const struct particle_frame *frame)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < frame->now_count; i++) {
		struct wire_particle_steps steps;
		if (wire_profile_quantised(frame->profile))
			wire_particle_quantise(frame->profile, &frame->now[i], frame->columns,
					       &steps);
		sum += wire_particle_hash(frame->profile, &frame->now[i], &steps, frame->columns);
	}
	return body_hash_finish(frame->tick, sum, frame->now_count);
}
