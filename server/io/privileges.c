/* See privileges.h. */
#include "server/io/privileges.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

/* Must come before the user changes. A process without capabilities has none to drop. */
static void drop_bounding_set(void)
{
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	for (unsigned long capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0;
	     capability++)
		(void)prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
}

enum status privileges_seal(struct reason *why)
{
	static const struct rlimit none = { 0, 0 };
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 || setrlimit(RLIMIT_CORE, &none) != 0)
		return reason_set(
			why, STATUS_FORBIDDEN, -1, "debuggable",
			"cannot disable debuggers and core dumps (%s); --debuggable allows them",
			strerror(errno));
	return STATUS_OK;
}

enum status privileges_drop(const char *user, struct reason *why)
{
	const struct passwd *entry = getpwnam(user);
	if (entry == NULL)
		return reason_set(why, STATUS_MISSING, -1, "user",
				  "unknown user %s; give an existing one", user);
	/* A program executed by this process cannot gain privileges. */
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (geteuid() == entry->pw_uid && getuid() == entry->pw_uid)
		return STATUS_OK;
	drop_bounding_set();
	/* Groups come first, because they cannot be changed after setuid. */
	if (initgroups(user, entry->pw_gid) != 0 || setgid(entry->pw_gid) != 0 ||
	    setuid(entry->pw_uid) != 0)
		return reason_set(why, STATUS_FORBIDDEN, -1, "user",
				  "cannot switch to user %.40s: %s", user, strerror(errno));
	/* A process that can become root again has not dropped its privileges. */
	if (entry->pw_uid != 0 && setuid(0) == 0)
		return reason_set(why, STATUS_FORBIDDEN, -1, "user",
				  "root privileges could be regained after the switch of user");
	return STATUS_OK;
}
