/* See stability_text.h. */
#include "protocol/stability_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const VERDICTS[STABILITY_VERDICTS] = { "falls", "stands", "may stand",
							  "undecided" };
static const char *const LAWS[] = { "settled", "coulomb", "associative" };
static const char *const KNOWN[FORCE_KNOWN_KINDS] = { "as_found", "unique", "not_determined",
						      "least_norm" };
static const char *const MARGINS[STABILITY_MARGINS] = { "", "load", "push", "tilt" };

/* "load", "push", "tilt"; "" for none. */
static const char *stability_margin_word(uint32_t margin)
{
	return margin < STABILITY_MARGINS ? MARGINS[margin] : "";
}

uint32_t stability_margin_number(const char *word)
{
	for (uint32_t i = 1; i < STABILITY_MARGINS; i++)
		if (strcmp(word, MARGINS[i]) == 0)
			return i;
	return UINT32_MAX;
}

struct text {
	struct bytes *out;
	enum status status;
	bool json;
	bool more; /* an item stands before this one in the list */
};

PRINTF_LIKE(2, 3) static void say(struct text *self, const char *format, ...)
{
	char line[512];
	va_list values;
	va_start(values, format);
	int size = vsnprintf(line, sizeof line, format, values);
	va_end(values);
	size = size < (int)sizeof line ? size : (int)sizeof line - 1;
	if (self->status == STATUS_OK)
		self->status = bytes_append(self->out, line, (size_t)size);
}

static void say_vector(struct text *self, const char *name, const double v[3])
{
	say(self, self->json ? ", \"%s\": [%.12g, %.12g, %.12g]" : " %s [%.6g, %.6g, %.6g]", name,
	    v[0], v[1], v[2]);
}

/* A margin without end is null, or "no limit". */
static void say_margin(struct text *self, const char *name, double value)
{
	bool endless = value >= WIRE_STABILITY_ENDLESS;
	if (self->json && endless)
		say(self, "\"%s\": null", name);
	else if (self->json)
		say(self, "\"%s\": %.12g", name, value);
	else if (endless)
		say(self, " %s without limit", name);
	else
		say(self, " %s %.9g", name, value);
}

/* What is known of the forces, which stands at the end of the answer: after the items of the list in which
 * the cursor is, and three lists. */
static enum status find_known(struct wire_cursor answer, struct wire_stability *head)
{
	uint32_t lists = head->items > 11 ? 3 : 0;
	enum status status = wire_skip_many(&answer, head->motions + lists);
	return status == STATUS_OK ? answer_take_stability_known(&answer, head) : status;
}

static void say_known(struct text *self, const struct wire_stability *head)
{
	if (self->json)
		say(self, ", \"known\": \"%s\", \"open\": %u", KNOWN[head->known], head->open);
	else if (head->known == FORCE_UNIQUE)
		say(self, "unique: yes\n");
	else if (head->known == FORCE_NOT_DETERMINED)
		say(self, "unique: not examined, %u contacts and joints\n", head->open);
	else
		say(self, "unique: no, %u contacts and joints; %s\n", head->open,
		    head->known == FORCE_LEAST_NORM ? "these forces have the least norm"
						    : "these forces are as found");
}

static void say_head(struct text *self, const struct wire_stability *head,
		     const struct stability_state *state)
{
	const char *verdict = head->verdict < STABILITY_VERDICTS ? VERDICTS[head->verdict] : "?";
	const char *law = head->law < COUNT_OF(LAWS) ? LAWS[head->law] : "?";
	const double *q = head->quality;
	if (self->json)
		say(self,
		    "{\"verdict\": \"%s\", \"forces\": \"%s\", \"residual\": %.6g, \"kkt\": %.6g, "
		    "\"gap\": %.6g, \"witness\": %.6g, \"rounds\": %u, \"fallbacks\": %u, \"bodies\": %u, "
		    "\"points\": %u, \"rows\": %u",
		    verdict, law, q[0], q[1], q[2], q[3], head->rounds, head->fallbacks,
		    head->bodies, head->points, head->rows);
	else
		say(self,
		    "verdict: %s\nforces: %s\nresidual: %.4g (kkt %.2g, duality gap %.2g, witness "
		    "%.2g)\nproblem: %u bodies, %u points, %u rows of joints\n",
		    verdict, law, q[0], q[1], q[2], q[3], head->bodies, head->points, head->rows);
	say_known(self, head);
	if (!self->json && head->fallbacks > 0)
		say(self, "fallbacks: %u\n", head->fallbacks);
	if (state != NULL)
		say(self,
		    self->json ? ", \"epoch\": %u, \"tick\": %" PRIu64 : "state: %u/%" PRIu64 "\n",
		    state->epoch, state->tick);
}

static void say_margins(struct text *self, const struct wire_stability *head, uint32_t margin)
{
	if (margin == STABILITY_NO_MARGIN)
		return;
	const char *comma = self->json ? ", " : ",";
	say(self, self->json ? ", \"margin\": {\"kind\": \"%s\", " : "margin: %s",
	    stability_margin_word(margin));
	say_margin(self, "stands", head->margin[2]);
	say(self, "%s", comma);
	say_margin(self, "lower", head->margin[0]);
	say(self, "%s", comma);
	say_margin(self, "upper", head->margin[1]);
	say(self, "%s", self->json ? "}" : "\n");
}

static bool is_zero(const double v[3])
{
	return v[0] == 0 && v[1] == 0 && v[2] == 0;
}

static void say_motion(struct text *self, const struct wire_stability_motion *motion)
{
	if (is_zero(motion->acceleration) && is_zero(motion->angular))
		return;
	say(self,
	    self->json ? "%s{\"body\": %u" : "%sbody %u:", self->json && self->more ? ", " : "",
	    motion->body);
	say_vector(self, "acceleration", motion->acceleration);
	say_vector(self, "angular", motion->angular);
	say(self, "%s", self->json ? "}" : "\n");
	self->more = true;
}

