// The id of a query: objects and labels of the API have it as a part of their name.

import { createHash } from "node:crypto";
import { type PeerQuery, queryText } from "./rules/peers.ts";

/** 128 bits of a hash in hexadecimal. Readers compare the query's text, too. */
export function queryId(query: PeerQuery): string {
  return createHash("sha256").update(queryText(query)).digest("hex").slice(0, 32);
}
