// Tells the daemon's part that policies or peers of a namespace have changed; undefined: of all namespaces.

import { notedChanges } from "../../host/node/running-pods/noted-changes.ts";

/** The changes of policies and peers. */
export const {
  note: notePolicyChange,
  listen: onPolicyChange,
  round: policyRound,
  beginRound: beginPolicyRound,
  listenRounds: onPolicyRound,
} = notedChanges<string | undefined>();
