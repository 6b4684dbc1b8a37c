/* See mirror_particles.h. A block is read in this order: its range and serials; the list of its
 * range is made; then columns are read into it. */
#include "protocol/mirror_particles.h"

#include <string.h>

#include "protocol/cursor.h"
#include "protocol/varint.h"
#include "server/base/body_hash.h"

/* A read position in a bin; `at` is NULL after a failure. */
struct bin_input {
	const uint8_t *at, *end;
};

static void release_list(struct particle_list *list)
{
	ARRAY_RELEASE(&list->items);
	ARRAY_RELEASE(&list->steps);
}

void mirror_particles_release(struct mirror_particles *self)
{
	release_list(&self->shown);
	release_list(&self->next);
	memset(self, 0, sizeof *self);
}

void mirror_particles_clear(struct mirror_particles *self)
{
	self->shown.items.count = self->shown.steps.count = 0;
	self->system_count = 0;
}

static bool is_quantised(const struct mirror_particles *self)
{
	return wire_profile_quantised(self->profile);
}

const struct wire_particle *mirror_particles_find(const struct mirror_particles *self,
						  uint32_t system, uint64_t serial)
{
	const struct wire_particle key = { .system = system, .serial = serial };
	uint32_t low = 0, high = self->shown.items.count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (wire_particle_compare(&self->shown.items.items[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	bool found = low < self->shown.items.count &&
		     wire_particle_compare(&self->shown.items.items[low], &key) == 0;
	return found ? &self->shown.items.items[low] : NULL;
}

uint64_t mirror_particles_hash(const struct mirror_particles *self, uint64_t tick)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < self->shown.items.count; i++)
		sum += wire_particle_hash(self->profile, &self->shown.items.items[i],
					  is_quantised(self) ? &self->shown.steps.items[i] : NULL,
					  self->columns);
	return body_hash_finish(tick, sum, self->shown.items.count);
}

/* ---- lists
 * --------------------------------------------------------------------------------------- */

/* Whether the world still has the system. */
static bool has_system(const struct mirror_particles *self, uint32_t system)
{
	uint32_t low = 0, high = self->system_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (self->systems[middle].system < system)
			low = middle + 1;
		else
			high = middle;
	}
	return low < self->system_count && self->systems[low].system == system;
}

/* Appends a particle; its index is *at. */
static enum status append_particle(struct mirror_particles *self,
				   const struct wire_particle *particle,
				   const struct wire_particle_steps *steps, uint32_t *at)
{
	struct particle_list *next = &self->next;
	*at = next->items.count;
	if (*at >= self->max)
		return STATUS_LIMIT;
	if (ARRAY_RESERVE(&next->items, *at + 1u) != STATUS_OK ||
	    (is_quantised(self) && ARRAY_RESERVE(&next->steps, *at + 1u) != STATUS_OK))
		return STATUS_NO_MEMORY;
	next->items.items[next->items.count++] = *particle;
	if (is_quantised(self))
		next->steps.items[next->steps.count++] =
			steps != NULL ? *steps : (struct wire_particle_steps){ 0 };
	return STATUS_OK;
}

static enum status append_shown(struct mirror_particles *self, uint32_t *at)
{
	uint32_t i = self->read++;
	return append_particle(self, &self->shown.items.items[i],
			       is_quantised(self) ? &self->shown.steps.items[i] : NULL, at);
}

/* Takes over the particles before (system, serial), except those of systems that are gone. */
static enum status keep_before(struct mirror_particles *self, uint32_t system, uint64_t serial)
{
	const struct wire_particle key = { .system = system, .serial = serial };
	enum status status = STATUS_OK;
	uint32_t at;
	while (status == STATUS_OK && self->read < self->shown.items.count &&
	       wire_particle_compare(&self->shown.items.items[self->read], &key) < 0) {
		if (has_system(self, self->shown.items.items[self->read].system))
			status = append_shown(self, &at);
		else
			self->read++;
	}
	return status;
}

/* Makes the list of a block's range: the particles shown without the removed ones, and the created
 * ones. */
