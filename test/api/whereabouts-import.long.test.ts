// The move from whereabouts to an AddressPool, step by step as docs/how-to/addresses-across-nodes.md has it, while the real IPAM plugin whereabouts hands
// out and frees addresses on a real API server.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { KubernetesObject } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { ApiObject, ApiObjects } from "../../host/cluster/kube/api-objects.ts";
import type { CommandResult } from "../../host/node/command-line/command.ts";
import { runCommandLine } from "../../host/programs/plexusctl/run-command-line.ts";
import { applyObjects, collectionOf, objectsOf, outcome } from "../lab/kube/apply.ts";
import type { ApiServer } from "../lab/kube/api-server.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { kubeApi } from "../lab/kube/binaries.ts";
import { daemonRights, poolObject, poolRequests } from "../lab/kube/pool-objects.ts";
import { whereaboutsDefinition, whereaboutsKinds } from "../lab/kube/whereabouts-objects.ts";
import { dist } from "../lab/plexus.ts";
import { missing, privateNamespaces } from "../lab/requires.ts";
import { installWhereabouts, type Whereabouts } from "../lab/whereabouts/run-whereabouts.ts";
import { realWhereabouts } from "../lab/whereabouts/whereabouts-binary.ts";
import { ascending, MovingPods } from "./moving-pods.ts";
import { openPoolNode, type PoolNode } from "./pool-node.ts";

const pool = "storage";
const poolPath = `/apis/plexus.dev/v1alpha1/addresspools/${pool}`;
const subnet = "10.50.0.0/26";
/** All addresses that a pod may have: 10.50.0.2 to 10.50.0.62. */
const all = Array.from({ length: 61 }, (_, index) => `10.50.0.${index + 2}`);
const ofWhereabouts = { type: "whereabouts", range: subnet, range_start: "10.50.0.2" };
const ofPlexus = { type: "ipam-host-local", pool };

