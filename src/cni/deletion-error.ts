// Rewords a failed DEL so that a runtime does not take it for success (RT-03). containerd's go-cni ignores an error that contains
// "not found", and one with "no such file or directory" if the namespace is gone. It would never repeat the DEL.

import type { Fault } from "../fault/fault.ts";

const ignoredByGoCni = /not found|no such file or directory/g;

/** The fault with go-cni's key phrases hyphenated, in the message and the details: go-cni reads both. */
export function deletionError(reason: Fault): Fault {
  const { details } = reason;
  return { ...reason, msg: hyphenated(reason.msg), ...(details === undefined ? {} : { details: hyphenated(details) }) };
}

function hyphenated(text: string): string {
  return text.replaceAll(ignoredByGoCni, (phrase) => phrase.replaceAll(" ", "-"));
}
