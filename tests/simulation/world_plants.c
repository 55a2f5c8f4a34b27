/* world_plants: faults that can be planted into the model of a bridge. See
 * world.h. */
#include "world.h"

#include <stdio.h>
#include <string.h>

const char *world_plant = "";

static const char *const plants[] = {
    "commit-next",           /* commits what was read */
    "commit-one-more",       /* … the watermark, and one */
    "settle-unacknowledged", /* a dead letter is settled once sent */
    "refused-is-stored",     /* … also when the DLQ refuses it */
    "dropped-settles",       /* what a revoke drops leaves the ledger */
    "late-settles-new",      /* a late result settles the new epoch's event */
    "revoke-goes-on",        /* a revoked partition is still sent from */
    "lost-commits",          /* a lost partition is waited for, committed */
    "attempts-forgotten",    /* a restart begins the ladder anew */
    "due-forgotten",         /* … and does not wait */
    "settled-forgotten",     /* … and sends what the checkpoint has */
    "checkpoint-at-once",    /* commits before the last one is taken over */
    "epochs-beside",         /* the next epoch does not wait for the last */
    "reads-on",              /* no limit of open bytes */
    "never-pauses",          /* … of open events of a partition */
    "never-smaller",         /* refused metadata is tried again as it is */
    "waits-for-ever",        /* a commit without an answer is waited for */
    "end-not-passed",        /* gaps at the end hold the watermark */
    "dlq-gives-up",          /* a refused dead letter is not tried again */
};

bool
planted(const char *name)
{
	return world_plant[0] != '\0' && strcmp(world_plant, name) == 0;
}

bool
plant_is_known(const char *name)
{
	for (size_t i = 0; i < sizeof(plants) / sizeof(plants[0]); i++)
		if (strcmp(plants[i], name) == 0)
			return true;
	return false;
}

void
plant_list(void)
{
	for (size_t i = 0; i < sizeof(plants) / sizeof(plants[0]); i++)
		printf("%s\n", plants[i]);
}