describe.skipIf(missing("the move from whereabouts", privateNamespaces, kubeApi, realWhereabouts))(
  "whereabouts' addresses",
  () => {
    let api: ApiServer;
    let objects: ApiObjects;
    let whereabouts: Whereabouts;
    let pods: MovingPods;
    let nodes: readonly PoolNode[] = [];

    const create = async (object: ApiObject & KubernetesObject): Promise<void> => {
      const made = await objects.create(collectionOf(object), object);
      if (made.kind !== "object") throw new Error(made.why);
    };
    const importArgs = (): readonly string[] => ["pools", "import", pool, "--write", "--kubeconfig", api.adminKubeconfig];
    const runImport = (): Promise<CommandResult> => runCommandLine(importArgs(), false);
    const importOnce = async (): Promise<void> => {
      const { status, stdout, stderr } = await runImport();
      if (status !== 0) throw new Error(`${stderr} ${stdout}`);
    };
    /** Imports until nothing has changed meanwhile. */
    const imported = (): Promise<void> => vi.waitFor(importOnce, { timeout: 60_000, interval: 100 });
    const stored = async (): Promise<{
      readonly metadata: { readonly resourceVersion: string };
      readonly spec: { readonly exclude?: readonly string[] };
    }> => outcome(await objects.get(poolPath)) as never;
    /** An import that is killed once it has changed the pool. */
    const killImport = async (): Promise<void> => {
      const before = (await stored()).metadata.resourceVersion;
      const child = spawn(process.execPath, [join(dist, "plexusctl.cjs"), ...importArgs()], { stdio: "ignore" });
      const ended = once(child, "exit");
      while (child.exitCode === null && (await stored()).metadata.resourceVersion === before);
      child.kill("SIGKILL");
      await ended;
    };

    beforeAll(async () => {
      const requests = ["ippools", "overlappingrangeipreservations", "network-attachment-definitions", "pods"].flatMap((each) =>
        ["get", "list", "create", "patch", "delete"].map((verb) => `${verb} ${each}`),
      );
      api = await sharedApiServer({ alsoAllowed: [...poolRequests, ...requests] });
      objects = objectsOf(api.adminKubeconfig);
      await applyObjects(objects, "deploy/helm/plexus/files/pools.yaml");
      for (const object of daemonRights) await api.admin.create(object);
      for (const kind of whereaboutsKinds) await create(whereaboutsDefinition(kind));
      await api.network("shop", pool, [{ type: "macvlan", ipam: ofWhereabouts }]);
      whereabouts = installWhereabouts(api.kubeconfig("whereabouts", ["system:masters"]));
      pods = new MovingPods(objects, whereabouts);
      await vi.waitFor(() => pods.records(), { timeout: 60_000, interval: 100 });
      nodes = await Promise.all(["node-1", "node-2"].map((name) => openPoolNode(name, api.plexus)));
    });
    afterAll(async () => {
      for (const node of nodes) await node.dispose();
      whereabouts?.dispose();
      objects?.close();
      await api?.dispose();
    });

    test("no address has two owners, while pods come and go during the move and the import is killed and repeated", async () => {
      const over = new AbortController();
      const [first, second] = nodes as [PoolNode, PoolNode];
      for (const name of ["kept-1", "kept-2", "kept-3"]) expect(await pods.add(name, ofWhereabouts)).toHaveLength(1);
      const churning = [pods.churn(), pods.churn()];
      // Step 1.
      const made = poolObject(pool, [{ subnet, first: "10.50.0.2" }], { exclude: [subnet], blockSize: 8 });
      await vi.waitFor(() => create(made), { timeout: 60_000, interval: 100 });
      const comparing = pods.compare(nodes, pool, over.signal);
      const refused = await runImport();
      expect(refused.stdout.replaceAll(/\s+/g, " ")).toContain(
        `shop/storage still takes addresses of ${subnet} from whereabouts`,
      );
      // An ADD that began before step 2: whereabouts has chosen the address, and writes its record some seconds later.
      const late = pods.add("late", { ...ofWhereabouts, sleep_for_race: 7 });
      const lateLog = { namespace: "shop", name: "late" };
      await expect.poll(() => whereabouts.log(lateLog)).toContain("IterateForAssignment input");
      // Step 2.
      await api.network("shop", pool, [{ type: "macvlan", ipam: ofPlexus }]);
      expect((await first.call("ADD", "waits", { pool })).json).toMatchObject({ code: 11 });
      // Step 3.
      await killImport();
      await imported();
      // New pods get addresses, while ADDs and DELs of whereabouts are still under way.
      const given = await pods.addUntilFull([second], pool);
      const excluded = (await stored()).spec.exclude ?? [];
      expect(given.length).toBeGreaterThan(20);
      expect(excluded).not.toContain(subnet);
      await Promise.all([late, ...churning]);
      expect(pods.doubleOwners).toEqual([]);
      // Step 4. A daemon reads a pool when it starts, and every 30 s.
      const released = async (): Promise<readonly string[]> => {
        await imported();
        for (const node of nodes) {
          await node.kill();
          await node.start();
        }
        return pods.addUntilFull(nodes, pool);
      };
      const leases = (): readonly string[] => nodes.flatMap((node) => node.leases(pool));
      const more = await released();
      const records = await pods.records();
      expect(ascending([...given, ...more])).toEqual(ascending(leases()));
      expect(ascending([...leases(), ...records])).toEqual(all);
      expect(leases().length + records.length).toBe(all.length);
      // An address that whereabouts frees stays excluded until the next import, and is given out then.
      const freed = pods.addressesOf("kept-2");
      await pods.remove("kept-2");
      expect(await pods.records()).toEqual(records.filter((address) => !freed.includes(address)));
      expect(await pods.addUntilFull(nodes, pool)).toEqual([]);
      expect(await released()).toEqual(freed);
      for (const name of pods.ofWhereabouts) await pods.remove(name);
      expect(await pods.records()).toEqual([]);
      expect(ascending(await released())).toEqual(records.filter((address) => !freed.includes(address)));
      expect([(await stored()).spec.exclude, ascending(leases())]).toEqual([[], all]);
      over.abort();
      await comparing;
      expect(pods.doubleOwners).toEqual([]);
    });
  },
);
