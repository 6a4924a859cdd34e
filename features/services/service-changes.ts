// Tells the daemon's part that Services of a network have changed. A change is the id of the network.

import { notedChanges } from "../../host/node/running-pods/noted-changes.ts";

/** The changes of Services. */
export const {
  note: noteServiceChange,
  listen: onServiceChange,
  round: serviceRound,
  beginRound: beginServiceRound,
  listenRounds: onServiceRound,
} = notedChanges<string>();
