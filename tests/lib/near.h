/* near.h: asserts that a vector is another one within a tolerance. */
#ifndef CAIRN_TESTS_NEAR_H
#define CAIRN_TESTS_NEAR_H

#include "server/engine/math/vec3.h"
#include "tests/lib/check_main.h"

static inline void expect_near(vec3 found, vec3 expected, double tolerance)
{
	ck_assert_double_eq_tol(found.x, expected.x, tolerance);
	ck_assert_double_eq_tol(found.y, expected.y, tolerance);
	ck_assert_double_eq_tol(found.z, expected.z, tolerance);
}

#endif
