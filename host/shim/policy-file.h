/* The node's policy file, and what it allows. Without the file everything is allowed. */
#ifndef PLEXUS_POLICY_FILE_H
#define PLEXUS_POLICY_FILE_H

#include "policy.h"

/* The errno of an effect that the policy forbids: no system call of the shim answers it. */
#define POLICY_REFUSES EKEYREJECTED

/*
 * Reads POLICY_FILE, which must belong to root, like its directory, and be writable by root alone. Answers NULL, or why no effect may be carried
 * out: the text names the file. A policy that was read before is replaced.
 */
const char *load_policy(void);

/* Whether the policy has this list. */
bool policy_bounds(enum policy_list list);

/* Whether the list has the value; true without the list. */
bool policy_lists(enum policy_list list, const char *value, size_t size);

/* As policy_lists(). The first refusal is written to stderr. */
bool policy_allows(enum policy_list list, const char *value, size_t size);

/* Writes the first refusal of the process to stderr. Answers false. */
bool report_refusal(const char *what, size_t size);

/*
 * Whether the configuration may name this directory of plugins: without a policy, or where `directories` lists it. On a cluster the daemon writes
 * the configuration: without this rule it could name a directory in which it writes itself.
 */
bool policy_takes_bin_dir(const char *directory, size_t size);

/* Leaves the directories out of CNI_PATH that the policy forbids. */
void restrict_cni_path(void);

#endif
