/* agree: V-Clip, GJK, EPA, separating axes and brute force must agree in a million random and a hundred
 * thousand degenerate poses of convex polyhedra. Run by `make agree`; tests/property/test_agreement is a
 * sample.
 *
 *   agree [SEED [RANDOM DEGENERATE]]
 *
 * Prints one TAP line a family, then the largest error of each method divided by the allowed error
 * (1e-9 d + 1e-13 extent), and how often GJK and V-Clip fell back to a second algorithm.
 */
#include "tests/lib/agree.h"

#include <stdio.h>
#include <stdlib.h>

int main(int count, char **arguments)
{
	uint64_t seed = count > 1 ? strtoull(arguments[1], NULL, 10) : 1;
	uint32_t random = count > 2 ? (uint32_t)strtoul(arguments[2], NULL, 10) : 1000000;
	uint32_t degenerate = count > 3 ? (uint32_t)strtoul(arguments[3], NULL, 10) : 100000;
	struct agree *agree = agree_create(seed);
	uint64_t failures = 0;
	printf("1..%d\n# seed %llu\n", AGREE_FAMILIES, (unsigned long long)seed);
	for (int family = 0; family < AGREE_FAMILIES; family++) {
		struct agree_tally t = { 0 };
		bool ordinary = family <= AGREE_NEAR;
		agree_run(agree, (enum agree_family)family, ordinary ? random / 2 : degenerate / 5,
			  &t);
		failures += t.failures;
		printf("%s %d - %s: %llu poses, %llu apart, %llu overlapping, %llu touching to rounding\n",
		       t.failures == 0 ? "ok" : "not ok", family + 1,
		       agree_family_name((enum agree_family)family), (unsigned long long)t.poses,
		       (unsigned long long)t.apart, (unsigned long long)t.overlapping,
		       (unsigned long long)t.rounding);
		printf("#   errors / allowed: gjk %.2g vclip %.2g sat %.2g epa %.2g witnesses %.2g\n",
		       t.gjk, t.vclip, t.sat, t.epa, t.witness);
		printf("#   second algorithm: gjk %llu vclip %llu of twice as many; epa open %llu full %llu; "
		       "most rounds %u, steps %u, expansions %u\n",
		       (unsigned long long)t.gjk_handed, (unsigned long long)t.vclip_handed,
		       (unsigned long long)t.epa_open, (unsigned long long)t.epa_capacity,
		       t.gjk_most, t.vclip_most, t.epa_most);
		if (t.failures > 0)
			printf("#   %llu failures; the first: %s\n", (unsigned long long)t.failures,
			       t.first);
		fflush(stdout);
	}
	agree_destroy(agree);
	return failures > 0;
}