static enum status make_range(struct mirror_particles *self, uint32_t system, uint64_t last)
{
	const struct particle_list *shown = &self->shown;
	uint32_t removed = 0, created = 0;
	enum status status = STATUS_OK;
	self->kept_count = 0;
	while (status == STATUS_OK) {
		const struct wire_particle *old = NULL;
		if (self->read < shown->items.count &&
		    shown->items.items[self->read].system == system &&
		    shown->items.items[self->read].serial <= last)
			old = &shown->items.items[self->read];
		bool fresh = created < self->created_count &&
			     (old == NULL || self->created[created] < old->serial);
		if (fresh) {
			const struct wire_particle particle = { .system = system,
								.serial = self->created[created] };
			status = append_particle(self, &particle, NULL, &self->born[created]);
			created++;
			continue;
		}
		if (old == NULL)
			break;
		if (created < self->created_count && self->created[created] == old->serial)
			return STATUS_MALFORMED;
		if (removed < self->removed_count && self->removed[removed] == old->serial) {
			removed++;
			self->read++;
			continue;
		}
		if (self->kept_count == WIRE_BLOCK_ROWS)
			return STATUS_MALFORMED;
		self->before[self->kept_count] = self->read;
		status = append_shown(self, &self->kept[self->kept_count]);
		self->kept_count++;
	}
	if (status == STATUS_OK && removed < self->removed_count)
		return STATUS_MALFORMED;
	return status;
}

/* Checks that a block continues the frame, and notes its end. */
static bool continue_frame(struct mirror_particles *self, uint64_t system, uint64_t first,
			   uint64_t last)
{
	if (system > UINT32_MAX || !has_system(self, (uint32_t)system) || first == 0 ||
	    first > last || last > (uint64_t)WIRE_INTEGER_MAX)
		return false;
	if (system < self->block_system ||
	    (system == self->block_system && first <= self->block_last))
		return false;
	self->block_system = (uint32_t)system;
	self->block_last = last;
	return true;
}

/* ---- exact, view, sim
 * ---------------------------------------------------------------------------- */

static uint64_t take_varint(struct bin_input *in)
{
	uint64_t value = 0;
	if (in->at != NULL)
		in->at = varint_get_long(in->at, in->end, VARINT_LONG_MAX, &value);
	return in->at != NULL ? value : 0;
}

/* The next `bytes` bytes; NULL: there are fewer. */
static const uint8_t *take_bytes(struct bin_input *in, size_t bytes)
{
	const uint8_t *at = in->at;
	if (at == NULL || (size_t)(in->end - at) < bytes) {
		in->at = NULL;
		return NULL;
	}
	in->at += bytes;
	return at;
}

static bool take_serials(struct bin_input *in, uint64_t first, uint64_t last, uint64_t *serials,
			 uint32_t *count)
{
	uint64_t many = take_varint(in), before = first - 1;
	if (in->at == NULL || many > WIRE_BLOCK_ROWS)
		return false;
	*count = (uint32_t)many;
	for (uint32_t i = 0; i < many; i++) {
		uint64_t gap = take_varint(in);
		if (in->at == NULL || gap >= last - before)
			return false;
		serials[i] = before += gap + 1;
	}
	return true;
}

static bool take_forecast(struct mirror_particles *self, struct bin_input *in)
{
	double numbers[8];
	const uint8_t *given = take_bytes(in, 1);
	if (given == NULL || *given > 1)
		return false;
	if (*given == 0)
		return true;
	const uint8_t *at = take_bytes(in, WIRE_FORECAST_BYTES);
	for (uint32_t i = 0; i < 8 && at != NULL; i++) {
		numbers[i] = f64_of_bits(get_le64(at + 8 * (size_t)i));
		if (!(numbers[i] - numbers[i] == 0))
			return false;
	}
	if (at == NULL)
		return false;
	self->forecast = (struct wire_forecast){ numbers[0],
						 { numbers[1], numbers[2], numbers[3] },
						 numbers[4],
						 { numbers[5], numbers[6], numbers[7] } };
	return true;
}

static bool take_value(struct mirror_particles *self, struct bin_input *in, uint32_t at,
		       wire_mask bit)
{
	const uint8_t *from = take_bytes(in, wire_particle_bytes(self->profile, bit));
	return from != NULL &&
	       wire_particle_get(self->profile, from, &self->next.items.items[at], bit);
}

static bool take_values(struct mirror_particles *self, struct bin_input *in, wire_mask bit)
{
	const uint8_t *how = take_bytes(in, 1), *bits = NULL;
	if (how == NULL || *how > PARTICLE_VALUES_SOME)
		return false;
	if (*how == PARTICLE_VALUES_NONE)
		return true;
	bool all = *how == PARTICLE_VALUES_ALL;
	if (!all && (bits = take_bytes(in, (self->kept_count + 7) / 8)) == NULL)
		return false;
	for (uint32_t i = 0; i < self->kept_count; i++)
		if ((all || bits[i / 8] >> i % 8 & 1) && !take_value(self, in, self->kept[i], bit))
			return false;
	return true;
}

