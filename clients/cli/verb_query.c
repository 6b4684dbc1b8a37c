/* verb_query.c: the verb query: reads a query from the operands, sends it and prints the answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/cli/verbs.h"
#include "server/base/bytes.h"

enum { JOINTS_PAGE = 1024 }; /* joints in one answer */

/* ---- queries
 * ------------------------------------------------------------------------------------- */

static bool take_vector(struct cli *cli, uint32_t operand, const char *what, double values[3])
{
	if (operand < cli->operand_count)
		return cli_numbers(cli, cli->operands[operand], what, values, 3);
	reason_set(&cli->why, STATUS_MISSING, -1, what, "%s is missing: give X,Y,Z, three numbers",
		   what);
	return false;
}

static bool take_body(struct cli *cli, uint32_t operand, uint32_t *body)
{
	*body = 0;
	return operand >= cli->operand_count || cli_u32(cli, cli->operands[operand], "BODY", body);
}

/* CAST or MOVE: a shape, its position and its displacement. */
static bool read_displacement(struct cli *cli, enum wire_query_kind kind, struct wire_query *query,
			      struct bytes *canonical)
{
	const char *step = cli_option(cli, "step", 0);
	query_init(query, kind);
	query->limit = 16;
	if (cli->operand_count != 5 || !cli_shape(cli, cli->operands[2], canonical))
		return false;
	query->shape = (struct wire_slice){ canonical->data, (uint32_t)canonical->count };
	return take_vector(cli, 3, "POSITION", query->origin) &&
	       take_vector(cli, 4, "WAY", query->direction) &&
	       (step == NULL || cli_number(cli, step, "step", &query->step));
}

/* JOINT, JOINTS or LINKED; false if `kind` is none of them. */
static bool read_joints(struct cli *cli, const char *kind, struct wire_query *query)
{
	if (strcmp(kind, "joint") == 0 && cli->operand_count == 3) {
		query_init(query, WIRE_QUERY_JOINT);
		return take_body(cli, 2, &query->joint);
	}
	bool linked = strcmp(kind, "linked") == 0;
	if (linked ? cli->operand_count != 3 : strcmp(kind, "joints") != 0)
		return false;
	query_init(query, linked ? WIRE_QUERY_LINKED : WIRE_QUERY_JOINTS);
	query->limit = linked ? WIRE_QUERY_LIMIT_MAX : JOINTS_PAGE;
	return take_body(cli, 2, &query->body);
}

/* DYNAMICS: bodies and values as lists, in `packed`: values first, because they are aligned to 8 bytes. */
static bool read_dynamics(struct cli *cli, struct wire_query *query, struct bytes *packed)
{
	double *values = malloc(ROBOT_DYNAMICS_AXES * sizeof *values);
	uint32_t count = 0, robots = 0;
	bool good = values != NULL;
	query_init(query, WIRE_QUERY_DYNAMICS);
	query->inverse = cli_flag(cli, "inverse");
	query->still = cli_flag(cli, "still");
	if (good && cli->operand_count == 4)
		good = cli_list(cli, cli->operands[3], "VALUES", values, ROBOT_DYNAMICS_AXES,
				&count);
	for (uint32_t i = 0; good && i < count; i++)
		good = bytes_append(packed, &values[i], sizeof values[i]) == STATUS_OK;
	if (good)
		good = cli_list(cli, cli->operands[2], "BODIES", values, ROBOT_DYNAMICS_MAX,
				&robots);
	for (uint32_t i = 0; good && i < robots; i++) {
		bool whole = values[i] >= 1 && values[i] <= UINT32_MAX;
		uint32_t body = whole ? (uint32_t)values[i] : 0;
		good = whole && values[i] == body;
		if (!good) {
			reason_set(&cli->why, STATUS_TYPE, -1, "BODIES",
				   "BODIES is %.70s: ids of bodies, whole numbers from 1 to "
				   "4294967295 separated by commas",
				   cli->operands[2]);
		} else {
			good = bytes_append(packed, &body, sizeof body) == STATUS_OK;
		}
	}
	free(values);
	if (!good)
		return false;
	uint32_t split = count * (uint32_t)sizeof *values;
	query->values = (struct wire_slice){ packed->data, split };
	query->bodies =
		(struct wire_slice){ packed->data + split, (uint32_t)packed->count - split };
	return true;
}

