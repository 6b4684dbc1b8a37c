/* sim_client.h: declarations shared by the files of server_sim. */
#ifndef CAIRN_TESTS_SIM_CLIENT_H
#define CAIRN_TESTS_SIM_CLIENT_H

#include "tests/lib/server_sim.h"

_Noreturn void sim_fail(const char *what, const struct reason *why);
/* Returns `memory`; NULL ends the program. */
void *sim_memory(void *memory);
/* Compares a complete mirror with the truth. */
void server_sim_compare(struct server_sim *self, const struct sim_subscription *subscription);
/* Releases everything but the struct itself, which the stream's last callback still needs. */
void sim_client_release(struct sim_client *self);

#endif
