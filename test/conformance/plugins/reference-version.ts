// Which reference plugins there are: Debian's 1.1.1, or newer ones, which have further keys and set more.

import { spawnSync } from "node:child_process";
import { referencePlugin } from "../../harness/requires.ts";

/** Whether the installed plugin of this name speaks CNI 1.1.0, as all since 1.6.0 do. False where there is none. */
export function isNewer(name: string): boolean {
  const path = referencePlugin(name);
  if (path === undefined) return false;
  const asked = { env: { CNI_COMMAND: "VERSION" }, input: '{"cniVersion":"1.0.0"}', encoding: "utf8" } as const;
  const told: unknown = JSON.parse(spawnSync(path, asked).stdout || "{}");
  const versions: unknown =
    typeof told === "object" && told !== null && "supportedVersions" in told ? told.supportedVersions : [];
  return Array.isArray(versions) && versions.includes("1.1.0");
}
