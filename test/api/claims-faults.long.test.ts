// The driver of claims behind faults: a real daemon that is killed at each step of Prepare and Unprepare, an API that is away, a burst, and the memory that
// claims take. A client of gRPC's own library plays the kubelet.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, watch, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { ClaimStore, claimDirectory } from "../../features/claims/node/claim-store.ts";
import type { ApiObjects } from "../../host/cluster/kube/api-objects.ts";
import { bootId } from "../../host/system/boot-id.ts";
import { startDaemon, type TestDaemon } from "../lab/daemon.ts";
import { objectsOf } from "../lab/kube/apply.ts";
import type { ApiServer } from "../lab/kube/api-server.ts";
import { kubeApi } from "../lab/kube/binaries.ts";
import { type FaultProxy, type ProxyFault, startFaultProxy } from "../lab/kube/fault-proxy.ts";
import { type KubeletClient, kubeletClient, type NamedClaim } from "../lab/kube/kubelet-client.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { missing, privateNamespaces } from "../lab/requires.ts";
import { allowAll } from "../lab/kube/allow-all.ts";

const collection = "/apis/resource.k8s.io/v1/namespaces/shop/resourceclaims";
const node = "node-a";
const link = readdirSync("/sys/class/net").find((name) => name !== "lo");
const requests = ["resourceclaims", "resourceclaims/status", "resourceslices", "nodes", "clusterrolebindings"].flatMap(
  (resource) => ["get", "list", "create", "update", "patch", "delete"].map((verb) => `${verb} ${resource}`),
);
const hasLink = (): string | undefined => (link === undefined ? "sysfs shows no link but lo" : undefined);

const isOfClaim = ({ path }: { readonly path: string }): boolean => path.startsWith(`${collection}/`);

const preparedAs = ({ uid }: NamedClaim): object => ({
  claims: { [uid]: { devices: [{ requestNames: ["net"], poolName: node, deviceName: `nic-${link}` }] } },
});

const fileOf = ({ uid }: NamedClaim): string => `${uid}.${bootId()}.shop.shared.json`;

/** Resident memory of a process, in KiB. */
function residentKib(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}

