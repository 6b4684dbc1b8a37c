/* pieces.c: the answer of PIECES as text or JSON: what each piece or patch has of its own. */
#include <stdio.h>

#include "clients/cli/verbs.h"
#include "protocol/command_wire.h"

static void print_vector(const struct cli *cli, const char *key, vec3 v)
{
	out_reals(cli, key, (const double[3]){ v.x, v.y, v.z }, 3);
}

static void print_piece(const struct cli *cli, const struct command_SET_PIECE *set)
{
	out_begin(cli);
	out_u64(cli, "piece", set->piece);
	out_u64(cli, "patch", set->patch);
	out_u64(cli, "own", set->own);
	if (set->own & OWN_MATERIAL) {
		out_real(cli, "static_friction", set->static_friction);
		out_real(cli, "dynamic_friction", set->dynamic_friction);
		out_real(cli, "restitution", set->restitution);
		out_u64(cli, "friction_rule", set->friction_rule);
		out_u64(cli, "restitution_rule", set->restitution_rule);
		out_real(cli, "rolling_friction", set->rolling_friction);
		out_real(cli, "spinning_friction", set->spinning_friction);
		print_vector(cli, "friction_axis", set->friction_axis);
		out_real(cli, "axis_friction", set->axis_friction);
	}
	if (set->own & OWN_FILTER) {
		out_u64(cli, "category", set->category);
		out_u64(cli, "mask", set->mask);
		out_real(cli, "group", (double)set->group);
	}
	if (set->own & OWN_SENSOR)
		out_u64(cli, "sensor", set->sensor);
	if (set->own & OWN_SURFACE)
		print_vector(cli, "surface_velocity", set->surface_velocity);
	if (set->own & OWN_DENSITY)
		out_real(cli, "density", set->density);
	out_end(cli);
}

bool cli_pieces(const struct cli *cli, struct wire_cursor *in, uint32_t *count)
{
	struct arena none = { 0 }; /* SET_PIECE has no lists */
	struct command command;
	if (wire_take_array(in, count) != STATUS_OK)
		return false;
	for (uint32_t i = 0; i < *count; i++) {
		if (command_take(in, &none, i, &command, NULL) != STATUS_OK ||
		    command.op != COMMAND_SET_PIECE)
			return false;
		print_piece(cli, &command.set_piece);
		if (!cli->json && i + 1 < *count)
			putchar('\n');
	}
	return true;
}
