// Which of libcni's messages ours must contain.

import type { OracleAnswer } from "./oracle.ts";

/**
 * Of libcni's messages, those that ours must have in it: what a plugin said and which plugin it was. Its other messages
 * are its own, and so are ours; so are the words of its JSON reader.
 */
export function passedOn(answer: OracleAnswer): readonly string[] {
  const { error } = answer;
  if (error === undefined) return [];
  const lines = error.text.split("\n").map((line) => line.replace(/(error parsing its diagnostic message ".*"): .*$/, "$1"));
  // The scenarios' plugins fail with 11 and more; what is below is libcni's own.
  return lines.filter((line) => error.code >= 11 || line.includes(": netplugin failed"));
}
