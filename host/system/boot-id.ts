// The kernel's boot id. A reboot ends every network namespace, so the journal notes the boot of each attachment.

import { readFileSync } from "node:fs";
import { join } from "node:path";

let boot: string | undefined;

/** The id of the current boot. It is empty if /proc is not readable: then all boots count as the same. */
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