/* ROBOT, INERTIA, JACOBIAN or DYNAMICS; false if `kind` is none of them. */
static bool read_robot(struct cli *cli, const char *kind, struct wire_query *query,
		       struct bytes *packed)
{
	bool dynamics = strcmp(kind, "dynamics") == 0;
	if (dynamics && (cli->operand_count == 3 || cli->operand_count == 4))
		return read_dynamics(cli, query, packed);
	if (strcmp(kind, "robot") == 0 && cli->operand_count <= 3) {
		query_init(query, WIRE_QUERY_ROBOT);
		return take_body(cli, 2, &query->body);
	}
	if (strcmp(kind, "inertia") == 0 && cli->operand_count == 3) {
		query_init(query, WIRE_QUERY_INERTIA);
		return take_body(cli, 2, &query->body);
	}
	if (strcmp(kind, "jacobian") != 0 || cli->operand_count != 4)
		return read_joints(cli, kind, query);
	query_init(query, WIRE_QUERY_JACOBIAN);
	return take_body(cli, 2, &query->body) && take_vector(cli, 3, "POSITION", query->origin);
}

static bool read_geometry(struct cli *cli, const char *kind, struct wire_query *query,
			  struct bytes *canonical)
{
	if (strcmp(kind, "cast") == 0)
		return read_displacement(cli, WIRE_QUERY_CAST, query, canonical);
	if (strcmp(kind, "move") == 0)
		return read_displacement(cli, WIRE_QUERY_MOVE, query, canonical);
	if (strcmp(kind, "closest") == 0 && cli->operand_count > 2) {
		query_init(query, WIRE_QUERY_CLOSEST);
		return take_body(cli, 2, &query->body) && take_body(cli, 3, &query->other);
	}
	if (strcmp(kind, "regions") == 0 && cli->operand_count == 4) {
		query_init(query, WIRE_QUERY_REGIONS);
		return take_body(cli, 2, &query->body) && take_body(cli, 3, &query->other);
	}
	if (strcmp(kind, "mass") == 0) {
		query_init(query, WIRE_QUERY_MASS);
		return take_body(cli, 2, &query->body);
	}
	if (strcmp(kind, "sensed") == 0 && cli->operand_count == 3) {
		query_init(query, WIRE_QUERY_SENSED);
		return take_body(cli, 2, &query->body);
	}
	if (strcmp(kind, "pieces") == 0 && cli->operand_count == 3) {
		query_init(query, WIRE_QUERY_PIECES);
		return take_body(cli, 2, &query->body);
	}
	if (strcmp(kind, "carriers") == 0 && cli->operand_count <= 3) {
		query_init(query, WIRE_QUERY_CARRIERS);
		query->limit = WIRE_QUERY_LIMIT_MAX;
		return cli->operand_count == 2 || take_body(cli, 2, &query->body);
	}
	if (strcmp(kind, "forces") == 0) {
		query_init(query, WIRE_QUERY_FORCES);
		query->representative = cli_flag(cli, "least-norm");
		return take_body(cli, 2, &query->body);
	}
	if (strcmp(kind, "fields") == 0 && cli->operand_count <= 3) {
		query_init(query, WIRE_QUERY_FIELDS);
		return cli->operand_count == 2 || take_vector(cli, 2, "POSITION", query->origin);
	}
	if (strcmp(kind, "systems") == 0 && cli->operand_count == 2) {
		query_init(query, WIRE_QUERY_SYSTEMS);
		return true;
	}
	if (strcmp(kind, "fluids") == 0 && cli->operand_count == 2) {
		query_init(query, WIRE_QUERY_FLUIDS);
		return true;
	}
	if (strcmp(kind, "particles") == 0 && cli->operand_count == 3) {
		query_init(query, WIRE_QUERY_PARTICLES);
		query->limit = WIRE_PARTICLES_MAX;
		return take_body(cli, 2, &query->system);
	}
	if (strcmp(kind, "links") == 0 && cli->operand_count == 3) {
		query_init(query, WIRE_QUERY_LINKS);
		query->limit = WIRE_PARTICLES_MAX;
		return take_body(cli, 2, &query->system);
	}
	return read_robot(cli, kind, query, canonical);
}

