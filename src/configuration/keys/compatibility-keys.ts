// Keys for compatibility with Multus.

import { idleMultusKeys } from "../multus-keys.ts";
import { key } from "../table/key.ts";
import { boolean, readElsewhere } from "../table/kinds.ts";

export const compatibilityKeys = {
  retryDeleteOnError: key({
    kind: boolean,
    about: "A key of Multus. Plexus always keeps what a DEL needs until the DEL has succeeded.",
    notice: (value) =>
      value === false
        ? "configuration: retryDeleteOnError: false has no effect: what a DEL needs is kept until it succeeded"
        : undefined,
    isUnlisted: true,
  }),
  legacyCniArgs: key({
    kind: boolean,
    about:
      "Whether plugins also get the addresses that a pod requests in CNI_ARGS (IP=, MAC=), as from Multus; {usual} by default.",
    usual: false,
  }),
};

/** Multus' keys without an effect, and thus without a value. */
export const idleKeys: object = Object.fromEntries(
  Object.entries(idleMultusKeys).map(([name, why]) => [
    name,
    key({
      kind: readElsewhere,
      about: `A key of Multus that has no effect; it is accepted with a warning: ${why}.`,
      notice: () => `configuration: ${name} of Multus has no effect: ${why}`,
      isUnlisted: true,
    }),
  ]),
);
