/* wire_queries.c: queries.json: a query and an answer of every kind, as they are encoded inside
 * QUERY and ANSWER. */
#include "protocol/command_wire.h"
#include "protocol/query_wire.h"
#include "tests/lib/wire_vectors.h"

#include <string.h>

/* A sphere of radius 0.5, and a name. */
static const uint8_t SPHERE[] = { 1, 1, 0, 0, 0, 0, 0, 0, 0xe0, 0x3f };
static const uint8_t NAME[32] = { 0xab, 1, 2, 3 };

static void set3(double to[3], double x, double y, double z)
{
	to[0] = x;
	to[1] = y;
	to[2] = z;
}

static struct wire_query query_of_kind(uint32_t kind)
{
	struct wire_query query;
	query_init(&query, (enum wire_query_kind)kind);
	set3(query.origin, 0, 10, 0);
	set3(query.direction, 0, -1, 0);
	query.length = 20;
	query.shape = kind == WIRE_QUERY_MOVE ? (struct wire_slice){ NAME, sizeof NAME }
					      : (struct wire_slice){ SPHERE, sizeof SPHERE };
	query.body = 1;
	query.joint = 4;
	query.other = kind == WIRE_QUERY_REGIONS ? 2 : 0;
	query.step = 0.25;
	memcpy(query.name.bytes, NAME, sizeof NAME);
	return query;
}

static struct wire_cast_hit hit(void)
{
	struct wire_cast_hit made = { .body = 1, .child = 3, .fraction = 0.5, .depth = 0.125 };
	set3(made.point, 0, 0.5, 0);
	set3(made.normal, 0, 1, 0);
	return made;
}

static void pack_hits(struct wire_packer *out, bool cast)
{
	struct wire_cast_hit long_hit = hit();
	struct wire_ray_hit ray = { .body = 1, .fraction = 0.5, .normal = { 0, 1, 0 } };
	wire_pack_array(out, 1);
	if (cast)
		answer_pack_cast_hit(out, &long_hit);
	else
		answer_pack_hit(out, &ray);
}

static void pack_body(struct wire_packer *out)
{
	struct wire_body_facts facts = { .mass = 1000, .centre = { 0, 0.5, 0 } };
	facts.body.id = 1;
	facts.body.status = 2;
	facts.body.tag = -7;
	facts.body.rotation[0] = 1;
	set3(facts.body.position, 1, 2, 3);
	answer_pack_body(out, &facts);
}

static void pack_contact(struct wire_packer *out)
{
	struct wire_contact contact = { .a = 1, .b = 2, .separation = -0.125, .impulse = 4 };
	set3(contact.normal, 0, 1, 0);
	wire_pack_array(out, 1);
	answer_pack_contact(out, &contact);
}

static void pack_force(struct wire_packer *out)
{
	struct wire_force force = {
		.contact = { .a = 1, .b = 2, .separation = -0.125, .impulse = 240 },
		.known = FORCE_UNIQUE
	};
	set3(force.contact.normal, 0, 1, 0);
	set3(force.contact.friction, 12, 0, -3);
	wire_pack_array(out, 1);
	answer_pack_force(out, &force);
}

static void pack_closest(struct wire_packer *out)
{
	struct wire_closest closest = { .found = true, .distance = 0.75, .normal = { 0, 1, 0 } };
	closest.a =
		(struct wire_closest_side){ .body = 1, .feature = { 2, 6, 7 }, .feature_count = 3 };
	closest.b = (struct wire_closest_side){
		.body = 2, .child = 4, .feature = { 5 }, .feature_count = 1
	};
	set3(closest.b.point, 0, 0.75, 0);
	answer_pack_closest(out, &closest);
}

static void pack_mass(struct wire_packer *out)
{
	struct wire_mass mass = { .mass = 12,
				  .moments = { 25, 20, 13 },
				  .axes = { 0.5, 0.5, 0.5, 0.5 },
				  .radius = 2.75,
				  .bodies = 1,
				  .inertia = { 25, 20, 13, 0, 0, 0 } };
	answer_pack_mass(out, &mass);
}