/* Reads the query from the operands; it borrows its shape from `canonical`. */
static bool read_query(struct cli *cli, struct wire_query *query, struct bytes *canonical)
{
	const char *kind = cli->operand_count > 1 ? cli->operands[1] : "";
	if (strcmp(kind, "ray") == 0) {
		query_init(query, WIRE_QUERY_RAY);
		query->limit = 16;
		return take_vector(cli, 2, "ORIGIN", query->origin) &&
		       take_vector(cli, 3, "DIRECTION", query->direction) &&
		       cli->operand_count == 5 &&
		       cli_number(cli, cli->operands[4], "LENGTH", &query->length);
	}
	if (strcmp(kind, "overlap") == 0) {
		query_init(query, WIRE_QUERY_OVERLAP);
		if (cli->operand_count != 4 || !cli_shape(cli, cli->operands[2], canonical))
			return false;
		query->shape = (struct wire_slice){ canonical->data, (uint32_t)canonical->count };
		return take_vector(cli, 3, "POSITION", query->origin);
	}
	if (strcmp(kind, "contacts") == 0) {
		query_init(query, WIRE_QUERY_CONTACTS);
		return take_body(cli, 2, &query->body);
	}
	if (strcmp(kind, "totals") == 0) {
		query_init(query, WIRE_QUERY_TOTALS);
		return true;
	}
	if (strcmp(kind, "body") == 0 && cli->operand_count == 3) {
		query_init(query, WIRE_QUERY_BODY);
		return take_body(cli, 2, &query->body);
	}
	return read_geometry(cli, kind, query, canonical);
}

/* ---- answers
 * ------------------------------------------------------------------------------------- */

static void print_hit(const struct cli *cli, const struct wire_cast_hit *hit)
{
	out_begin(cli);
	out_u64(cli, "body", hit->body);
	out_real(cli, "fraction", hit->fraction);
	out_reals(cli, "point", hit->point, 3);
	out_reals(cli, "normal", hit->normal, 3);
	out_real(cli, "depth", hit->depth);
	out_end(cli);
}

static bool print_force(const struct cli *cli, struct wire_cursor *in)
{
	static const char *const KNOWN[FORCE_KNOWN_KINDS] = {
		[FORCE_AS_FOUND] = "as_found",
		[FORCE_UNIQUE] = "unique",
		[FORCE_NOT_DETERMINED] = "not_determined",
		[FORCE_LEAST_NORM] = "least_norm",
	};
	struct wire_force force;
	if (answer_take_force(in, &force) != STATUS_OK)
		return false;
	out_begin(cli);
	out_u64(cli, "a", force.contact.a);
	out_u64(cli, "b", force.contact.b);
	out_reals(cli, "point", force.contact.point, 3);
	out_reals(cli, "normal", force.contact.normal, 3);
	out_real(cli, "separation", force.contact.separation);
	out_real(cli, "force", force.contact.impulse);
	out_reals(cli, "friction", force.contact.friction, 3);
	out_text(cli, "known", KNOWN[force.known]);
	out_end(cli);
	return true;
}

