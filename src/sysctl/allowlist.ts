// The allow-list of the reference tuning plugin: a file of regular expressions, one a line, of which a key that is written must match one.

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { quote } from "../json/quote.ts";
import { readExpression } from "./expression.ts";

/** Where the reference plugin has it. */
export const defaultAllowlist = "/etc/cni/tuning/allowlist.conf";

/** Longest key, in characters: names of interfaces have 15, of settings fewer than 64. */
export const mostKeyLength = 256;

/**
 * Whether the list allows writing this key (a path such as `net/ipv4/conf/eth0/rp_filter`) for the attachment's interface `ifname`. The plugin looks
 * at the key as the configuration writes it, with dots or slashes, with `IFNAME` or the name: what one of these ways would be allowed is allowed.
 * Fault SYSCTL_NOT_ALLOWED, also where a line that no earlier one spares is no expression: the plugin fails then, too.
 */
export function allowedByList(file: string, text: string, key: string, ifname: string): Result<void> {
  const ways = waysToWrite(key, ifname);
  const lines = text.split("\n").map((line) => line.trim());
  for (const [index, line] of lines.entries()) {
    if (line === "") continue;
    const expression = readExpression(line);
    if ("mistake" in expression)
      return failed(fault("SYSCTL_NOT_ALLOWED", `sysctl: ${file}, line ${index + 1}: ${quote(line)} ${expression.mistake}`));
    if (ways.some((way) => expression.matches(way))) return ok(undefined);
  }
  return failed(fault("SYSCTL_NOT_ALLOWED", `sysctl: ${quote(key)} matches no line of ${file}`));
}

function waysToWrite(key: string, ifname: string): readonly string[] {
  const parts = key.split("/");
  const general = parts.map((part) => (part === ifname ? "IFNAME" : part));
  return [parts.join("."), general.join("."), key, general.join("/")];
}
