/* sim_client.h: what the files of server_sim share. */
#ifndef CAIRN_TESTS_SIM_CLIENT_H
#define CAIRN_TESTS_SIM_CLIENT_H

#include "tests/lib/server_sim.h"

_Noreturn void sim_fail(const char *what, const struct reason *why);
/* The same memory; ends the program where there is none. */
void *sim_memory(void *memory);
/* Holds a complete mirror against the truth. */
void server_sim_compare(struct server_sim *self, const struct sim_subscription *subscription);
/* Everything but the struct itself, on which the stream's last callback still counts. */
void sim_client_release(struct sim_client *self);

#endif
