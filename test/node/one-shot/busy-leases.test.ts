// Another process holds the lock of a network's leases: the call fails with STORE_BUSY within its time limit, and the next call works.

import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { catalogue } from "../../../src/fault/catalogue.ts";
import { withGrowingLimit } from "../../lab/growing-limit.ts";
import { leases } from "../../lab/namespaces.ts";
import { type Answer, type Installation, installPlexus, missingBuild } from "../../lab/plexus.ts";

const lacking = missingBuild({ components: ["ipam-host-local"] });
if (lacking !== undefined) throw new Error(lacking);

let plexus: Installation;
beforeAll(() => {
  plexus = installPlexus({ components: ["ipam-host-local"], serving: "one-shot" });
});
afterAll(() => plexus.dispose());

function call(verb: string, isolation: string, directory: string, timeMs = 60_000): Promise<Answer> {
  return plexus.call({
    verb,
    containerId: "c1",
    netns: "/run/netns/none",
    ifname: "eth0",
    config: {
      cniVersion: "1.0.0",
      name: "busy",
      type: "plexus",
      cniDir: plexus.state("cni"),
      runDir: plexus.state("run"),
      wasm: {
        isolation,
        limits: { timeMs },
        grants: { "ipam-host-local": { log: {}, leases: { directories: [directory] }, resolver: {} } },
      },
      delegates: [{ type: "ipam-host-local", ipam: { type: "ipam-host-local", subnet: "10.5.0.0/24" } }],
    },
  });
}

/** Takes a file lock with flock(1) and answers the function that releases the lock. */
async function holdLock(path: string): Promise<() => Promise<void>> {
  const holder = spawn("flock", [path, "sh", "-c", "echo held; read line"], { stdio: ["pipe", "pipe", "ignore"] });
  const ended = new Promise<void>((resolve) => holder.once("close", () => resolve()));
  await new Promise((resolve) => holder.stdout.once("data", resolve));
  return () => {
    holder.stdin.end("\n");
    return ended;
  };
}

describe("while another process holds the lock of the leases", () => {
  test("in the engine's process ADD fails with STORE_BUSY and leaves nothing, and the next ADD works", async () => {
    const directory = plexus.state("leases");
    mkdirSync(join(directory, "busy"));
    const release = await holdLock(join(directory, "busy", "lock"));
    const refused = await call("ADD", "in-process", directory, 800);
    await release();
    expect(refused).toMatchObject({ status: 1, json: { code: catalogue.STORE_BUSY.cni } });
    expect(refused.json?.["msg"]).toContain(join(directory, "busy", "lock"));
    expect(leases(directory)).toEqual([]);
    expect(await call("ADD", "in-process", directory)).toMatchObject({ status: 0, json: { ips: [{ address: "10.5.0.2/24" }] } });
    expect(await call("DEL", "in-process", directory)).toMatchObject({ status: 0, stdout: "" });
    expect(leases(directory)).toEqual([]);
  });

  test("in a sandbox process the wait for the lock does not count as the delegate's time", async () => {
    const directory = plexus.state("leases");
    mkdirSync(join(directory, "busy"), { recursive: true });
    // The delegate's own time must fit into the limit, the wait is twice the limit.
    await withGrowingLimit(800, async (limitMs) => {
      const release = await holdLock(join(directory, "busy", "lock"));
      const waiting = call("ADD", "process", directory, limitMs);
      await setTimeout(2 * limitMs);
      await release();
      const added = await waiting;
      expect(await call("DEL", "process", directory)).toMatchObject({ status: 0 });
      expect(added).toMatchObject({ status: 0, json: { ips: [{ address: expect.stringMatching(/^10\.5\.0\./) }] } });
    });
  });
});