static bool print_region(const struct cli *cli, struct wire_cursor *in)
{
	struct wire_region region;
	if (answer_take_region(in, &region) != STATUS_OK)
		return false;
	out_begin(cli);
	out_real(cli, "depth", region.depth);
	out_real(cli, "volume", region.volume);
	out_reals(cli, "point", region.point, 3);
	out_reals(cli, "other_point", region.other_point, 3);
	out_reals(cli, "normal", region.normal, 3);
	out_u64(cli, "contours", region.contours);
	out_end(cli);
	return true;
}

static void print_closest(const struct cli *cli, struct wire_cursor *in)
{
	struct wire_closest pair;
	if (answer_take_closest(in, &pair) != STATUS_OK || !pair.found)
		return;
	out_begin(cli);
	out_real(cli, "distance", pair.distance);
	out_reals(cli, "normal", pair.normal, 3);
	out_u64(cli, "other", pair.b.body);
	out_reals(cli, "point", pair.a.point, 3);
	out_reals(cli, "other_point", pair.b.point, 3);
	out_end(cli);
}

static void print_mass(const struct cli *cli, struct wire_cursor *in)
{
	struct wire_mass mass;
	if (answer_take_mass(in, &mass) != STATUS_OK)
		return;
	out_begin(cli);
	out_u64(cli, "bodies", mass.bodies);
	out_real(cli, "mass", mass.mass);
	out_reals(cli, "centre", mass.centre, 3);
	out_reals(cli, "inertia", mass.inertia, 6);
	out_reals(cli, "moments", mass.moments, 3);
	out_reals(cli, "axes", mass.axes, 4);
	out_real(cli, "radius", mass.radius);
	out_end(cli);
}

static void print_move(const struct cli *cli, struct wire_cursor *in)
{
	struct wire_move move;
	if (answer_take_move(in, &move) != STATUS_OK)
		return;
	out_begin(cli);
	out_reals(cli, "position", move.position, 3);
	out_reals(cli, "left", move.left, 3);
	out_u64(cli, "ground", move.flags & WIRE_MOVE_GROUNDED ? move.ground.body : 0);
	out_u64(cli, "stuck", move.flags & WIRE_MOVE_STUCK ? 1 : 0);
	out_real(cli, "climbed", move.climbed);
	out_u64(cli, "contacts", move.contact_count);
	out_end(cli);
}

static bool print_field(const struct cli *cli, struct wire_cursor *in)
{
	struct wire_force_field field;
	if (answer_take_field(in, &field) != STATUS_OK)
		return false;
	out_begin(cli);
	out_u64(cli, "id", field.id);
	out_text(cli, "kind", command_word(WORDS_FIELD_KIND, field.kind));
	out_text(cli, "region", command_word(WORDS_FIELD_REGION, field.region));
	out_reals(cli, "position", field.position, 3);
	out_reals(cli, "rotation", field.rotation, 4);
	out_reals(cli, "half", field.half, 3);
	out_text(cli, "falloff", command_word(WORDS_FIELD_FALLOFF, field.falloff));
	out_reals(cli, "strength", field.strength, 3);
	out_reals(cli, "velocity", field.velocity, 3);
	out_real(cli, "linear", field.linear);
	out_real(cli, "quadratic", field.quadratic);
	out_real(cli, "angular", field.angular);
	out_u64(cli, "power", field.power);
	out_real(cli, "core", field.core);
	out_real(cli, "density", field.density);
	out_u64(cli, "flags", field.flags);
	out_u64(cli, "mask", field.mask);
	out_real(cli, "tag", (double)field.tag);
	out_end(cli);
	return true;
}

/* One record for the place, then one a field. */
static void print_fields(const struct cli *cli, struct wire_cursor *in)
{
	struct wire_field_force head;
	if (answer_take_fields(in, &head) != STATUS_OK)
		return;
	out_begin(cli);
	out_reals(cli, "acceleration", head.acceleration, 3);
	out_reals(cli, "force", head.force, 3);
	out_u64(cli, "fields", head.count);
	out_end(cli);
	for (uint32_t i = 0; i < head.count; i++) {
		if (!cli->json)
			putchar('\n');
		if (!print_field(cli, in))
			return;
	}
}