static void pack_move(struct wire_packer *out)
{
	struct wire_move move = { .flags = WIRE_MOVE_GROUNDED,
				  .iterations = 2,
				  .climbed = 0.25,
				  .contact_count = 1,
				  .ground = hit() };
	move.contacts[0] = hit();
	set3(move.position, 1, 2, 3);
	set3(move.left, 0.5, 0, 0);
	answer_pack_move(out, &move);
}

static void pack_region(struct wire_packer *out)
{
	struct wire_region region = { .contours = 1,
				      .depth = 0.25,
				      .volume = 0.5,
				      .other_point = { 0, 0.25, 0 },
				      .normal = { 0, 1, 0 } };
	wire_pack_array(out, 1);
	answer_pack_region(out, &region);
}

static void pack_method(struct wire_packer *out)
{
	uint8_t room[64];
	struct wire_packer names = wire_packer_over(room, sizeof room);
	struct wire_method_name name = { .name = wire_text("gr-lcp"),
					 .parameter = wire_text("reflection.core") };
	answer_pack_method_name(&names, &name);
	struct wire_method method = { .number = 5,
				      .motion = 1,
				      .shapes = 6,
				      .abilities = WIRE_METHOD_SLEEP,
				      .code = STATUS_METHOD_REFUSES,
				      .name = wire_text("reflection"),
				      .why = wire_text("body 1 is a mesh"),
				      .summary = wire_text("elastic"),
				      .names = { room, names.bytes, 1 } };
	wire_pack_array(out, 1);
	answer_pack_method(out, &method);
}

static void pack_parameter(struct wire_packer *out)
{
	uint8_t room[64];
	struct wire_packer words = wire_packer_over(room, sizeof room);
	wire_pack_string(&words, "soft-step");
	struct wire_parameter parameter = { .number = 3,
					    .whole = true,
					    .value = 8,
					    .initial = 4,
					    .min = 1,
					    .max = 64,
					    .name = wire_text("soft_step.substeps"),
					    .unit = wire_text(""),
					    .doc = wire_text("solver passes per tick"),
					    .methods = { room, words.bytes, 1 },
					    .old = { room, 0, 0 } };
	wire_pack_array(out, 1);
	answer_pack_parameter(out, &parameter);
}

static void pack_joint(struct wire_packer *out, bool alone)
{
	struct wire_joint_facts facts = {
		.joint = { .id = 4,
			   .type = 2,
			   .flags = 3,
			   .a = 1,
			   .b = 300,
			   .owner = 7,
			   .tag = -9,
			   .frame_a = { 1 },
			   .frame_b = { 0, 1 },
			   .coordinates = { 0, 0, 0, 0.5 },
			   .breaks = { 1000, 0 } },
		.axes = { [3] = { .mode = 2,
				  .motor = 1,
				  .lower = -1,
				  .upper = 1,
				  .target = 0.25,
				  .motor_limit = 50 } },
	};
	set3(facts.joint.point_b, -0.5, 0, 0);
	set3(facts.joint.force, 0, 9.75, 0);
	set3(facts.anchor_a, 1, 2, 3);
	set3(facts.anchor_b, 1, 2, 3);
	if (alone) {
		answer_pack_joint(out, &facts);
		return;
	}
	wire_pack_array(out, 1);
	answer_pack_joints_item(out, &facts);
}

static void pack_fields(struct wire_packer *out)
{
	const struct wire_field_force head = { .acceleration = { 0, 2.5, 0 },
					       .force = { -1, 0, 0 },
					       .count = 1 };
	struct wire_force_field field = { .id = 2,
					  .kind = 4,
					  .region = 2,
					  .falloff = 1,
					  .flags = 1,
					  .power = 2,
					  .mask = UINT32_MAX,
					  .tag = -3,
					  .rotation = { 1 },
					  .linear = 0.5,
					  .quadratic = 0.25,
					  .angular = 2,
					  .core = 0.125 };
	set3(field.position, 1, 2, 3);
	set3(field.half, 4, 5, 6);
	set3(field.velocity, 0, 0, -7);
	answer_pack_fields(out, &head);
	answer_pack_field(out, &field);
}

