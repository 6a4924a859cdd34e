// A failed DEL in words that a runtime does not take for success (RT-03): containerd's go-cni passes over an error whose text
// has "not found", and over one with "no such file or directory" where the namespace is gone. It would never call again.

import type { Fault } from "../fault/fault.ts";

const misread = /not found|no such file or directory/g;

/** The fault with the words that go-cni looks for hyphenated, a plugin's own ones too: it reads message and details. */
export function deletionError(reason: Fault): Fault {
  const { details } = reason;
  return { ...reason, msg: hyphenated(reason.msg), ...(details === undefined ? {} : { details: hyphenated(details) }) };
}

function hyphenated(text: string): string {
  return text.replaceAll(misread, (words) => words.replaceAll(" ", "-"));
}
