/* formula.c: a recursive descent over the text; each function reads one rule of formula.h. */
#include "protocol/scene/formula.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/rng.h"
#include "server/base/suggestion.h"
#include "server/engine/math/scalar.h"
#include "server/engine/math/trig.h"
#include "server/engine/types.h"

struct parser {
	const struct source *source;
	uint32_t line;
	const char *text, *at, *end;
	uint32_t depth;
	formula_find *find;
	void *context;
};

static enum status read_sum(struct parser *self, double *out);

static const char UNITS[] =
	"an operator is missing (units are not written: they are m, kg, s, degrees)";

static enum status refuse_formula(struct parser *self, enum status status, const char *what)
{
	return source_fail(self->source, self->line, status, "formula",
			   "formula '%.*s': %s at '%.*s'", (int)MIN_OF(self->end - self->text, 40),
			   self->text, what, (int)MIN_OF(self->end - self->at, 16), self->at);
}

/* The next character that is no space; zero at the end. */
static char peek(struct parser *self)
{
	while (self->at < self->end && (*self->at == ' ' || *self->at == '\t' || *self->at == '\n'))
		self->at++;
	return self->at < self->end ? *self->at : '\0';
}

static bool take(struct parser *self, char wanted)
{
	if (peek(self) != wanted)
		return false;
	self->at++;
	return true;
}

/* ---- functions ----------------------------------------------------------------------------------- */

/* Sine of degrees + 90 quarters: exact at multiples of 90, because the angle is reduced before it is
 * rounded. */
static double sine_of(double degrees, double quarters)
{
	double turns = scalar_round(degrees / 90);
	double rest = (degrees - 90 * turns) * RADIANS_PER_DEGREE;
	turns += quarters;
	double quarter = turns - 4 * scalar_floor(turns / 4);
	double value = quarter == 1 || quarter == 3 ? trig_cos(rest) : trig_sin(rest);
	return quarter >= 2 ? -value : value;
}

static double call_sin(const double *x)
{
	return sine_of(x[0], 0);
}

static double call_cos(const double *x)
{
	return sine_of(x[0], 1);
}

static double call_tan(const double *x)
{
	return sine_of(x[0], 0) / sine_of(x[0], 1);
}

static double call_atan2(const double *x)
{
	return trig_atan2(x[0], x[1]) / RADIANS_PER_DEGREE;
}

static double call_asin(const double *x)
{
	return trig_atan2(x[0], scalar_sqrt(1 - x[0] * x[0])) / RADIANS_PER_DEGREE;
}

static double call_acos(const double *x)
{
	return trig_atan2(scalar_sqrt(1 - x[0] * x[0]), x[0]) / RADIANS_PER_DEGREE;
}

static double call_sqrt(const double *x)
{
	return scalar_sqrt(x[0]);
}

static double call_pow(const double *x)
{
	return trig_pow(x[0], x[1]);
}

static double call_abs(const double *x)
{
	return scalar_abs(x[0]);
}

static double call_floor(const double *x)
{
	return scalar_floor(x[0]);
}

static double call_ceil(const double *x)
{
	return scalar_ceil(x[0]);
}

static double call_round(const double *x)
{
	return scalar_round(x[0]);
}

static double call_min(const double *x)
{
	return scalar_min(x[0], x[1]);
}

static double call_max(const double *x)
{
	return scalar_max(x[0], x[1]);
}

static double call_mod(const double *x)
{
	return x[0] - x[1] * scalar_floor(x[0] / x[1]);
}

/* x[0] < x[1] ? x[2] : x[3] */
static double call_less(const double *x)
{
	return x[0] < x[1] ? x[2] : x[3];
}

/* A number in [−1, 1) that the point of the lattice alone decides. */
static double lattice_value(double i, double k)
{
	/* Whole numbers modulo 2^32. */
	uint64_t low = (uint64_t)(i - 0x1p32 * scalar_floor(i / 0x1p32));
	uint64_t high = (uint64_t)(k - 0x1p32 * scalar_floor(k / 0x1p32));
	return (double)(rng_mix(high << 32 | low) >> 11) * 0x1p-52 - 1;
}

/* Smooth noise: values of the lattice of whole numbers, blended by quintics, so that slope and curvature
 * are continuous. */