static void pack_fluids(struct wire_packer *out)
{
	struct wire_fluid fluid = { .system = 3,
				    .particles = 1000,
				    .solver = 1,
				    .kernel_radius = 0.125,
				    .rest_density = 1000,
				    .viscosity = 0.5,
				    .wall_viscosity = 0.25,
				    .surface_tension = 0.0625,
				    .tolerance = 0.125,
				    .compression = 0.5,
				    .speed = 2,
				    .stiffness = 3,
				    .step_ratio = 0.5,
				    .substeps_max = 64,
				    .substeps = 2,
				    .iterations = 11,
				    .density_error = 0.25,
				    .density_error_max = 0.75,
				    .residual = 0.125,
				    .divergence_error = 0.0625,
				    .speed_max = 1.5,
				    .capped = 1,
				    .unconverged = 2,
				    .inside = 3,
				    .crowded = 4,
				    .lost = 5,
				    .bad = 6,
				    .blocked = 7,
				    .unsampled = 8,
				    .coarse = 9 };
	wire_pack_array(out, 1);
	answer_pack_fluid(out, &fluid);
}

static const char SYSTEM_TITLE[] = "smoke";
static const struct wire_system SYSTEM = { .id = 3,
					   .name = { (const uint8_t *)SYSTEM_TITLE,
						     sizeof SYSTEM_TITLE - 1 },
					   .owner = 9,
					   .tag = -4,
					   .emitter = 4,
					   .alive = 70,
					   .capacity = 80,
					   .born = UINT64_C(1) << 40,
					   .lost = 5,
					   .refused = 6,
					   .cut = 7,
					   .rotation = { 1 },
					   .size = { 0.5, 0.25 },
					   .mass = { 2, 1 },
					   .life = { 8, 4 },
					   .speed = { 16, 2 },
					   .spread = 0.125,
					   .drag = 0.5,
					   .gravity_scale = -1,
					   .category = 3,
					   .mask = UINT32_MAX,
					   .colours = 2,
					   .colour = { { 0, 16711680 }, { 1.5, 255 } },
					   .forces = 1,
					   .collisions = 3,
					   .substeps = 4,
					   .cutoff = 0.5,
					   .core = 0.125,
					   .charge = -2,
					   .gravitation = 3,
					   .well_depth = 5,
					   .well_distance = 0.25,
					   .repulsion = 1000,
					   .repulsion_damping = 0.75,
					   .crowded = 8,
					   .links = 9,
					   .pins = 2,
					   .link_substeps = 8,
					   .torn = 1,
					   .stretch = 0.01,
					   .volume_error = 0.002,
					   .split_number = { 3, 1 },
					   .split_age = { 0.5, 0.25 },
					   .split_velocity = { 0.75, 0.125 },
					   .split_burst = { 4, 2 },
					   .split_size = { 0.5, 0.25 },
					   .split_life = { 2, 1 },
					   .split_spread = 0.375,
					   .split_delay = 6,
					   .split_depth = 2,
					   .split_spend = 1,
					   .splits = 11,
					   .trail = 5,
					   .trail_delay = 2,
					   .trail_depth = 255,
					   .trail_velocity = 0.0625,
					   .contacts = 1,
					   .holds = 4,
					   .self_thickness = 0.1,
					   .self_friction = 0.3,
					   .self_overlap = 0.01,
					   .mount = 5,
					   .mount_velocity = 0.5,
					   .recoil = 1,
					   .room = 1,
					   .meets = 1,
					   .meet = { { 6, 0.1, 0.25, 0.0625 } },
					   .stretch_limit = 0.02,
					   .limit_passes = 12,
					   .taken = 7,
					   .sink_count = 1,
					   .sinks = { { .number = 2,
							.region = 3,
							.body = 5,
							.rotation = { 0, 0, 0, 1 },
							.radius = 0.5,
							.taken = 7,
							.mass = 3.5 } },
					   .position = { 1, 2, 3 },
					   .half = { 4, 5, 6 } };

