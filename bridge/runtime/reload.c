/* reload: see the header. */
#include "bridge/runtime/reload.h"

#include "bridge/base/metrics.h"
#include "bridge/config/loader.h"

void
br_reload_check(const struct br_config *config)
{
	struct br_buffer faults = {0}, now = {0}, then = {0};
	struct br_config *fresh = br_config_load(config->file, &faults);
	bool same;

	br_metric_set(BR_M_RELOAD_OK, fresh != NULL);
	if (fresh == NULL) {
		BR_LOG(BR_ERROR, "configuration refused",
		    br_kv_str("file", config->file),
		    br_kv_str("because", faults.data),
		    br_kv_str("next", "everything stays as it was"));
		br_buffer_free(&faults);
		return;
	}
	br_config_print(config, &then);
	br_config_print(fresh, &now);
	same = now.len == then.len && memcmp(now.data, then.data, now.len) == 0;
	BR_LOG(BR_INFO, "configuration checked",
	    br_kv_str("file", config->file),
	    br_kv_str("next", same ? "nothing has changed"
	                           : "it has changed and is valid: restart "
	                             "to take it over"));
	br_buffer_free(&faults);
	br_buffer_free(&now);
	br_buffer_free(&then);
	br_config_free(fresh);
}
