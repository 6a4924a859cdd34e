// Native host-local and the delegate concurrently on one lease directory with one lock: processes of both, the delegate through the installed
// shim and the one-shot engine.

import { execFile, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { missingBuild } from "../../../lab/plexus.ts";
import { missing, referencePlugins, type Requirement } from "../../../lab/requires.ts";

const fixture = fileURLToPath(new URL("fixtures/sixteen-at-once.ts", import.meta.url));
const script = `mount -t tmpfs none /var/lib && mkdir /var/lib/cni && exec "$0" "$1"`;

const ownMounts: Requirement = () =>
  spawnSync("unshare", ["-m", "mount", "-t", "tmpfs", "none", "/var/lib"]).status === 0
    ? undefined
    : "this process may not make a mount namespace";
const build: Requirement = () => missingBuild({ components: ["ipam-host-local"] });

const ended = z.object({ status: z.number(), output: z.string() });
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

describe.skipIf(missing("sixteen concurrent calls", referencePlugins("host-local"), ownMounts, build))(
  "sixteen concurrent calls",
  () => {
    let rounds: z.infer<typeof report>["rounds"];
    let waited: z.infer<typeof report>["waited"];
    beforeAll(async () => {
      const { stdout } = await promisify(execFile)("unshare", ["-m", "sh", "-c", script, process.execPath, fixture]);
      ({ rounds, waited } = report.parse(JSON.parse(stdout)));
    });

    test("ADD: sixteen containers get distinct addresses, half of them from each plugin", () => {
      expect(rounds).toHaveLength(2);
      for (const { adds, leases } of rounds) {
        expect(adds.filter(({ status }) => status !== 0)).toEqual([]);
        const addresses = adds.map(({ ips }) => ips[0].address.replace("/24", ""));
        expect(new Set(addresses).size).toBe(16);
        const owners = Object.fromEntries(addresses.map((address, index) => [`shared/${address}`, `container-${index}\r\neth0`]));
        expect(Object.fromEntries(leases)).toEqual(owners);
      }
    });

    test("ADD: both plugins refuse when the range is full", () => {
      expect(rounds.map(({ beyond }) => beyond)).toEqual([
        [1, 1],
        [1, 1],
      ]);
    });

    test("DEL: each plugin releases the other's leases, and none remains", () => {
      for (const { dels, left } of rounds) {
        expect(dels.filter(({ status }) => status !== 0)).toEqual([]);
        expect(left).toEqual(["shared/last_reserved_ip.0"]);
      }
    });

    test("the delegate waits while another process holds the lock", () => {
      expect(waited.status).toBe(0);
      expect(waited.ms).toBeGreaterThan(600);
    });
  },
);