static void pack_systems(struct wire_packer *out)
{
	wire_pack_array(out, 1);
	answer_pack_system(out, &SYSTEM);
}

static void pack_particles(struct wire_packer *out)
{
	static const uint8_t bytes[48] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	const struct wire_particles page = { .form = WIRE_PARTICLES_EXACT,
					     .count = 2,
					     .serials = { bytes, 16 },
					     .positions = { bytes, 48 },
					     .velocities = { bytes, 48 },
					     .radii = { bytes, 16 },
					     .masses = { bytes, 16 },
					     .ages = { bytes, 16 },
					     .generations = { bytes, 2 } };
	answer_pack_particles(out, &page);
}

static void pack_stability(struct wire_packer *out)
{
	const struct wire_stability head = { .verdict = 0,
					     .law = 1,
					     .quality = { 0.25, 0, -0.5, 2 },
					     .rounds = 7,
					     .fallbacks = 1,
					     .bodies = 2,
					     .points = 4,
					     .rows = 5,
					     .margin = { 0.5, WIRE_STABILITY_ENDLESS, 0 },
					     .motions = 1,
					     .contacts = 1,
					     .joints = 1,
					     .known = 3,
					     .open = 6,
					     .lowered = true,
					     .drop = { 1.5, 0 },
					     .limited = 1,
					     .programmes = 3,
					     .plates = 1 };
	const struct wire_stability_plate plate = { 300, -0.25, 0.5, 0.125 };
	struct wire_stability_joint joint = { .joint = 70000, .known = 3 };
	struct wire_stability_motion motion = { .body = 300 };
	struct wire_stability_contact contact = { .a = 1,
						  .b = 300,
						  .child_a = 2,
						  .child_b = 3,
						  .separation = -0.125,
						  .force = 9,
						  .breaks = true,
						  .known = 1 };
	set3(motion.acceleration, 0, -1, 0);
	set3(motion.angular, 0, 0, 0.5);
	set3(contact.point, 1, 2, 3);
	set3(contact.normal, 0, 1, 0);
	set3(contact.friction, 4, 0, 0);
	set3(contact.parting, 0, 0.25, 0);
	answer_pack_stability(out, &head);
	answer_pack_stability_motion(out, &motion);
	answer_pack_stability_contacts(out, &head);
	answer_pack_stability_contact(out, &contact);
	set3(joint.point, 0, 3, 0);
	set3(joint.force, 5, 0, 0);
	set3(joint.torque, 0, 0, -0.5);
	answer_pack_stability_joints(out, &head);
	answer_pack_stability_joint(out, &joint);
	answer_pack_stability_lowest(out, &head);
	answer_pack_stability_plate(out, &plate);
	answer_pack_stability_known(out, &head);
}

static void pack_robot(struct wire_packer *out)
{
	static const uint8_t bytes[32] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	const struct wire_robot_link link = {
		.body = 300, .parent = 2, .joint = 7, .kind = 1, .axis_count = 2, .axis = { 0, 3 }
	};
	const struct wire_robot robot = { .q = { bytes, 16 },
					  .rates = { bytes, 16 },
					  .accelerations = { bytes, 16 },
					  .bias = { bytes, 16 },
					  .forces = { bytes, 16 },
					  .closure_rows = 5,
					  .closure_rank = 2,
					  .residual = 0.5,
					  .regular = 1 };
	answer_pack_robot_links(out, 1);
	answer_pack_robot_link(out, &link);
	answer_pack_robot(out, &robot);
}