/* Prints one item of an answer as a record. */
static bool print_carrier(const struct cli *cli, struct wire_cursor *in)
{
	uint32_t fields = 0, points = 0;
	uint64_t body = 0, id = 0;
	double ids[4], off = 0;
	bool good = wire_take_array(in, &fields) == STATUS_OK && fields == 3 &&
		    wire_take_uint(in, UINT32_MAX, &body) == STATUS_OK &&
		    wire_take_array(in, &points) == STATUS_OK && points <= COUNT_OF(ids);
	for (uint32_t k = 0; good && k < points; k++) {
		good = wire_take_uint(in, UINT32_MAX, &id) == STATUS_OK;
		ids[k] = (double)id;
	}
	if (!good || wire_take_real(in, &off) != STATUS_OK)
		return false;
	out_begin(cli);
	out_u64(cli, "body", body);
	out_reals(cli, "points", ids, points);
	out_real(cli, "off", off);
	out_end(cli);
	return true;
}

static bool print_item(const struct cli *cli, enum wire_query_kind kind, struct wire_cursor *in)
{
	struct wire_ray_hit hit;
	struct wire_contact contact;
	struct wire_cast_hit cast;
	if (kind == WIRE_QUERY_REGIONS)
		return print_region(cli, in);
	if (kind == WIRE_QUERY_SYSTEMS)
		return cli_system(cli, in);
	if (kind == WIRE_QUERY_FLUIDS)
		return cli_fluid(cli, in);
	if (kind == WIRE_QUERY_FORCES)
		return print_force(cli, in);
	if (kind == WIRE_QUERY_CARRIERS)
		return print_carrier(cli, in);
	if (kind == WIRE_QUERY_CAST) {
		if (answer_take_cast_hit(in, &cast) != STATUS_OK)
			return false;
		print_hit(cli, &cast);
		return true;
	}
	if (kind == WIRE_QUERY_RAY) {
		if (answer_take_hit(in, &hit) != STATUS_OK)
			return false;
		out_begin(cli);
		out_u64(cli, "body", hit.body);
		out_real(cli, "fraction", hit.fraction);
		out_reals(cli, "point", hit.point, 3);
		out_reals(cli, "normal", hit.normal, 3);
	} else {
		if (answer_take_contact(in, &contact) != STATUS_OK)
			return false;
		out_begin(cli);
		out_u64(cli, "a", contact.a);
		out_u64(cli, "b", contact.b);
		out_reals(cli, "point", contact.point, 3);
		out_reals(cli, "normal", contact.normal, 3);
		out_real(cli, "separation", contact.separation);
		out_real(cli, "impulse", contact.impulse);
		out_reals(cli, "friction", contact.friction, 3);
	}
	out_end(cli);
	return true;
}

static void print_mover(const struct cli *cli, const struct wire_mover *mover)
{
	out_u64(cli, "on_ground", (mover->flags & MOVER_ON_GROUND) != 0);
	out_u64(cli, "blocked", (mover->flags & MOVER_BLOCKED) != 0);
	out_u64(cli, "squeezed", (mover->flags & MOVER_SQUEEZED) != 0);
	out_u64(cli, "pushes", (mover->flags & MOVER_PUSHES) != 0);
	out_u64(cli, "rests", (mover->flags & MOVER_RESTS) != 0);
	out_u64(cli, "ground", mover->ground);
	out_reals(cli, "ground_normal", mover->normal, 3);
	out_reals(cli, "air_velocity", mover->velocity, 3);
	out_reals(cli, "wish", mover->wish, 3);
	out_u64(cli, "squeezes", mover->squeezes);
	out_real(cli, "step_height", mover->step_height);
	out_real(cli, "slope", mover->slope);
	out_real(cli, "push_force", mover->push_force);
	out_real(cli, "snap", mover->snap);
}

