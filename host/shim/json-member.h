/* Members of a JSON object that the shim reads itself. */
#ifndef PLEXUS_JSON_MEMBER_H
#define PLEXUS_JSON_MEMBER_H

#include "common.h"

/*
 * The string value of the first member `key` of the JSON object `json`, escapes unread; NULL if the object has no such string. The text need
 * not be valid JSON: the engine judges that.
 */
const char *json_string_member(const char *json, const char *key, size_t *length);

#endif