describe.skipIf(missing("the driver of claims behind faults", privateNamespaces, kubeApi, hasLink))(
  "claims behind faults",
  () => {
    let api: ApiServer;
    let admin: ApiObjects;
    let proxy: FaultProxy;
    let directory: string;
    let kubeconfig: string;
    let daemon: TestDaemon;
    let kubelet: KubeletClient;
    let claims: readonly NamedClaim[];

    const state = (): string => join(directory, "state");
    const start = async (): Promise<void> => {
      const registry = join(directory, "registry");
      mkdirSync(registry, { recursive: true });
      daemon = await startDaemon({
        socket: join(directory, "run", "plexus.sock"),
        args: [
          "--kubeconfig",
          kubeconfig,
          "--node-name",
          node,
          "--state-dir",
          state(),
          "--claims-devices",
          join(directory, "claims.json"),
          "--claims-kubelet-dir",
          registry,
        ],
      });
      kubelet = kubeletClient(join(registry, "plexus.dev-reg.sock"));
    };
    const end = async (): Promise<void> => {
      kubelet.close();
      daemon.signal("SIGKILL");
      await daemon.ended;
    };
    const prepare = (...each: readonly NamedClaim[]): Promise<object> => kubelet.call("NodePrepareResources", { claims: each });
    const unprepare = (...each: readonly NamedClaim[]): Promise<object> =>
      kubelet.call("NodeUnprepareResources", { claims: each });
    /** All files of claims, temporary ones included. */
    const files = (): readonly string[] => readdirSync(claimDirectory(state())).toSorted();

    const allocated = async (name: string): Promise<NamedClaim> => {
      const spec = { devices: { requests: [{ name: "net", exactly: { deviceClassName: "links" } }] } };
      const created = await admin.create(collection, {
        apiVersion: "resource.k8s.io/v1",
        kind: "ResourceClaim",
        metadata: { name },
        spec,
      });
      if (created.kind !== "object") throw new Error(created.why);
      const parameters = { apiVersion: "plexus.dev/v1alpha1", kind: "Network", definition: { name: "blue" } };
      const status = {
        allocation: {
          devices: {
            results: [{ request: "net", driver: "plexus.dev", pool: node, device: `nic-${link}` }],
            config: [{ source: "FromClaim", opaque: { driver: "plexus.dev", parameters } }],
          },
        },
        reservedFor: [{ resource: "pods", name: `pod-${name}`, uid: `pod-${name}` }],
      };
      const changed = await admin.replace(`${collection}/${name}/status`, { ...created.object, status });
      if (changed.kind !== "object") throw new Error(changed.why);
      return { namespace: "shop", name, uid: (created.object["metadata"] as { readonly uid: string }).uid };
    };

    beforeAll(async () => {
      api = await sharedApiServer({ alsoAllowed: requests });
      admin = objectsOf(api.adminKubeconfig);
      await api.namespace("shop");
      proxy = await startFaultProxy(api);
      kubeconfig = await proxy.kubeconfig();
      await allowAll(admin);
      directory = mkdtempSync(join(tmpdir(), "plexus-claims-"));
      mkdirSync(claimDirectory(state()), { recursive: true });
      const entry = { name: "nic", match: { name: link }, shared: { attachments: 100 } };
      writeFileSync(join(directory, "claims.json"), JSON.stringify({ devices: [entry] }));
      const made: NamedClaim[] = [];
      for (let index = 0; index < 100; index++) made.push(await allocated(`claim-${index}`));
      claims = made;
      await start();
    }, 120_000);
    afterEach(() => proxy.script(() => undefined));
    afterAll(async () => {
      await end();
      rmSync(directory, { recursive: true, force: true });
      admin?.close();
      await proxy?.dispose();
      await api?.dispose();
    });

    /** Kills the daemon once the directory of claims has changed as `isIt` says. */
    const killAtFile = (isIt: () => boolean): { readonly close: () => void } => {
      const check = (): void => {
        if (isIt()) daemon.signal("SIGKILL");
      };
      const watcher = watch(claimDirectory(state()), check);
      return { close: () => watcher.close() };
    };
    /** Ends the killed daemon and starts the next one. */
    const again = async (): Promise<void> => {
      kubelet.close();
      await daemon.ended;
      proxy.script(() => undefined);
      await start();
    };

    test.each<[string, (claim: NamedClaim) => { readonly fault?: () => ProxyFault; readonly file?: () => boolean }]>([
      ["before it reads the claim", () => ({ fault: () => ({ first: async () => daemon.signal("SIGKILL") }) })],
      ["before it gets the answer", () => ({ fault: () => ({ lose: async () => daemon.signal("SIGKILL") }) })],
      ["while it writes the claim's file", () => ({ file: () => files().length > 0 })],
      ["after the claim's file is written", (claim) => ({ file: () => files().includes(fileOf(claim)) })],
    ])(
      "DR-11: a daemon killed in Prepare, %s: the kubelet's next Prepare succeeds, and Unprepare leaves nothing",
      async (_, step) => {
        const [claim] = claims;
        if (claim === undefined) throw new Error("no claim");
        for (const next of ["Prepare", "Unprepare"]) {
          const { fault, file } = step(claim);
          const watcher = file === undefined ? undefined : killAtFile(file);
          proxy.script((request) => (fault !== undefined && isOfClaim(request) ? fault() : undefined));
          await prepare(claim).catch(() => undefined);
          await daemon.ended;
          watcher?.close();
          await again();
          const answer = next === "Prepare" ? await prepare(claim) : preparedAs(claim);
          expect(answer).toMatchObject(preparedAs(claim));
          expect(files()).toEqual(next === "Prepare" ? [fileOf(claim)] : files());
          // A pod that was deleted meanwhile is not prepared again.
          expect(await unprepare(claim)).toMatchObject({ claims: { [claim.uid]: {} } });
          expect(files()).toEqual([]);
        }
      },
    );

    test("DR-11: a daemon killed in Unprepare: the kubelet's next Unprepare leaves nothing", async () => {
      const [claim] = claims;
      if (claim === undefined) throw new Error("no claim");
      await prepare(claim);
      const watcher = killAtFile(() => files().length === 0);
      await unprepare(claim).catch(() => undefined);
      await daemon.ended;
      watcher.close();
      await again();
      expect(await unprepare(claim)).toMatchObject({ claims: { [claim.uid]: {} } });
      expect(files()).toEqual([]);
    });

    test("DR-11: a claim whose Prepare was killed and never repeated leaves no temporary file after the daemon's next start", async () => {
      await end();
      writeFileSync(join(claimDirectory(state()), ".gone.shop.shared.json"), "{");
      await start();
      expect(files()).toEqual([]);
    });

    test("DR-11: while the API is away Prepare says so and leaves no file; the kubelet's next Prepare succeeds", async () => {
      const [claim] = claims;
      if (claim === undefined) throw new Error("no claim");
      proxy.script(() => ({ reset: true }));
      const error = expect.stringContaining("resource claim shop/claim-0 cannot be read from the Kubernetes API");
      expect(await prepare(claim)).toMatchObject({ claims: { [claim.uid]: { error } } });
      expect(files()).toEqual([]);
      proxy.script(() => undefined);
      await vi.waitFor(async () => expect(await prepare(claim)).toMatchObject(preparedAs(claim)), { timeout: 60_000 });
      await unprepare(claim);
    });

    test("DR-11: the claims of 100 pods, prepared and unprepared at once, are all prepared, and nothing is left", async () => {
      const answers = await Promise.all(claims.map((claim) => prepare(claim)));
      for (const [index, claim] of claims.entries()) expect(answers[index]).toMatchObject(preparedAs(claim));
      expect(files()).toEqual(claims.map(fileOf).toSorted());
      await Promise.all(claims.map((claim) => unprepare(claim)));
      expect(files()).toEqual([]);
    });

    test("DR-14: 1,000 claims on a node take at most 15 MiB of the daemon's memory", async () => {
      const settled = async (): Promise<number> => {
        await end();
        await start();
        // The same work in both daemons, after which the start's reports are done.
        await Promise.all(claims.map((claim) => prepare(claim)));
        await Promise.all(claims.map((claim) => unprepare(claim)));
        return residentKib(daemon.pid);
      };
      const without = await settled();
      const store = new ClaimStore(state());
      const source = { kind: "definition", namespace: "shop", name: "blue" } as const;
      const base = { pool: node, device: `nic-${link}`, shareId: "", isOfClass: false, source, request: "net" };
      const prepared = { ...base, link: { name: link ?? "", kind: "link", isExclusive: false } } as const;
      const made = [...claims.keys()].flatMap((index) => Array.from({ length: 10 }, (_, each) => `more-${index * 10 + each}`));
      for (const name of made)
        store.write({
          namespace: "shop",
          name,
          uid: name,
          pods: [`pod-${name}`],
          isShareable: false,
          networks: [prepared],
        });
      expect(files()).toHaveLength(1_000);
      const withClaims = await settled();
      process.stderr.write(`memory of the daemon: ${without} KiB without claims, ${withClaims} KiB with 1,000\n`);
      expect(withClaims - without).toBeLessThan(15 * 1024);
      for (const uid of made) store.remove(uid);
    });
  },
);
