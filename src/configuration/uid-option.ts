// The uids of sandbox processes as an option of a command line.

import { maxUid, type SandboxUids } from "./keys/sandbox-uids.ts";

/** The form of the option, for messages. */
export const uidOptionForm = `FIRST:COUNT, with uids from 1 to ${maxUid}, or same`;

/** The text of the option, apart from the numbers' bounds. */
export const uidOptionPattern = /^(?:\d{1,10}:\d{1,10}|same)$/u;

/** The option's text for these uids. */
export function uidOptionText(uids: SandboxUids): string {
  return uids === "same" ? uids : `${uids.first}:${uids.count}`;
}

/** Reads `FIRST:COUNT` or `same`; undefined for any other text. */
export function readUidOption(text: string): SandboxUids | undefined {
  if (text === "same") return text;
  const [first = 0, count = 0] = uidOptionPattern.test(text) ? text.split(":").map(Number) : [];
  return first >= 1 && count >= 1 && first + count - 1 <= maxUid ? { first, count } : undefined;
}
