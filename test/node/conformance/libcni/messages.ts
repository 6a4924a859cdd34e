// The parts of libcni's error messages that Plexus' messages must contain.

import type { OracleAnswer } from "./oracle.ts";

/**
 * The lines of libcni's error that Plexus' error must contain: the plugin's own message and the plugin's name. Plexus
 * words all other messages itself, and libcni's JSON parse errors too.
 */
export function pluginMessages(answer: OracleAnswer): readonly string[] {
  const { error } = answer;
  if (error === undefined) return [];
  const lines = error.text.split("\n").map((line) => line.replace(/(error parsing its diagnostic message ".*"): .*$/, "$1"));
  // The scenarios' plugins fail with codes of at least 11; lower codes are libcni's own.
  return lines.filter((line) => error.code >= 11 || line.includes(": netplugin failed"));
}