static void print_body(const struct cli *cli, struct wire_cursor *in)
{
	static uint8_t shapes[WIRE_BODY_SHAPES * WIRE_SHAPE_BYTES];
	struct wire_body_facts facts;
	if (answer_take_body(in, &facts, shapes) != STATUS_OK)
		return;
	out_begin(cli);
	out_u64(cli, "id", facts.body.id);
	out_text(cli, "status", command_word(WORDS_BODY_STATUS, facts.body.status));
	out_u64(cli, "flags", facts.body.flags);
	out_u64(cli, "owner", facts.body.owner);
	out_reals(cli, "position", facts.body.position, 3);
	out_reals(cli, "rotation", facts.body.rotation, 4);
	out_reals(cli, "velocity", facts.body.velocity, 3);
	out_reals(cli, "spin", facts.body.spin, 3);
	out_real(cli, "mass", facts.mass);
	out_reals(cli, "centre", facts.centre, 3);
	out_u64(cli, "shapes", facts.body.shape_count);
	if (facts.walks)
		print_mover(cli, &facts.mover);
	out_end(cli);
}

static void print_answer(const struct cli *cli, enum wire_query_kind kind,
			 const struct msg_answer *answer)
{
	struct wire_cursor in = wire_cursor_of(answer->answer);
	struct wire_list list;
	struct wire_totals totals;
	if (kind == WIRE_QUERY_TOTALS) {
		if (answer_take_totals(&in, &totals) != STATUS_OK)
			return;
		out_begin(cli);
		print_totals(cli, &totals);
		out_end(cli);
	} else if (kind == WIRE_QUERY_BODY) {
		print_body(cli, &in);
	} else if (kind == WIRE_QUERY_CLOSEST) {
		print_closest(cli, &in);
	} else if (kind == WIRE_QUERY_MASS) {
		print_mass(cli, &in);
	} else if (kind == WIRE_QUERY_MOVE) {
		print_move(cli, &in);
	} else if (kind == WIRE_QUERY_FIELDS) {
		print_fields(cli, &in);
	} else if (kind == WIRE_QUERY_JOINT) {
		cli_joint(cli, &in);
	} else if (kind == WIRE_QUERY_ROBOT) {
		cli_robot(cli, &in);
	} else if (kind == WIRE_QUERY_DYNAMICS) {
		cli_dynamics(cli, &in);
	} else if (kind == WIRE_QUERY_INERTIA || kind == WIRE_QUERY_JACOBIAN) {
		cli_matrix(cli, &in);
	} else if (kind == WIRE_QUERY_OVERLAP || kind == WIRE_QUERY_LINKED ||
		   kind == WIRE_QUERY_SENSED) {
		out_ids(cli, "bodies", answer->answer);
	} else if (wire_take_list(&in, &list) == STATUS_OK) {
		struct wire_cursor items = wire_cursor_list(&list);
		for (uint32_t i = 0; i < list.count && print_item(cli, kind, &items); i++)
			if (!cli->json && i + 1 < list.count)
				putchar('\n');
	}
}

/* Prints one page of JOINTS and makes `query` the one for the next page. *more: the page was full,
 * so there may be another one. */
static bool print_page(struct cli *cli, struct wire_query *query, const struct msg_answer *answer,
		       bool *more)
{
	struct wire_cursor in = wire_cursor_of(answer->answer);
	uint32_t last = 0, count = 0;
	bool good = wire_take_array(&in, &count) == STATUS_OK;
	for (uint32_t i = 0; good && i < count; i++)
		good = cli_joints_item(cli, &in, &last);
	*more = good && count == query->limit;
	query->first = last + 1;
	if (!good)
		reason_set(&cli->why, STATUS_MALFORMED, -1, "joints",
			   "the server's answer to JOINTS is malformed");
	return good;
}

