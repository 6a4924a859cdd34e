// Distinguishes Debian's reference plugins 1.1.1 from newer ones, which know more keys and set more.

import { spawnSync } from "node:child_process";

/** Whether the plugin supports CNI 1.1.0, as every release since 1.6.0 does. False without a plugin. */
export function isNewer(path: string | undefined): boolean {
  if (path === undefined) return false;
  const options = { env: { CNI_COMMAND: "VERSION" }, input: '{"cniVersion":"1.0.0"}', encoding: "utf8" } as const;
  const answer: unknown = JSON.parse(spawnSync(path, options).stdout || "{}");
  const versions: unknown =
    typeof answer === "object" && answer !== null && "supportedVersions" in answer ? answer.supportedVersions : [];
  return Array.isArray(versions) && versions.includes("1.1.0");
}