static int64_t *steps_in(struct wire_particle_steps *steps, wire_mask bit)
{
	return bit == WIRE_PARTICLE_VELOCITY ? steps->velocity : steps->position;
}

/* Stores integers of one column, if they are within the limits. */
static bool store_steps(struct mirror_particles *self, uint32_t at, wire_mask bit,
			const int64_t values[3])
{
	int64_t max = bit == WIRE_PARTICLE_VELOCITY ? WIRE_QUANTISED_SPEED_MAX
						    : WIRE_QUANTISED_POSITION_MAX;
	struct wire_particle_steps *steps = &self->next.steps.items[at];
	for (uint32_t axis = 0; axis < 3; axis++) {
		if (values[axis] < -max || values[axis] > max)
			return false;
		steps_in(steps, bit)[axis] = values[axis];
	}
	wire_particle_dequantise(self->profile, steps, bit, &self->next.items.items[at]);
	return true;
}

static bool take_three(struct bin_input *in, int64_t values[3])
{
	for (uint32_t axis = 0; axis < 3; axis++)
		values[axis] = unzigzag(take_varint(in));
	return in->at != NULL;
}

/* Applies a difference to the forecast. Velocity comes before position, which needs it. */
static bool apply_difference(struct mirror_particles *self, uint32_t i, wire_mask bit,
			     const int64_t d[3])
{
	const struct wire_particle_steps *before = &self->shown.steps.items[self->before[i]];
	const struct wire_particle_steps *now = &self->next.steps.items[self->kept[i]];
	int64_t values[3];
	for (uint32_t axis = 0; axis < 3; axis++) {
		int64_t expected = wire_expected_velocity(&self->forecast, before, axis);
		int64_t correction =
			self->columns & WIRE_PARTICLE_VELOCITY ? now->velocity[axis] - expected : 0;
		values[axis] = d[axis] + (bit == WIRE_PARTICLE_VELOCITY
						  ? expected
						  : wire_expected_position(&self->forecast, before,
									   correction, axis));
	}
	return store_steps(self, self->kept[i], bit, values);
}

static bool take_changes(struct mirror_particles *self, struct bin_input *in, wire_mask bit)
{
	for (uint32_t i = 0; i < self->kept_count; i++) {
		const uint8_t *code = take_bytes(in, 1);
		int64_t d[3];
		if (code == NULL)
			return false;
		if (*code == PARTICLE_SAME) {
			/* The values are there already. */
			uint64_t further = take_varint(in);
			if (in->at == NULL || further >= self->kept_count - i)
				return false;
			i += (uint32_t)further;
			continue;
		}
		if (*code == PARTICLE_FAR) {
			if (!take_three(in, d))
				return false;
		} else if (*code < PARTICLE_CODES) {
			d[0] = *code % 5 - 2;
			d[1] = *code / 5 % 5 - 2;
			d[2] = *code / 25 - 2;
		} else {
			return false;
		}
		if (!apply_difference(self, i, bit, d))
			return false;
	}
	return true;
}

static bool is_stepped(const struct mirror_particles *self, wire_mask bit)
{
	return is_quantised(self) && (bit & WIRE_PARTICLE_COLUMNS_STEPS) != 0;
}

static bool take_created(struct mirror_particles *self, struct bin_input *in, wire_mask bit)
{
	int64_t values[3];
	for (uint32_t i = 0; i < self->created_count; i++) {
		if (is_stepped(self, bit)) {
			if (!take_three(in, values) ||
			    !store_steps(self, self->born[i], bit, values))
				return false;
		} else if (!take_value(self, in, self->born[i], bit)) {
			return false;
		}
	}
	return true;
}

static wire_mask column_of(const struct mirror_particles *self, uint32_t i)
{
	return self->columns & WIRE_PARTICLE_COLUMNS_OWN & (wire_mask)(1u << i);
}

static bool take_columns(struct mirror_particles *self, struct bin_input *in)
{
	bool good = true;
	for (uint32_t i = 0; i < WIRE_PARTICLE_COLUMN_COUNT && good; i++) {
		wire_mask bit = column_of(self, i);
		if (bit != 0)
			good = is_stepped(self, bit) ? take_changes(self, in, bit)
						     : take_values(self, in, bit);
	}
	for (uint32_t i = 0; i < WIRE_PARTICLE_COLUMN_COUNT && good; i++)
		if (column_of(self, i) != 0)
			good = take_created(self, in, column_of(self, i));
	return good;
}

