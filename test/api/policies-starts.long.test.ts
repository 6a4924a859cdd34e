// Starts of pods that send before they have an interface: no packet passes that a policy forbids.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { policiesPart } from "../../features/policies/controller/part.ts";
import { policiesPath } from "../../features/policies/node/policy-source.ts";
import { slicesPath } from "../../features/policies/rules/address-slice.ts";
import type { ApiObjects } from "../../host/cluster/kube/api-objects.ts";
import { startDaemon, type TestDaemon } from "../lab/daemon.ts";
import type { ApiServer, CreatedPod } from "../lab/kube/api-server.ts";
import { applyObjects, collectionOf, objectsOf, outcome } from "../lab/kube/apply.ts";
import { missingForKube, type Node, openNode } from "../lab/kube/node.ts";
import { partContext } from "../lab/kube/part-context.ts";
import { multiNetworkPolicy, policyRequests, policyRights } from "../lab/kube/policy-objects.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import type { PodNamespace } from "../lab/namespaces.ts";
import type { Answer } from "../lab/plexus.ts";
import { command, missing } from "../lab/requires.ts";
import type { Attaching } from "../lab/stage.ts";

const patience = { timeout: 60_000, interval: 20 };
const starts = 200;
/** Only ends a hang: a start takes a second and more on a loaded machine. */
const maxMs = 1_800_000;
const send = join(import.meta.dirname, "..", "node", "policies", "testing", "send.mjs");

type Running = CreatedPod & { readonly call: Attaching & { readonly pod: PodNamespace } };

const addressOf = ({ call }: Running): string =>
  call.pod
    .addresses()
    .find(({ link }) => link === "net1")
    ?.address.split("/")[0] ?? "";

const received = ({ call }: Running): number =>
  Number(/packets (\d+)/u.exec(call.pod.exec(["nft", "list", "table", "inet", "count"]).stdout)?.[1] ?? Number.NaN);

describe.skipIf(
  missingForKube("starts of pods with policies") || missing("starts of pods with policies", command("nft", "--version")),
)("starts of pods with policies", () => {
  let api: ApiServer;
  let objects: ApiObjects;
  let node: Node;
  let daemon: TestDaemon;
  const term = new AbortController();
  let controller: Promise<void>;
  const socket = (): string => join(node.plexus.directory, "daemon", "plexus.sock");
  const create = async (object: Parameters<typeof collectionOf>[0]): Promise<void> => {
    const made = outcome(await objects.create(collectionOf(object), object as never));
    if (typeof made === "string") throw new Error(made);
  };

  beforeAll(async () => {
    api = await sharedApiServer({ alsoAllowed: policyRequests });
    objects = objectsOf(api.adminKubeconfig);
    await applyObjects(objects, "deploy/helm/plexus/files/policies.yaml");
    await applyObjects(objects, "deploy/helm/plexus/files/multi-network-policies.yaml");
    for (const object of policyRights) await api.admin.create(object);
    await api.namespace("shop");
    const served = async (): Promise<void> => {
      for (const path of [policiesPath("shop"), slicesPath("shop")])
        expect(await objects.list(path)).toMatchObject({ kind: "list" });
    };
    await vi.waitFor(served, patience);
    node = openNode(api);
    const args = ["--state-dir", node.plexus.state("cni"), "--node-name", "node", "--kubeconfig", api.plexus];
    daemon = await startDaemon({ socket: socket(), args });
    await api.network("shop", "red", [node.bridge("red", "10.20.0.0/24")]);
    controller = policiesPart()(partContext(objects)).run(term.signal);
  });
  afterAll(async () => {
    term.abort();
    await controller;
    await daemon?.stop();
    node?.dispose();
    objects?.close();
    await api?.dispose();
  });

  const request = (verb: string, { call }: Running): Promise<Answer> => node.requestAt(socket(), verb, call);
  async function created(name: string, app: string): Promise<Running> {
    const pod = await api.pod("shop", name, "red");
    const patched = outcome(await objects.patch(`/api/v1/namespaces/shop/pods/${name}`, { metadata: { labels: { app } } }));
    if (typeof patched === "string") throw new Error(patched);
    return { ...pod, call: node.attaching(pod, { kubeconfig: api.plexus, policies: {} }) };
  }
  const added = async (pod: Running): Promise<Running> => {
    expect(await request("ADD", pod)).toMatchObject({ status: 0 });
    return pod;
  };
  const counter = `table inet count { chain in { type filter hook input priority 0; udp dport 9 counter; }; }`;

  /** Starts a pod whose process sends before the pod has an interface, until the first datagram for `to` arrives. */
  async function sending(name: string, app: string, to: Running, addresses: readonly string[]): Promise<void> {
    const pod = await created(name, app);
    const before = received(to);
    const sender = spawn("nsenter", [`--net=${pod.call.pod.path}`, "--", process.execPath, send, ...addresses]);
    for await (const line of createInterface({ input: sender.stdout })) if (line === "ready") break;
    await added(pod);
    await expect.poll(() => received(to), patience).toBeGreaterThan(before);
    const ended = once(sender, "exit");
    sender.kill("SIGKILL");
    await ended;
    expect(await request("DEL", pod)).toMatchObject({ status: 0 });
    await api.deletePod(pod.namespace, pod.name);
    pod.call.pod.dispose();
  }

  test(
    "PO-22: in 200 starts no packet passes that a policy forbids, and allowed ones do",
    async () => {
      const db = await added(await created("db", "db"));
      const other = await added(await created("other", "other"));
      for (const { call } of [db, other]) call.pod.exec(["nft", counter]);
      const toDb = [{ to: [{ podSelector: { matchLabels: { app: "db" } } }] }];
      const spec = { podSelector: { matchLabels: { app: "web" } }, policyTypes: ["Egress"], egress: toDb };
      await create(multiNetworkPolicy("shop", "web", "red", spec));
      await vi.waitFor(
        async () => expect(JSON.stringify(await objects.list(slicesPath("shop")))).toContain(addressOf(db)),
        patience,
      );
      const addresses = [other, db].map(addressOf);
      for (let start = 0; start < starts; start++) await sending(`web-${start}`, "web", db, addresses);
      expect(received(other)).toBe(0);
      expect(received(db)).toBeGreaterThanOrEqual(starts);
      // The same process without a policy: the datagrams arrive.
      await sending("free", "free", other, addresses);
    },
    maxMs,
  );
});