static double call_noise(const double *x)
{
	double cell[2] = { scalar_floor(x[0]), scalar_floor(x[1]) }, blend[2];
	if (!scalar_is_finite(x[0]) || !scalar_is_finite(x[1]))
		return x[0] - x[0];
	for (int k = 0; k < 2; k++) {
		double t = x[k] - cell[k];
		blend[k] = t * t * t * (t * (6 * t - 15) + 10);
	}
	double near = lattice_value(cell[0], cell[1]), far = lattice_value(cell[0], cell[1] + 1);
	near += blend[0] * (lattice_value(cell[0] + 1, cell[1]) - near);
	far += blend[0] * (lattice_value(cell[0] + 1, cell[1] + 1) - far);
	return near + blend[1] * (far - near);
}

enum { ARGUMENTS_MAX = 4 };
static const struct {
	const char *name;
	uint32_t arguments;
	double (*call)(const double *x);
} FUNCTIONS[] = {
	{ "sin", 1, call_sin },	    { "cos", 1, call_cos },	{ "tan", 1, call_tan },
	{ "asin", 1, call_asin },   { "acos", 1, call_acos },	{ "atan2", 2, call_atan2 },
	{ "sqrt", 1, call_sqrt },   { "pow", 2, call_pow },	{ "abs", 1, call_abs },
	{ "floor", 1, call_floor }, { "ceil", 1, call_ceil },	{ "round", 1, call_round },
	{ "min", 2, call_min },	    { "max", 2, call_max },	{ "mod", 2, call_mod },
	{ "less", 4, call_less },   { "noise", 2, call_noise },
};

static enum status find_function(struct parser *self, const char *name, size_t *index)
{
	char room[64];
	for (*index = 0; *index < COUNT_OF(FUNCTIONS); ++*index)
		if (strcmp(FUNCTIONS[*index].name, name) == 0)
			return STATUS_OK;
	struct suggestion suggestion = suggestion_for(name);
	for (size_t i = 0; i < COUNT_OF(FUNCTIONS); i++)
		suggestion_offer(&suggestion, FUNCTIONS[i].name);
	return source_fail(self->source, self->line, STATUS_MISSING, "formula",
			   "there is no function '%.32s'%s", name,
			   suggestion_text(&suggestion, room, sizeof room));
}

/* After the name and "(". */
static enum status read_call(struct parser *self, const char *name, double *out)
{
	double x[ARGUMENTS_MAX];
	size_t index;
	uint32_t count = 0;
	enum status status = find_function(self, name, &index);
	do {
		double value;
		if (status == STATUS_OK)
			status = read_sum(self, &value);
		if (status == STATUS_OK && count < ARGUMENTS_MAX)
			x[count] = value;
		count++;
	} while (status == STATUS_OK && take(self, ','));
	if (status != STATUS_OK)
		return status;
	if (!take(self, ')'))
		return refuse_formula(self, STATUS_MALFORMED, "a ')' is missing");
	if (count != FUNCTIONS[index].arguments)
		return source_fail(self->source, self->line, STATUS_MALFORMED, "formula",
				   "function %s has %u arguments, not %u", name,
				   (unsigned)FUNCTIONS[index].arguments, (unsigned)count);
	*out = FUNCTIONS[index].call(x);
	return STATUS_OK;
}

/* ---- the rules ----------------------------------------------------------------------------------- */

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

size_t formula_name_bytes(const char *text)
{
	size_t bytes = 0;
	while (is_letter(text[bytes]) || (bytes > 0 && is_digit(text[bytes])))
		bytes++;
	return bytes;
}

bool formula_is_reserved(const char *name)
{
	return strcmp(name, "pi") == 0 || strcmp(name, "index") == 0 || strcmp(name, "count") == 0;
}

/* "(" sum ")", and the same in the brackets of "${…}". */
static enum status read_bracket(struct parser *self, double *out)
{
	char close = *self->at++ == '(' ? ')' : '}';
	enum status status = read_sum(self, out);
	if (status == STATUS_OK && !take(self, close))
		status = refuse_formula(self, STATUS_MALFORMED, "a closing bracket is missing");
	return status;
}

