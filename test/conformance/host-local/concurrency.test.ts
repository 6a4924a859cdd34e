// Native host-local and the delegate at the same time on one directory, under one lock: real processes of both, the
// delegate through the installed hands and the one-shot brain.

import { execFile, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { missingBuild } from "../../harness/plexus.ts";
import { missing, referencePlugins, type Requirement } from "../../harness/requires.ts";

const fixture = fileURLToPath(new URL("fixtures/sixteen-at-once.ts", import.meta.url));
const script = `mount -t tmpfs none /var/lib && mkdir /var/lib/cni && exec "$0" "$1"`;

const ownMounts: Requirement = () =>
  spawnSync("unshare", ["-m", "mount", "-t", "tmpfs", "none", "/var/lib"]).status === 0
    ? undefined
    : "no mount namespace of one's own";
const build: Requirement = () => missingBuild({ components: ["ipam-host-local"] });

const ended = z.object({ status: z.number(), said: z.string() });
const report = z.object({
  rounds: z.array(
    z.object({
      adds: z.array(ended.extend({ ips: z.tuple([z.object({ address: z.string() })]) })),
      leases: z.array(z.tuple([z.string(), z.string()])),
      beyond: z.array(z.number()),
      dels: z.array(ended),
      left: z.array(z.string()),
    }),
  ),
  waited: z.object({ status: z.number(), ms: z.number() }),
});

describe.skipIf(missing("sixteen at once", referencePlugins("host-local"), ownMounts, build))("sixteen at once", () => {
  let rounds: z.infer<typeof report>["rounds"];
  let waited: z.infer<typeof report>["waited"];
  beforeAll(async () => {
    const { stdout } = await promisify(execFile)("unshare", ["-m", "sh", "-c", script, process.execPath, fixture]);
    ({ rounds, waited } = report.parse(JSON.parse(stdout)));
  });

  test("ADD: each container gets an address of its own, half of them by either", () => {
    expect(rounds).toHaveLength(2);
    for (const { adds, leases } of rounds) {
      expect(adds.filter(({ status }) => status !== 0)).toEqual([]);
      const addresses = adds.map(({ ips }) => ips[0].address.replace("/24", ""));
      expect(new Set(addresses).size).toBe(16);
      const owners = Object.fromEntries(addresses.map((address, index) => [`shared/${address}`, `container-${index}\r\neth0`]));
      expect(Object.fromEntries(leases)).toEqual(owners);
    }
  });

  test("ADD: once all are taken, both refuse", () => {
    expect(rounds.map(({ beyond }) => beyond)).toEqual([
      [1, 1],
      [1, 1],
    ]);
  });

  test("DEL: each removes what the other added, and no lease is left", () => {
    for (const { dels, left } of rounds) {
      expect(dels.filter(({ status }) => status !== 0)).toEqual([]);
      expect(left).toEqual(["shared/last_reserved_ip.0"]);
    }
  });

  test("The delegate waits while another process holds the lock", () => {
    expect(waited.status).toBe(0);
    expect(waited.ms).toBeGreaterThan(600);
  });
});
