/* Root's template of the daemon's configuration. A one-shot engine of root reads and writes the files that Plexus' step names, and obeys its grants. So the step
   has the template's members, byte by byte, and the daemon sets those alone that depend on the node. */
#include "launcher.h"

/* In small letters: Plexus, like Go, reads keys in any case. */
static const char *const set_by_daemon[] = {
    "type", "capabilities", "clusternetwork", "readinessindicatorfile", "retired", "omitdefaultsteps", "disablecheck", "disablegc",
};

static bool is_set_by_daemon(struct text key) {
    for (size_t i = 0; i < sizeof set_by_daemon / sizeof *set_by_daemon; i++)
        if (is_key(key, set_by_daemon[i])) return true;
    return false;
}

struct member {
    struct text key, value;
};

/* Takes the next member of an object whose brace or comma was taken. */
static bool take_member(struct text *text, struct member *member) {
    bool plain;
    if (!take_string(text, &member->key, &plain) || !plain || !take(text, ':')) return false;
    skip_space(text);
    member->value.at = text->at;
    if (!take_value(text, 1)) return false;
    member->value.end = text->at;
    return true;
}

/* Finds the first member with this key. False: there is none before the text ends or is malformed. */
static bool find(struct text object, const char *key, struct text *value) {
    struct member member;
    for (char before = '{'; take(&object, before) && take_member(&object, &member); before = ',')
        if (is_key(member.key, key)) return *value = member.value, true;
    return false;
}

static bool is_same(struct text one, struct text other) {
    return one.end - one.at == other.end - other.at && memcmp(one.at, other.at, (size_t)(one.end - one.at)) == 0;
}

/* The key in small letters, to be compared with others. False: it is longer than any key. */
static bool lower_key(struct text key, char *lower, size_t capacity) {
    size_t size = 0;
    for (; key.at < key.end && size + 1 < capacity; key.at++) lower[size++] = (char)(*key.at >= 'A' && *key.at <= 'Z' ? *key.at + 'a' - 'A' : *key.at);
    lower[size] = 0;
    return key.at == key.end;
}

/* `wanted`: NULL for no string. */
static bool is_string(struct text value, const char *wanted) {
    struct text string;
    bool plain;
    size_t size = wanted == NULL ? 0 : strlen(wanted);
    return size > 0 && take_string(&value, &string, &plain) && plain && (size_t)(string.end - string.at) == size && memcmp(string.at, wanted, size) == 0;
}

/* Whether the object has this member, with the same bytes. */
static bool has_same(struct text object, const struct member *member) {
    char key[128];
    struct text value;
    return lower_key(member->key, key, sizeof key) && find(object, key, &value) && is_same(member->value, value);
}

static bool is_allowed(const struct configuration *configuration, const struct member *member, struct text template) {
    struct text value;
    bool adds_kubeconfig = is_key(member->key, "kubeconfig") && !find(template, "kubeconfig", &value);
    return is_set_by_daemon(member->key) || (adds_kubeconfig ? is_string(member->value, configuration->kubeconfig) : has_same(template, member));
}

/* Whether the step lacks nothing: a rule that is missing may bound nothing. The template's name and version stand in the list. */
static bool has_all(struct text step, struct text template) {
    struct member member;
    for (char before = '{'; take(&template, before); before = ',') {
        if (!take_member(&template, &member)) return false;
        bool is_elsewhere = is_set_by_daemon(member.key) || is_key(member.key, "name") || is_key(member.key, "cniversion");
        if (!is_elsewhere && !has_same(step, &member)) return false;
    }
    return take(&template, '}');
}

/* Plexus' object in the template: the whole, or the only step of a list. */
static struct text own_object(struct text template) {
    struct text steps;
    if (find(template, "plugins", &steps) && take(&steps, '[')) return steps;
    return template;
}

/* A list that steps.c has read: it has the steps, and each step its type, once. */
bool keeps_template(const struct configuration *configuration, struct text list, struct text template) {
    struct text steps, type;
    struct member member;
    template = own_object(template);
    if (!find(list, "plugins", &steps)) return false;
    for (char before = '['; take(&steps, before); before = ',') {
        bool is_own = find(steps, "type", &type) && is_string(type, configuration->type);
        if (is_own && !has_all(steps, template)) return false;
        for (char open = '{'; take(&steps, open); open = ',')
            if (!take_member(&steps, &member) || (is_own && !is_allowed(configuration, &member, template))) return false;
        if (!take(&steps, '}')) return false;
    }
    return take(&steps, ']');
}