static void pack_dynamics(struct wire_packer *out)
{
	static const uint8_t bytes[24] = { 9, 8, 7, 6 };
	static const struct wire_robot_dynamics robots[] = {
		{ .axes = 1, .closure_rows = 5, .closure_rank = 2, .residual = 0.25, .regular = 1 },
		{ .axes = 2, .residual = 0, .regular = 1 },
	};
	answer_pack_dynamics(out, COUNT_OF(robots));
	for (uint32_t i = 0; i < COUNT_OF(robots); i++)
		answer_pack_dynamics_robot(out, &robots[i]);
	answer_pack_column(out, (struct wire_slice){ bytes, sizeof bytes });
}

static void pack_matrix(struct wire_packer *out)
{
	static const uint8_t bytes[24] = { 8, 7, 6, 5 };
	answer_pack_matrix(out, 2, (struct wire_slice){ bytes, sizeof bytes });
}

static void pack_pieces(struct wire_packer *out)
{
	struct command set;
	command_defaults(&set, COMMAND_SET_PIECE);
	set.set_piece.body = 1;
	set.set_piece.piece = 2;
	set.set_piece.own = OWN_SENSOR;
	set.set_piece.sensor = 1;
	wire_pack_array(out, 1);
	command_pack(out, &set);
}

static void pack_carriers(struct wire_packer *out)
{
	wire_pack_array(out, 1);
	wire_pack_array(out, 3);
	wire_pack_uint(out, 1);
	wire_pack_array(out, 2);
	wire_pack_uint(out, 2);
	wire_pack_uint(out, 300);
	wire_pack_real(out, 1e-9);
}

/* Kinds whose answers have a packer of their own here; the others are in pack_answer. */
static void (*const PACKERS[])(struct wire_packer *) = {
	[WIRE_QUERY_CONTACTS] = pack_contact,	 [WIRE_QUERY_FORCES] = pack_force,
	[WIRE_QUERY_STABILITY] = pack_stability, [WIRE_QUERY_FIELDS] = pack_fields,
	[WIRE_QUERY_LINKS] = pack_matrix,	 [WIRE_QUERY_SYSTEMS] = pack_systems,
	[WIRE_QUERY_FLUIDS] = pack_fluids,	 [WIRE_QUERY_PARTICLES] = pack_particles,
	[WIRE_QUERY_ROBOT] = pack_robot,	 [WIRE_QUERY_INERTIA] = pack_matrix,
	[WIRE_QUERY_JACOBIAN] = pack_matrix,	 [WIRE_QUERY_PIECES] = pack_pieces,
	[WIRE_QUERY_DYNAMICS] = pack_dynamics,	 [WIRE_QUERY_CARRIERS] = pack_carriers,
};

static void pack_answer(struct wire_packer *out, enum wire_query_kind kind)
{
	if (kind < COUNT_OF(PACKERS) && PACKERS[kind] != NULL) {
		PACKERS[kind](out);
		return;
	}
	const struct wire_totals totals = { .kinetic = 2, .linear = { 1, 0, 0 } };
	const struct wire_geometry geometry = { 0, 1, { SPHERE, sizeof SPHERE } };
	switch (kind) {
	case WIRE_QUERY_RAY:
		pack_hits(out, false);
		return;
	case WIRE_QUERY_JOINT:
	case WIRE_QUERY_JOINTS:
		pack_joint(out, kind == WIRE_QUERY_JOINT);
		return;
	case WIRE_QUERY_LINKED:
	case WIRE_QUERY_SENSED:
	case WIRE_QUERY_OVERLAP:
		wire_pack_array(out, 2);
		wire_pack_uint(out, 1);
		wire_pack_uint(out, 300);
		return;
	case WIRE_QUERY_TOTALS:
		answer_pack_totals(out, &totals);
		return;
	case WIRE_QUERY_BODY:
		pack_body(out);
		return;
	case WIRE_QUERY_GEOMETRY:
		answer_pack_geometry(out, &geometry);
		return;
	case WIRE_QUERY_CAST:
		pack_hits(out, true);
		return;
	case WIRE_QUERY_CLOSEST:
		pack_closest(out);
		return;
	case WIRE_QUERY_MASS:
		pack_mass(out);
		return;
	case WIRE_QUERY_MOVE:
		pack_move(out);
		return;
	case WIRE_QUERY_METHODS:
	case WIRE_QUERY_PARAMETERS:
		(kind == WIRE_QUERY_METHODS ? pack_method : pack_parameter)(out);
		return;
	default:
		pack_region(out);
		return;
	}
}

