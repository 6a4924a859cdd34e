// The uids of sandbox processes as an option of a command line.

import { maxUid, type SandboxUids } from "./keys/sandbox-uids.ts";

/** The form of the option, for messages. */
export const uidOptionForm = `FIRST:COUNT, with uids from 1 to ${maxUid}, or same`;

/** Reads `FIRST:COUNT` or `same`; undefined for any other text. */
export function readUidOption(text: string): SandboxUids | undefined {
  if (text === "same") return text;
  const [first = 0, count = 0] = /^\d{1,10}:\d{1,10}$/u.test(text) ? text.split(":").map(Number) : [];
  return first >= 1 && count >= 1 && first + count - 1 <= maxUid ? { first, count } : undefined;
}
