/* verbs.h: the functions of verbs.def. */
#ifndef CAIRN_CLIENTS_CLI_VERBS_H
#define CAIRN_CLIENTS_CLI_VERBS_H

#include "clients/cli/cli.h"

#define VERB(connects, name, usage, help) int verb_##name(struct cli *cli);
#include "clients/cli/verbs.def"
#undef VERB

/* Totals as members of a record (verb_state.c). */
void print_totals(const struct cli *cli, const struct wire_totals *totals);

/* Lines of MONITOR printed so far, and what prints them (verb_operations.c). */
uint64_t cli_monitored(void);
void cli_monitor_line(void *context, const struct msg_monitor_line *line);

/* Joints (joints.c): the names of what a line tells people; an item of the answer to JOINTS, false
 * where it is none, with its id; the answer to JOINT; those of a frame, a line each. */
void cli_joints_head(void);
bool cli_joints_item(const struct cli *cli, struct wire_cursor *in, uint32_t *id);
void cli_joint(const struct cli *cli, struct wire_cursor *in);
void cli_watched_joints(const struct cli *cli, const struct mirror *mirror);

/* What the connection calls back while a verb runs (verb_watch.c). */
struct cairn_callbacks verb_callbacks(struct cli *cli);

#endif
