/* force_fields_invariants.c: the invariants of force fields; see invariants.c. */
#include "server/engine/world/checking.h"

static enum status check_numbers(const struct field_table *t, uint32_t row, struct reason *why)
{
	EXPECT(check_within((double)t->tag[row], -INTEGER_MAX, INTEGER_MAX), TABLE_FIELD, row,
	       "tag");
	EXPECT(check_vector_within(t->position[row], LENGTH_MAX), TABLE_FIELD, row, "position");
	EXPECT(check_unit(t->rotation[row]), TABLE_FIELD, row, "rotation");
	EXPECT(check_vector_within(t->half[row], LENGTH_MAX) &&
		       vec3_min_component(t->half[row]) >= 0,
	       TABLE_FIELD, row, "half");
	EXPECT(check_vector_within(t->strength[row], FORCE_MAX), TABLE_FIELD, row, "strength");
	EXPECT(check_vector_within(t->velocity[row], SPEED_MAX), TABLE_FIELD, row, "velocity");
	EXPECT(check_within(t->linear[row], 0, STIFFNESS_MAX), TABLE_FIELD, row, "linear");
	EXPECT(check_within(t->quadratic[row], 0, STIFFNESS_MAX), TABLE_FIELD, row, "quadratic");
	EXPECT(check_within(t->angular[row], 0, DAMPING_MAX), TABLE_FIELD, row, "angular");
	EXPECT(check_within(t->core[row], FIELD_CORE_MIN, LENGTH_MAX), TABLE_FIELD, row, "core");
	EXPECT(check_within(t->density[row], 0, DENSITY_MAX), TABLE_FIELD, row, "density");
	return STATUS_OK;
}

static enum status check_field(const struct tables *tables, uint32_t row, struct reason *why)
{
	const struct field_table *t = &tables->field;
	bool ball = t->region[row] == FIELD_BALL, box = t->region[row] == FIELD_BOX;
	bool planar = tables->world.planar[0] != 0;
	vec3 half = t->half[row];
	EXPECT(t->id[row] < tables->world.next_field[0], TABLE_FIELD, row, "id");
	EXPECT(t->kind[row] >= FIELD_WIND && t->kind[row] <= FIELD_MUTUAL, TABLE_FIELD, row,
	       "kind");
	EXPECT(t->region[row] <= FIELD_BOX, TABLE_FIELD, row, "region");
	EXPECT(t->falloff[row] <= FIELD_COMPONENTS &&
		       (t->falloff[row] == FIELD_CONSTANT || ball || box),
	       TABLE_FIELD, row, "falloff");
	EXPECT(t->flags[row] <= FIELD_PER_MASS, TABLE_FIELD, row, "flags");
	EXPECT(t->power[row] <= 2, TABLE_FIELD, row, "power");
	EXPECT(!(ball || box) || half.x > 0, TABLE_FIELD, row, "half");
	EXPECT(!box || (half.y > 0 && (half.z > 0 || planar)), TABLE_FIELD, row, "half");
	EXPECT(t->kind[row] != FIELD_MUTUAL || !box, TABLE_FIELD, row, "region");
	return check_numbers(t, row, why);
}

enum status force_fields_check_tables(const struct tables *tables, struct reason *why)
{
	uint32_t used = 0;
	for (uint32_t row = 0; row < tables->field.count; row++) {
		if (tables->field.id[row] == 0)
			continue;
		enum status status = check_field(tables, row, why);
		if (status != STATUS_OK)
			return status;
		used++;
	}
	EXPECT(used <= FIELDS_MAX, TABLE_FIELD, 0, "id");
	return STATUS_OK;
}
