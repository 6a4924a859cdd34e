// The kernel's boot id: what was attached under another one has lost its namespace.

import { readFileSync } from "node:fs";
import { join } from "node:path";

let boot: string | undefined;

/** Says which boot this is; without it (no /proc) every boot counts as the same. */
export function bootId(): string {
  boot ??= readBootId();
  return boot;
}

function readBootId(): string {
  try {
    return readFileSync(join("/proc", "sys", "kernel", "random", "boot_id"), "utf8").trim();
  } catch {
    return "";
  }
}
