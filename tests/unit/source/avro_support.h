/* avro_support: a registry whose schemas are files, and a decoder with it. */
#ifndef AVRO_SUPPORT_H
#define AVRO_SUPPORT_H

#include "source_support.h"

#include "bridge/source/registry_ask.h"

#include <jansson.h>
#include <stdio.h>

/* The registry of one folder of captured schemas. */
struct files {
	const char *folder;
	struct br_config_registry config;
	struct br_registry *registry;
	unsigned asked; /* GETs */
};

static inline char *
read_file(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text;
	size_t len;

	if (f == NULL)
		return NULL;
	text = calloc(1, 65536);
	len = fread(text, 1, 65535, f);
	assert_true(len < 65535);
	fclose(f);
	return text;
}

/* The answer of Confluent's API with a schema in it. */
static inline void
wrap_schema(const char *schema, struct br_buffer *body)
{
	json_t *json = json_pack("{s:s}", "schema", schema);
	char *text = json_dumps(json, 0);

	br_buffer_str(body, text);
	free(text);
	json_decref(json);
}

/* Number of the schema with this GUID, as ids.json tells. */
static inline unsigned
id_of_guid(const char *folder, const char *guid)
{
	char path[512];
	json_t *json, *value;
	const char *key;
	unsigned id = 0;

	snprintf(path, sizeof(path), "%s/ids.json", folder);
	json = json_load_file(path, 0, NULL);
	assert_non_null(json);
	json_object_foreach(json, key, value)
	{
		if (json_is_string(value) &&
		    strstr(json_string_value(value), guid) != NULL)
			assert_int_equal(sscanf(key, "content-%u", &id), 1);
	}
	json_decref(json);
	return id;
}

static inline int
get_file(
    void *opaque, const char *url, struct br_buffer *body, struct br_error *err)
{
	struct files *files = opaque;
	const char *name = strrchr(url, '/') + 1;
	bool global = strstr(url, "/globalIds/") != NULL;
	char path[512], *text;

	(void)err;
	files->asked++;
	snprintf(path, sizeof(path), "%s/%s%s.avsc", files->folder,
	    global ? "global-" : "", name);
	if (strstr(url, "/guids/") != NULL)
		snprintf(path, sizeof(path), "%s/%u.avsc", files->folder,
		    id_of_guid(files->folder, name));
	text = read_file(path);
	if (text == NULL) {
		br_buffer_str(body, "{\"error_code\":40403}");
		return 404;
	}
	if (global)
		br_buffer_str(body, text);
	else
		wrap_schema(text, body);
	free(text);
	return 200;
}

/* Answers at once. */
static inline void
ask_files(void *opaque, const struct br_schema_key *key)
{
	struct files *files = opaque;
	struct br_registry_fetch fetch = {get_file, files};

	br_registry_answer(files->registry,
	    br_registry_look_up(&files->config, &fetch, key), 0);
}

static inline void
files_open(struct files *files, const char *folder)
{
	static char *urls[] = {"http://registry/apis/ccompat/v7"};

	memset(files, 0, sizeof(*files));
	files->folder = folder;
	files->config.url = (struct br_strings){urls, 1};
	files->config.apicurio_url = "";
	files->config.id8 = BR_ID_GLOBAL;
	files->registry = br_registry_new(ask_files, files);
}

#endif
