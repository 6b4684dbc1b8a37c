/* profile_credit.h: which slices of a world are profiled.
 *
 * Reading the clock at each stage costs as much as the step of a small world. So every slice saves
 * a part of its time, and one is profiled when what was saved pays for the last profile: a world of
 * a microsecond a tick is profiled every few hundred slices, one of a millisecond always.
 */
#ifndef CAIRN_TICK_PROFILE_CREDIT_H
#define CAIRN_TICK_PROFILE_CREDIT_H

#include "server/base/base.h"

struct profile_credit {
	int64_t saved; /* ns; negative: debt */
	int64_t price; /* ns: of the last profile; 0: there was none */
};

bool profile_credit_suffices(const struct profile_credit *self);
/* A slice took `ns`. */
void profile_credit_save(struct profile_credit *self, uint64_t ns);
/* A profile entered this many stages. */
void profile_credit_pay(struct profile_credit *self, uint64_t entered);

#endif