static enum status apply_block(struct mirror_particles *self, struct bin_input *in)
{
	uint64_t system = take_varint(in), first = take_varint(in), last = take_varint(in);
	if (in->at == NULL || !continue_frame(self, system, first, last) ||
	    !take_serials(in, first, last, self->removed, &self->removed_count) ||
	    !take_serials(in, first, last, self->created, &self->created_count) ||
	    (is_quantised(self) && !take_forecast(self, in)))
		return STATUS_MALFORMED;
	enum status status = keep_before(self, (uint32_t)system, first);
	if (status == STATUS_OK)
		status = make_range(self, (uint32_t)system, last);
	if (status == STATUS_OK && !take_columns(self, in))
		status = STATUS_MALFORMED;
	return status;
}

static enum status apply_bin(struct mirror_particles *self, struct wire_cursor *blocks)
{
	struct wire_slice bin;
	if (wire_take_bin(blocks, &bin) != STATUS_OK || !wire_at_end(blocks))
		return STATUS_MALFORMED;
	struct bin_input in = { bin.at, bin.at + bin.bytes };
	enum status status = STATUS_OK;
	while (status == STATUS_OK && bin.bytes > 0 && in.at != in.end)
		status = apply_block(self, &in);
	return status;
}

/* ---- plain
 * --------------------------------------------------------------------------------------- */

static bool take_number(struct wire_cursor *in, uint64_t *value)
{
	return wire_take_uint(in, WIRE_INTEGER_MAX, value) == STATUS_OK;
}

/* Reads the columns of a row behind its serial number. */
static bool take_plain_row(struct wire_cursor *in, wire_mask columns, struct wire_particle *out)
{
	if ((columns & WIRE_PARTICLE_VELOCITY) &&
	    wire_take_reals(in, out->velocity, 3) != STATUS_OK)
		return false;
	if ((columns & WIRE_PARTICLE_POSITION) &&
	    wire_take_reals(in, out->position, 3) != STATUS_OK)
		return false;
	if ((columns & WIRE_PARTICLE_SIZE) && wire_take_reals(in, out->size, 2) != STATUS_OK)
		return false;
	if ((columns & WIRE_PARTICLE_LIFE) &&
	    !(take_number(in, &out->life[0]) && take_number(in, &out->life[1])))
		return false;
	if ((columns & WIRE_PARTICLE_DENSITY) && wire_take_reals(in, &out->density, 1) != STATUS_OK)
		return false;
	return !(columns & WIRE_PARTICLE_PRESSURE) ||
	       wire_take_reals(in, &out->pressure, 1) == STATUS_OK;
}

/* Takes the serials of one list, ascending within first … last. */
static bool take_plain_serials(struct wire_cursor *in, uint64_t first, uint64_t last,
			       uint64_t *serials, uint32_t *count)
{
	uint64_t before = first - 1;
	if (wire_take_array(in, count) != STATUS_OK || *count > WIRE_BLOCK_ROWS)
		return false;
	for (uint32_t i = 0; i < *count; before = serials[i++])
		if (!take_number(in, &serials[i]) || serials[i] <= before || serials[i] > last)
			return false;
	return true;
}

/* Rows are read once for the serials of new particles, and once for their values. */
static bool list_plain_created(const struct mirror_particles *self, struct wire_cursor in,
			       uint32_t rows, uint64_t first, uint64_t last, uint64_t *created,
			       uint32_t *count)
{
	uint64_t serial, before = first - 1;
	uint32_t items, at = self->read;
	*count = 0;
	for (uint32_t i = 0; i < rows; i++, before = serial) {
		if (wire_take_array(&in, &items) != STATUS_OK || items == 0 ||
		    !take_number(&in, &serial) || serial <= before || serial > last ||
		    wire_skip_many(&in, items - 1) != STATUS_OK)
			return false;
		const struct wire_particle key = { .system = self->block_system, .serial = serial };
		while (at < self->shown.items.count &&
		       wire_particle_compare(&self->shown.items.items[at], &key) < 0)
			at++;
		if (at == self->shown.items.count ||
		    wire_particle_compare(&self->shown.items.items[at], &key) != 0)
			created[(*count)++] = serial;
	}
	return true;
}