/* Of a force that is not the only one possible. */
static const char *mark_of(uint32_t known)
{
	return known == FORCE_UNIQUE || known == FORCE_NOT_DETERMINED ? "" : " not unique";
}

static void say_contact(struct text *self, const struct wire_stability_contact *contact)
{
	say(self,
	    self->json ? "%s{\"a\": %u, \"b\": %u, \"force\": %.12g"
		       : "%scontact %u %u: force %.6g",
	    self->json && self->more ? ", " : "", contact->a, contact->b, contact->force);
	say_vector(self, "friction", contact->friction);
	say_vector(self, "point", contact->point);
	say_vector(self, "normal", contact->normal);
	if (self->json)
		say(self, ", \"separation\": %.6g", contact->separation);
	if (self->json || !is_zero(contact->parting))
		say_vector(self, "parting", contact->parting);
	if (self->json)
		say(self, ", \"breaks\": %s, \"known\": \"%s\"}",
		    contact->breaks ? "true" : "false", KNOWN[contact->known]);
	else
		say(self, "%s%s\n", contact->breaks ? " breaks" : "", mark_of(contact->known));
	self->more = true;
}

static void say_joint(struct text *self, const struct wire_stability_joint *joint)
{
	say(self,
	    self->json ? "%s{\"joint\": %u" : "%sjoint %u:", self->json && self->more ? ", " : "",
	    joint->joint);
	say_vector(self, "force", joint->force);
	if (self->json || !is_zero(joint->torque))
		say_vector(self, "torque", joint->torque);
	say_vector(self, "point", joint->point);
	if (self->json)
		say(self, ", \"known\": \"%s\"}", KNOWN[joint->known]);
	else
		say(self, "%s\n", mark_of(joint->known));
	self->more = true;
}

/* Takes and says the joints of an answer whose contacts were taken. */
static enum status say_joints(struct text *text, struct wire_cursor *answer,
			      struct wire_stability *head)
{
	enum status status = answer_take_stability_joints(answer, head);
	struct wire_stability_joint joint;
	text->more = false;
	for (uint32_t i = 0; status == STATUS_OK && i < head->joints; i++) {
		status = answer_take_stability_joint(answer, &joint);
		if (status == STATUS_OK)
			say_joint(text, &joint);
	}
	return status;
}

static bool is_still(const struct wire_stability_plate *plate)
{
	return plate->rise == 0 && plate->slope == 0 && plate->across == 0;
}

/* Takes and says the state of lowest energy, of an answer whose joints were taken. */
static enum status say_lowest(struct text *text, struct wire_cursor *answer,
			      struct wire_stability *head)
{
	enum status status = answer_take_stability_lowest(answer, head);
	struct wire_stability_plate plate;
	if (status != STATUS_OK || !head->lowered)
		return status;
	say(text,
	    text->json
		    ? ", \"lowest\": {\"drop\": %.12g, \"residual\": %.6g, \"limited\": %u, "
		      "\"programmes\": %u, \"bodies\": ["
		    : "lowest: drop %.6g J (residual %.2g), %u bodies at a limit, %u programmes\n",
	    head->drop[0], head->drop[1], head->limited, head->programmes);
	text->more = false;
	for (uint32_t i = 0; i < head->plates && status == STATUS_OK; i++) {
		status = answer_take_stability_plate(answer, &plate);
		if (status != STATUS_OK || (!text->json && is_still(&plate)))
			continue;
		say(text,
		    text->json ? "%s{\"body\": %u, \"rise\": %.12g, \"slope\": %.12g, "
				 "\"across\": %.12g}"
			       : "%slowest of body %u: rise %.6g, slope %.6g across %.6g\n",
		    text->json && text->more ? ", " : "", plate.body, plate.rise, plate.slope,
		    plate.across);
		text->more = true;
	}
	say(text, "%s", text->json ? "]}" : "");
	return status;
}

enum status stability_text(struct wire_cursor answer, uint32_t margin,
			   const struct stability_state *state, bool json, struct bytes *out)
{
	struct text text = { .out = out, .json = json };
	struct wire_stability head;
	struct wire_stability_motion motion;
	struct wire_stability_contact contact;
	enum status status = answer_take_stability(&answer, &head);
	if (status == STATUS_OK)
		status = find_known(answer, &head);
	if (status != STATUS_OK)
		return STATUS_MALFORMED;
	say_head(&text, &head, state);
	say_margins(&text, &head, margin);
	say(&text, "%s", json ? ", \"falling\": [" : "");
	for (uint32_t i = 0; i < head.motions && status == STATUS_OK; i++) {
		status = answer_take_stability_motion(&answer, &motion);
		if (status == STATUS_OK)
			say_motion(&text, &motion);
	}
	if (status == STATUS_OK)
		status = answer_take_stability_contacts(&answer, &head);
	text.more = false;
	say(&text, "%s", json ? "], \"contacts\": [" : "");
	for (uint32_t i = 0; i < head.contacts && status == STATUS_OK; i++) {
		status = answer_take_stability_contact(&answer, &contact);
		if (status == STATUS_OK)
			say_contact(&text, &contact);
	}
	say(&text, "%s", json ? "], \"joints\": [" : "");
	if (status == STATUS_OK)
		status = say_joints(&text, &answer, &head);
	say(&text, "%s", json ? "]" : "");
	if (status == STATUS_OK)
		status = say_lowest(&text, &answer, &head);
	say(&text, "%s", json ? "}\n" : "");
	return status == STATUS_OK ? text.status : STATUS_MALFORMED;
}
