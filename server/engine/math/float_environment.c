/* float_environment.c: each test is a small computation with a known result; operands are volatile, so
 * that the machine computes at run time and not the compiler beforehand. */
#include "server/engine/math/float_environment.h"

#include <float.h>

/* Under rounding to nearest, ties to even: 1 + 2⁻⁵³ is 1 and 1 + 3·2⁻⁵³ is 1 + 2⁻⁵¹, and the same
 * below zero; every directed mode gets one of the four sums wrong. */
static bool rounds_to_nearest(void)
{
	volatile double one = 1.0, half_unit = 0x1p-53;
	volatile double up = one + half_unit, down = -one - half_unit;
	volatile double tie_up = one + 3 * half_unit, tie_down = -one - 3 * half_unit;
	return up == 1.0 && down == -1.0 && tie_up == 1.0 + 0x1p-51 && tie_down == -1.0 - 0x1p-51;
}

static bool keeps_small_numbers(void)
{
	volatile double smallest_normal = 0x1p-1022, smallest = 0x1p-1074, half = 0.5;
	volatile double written = smallest_normal * half; /* 0 if results are flushed */
	volatile double read = smallest * 0x1p60;	  /* 0 if operands are flushed */
	volatile float float_normal = 0x1p-126f, float_half = 0.5f;
	volatile float float_written = float_normal * float_half;
	return written == 0x1p-1023 && read == 0x1p-1014 && float_written == 0x1p-127f;
}

/* 1e308 · 10 overflows a double; in a wider register it does not, and the division restores 1e308. A
 * product must be rounded before it is added: (1 + 2⁻³⁰)² − (1 + 2⁻²⁹) is then 0, but 2⁻⁶⁰ if fused. */
static bool rounds_every_operation(void)
{
	volatile double large = 1e308, ten = 10.0, a = 1.0 + 0x1p-30, b = -(1.0 + 0x1p-29);
	double back = large * ten / ten;
	double x = a, sum = x * x + b;
	return back > DBL_MAX && sum == 0.0;
}

/* gcc's vectoriser turns adjacent a b − c, d e + f into one fused instruction even with
 * -ffp-contract=off, if the processor has one (seen with 12.2 and -mfma or -march=native; not with
 * plain x86-64, aarch64 or clang). The bits of such a build differ from those of all others, so the
 * same pattern is tested here; -fno-tree-slp-vectorize prevents it. With a = b = 1 + 2⁻³⁰ and c = 1 +
 * 2⁻²⁹, a b − c is 0 if each operation is rounded. */
__attribute__((noinline)) static void alternate(double *restrict out, const double *restrict a,
						const double *restrict c)
{
	out[0] = a[0] * a[0] - c[0];
	out[1] = a[1] * a[1] + c[1];
	out[2] = a[2] * a[2] - c[2];
	out[3] = a[3] * a[3] + c[3];
}

static bool rounds_products_in_vectors(void)
{
	volatile double a = 1.0 + 0x1p-30, c = 1.0 + 0x1p-29;
	double factors[4] = { a, a, a, a }, terms[4] = { c, -c, c, -c }, out[4];
	alternate(out, factors, terms);
	return out[0] == 0 && out[1] == 0 && out[2] == 0 && out[3] == 0;
}

static bool divides_and_roots(void)
{
	volatile double three = 3.0, two = 2.0;
	return 1.0 / three == 0x1.5555555555555p-2 && __builtin_sqrt(two) == 0x1.6a09e667f3bcdp+0;
}

enum status float_environment_check(struct reason *why)
{
	const char *wrong = NULL;
	if (!rounds_to_nearest())
		wrong = "arithmetic does not round to nearest";
	else if (!keeps_small_numbers())
		wrong = "small numbers (denormals) are flushed to zero";
	else if (!rounds_every_operation() || !rounds_products_in_vectors())
		wrong = "operations are fused or kept in wider registers";
	else if (!divides_and_roots())
		wrong = "division or square root is not correctly rounded";
	if (wrong == NULL)
		return STATUS_OK;
	return reason_set(why, STATUS_UNSUPPORTED, -1, "float_environment", "%s", wrong);
}