/* Stores the rows into the range, which begins at item `from` of `next`. */
static bool store_plain_rows(struct mirror_particles *self, struct wire_cursor *in, uint32_t rows,
			     uint32_t from)
{
	uint64_t serial;
	uint32_t items;
	for (uint32_t i = 0; i < rows; i++) {
		if (wire_take_array(in, &items) != STATUS_OK || !take_number(in, &serial))
			return false;
		while (from < self->next.items.count &&
		       self->next.items.items[from].serial < serial)
			from++;
		/* A row of a removed particle has no place. */
		if (from == self->next.items.count || self->next.items.items[from].serial != serial)
			return false;
		const uint8_t *start = in->at;
		if (!take_plain_row(in, self->columns, &self->next.items.items[from]))
			return false;
		struct wire_cursor passed = { start, in->at };
		uint32_t known = 0;
		while (!wire_at_end(&passed) && wire_skip(&passed, NULL) == STATUS_OK)
			known++;
		if (items < 1 + known || wire_skip_many(in, items - 1 - known) != STATUS_OK)
			return false;
	}
	return true;
}

static enum status apply_plain_block(struct mirror_particles *self, struct wire_cursor *in)
{
	uint64_t system, first, last;
	uint32_t items, rows;
	if (wire_take_array(in, &items) != STATUS_OK || items < 5 || !take_number(in, &system) ||
	    !take_number(in, &first) || !take_number(in, &last) ||
	    !continue_frame(self, system, first, last) ||
	    !take_plain_serials(in, first, last, self->removed, &self->removed_count) ||
	    wire_take_array(in, &rows) != STATUS_OK || rows > WIRE_BLOCK_ROWS)
		return STATUS_MALFORMED;
	enum status status = keep_before(self, (uint32_t)system, first);
	if (status != STATUS_OK)
		return status;
	uint32_t from = self->next.items.count;
	if (!list_plain_created(self, *in, rows, first, last, self->created, &self->created_count))
		return STATUS_MALFORMED;
	status = make_range(self, (uint32_t)system, last);
	if (status == STATUS_OK &&
	    (!store_plain_rows(self, in, rows, from) || wire_skip_many(in, items - 5) != STATUS_OK))
		status = STATUS_MALFORMED;
	return status;
}

static enum status apply_plain(struct mirror_particles *self, struct wire_cursor *in)
{
	uint32_t blocks;
	enum status status =
		wire_take_array(in, &blocks) == STATUS_OK ? STATUS_OK : STATUS_MALFORMED;
	for (uint32_t i = 0; i < blocks && status == STATUS_OK; i++)
		status = apply_plain_block(self, in);
	return status == STATUS_OK && !wire_at_end(in) ? STATUS_MALFORMED : status;
}

/* ---- frames
 * -------------------------------------------------------------------------------------- */

/* All parts of a frame list the same systems. */
static bool take_systems(struct mirror_particles *self, const struct wire_list *systems, bool first)
{
	struct wire_cursor in = wire_cursor_list(systems);
	uint64_t system, alive, before = 0;
	uint32_t items;
	if (systems->count > WIRE_SYSTEMS_MAX || (!first && systems->count != self->system_count))
		return false;
	self->system_count = systems->count;
	for (uint32_t i = 0; i < systems->count; i++, before = system) {
		if (wire_take_array(&in, &items) != STATUS_OK || items < 2 ||
		    wire_take_uint(&in, UINT32_MAX, &system) != STATUS_OK || system <= before ||
		    wire_take_uint(&in, UINT32_MAX, &alive) != STATUS_OK ||
		    wire_skip_many(&in, items - 2) != STATUS_OK)
			return false;
		if (!first && self->systems[i].system != system)
			return false;
		self->systems[i] = (struct wire_system_count){ (uint32_t)system, (uint32_t)alive };
	}
	return true;
}

static void begin_frame(struct mirror_particles *self, bool whole)
{
	self->next.items.count = self->next.steps.count = 0;
	self->read = whole ? self->shown.items.count : 0;
	self->block_system = 0;
	self->block_last = 0;
	self->forecast = WIRE_FORECAST_NONE;
}

static void show_next(struct mirror_particles *self)
{
	struct particle_list before = self->shown;
	self->shown = self->next;
	self->next = before;
}

enum status mirror_particles_apply(struct mirror_particles *self, const struct msg_blocks *frame)
{
	struct wire_cursor in = wire_cursor_of(frame->blocks);
	if (frame->part == 0)
		begin_frame(self, frame->flags & WIRE_FRAME_WHOLE);
	if (!take_systems(self, &frame->systems, frame->part == 0))
		return STATUS_MALFORMED;
	enum status status =
		self->profile == WIRE_PROFILE_PLAIN ? apply_plain(self, &in) : apply_bin(self, &in);
	if (status == STATUS_OK && frame->part + 1 == frame->of) {
		status = keep_before(self, UINT32_MAX, UINT64_MAX);
		if (status == STATUS_OK)
			show_next(self);
	}
	return status;
}