static enum status read_name(struct parser *self, double *out)
{
	char name[FORMULA_NAME_BYTES];
	bool marked = take(self, '$');
	if (marked && (peek(self) == '(' || peek(self) == '{'))
		return read_bracket(self, out);
	/* The text ends in zero after `end`, or in the bracket that closes it. */
	size_t bytes = formula_name_bytes(self->at);
	if (bytes == 0)
		return refuse_formula(self, STATUS_MALFORMED, "a number or a name is missing");
	if (bytes >= sizeof name)
		return refuse_formula(self, STATUS_MALFORMED, "a name has more than 63 bytes");
	memcpy(name, self->at, bytes);
	name[bytes] = '\0';
	self->at += bytes;
	if (!marked && take(self, '('))
		return read_call(self, name, out);
	if (strcmp(name, "pi") == 0) {
		*out = 180 * RADIANS_PER_DEGREE;
		return STATUS_OK;
	}
	return self->find(self->context, self->line, name, out);
}

/* Decimal, as in JSON; strtod would read hexadecimal numbers and names such as "inf" as well. */
static enum status read_number(struct parser *self, double *out)
{
	char digits[64];
	const char *from = self->at;
	while (self->at < self->end && (is_digit(*self->at) || *self->at == '.'))
		self->at++;
	if (self->at < self->end && (*self->at == 'e' || *self->at == 'E')) {
		const char *sign = self->at + 1;
		sign += sign < self->end && (*sign == '+' || *sign == '-');
		if (sign < self->end && is_digit(*sign))
			for (self->at = sign; self->at < self->end && is_digit(*self->at);)
				self->at++;
	}
	size_t bytes = (size_t)(self->at - from);
	if (bytes >= sizeof digits)
		return refuse_formula(self, STATUS_MALFORMED, "a number has more than 63 digits");
	memcpy(digits, from, bytes);
	digits[bytes] = '\0';
	char *end;
	*out = strtod(digits, &end);
	if (*end != '\0')
		return refuse_formula(self, STATUS_MALFORMED, "there is no number");
	if (self->at < self->end && is_letter(*self->at))
		return refuse_formula(self, STATUS_MALFORMED, UNITS);
	return STATUS_OK;
}

static enum status read_sign(struct parser *self, double *out)
{
	enum status status;
	char next = peek(self);
	if (self->depth == FORMULA_DEPTH_MAX)
		return refuse_formula(self, STATUS_TOO_DEEP, "nested more than 32 levels deep");
	self->depth++;
	if (next == '-' || next == '+') {
		self->at++;
		status = read_sign(self, out);
		*out = status == STATUS_OK && next == '-' ? -*out : *out;
	} else if (next == '(') {
		status = read_bracket(self, out);
	} else if (is_digit(next) || next == '.') {
		status = read_number(self, out);
	} else {
		status = read_name(self, out);
	}
	self->depth--;
	return status;
}

static enum status read_product(struct parser *self, double *out)
{
	enum status status = read_sign(self, out);
	while (status == STATUS_OK && peek(self) != '\0' && strchr("*/%", *self->at) != NULL) {
		char sign = *self->at++;
		double x[2] = { *out, 0 };
		status = read_sign(self, &x[1]);
		if (status == STATUS_OK)
			*out = sign == '*' ? x[0] * x[1] : sign == '/' ? x[0] / x[1] : call_mod(x);
	}
	return status;
}

static enum status read_sum(struct parser *self, double *out)
{
	*out = 0;
	enum status status = read_product(self, out);
	while (status == STATUS_OK && (peek(self) == '+' || peek(self) == '-')) {
		double value;
		bool plus = *self->at++ == '+';
		status = read_product(self, &value);
		if (status == STATUS_OK)
			*out = plus ? *out + value : *out - value;
	}
	return status;
}

enum status formula_evaluate(const struct source *source, uint32_t line, const char *text,
			     size_t bytes, formula_find *find, void *context, double *out)
{
	struct parser self = { source, line, text, text, text + bytes, 0, find, context };
	ASSERT(find != NULL);
	enum status status = read_sum(&self, out);
	if (status != STATUS_OK)
		return status;
	if (peek(&self) != '\0')
		return refuse_formula(&self, STATUS_MALFORMED,
				      is_letter(*self.at) ? UNITS : "an operator is missing");
	if (!scalar_is_finite(*out))
		return source_fail(source, line, STATUS_NOT_FINITE, "formula",
				   "formula '%.*s' has no finite value", (int)MIN_OF(bytes, 40u),
				   text);
	return STATUS_OK;
}

const char *formula_number(double value, char text[FORMULA_NUMBER_BYTES])
{
	ASSERT(scalar_is_finite(value));
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, FORMULA_NUMBER_BYTES, "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	return text;
}
