// The one catalogue of faults: CNI number (CNI 1.1.0 section 5, libcni's 8 and 999), who must act, what to do.
// docs/reference/errors.md has a row for each; a test holds both together.

export type Actor = "administrator" | "delegate author" | "runtime" | "nobody" | "plexus";

export interface CatalogueEntry {
  readonly cni: number;
  readonly actor: Actor;
  /** What it means, one sentence. */
  readonly meaning: string;
  /** What the actor does about it, one sentence. */
  readonly remedy: string;
}

const entries = {
  CONFIG_NOT_JSON: {
    cni: 6,
    actor: "administrator",
    meaning: "A configuration is not JSON.",
    remedy: "Correct the JSON at the place named.",
  },
  CONFIG_INVALID: {
    cni: 7,
    actor: "administrator",
    meaning: "A configuration breaks a rule of the CNI specification.",
    remedy: "Correct the field named; docs/reference/configuration.md has its rule.",
  },
  VERSION_UNSUPPORTED: {
    cni: 1,
    actor: "administrator",
    meaning: "The configuration's cniVersion is not one that the plugin speaks, or lacks the verb.",
    remedy: "Set cniVersion to a version that every plugin of the list speaks.",
  },
  ENVIRONMENT_INVALID: {
    cni: 4,
    actor: "runtime",
    meaning: "A CNI_ variable is missing or malformed.",
    remedy: "Call the plugin with the variables of CNI section 2.",
  },
  CONTAINER_UNKNOWN: {
    cni: 3,
    actor: "runtime",
    meaning: "The container is missing or unknown.",
    remedy: "Name a container that was added; after a lost journal, remove the sandbox.",
  },
  PLUGIN_NOT_FOUND: {
    cni: 7,
    actor: "administrator",
    meaning: "No directory of CNI_PATH has the plugin, native or as a component.",
    remedy: "Install the plugin in one of the directories named, or correct the type.",
  },
  PLUGIN_FAILED: {
    cni: 999,
    actor: "administrator",
    meaning: "A native plugin failed; its own code is passed on where it gave one.",
    remedy: "Read the plugin's message; it says what it needs.",
  },
  RESULT_INVALID: {
    cni: 6,
    actor: "delegate author",
    meaning: "A plugin printed something that is no CNI result.",
    remedy: "Report it to the plugin's author with the text shown.",
  },
  STORE_FAILED: {
    cni: 5,
    actor: "administrator",
    meaning: "Journal, cache or leases could not be read or written.",
    remedy: "Check the directory named: owner, mode, free space, read-only mount.",
  },
  JOURNAL_UNREADABLE: {
    cni: 5,
    actor: "administrator",
    meaning: "A journal entry is damaged, so what was attached can't be known from it.",
    remedy: "Remove the sandbox's links and leases by hand, then the journal file named.",
  },
  ALREADY_ATTACHED: {
    cni: 7,
    actor: "runtime",
    meaning: "This container is already attached to this network under this interface name.",
    remedy: "Send DEL before the next ADD.",
  },
  INTERNAL: {
    cni: 999,
    actor: "plexus",
    meaning: "A defect of Plexus.",
    remedy: "Report it with the message and the request.",
  },
} as const satisfies Record<string, CatalogueEntry>;

export type FaultKind = keyof typeof entries;

export const catalogue: Readonly<Record<FaultKind, CatalogueEntry>> = entries;