/* Prints all pages of JOINTS; `answer` contains the first one. */
static int print_joints(struct cli *cli, uint32_t world, struct wire_query *query,
			struct message *answer)
{
	bool more, good;
	if (!cli->json)
		cli_joints_head();
	do {
		good = print_page(cli, query, &answer->answer, &more);
		if (more)
			good = cairn_ask(cli->client, world, query, answer, &cli->why) == STATUS_OK;
	} while (good && more);
	return good ? EXIT_SUCCESS : cli_fail(cli);
}

/* Prints all pages of PARTICLES; `answer` contains the first one. */
static int print_particles(struct cli *cli, uint32_t world, struct wire_query *query,
			   struct message *answer)
{
	uint64_t last = 0;
	uint32_t count = 0;
	bool good;
	do {
		struct wire_cursor in = wire_cursor_of(answer->answer.answer);
		good = cli_particles(cli, &in, &last, &count);
		query->after = (double)last;
		if (!good)
			reason_set(&cli->why, STATUS_MALFORMED, -1, "particles",
				   "the server's answer to PARTICLES is malformed");
		else if (count == query->limit)
			good = cairn_ask(cli->client, world, query, answer, &cli->why) == STATUS_OK;
	} while (good && count == query->limit);
	return good ? EXIT_SUCCESS : cli_fail(cli);
}

static int print_links(struct cli *cli, uint32_t world, struct wire_query *query,
		       struct message *answer)
{
	uint32_t count = 0;
	bool good;
	do {
		struct wire_cursor in = wire_cursor_of(answer->answer.answer);
		good = cli_links(cli, &in, &count);
		query->after += count;
		if (!good)
			reason_set(&cli->why, STATUS_MALFORMED, -1, "links",
				   "the server's answer to LINKS is malformed");
		else if (count == query->limit)
			good = cairn_ask(cli->client, world, query, answer, &cli->why) == STATUS_OK;
	} while (good && count == query->limit);
	return good ? EXIT_SUCCESS : cli_fail(cli);
}

static int print_pieces(struct cli *cli, uint32_t world, struct wire_query *query,
			struct message *answer)
{
	uint32_t count = 0;
	bool good;
	do {
		struct wire_cursor in = wire_cursor_of(answer->answer.answer);
		good = cli_pieces(cli, &in, &count);
		query->first += count;
		if (!good)
			reason_set(&cli->why, STATUS_MALFORMED, -1, "pieces",
				   "the server's answer to PIECES is malformed");
		else if (count == query->limit)
			good = cairn_ask(cli->client, world, query, answer, &cli->why) == STATUS_OK;
	} while (good && count == query->limit);
	return good ? EXIT_SUCCESS : cli_fail(cli);
}

int verb_query(struct cli *cli)
{
	struct cairn_world world;
	struct wire_query query;
	struct message answer;
	struct bytes canonical = { 0 };
	cli->why.status = STATUS_OK;
	bool good = read_query(cli, &query, &canonical);
	if (!good && cli->why.status == STATUS_OK)
		return cli_usage(
			cli,
			"query %.40s: unknown kind or wrong operands; `cairn help query` lists them",
			cli->operand_count > 1 ? cli->operands[1] : "without a kind");
	good = good && cli_options_known(cli) && cli_join(cli, &world) &&
	       cairn_ask(cli->client, world.number, &query, &answer, &cli->why) == STATUS_OK;
	bytes_release(&canonical);
	if (!good)
		return cli_fail(cli);
	if (query.kind == WIRE_QUERY_LINKS)
		return print_links(cli, world.number, &query, &answer);
	if (query.kind == WIRE_QUERY_PIECES)
		return print_pieces(cli, world.number, &query, &answer);
	if (query.kind == WIRE_QUERY_PARTICLES)
		return print_particles(cli, world.number, &query, &answer);
	if (query.kind == WIRE_QUERY_JOINTS)
		return print_joints(cli, world.number, &query, &answer);
	print_answer(cli, query.kind, &answer.answer);
	return EXIT_SUCCESS;
}
