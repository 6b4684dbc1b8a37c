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
			"the process cannot be closed to others (%s); --debuggable does without",
			strerror(errno));
	return STATUS_OK;
}

enum status privileges_drop(const char *user, struct reason *why)
{
	const struct passwd *entry = getpwnam(user);
	if (entry == NULL)
		return reason_set(why, STATUS_MISSING, -1, "user", "there is no user %.60s", user);
	/* No program that is run from here gets more than this one has. */
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (geteuid() == entry->pw_uid && getuid() == entry->pw_uid)
		return STATUS_OK;
	drop_bounding_set();
	/* Groups first: afterwards they could not be changed any more. */
	if (initgroups(user, entry->pw_gid) != 0 || setgid(entry->pw_gid) != 0 ||
	    setuid(entry->pw_uid) != 0)
		return reason_set(why, STATUS_FORBIDDEN, -1, "user", "cannot become %.40s: %s",
				  user, strerror(errno));
	/* That there is no way back is part of it. */
	if (entry->pw_uid != 0 && setuid(0) == 0)
		return reason_set(why, STATUS_FORBIDDEN, -1, "user", "root would not let go");
	return STATUS_OK;
}
