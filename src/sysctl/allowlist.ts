// The allow-list of the reference tuning plugin: a file with one regular expression in each line. A key may be written if a line matches it.

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { quote } from "../json/quote.ts";
import type { ReadExpression } from "./expression.ts";

/** An allow-list: its path and its content. */
export interface Allowlist {
  readonly file: string;
  readonly text: string;
}

/** Each line is compiled for each setting, while other calls wait. */
const maxLines = 500;

/**
 * Whether the list allows writing this key (a path such as `net/ipv4/conf/eth0/rp_filter`) for the attachment's interface `ifname`. The
 * reference plugin compares the configuration's spelling of the key, which is unknown here. So a key is allowed if the list allows one of
 * its spellings. Fault SYSCTL_NOT_ALLOWED, also at an invalid line: the reference plugin fails there, too. `readExpression` is that of
 * expression.ts. It is a parameter, so that only a call with an allow-list loads the package of regular expressions.
 */
export function allowedByList(
  { file, text }: Allowlist,
  key: string,
  ifname: string,
  readExpression: ReadExpression,
): Result<void> {
  const spellings = spellingsOf(key, ifname);
  const lines = text.split("\n").map((line) => line.trim());
  const seen = new Set([""]);
  for (const [index, line] of lines.entries()) {
    if (seen.has(line)) continue;
    seen.add(line);
    if (seen.size > maxLines + 1) {
      return failed(
        fault("SYSCTL_NOT_ALLOWED", `sysctl: ${file} has more than ${maxLines} different lines: combine some of them`),
      );
    }
    const expression = readExpression(line);
    if ("mistake" in expression)
      return failed(fault("SYSCTL_NOT_ALLOWED", `sysctl: ${file}, line ${index + 1}: ${quote(line)} ${expression.mistake}`));
    if (spellings.some((spelling) => expression.matches(spelling))) return ok(undefined);
  }
  return failed(fault("SYSCTL_NOT_ALLOWED", `sysctl: ${quote(key)} matches no line of ${file}`));
}

/** The spellings of the key: with dots or slashes, and with the interface's name or `IFNAME`. */
function spellingsOf(key: string, ifname: string): readonly string[] {
  const parts = key.split("/");
  const general = parts.map((part) => (part === ifname ? "IFNAME" : part));
  return [parts.join("."), general.join("."), key, general.join("/")];
}
