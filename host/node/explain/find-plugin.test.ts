import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { findPlugin } from "./find-plugin.ts";

const directories: string[] = [];

function directory(): string {
  const made = mkdtempSync(join(tmpdir(), "plexus-plugins-"));
  directories.push(made);
  return made;
}

afterEach(() => {
  vi.unstubAllEnvs();
  for (const made of directories.splice(0)) rmSync(made, { recursive: true });
});

test("FI-26: in a pod an absolute link that leads nowhere is a plugin of the node, a relative one is not", () => {
  const path = directory();
  symlinkSync("/usr/lib/cni-of-the-node/bridge", join(path, "bridge"));
  symlinkSync("nowhere", join(path, "ptp"));
  vi.stubEnv("KUBERNETES_SERVICE_HOST", "10.96.0.1");
  expect(findPlugin("bridge", path, false)).toEqual({ kind: "native", path: join(path, "bridge") });
  expect(findPlugin("ptp", path, false)).toMatchObject({ kind: "missing" });
  vi.stubEnv("KUBERNETES_SERVICE_HOST", "");
  expect(findPlugin("bridge", path, false)).toMatchObject({ kind: "missing" });
});
