// Pools by the state directories of configurations.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DaemonPools } from "./daemon-pools.ts";

test("two spellings of a state directory have the same pools, and another cluster's configuration has none of them", async () => {
  const directory = mkdtempSync(join(tmpdir(), "plexus-pools-"));
  const pools = new DaemonPools({
    nodeName: "n1",
    objects: async () => undefined,
    event: () => undefined,
    clock: { now: () => 0, date: () => new Date(0) },
    warn: () => undefined,
  });
  const reason = async (cniDir: string, kubeconfig = "/etc/one"): Promise<string> => {
    const completed = await (
      await pools.of({ cniDir, kubeconfig, manifests: undefined, kubernetes: {} } as never)
    ).complete("storage", "{}", "ipam");
    return completed.ok ? "" : completed.fault.msg;
  };
  try {
    const first = await reason(directory);
    expect(first).toContain("the configuration names no Kubernetes API");
    for (const spelling of [`${directory}/`, `${directory}//`, `${directory}/x/..`]) expect(await reason(spelling)).toBe(first);
    expect(await reason(`${directory}/`, "/etc/other")).toContain("can't be used: plexusd uses");
  } finally {
    pools.close();
    rmSync(directory, { recursive: true, force: true });
  }
});