static void write_part(FILE *out, const char *name, const struct wire_packer *packer)
{
	struct wire_cursor in = wire_cursor_over(packer->data, packer->bytes);
	ASSERT(wire_packer_status(packer) == STATUS_OK);
	fprintf(out, ",\n   \"%s_bytes\": \"", name);
	for (uint32_t i = 0; i < packer->bytes; i++)
		fprintf(out, "%02x", packer->data[i]);
	fprintf(out, "\", \"%s\": ", name);
	wire_vectors_value(out, &in);
}

void wire_vectors_queries(FILE *out)
{
	uint32_t kinds;
	const struct query_info *infos = query_list(&kinds);
	fputs("[\n", out);
	for (uint32_t i = 0; i < kinds; i++) {
		uint32_t kind = infos[i].number;
		if (infos[i].reserved)
			continue;
		uint8_t items[1024], packed[4096];
		struct wire_query query = query_of_kind(kind);
		struct wire_packer list = wire_packer_over(items, sizeof items);
		uint32_t count = query_pack(&list, &query);
		/* The items with the array around them. */
		struct wire_packer whole = wire_packer_over(packed, sizeof packed);
		wire_pack_array(&whole, count);
		memcpy(packed + whole.bytes, items, list.bytes);
		whole.bytes += list.bytes;
		fprintf(out, "%s  {\"name\": \"%s\", \"kind\": %u", kind > 1 ? ",\n" : "",
			infos[i].name, kind);
		write_part(out, "query", &whole);
		struct wire_packer answer = wire_packer_over(packed, sizeof packed);
		pack_answer(&answer, (enum wire_query_kind)kind);
		write_part(out, "answer", &answer);
		fputs("}", out);
	}
	fputs("\n]\n", out);
}

/* ---- table of docs/PROTOCOL.md
 * ---------------------------------------------------------------------- */

static void write_field(FILE *out, const struct query_field *field)
{
	fprintf(out, ", %s", field->name);
	if (field->needed)
		return;
	if (field->type == WIRE_ASK_ROTATION)
		fputs(" = identity", out);
	else if (field->fallback < UINT32_MAX)
		fprintf(out, " = %.10g", field->fallback);
	else
		fputs(" = all", out);
}

void wire_vectors_query_table(FILE *out)
{
	uint32_t count;
	const struct query_info *list = query_list(&count);
	fputs("| question | answer |\n|---|---|\n", out);
	for (uint32_t k = 0; k < count; k++) {
		if (list[k].reserved)
			continue;
		fprintf(out, "| `[%u", list[k].number);
		for (uint32_t i = 0; i < list[k].field_count; i++)
			write_field(out, &list[k].fields[i]);
		fprintf(out, "]` %s | `%s`%s%s |\n", list[k].doc, list[k].answer,
			list[k].about[0] != '\0' ? " " : "", list[k].about);
	}
	fputs("\nReserved, refused with UNSUPPORTED:", out);
	const char *mark = " ";
	for (uint32_t k = 0; k < count; k++)
		if (list[k].reserved) {
			fprintf(out, "%s%u %s (%s)", mark, list[k].number, list[k].name,
				list[k].doc);
			mark = "; ";
		}
	fputs(".\n", out);
}
