// The daemon's cache of a real API server's objects, and the conditions under which it is not used. A proxy in front of the server makes faults.

import { writeFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";

import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { stringify } from "yaml";

import type { Cluster } from "../../host/cluster/cluster.ts";
import type { Outcome } from "../../host/cluster/kube/api-request.ts";
import { Connection } from "../../host/cluster/kube/connection.ts";
import type { CredentialSource } from "../../host/cluster/kube/credentials.ts";
import { Informers, type LookupCounts } from "../../host/cluster/api/informers.ts";
import { keptCredentials } from "../../host/cluster/kube/kept-credentials.ts";
import { kubeCluster } from "../../host/cluster/api/kube-cluster.ts";
import { failuresAfter, Reflector, type ReflectorState } from "../../host/cluster/kube/reflector.ts";
import { storedDefinition } from "../../host/cluster/kube/stored-objects.ts";
import type { NetworkAttachmentDefinition } from "../../src/npwg/network-attachment-definition.ts";
import type { ApiServer } from "../lab/kube/api-server.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { httpRequest } from "../lab/http-request.ts";
import { readPrometheusText, valueOf } from "../lab/prometheus-text.ts";
import { type TestDaemon, startDaemon } from "../lab/daemon.ts";
import type { Answer } from "../lab/plexus.ts";
import { installRecorder } from "../lab/recorder.ts";
import { nothing } from "../lab/stage.ts";
import { missingForKube, type Node, openNode } from "../lab/kube/node.ts";
import { kubeApi } from "../lab/kube/binaries.ts";
import { type FaultProxy, type SeenRequest, startFaultProxy } from "../lab/kube/fault-proxy.ts";
import { missing, privateNamespaces } from "../lab/requires.ts";
import { systemClock } from "../../host/system/clock.ts";

const definitions = "/apis/k8s.cni.cncf.io/v1/network-attachment-definitions";
const isList = ({ path }: SeenRequest): boolean => path.startsWith(definitions) && !path.includes("watch=1");
const isNextPage = ({ path }: SeenRequest): boolean => path.includes("continue=");
const isEvent = ({ path }: SeenRequest): boolean => path.endsWith("/events");
/** Matches the lists of one reflector by its page size, because requests of an earlier test may still be in progress. */
const isListOf =
  (pageSize: number) =>
  (request: SeenRequest): boolean =>
    isList(request) && request.path.includes(`limit=${pageSize}`);
const isWatch = ({ path }: SeenRequest): boolean => path.startsWith(definitions) && path.includes("watch=1");

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const statesOf = ({ states }: Informers): readonly ReflectorState[] => [...states.pods, ...states.definitions];
const oneMore = ({ held, asked }: LookupCounts): LookupCounts => ({ held: held + 1, asked });
const untilLive = (...all: readonly { readonly live: boolean }[]): Promise<void> =>
  expect.poll(() => all.every(({ live }) => live)).toBe(true);
const untilWatching = async (informers: Informers): Promise<void> => {
  await expect.poll(() => statesOf(informers).map(({ live }) => live)).toEqual([true, true]);
};

describe.skipIf(missing("watching a Kubernetes API", privateNamespaces, kubeApi))("watching a Kubernetes API", () => {
  let api: ApiServer;
  let proxy: FaultProxy;
  let kubeconfig = "";
  const warnings: string[] = [];
  const ending: (() => void)[] = [];
  beforeAll(async () => {
    api = await sharedApiServer();
    proxy = await startFaultProxy(api);
    kubeconfig = await proxy.kubeconfig();
    await api.network("shop", "storage", [{ type: "one" }]);
  });
  afterEach(() => {
    proxy.script(() => undefined);
    for (const end of ending.splice(0)) end();
    warnings.length = 0;
  });
  afterAll(async () => {
    await proxy?.dispose();
    await api?.dispose();
  });

  const warn = (text: string): void => void warnings.push(text);
  const access = (path: string): { readonly connection: Connection; readonly credentials: CredentialSource } => {
    const connection = new Connection(systemClock, 4);
    ending.push(() => connection.close());
    return { connection, credentials: keptCredentials(path, { allowInsecure: false }, warn, systemClock) };
  };
  const informed = (path: string, nodeName: string): { readonly informers: Informers; readonly cluster: Cluster } => {
    const { connection, credentials } = access(path);
    const informers = new Informers({ connection, credentials, nodeName, keep: false, warn });
    ending.push(() => informers.stop());
    const cluster = informers.over(kubeCluster({ connection, credentials, budgetMs: 120_000, clock: systemClock, sleep, warn }));
    return { informers, cluster };
  };
  /** A reflector of the definitions through the proxy. */
  const reflector = (
    more: { readonly silenceMs?: number; readonly pageSize?: number } = {},
  ): Reflector<NetworkAttachmentDefinition> => {
    const reflectorUnderTest = new Reflector<NetworkAttachmentDefinition>({
      ...access(kubeconfig),
      what: "definitions",
      path: definitions,
      query: {},
      metadataOnly: false,
      consistent: true,
      bounds: { maxObject: 10_000, maxTotal: 1_000_000 },
      read: storedDefinition,
      warn,
      ...more,
    });
    ending.push(() => reflectorUnderTest.stop());
    reflectorUnderTest.start();
    return reflectorUnderTest;
  };
  test("MO-03 D-11 pods of the node and definitions are cached; other objects are requested, and no existing object is missed", async () => {
    const here = await api.pod("shop", "here", "storage", { "example/other": "x".repeat(1000) });
    const { informers, cluster } = informed(api.plexus, "node");
    await informers.begin();
    // This request precedes the lists.
    expect(await cluster.pod("shop", "here", { uid: here.uid })).toMatchObject({ ok: true, value: { uid: here.uid } });
    await untilWatching(informers);
    const before = informers.counts;
    const held = await cluster.pod("shop", "here", { uid: here.uid });
    expect(held).toEqual({
      ok: true,
      value: { ...here, args: undefined, annotations: new Map([["k8s.v1.cni.cncf.io/networks", "storage"]]) },
    });
    expect(await cluster.networkAttachmentDefinition("shop", "storage")).toMatchObject({ ok: true, value: { name: "storage" } });
    expect(informers.counts).toEqual({ ...before, pods: oneMore(before.pods), definitions: oneMore(before.definitions) });

    // A pod without a uid, with another uid, or just recreated, and a new definition: each is requested.
    expect(await cluster.pod("shop", "here")).toMatchObject({ ok: true });
    expect(await cluster.pod("shop", "here", { uid: "another" })).toMatchObject({ fault: { kind: "POD_NOT_FOUND" } });
    await api.network("shop", "fresh", [{ type: "two" }]);
    expect(await cluster.networkAttachmentDefinition("shop", "fresh")).toMatchObject({ ok: true });
    await api.deletePod("shop", "here");
    const anew = await api.pod("shop", "here", "other");
    expect(await cluster.pod("shop", "here", { uid: anew.uid })).toMatchObject({ ok: true, value: { uid: anew.uid } });
    await api.deletePod("shop", "here");
    expect(await cluster.networkAttachmentDefinition("shop", "none")).toMatchObject({ fault: { kind: "NETWORK_NOT_FOUND" } });

    // The watch delivers changes.
    await api.network("shop", "fresh", [{ type: "three" }]);
    await expect
      .poll(async () => cluster.networkAttachmentDefinition("shop", "fresh"))
      .toMatchObject({
        value: { config: expect.stringContaining("three") },
      });
    expect(warnings).toEqual([]);
  });

  test("MO-18 pods of other nodes are never fetched", async () => {
    await api.pod("shop", "elsewhere", "storage");
    const { informers, cluster } = informed(api.plexus, "another-node");
    await informers.begin();
    await untilWatching(informers);
    expect(informers.states.pods).toMatchObject([{ what: "pods of node another-node", objects: 0 }]);
    // Some runtimes pass no uid. Such lookups cause no warning about the node's name.
    for (let lookups = 0; lookups < 6; lookups++) expect(await cluster.pod("shop", "elsewhere")).toMatchObject({ ok: true });
    expect(warnings).toEqual([]);
    for (let lookups = 0; lookups < 6; lookups++) {
      const { metadata } = await api.admin.read({
        apiVersion: "v1",
        kind: "Pod",
        metadata: { namespace: "shop", name: "elsewhere" },
      });
      expect(await cluster.pod("shop", "elsewhere", { uid: metadata?.uid })).toMatchObject({ ok: true });
    }
    expect(warnings).toEqual([
      expect.stringContaining('node "another-node": if the node has another name there, set it with --node-name'),
    ]);
    await api.deletePod("shop", "elsewhere");
  });

  test("a watch that is too old is followed by a new list (410)", async () => {
    proxy.script((request) =>
      isList(request) && request.earlier === 0
        ? { answer: { status: 200, body: JSON.stringify({ metadata: { resourceVersion: "1" }, items: [] }) } }
        : undefined,
    );
    const first = proxy.seen.length;
    const watching = reflector();
    await untilLive(watching);
    expect(watching.get("shop", "storage")).toMatchObject({ name: "storage" });
    const seen = proxy.seen.slice(first);
    expect([seen.filter(isList).length, seen.filter(isWatch).length]).toEqual([2, 2]);
    expect(watching.state).toMatchObject({ lists: 2 });
  });

  test("a list is read in pages, and restarts if its continue token has expired", async () => {
    for (const name of ["a", "b", "c"]) await api.network("many", name, [{ type: "x" }]);
    proxy.script((request) =>
      isList(request) && isNextPage(request) && request.earlier === 0 && !proxy.seen.slice(0, -1).some(isNextPage)
        ? { answer: { status: 410, body: JSON.stringify({ kind: "Status", code: 410, message: "expired" }) } }
        : undefined,
    );
    const first = proxy.seen.length;
    const watching = reflector({ pageSize: 2 });
    await untilLive(watching);
    const { objects } = watching.state;
    expect(objects).toBeGreaterThanOrEqual(4);
    expect(watching.get("many", "c")).toMatchObject({ name: "c" });
    // The second page was refused, after which the list restarted.
    expect(proxy.seen.slice(first).filter(isList).length).toBe(2 + Math.ceil(objects / 2));
  });

  test("the reflector waits for Retry-After", async () => {
    proxy.script((request) =>
      isList(request) && request.earlier === 0 ? { answer: { status: 429, headers: { "Retry-After": "2" } } } : undefined,
    );
    const first = proxy.seen.length;
    await untilLive(reflector());
    const [one, two] = proxy.seen.slice(first).filter(isList);
    expect((two?.at ?? 0) - (one?.at ?? 0)).toBeGreaterThanOrEqual(1_990);
    expect(warnings).toEqual([expect.stringContaining("HTTP 429"), "definitions: watched again"]);
  });

  test("a silent watch makes its objects unused, and is replaced", async () => {
    const replaced = Promise.withResolvers<unknown>();
    let watches = 0;
    proxy.script((request) => {
      if (!isWatch(request)) return undefined;
      watches += 1;
      if (watches === 1) return { silent: true };
      // The new watch has no answer yet.
      replaced.resolve(watching.get("shop", "storage"));
      return undefined;
    });
    const watching = reflector({ silenceMs: 1_500 });
    expect(await replaced.promise).toBe(undefined);
    expect(warnings[0]).toBe("definitions: not watched, so each call reads its objects from the API: no data for 1500 ms");
  });

  test("a resource version that the server has not reached, as after a restored etcd, causes a new list", async () => {
    const body = JSON.stringify({ metadata: { resourceVersion: "99999999" }, items: [] });
    const isThisList = isListOf(77);
    proxy.script((request) => (isThisList(request) && request.earlier === 0 ? { answer: { status: 200, body } } : undefined));
    const watching = reflector({ silenceMs: 3_000, pageSize: 77 });
    await expect.poll(() => watching.get("shop", "storage")).toMatchObject({ name: "storage" });
    expect(watching.state.lists).toBeGreaterThan(1);
  });

  test("a server whose etcd was restored during an outage is listed again before its objects are used", async () => {
    const first = proxy.seen.length;
    const count = (matches: typeof isList): number => proxy.seen.slice(first).filter(matches).length;
    const isThisList = isListOf(78);
    const later = JSON.stringify({ metadata: { resourceVersion: "99999999" }, items: [] });
    proxy.script((request) => {
      if (isThisList(request) && count(isThisList) === 1) return { answer: { status: 200, body: later } };
      return isWatch(request) && count(isThisList) < 2 ? { reset: true } : undefined;
    });
    const watching = reflector({ pageSize: 78 });
    await untilLive(watching);
    expect(watching.get("shop", "storage")).toMatchObject({ name: "storage" });
    expect(watching.state.lists).toBeGreaterThan(1);
  });

  test("a server that refuses every watch gets lists at growing intervals", async () => {
    const gone = { status: 410, body: JSON.stringify({ kind: "Status", code: 410, message: "expired" }) };
    proxy.script((request) => (isWatch(request) ? { answer: gone } : undefined));
    const first = proxy.seen.length;
    reflector({ pageSize: 79 });
    const lists = (): readonly SeenRequest[] => proxy.seen.slice(first).filter(isListOf(79));
    await expect.poll(() => lists().length).toBe(6);
    const [second = 0, sixth = 0] = [lists()[1]?.at, lists()[5]?.at];
    // At least half of the delays of 0.2, 0.4, 0.8 and 1.6 s.
    expect(sixth - second).toBeGreaterThanOrEqual(1_500);
  });

  test("only a watch that stayed open for a second resets the count of failures", () => {
    expect([failuresAfter(5, 0), failuresAfter(5, 999), failuresAfter(5, 1_000)]).toEqual([5, 5, 0]);
  });

  test("objects of other credentials are not used: a kubeconfig without the right to watch is used for requests", async () => {
    const path = join(api.directory, "changing-user");
    writeFileSync(path, readFileSync(api.plexus, "utf8"));
    const { informers, cluster } = informed(path, "node");
    await informers.begin();
    await untilWatching(informers);
    expect(await cluster.networkAttachmentDefinition("shop", "storage")).toMatchObject({ ok: true });
    writeFileSync(path, readFileSync(api.kubeconfig("nobody"), "utf8"));
    await informers.begin();
    expect(await cluster.networkAttachmentDefinition("shop", "storage")).toMatchObject({ fault: { kind: "API_FORBIDDEN" } });
    expect(statesOf(informers).map(({ live }) => live)).toEqual([false, false]);
    // Back to the permitted user, without the pause after a refusal.
    writeFileSync(path, readFileSync(api.plexus, "utf8"));
    await informers.begin();
    await untilWatching(informers);
  });

  test("MC-14 a new token is used without a restart, and another server's objects are not used", async () => {
    const file = join(api.directory, "rotating-token");
    writeFileSync(file, await api.token());
    const rotating = await proxy.kubeconfig({ tokenFile: "rotating-token" });
    const { informers } = informed(rotating, "node");
    await informers.begin();
    await untilWatching(informers);
    writeFileSync(file, await api.token());
    await informers.begin();
    // The watches of the new token continue at the earlier resource version.
    await untilWatching(informers);
    expect(statesOf(informers).map(({ lists, watches }) => [lists, watches])).toEqual([
      [1, 2],
      [1, 2],
    ]);
    // The kubeconfig now has another server URL.
    writeFileSync(rotating, readFileSync(api.plexus, "utf8"));
    await informers.begin();
    expect(statesOf(informers).map(({ live }) => live)).toEqual([false, false]);
    await untilWatching(informers);
    expect(statesOf(informers).map(({ lists }) => lists)).toEqual([1, 1]);
  });

  test("MO-01 a broken or silent kept connection is replaced without a failure", async () => {
    const { credentials } = access(kubeconfig);
    const connection = new Connection(systemClock, 2, 300, 60_000);
    ending.push(() => connection.close());
    const current = await credentials();
    if (!current.ok) throw new Error(current.fault.msg);
    const path = "/api/v1/namespaces/shop/pods/none";
    const send = (): Promise<unknown> => connection.request(current.value, { method: "GET", path }, 60_000);
    expect([connection.isReady(current.value), await send()]).toMatchObject([false, { kind: "answer", status: 404 }]);
    for (const fault of [{ reset: true }, { delayMs: 300_000 }]) {
      await expect.poll(() => connection.isReady(current.value)).toBe(true);
      proxy.script((request) => (request.path === path && request.earlier === 0 ? fault : undefined));
      const before = proxy.connections();
      expect(await send()).toMatchObject({ kind: "answer", status: 404 });
      expect(proxy.connections() - before).toBeGreaterThanOrEqual(1);
    }
    // A failure of a new connection is a failure of the request.
    proxy.script((request) => (request.path === path ? { reset: true } : undefined));
    expect(await send()).toMatchObject({ kind: "broken" });
  });

  test("MO-01 a silent kept connection uses at most half of a short timeout", async () => {
    const { credentials } = access(kubeconfig);
    const current = await credentials();
    if (!current.ok) throw new Error(current.fault.msg);
    const path = "/api/v1/namespaces/shop/pods/none";
    const get = { method: "GET", path } as const;
    let outcome: Outcome | undefined;
    // A busy machine may need more than half of a short timeout for a new connection.
    for (const timeoutMs of [4_000, 40_000]) {
      const connection = new Connection(systemClock, 2, 300_000, 60_000);
      ending.push(() => connection.close());
      expect(await connection.request(current.value, get, 60_000)).toMatchObject({ kind: "answer" });
      await expect.poll(() => connection.isReady(current.value)).toBe(true);
      proxy.script((request) => (request.path === path && request.earlier === 0 ? { delayMs: 300_000 } : undefined));
      outcome = await connection.request(current.value, get, timeoutMs);
      if (outcome.kind === "answer") break;
    }
    expect(outcome).toMatchObject({ kind: "answer", status: 404 });
  });

  test("a request that waited for a connection does not count as connecting while the server prepares the answer", async () => {
    const { credentials } = access(kubeconfig);
    const current = await credentials();
    if (!current.ok) throw new Error(current.fault.msg);
    const path = "/api/v1/namespaces/shop/pods/none";
    let outcomes: readonly Outcome[] = [];
    // A busy machine may need more than a second to connect.
    for (const connectMs of [1_000, 20_000]) {
      const connection = new Connection(systemClock, 1, undefined, connectMs);
      ending.push(() => connection.close());
      proxy.script((request) => (request.path === path && request.earlier === 1 ? { delayMs: connectMs + 300 } : undefined));
      const send = (): Promise<Outcome> => connection.request(current.value, { method: "GET", path }, 100_000);
      outcomes = await Promise.all([send(), send()]);
      if (outcomes.every(({ kind }) => kind === "answer")) break;
    }
    const answer = { kind: "answer", status: 404 };
    expect(outcomes).toMatchObject([answer, answer]);
  });

  test("a new pod of the node makes the daemon connect, before the pod's ADD", async () => {
    const { connection, credentials } = access(kubeconfig);
    const informers = new Informers({ connection, credentials, nodeName: "node", keep: false, warn });
    ending.push(() => informers.stop());
    await informers.begin();
    await untilWatching(informers);
    const current = await credentials();
    if (!current.ok) throw new Error(current.fault.msg);
    // Simulates the server's close of an idle connection.
    connection.close();
    expect(connection.isReady(current.value)).toBe(false);
    await api.pod("shop", "coming", "storage");
    await expect.poll(() => connection.isReady(current.value)).toBe(true);
    await api.deletePod("shop", "coming");
  });

  test("a user without the right to watch causes one warning per collection, and requests work", async () => {
    const lesser = { metadata: { name: "lesser" }, apiVersion: "rbac.authorization.k8s.io/v1" };
    const rules = [
      { apiGroups: [""], resources: ["pods"], verbs: ["get"] },
      { apiGroups: ["k8s.cni.cncf.io"], resources: ["network-attachment-definitions"], verbs: ["get"] },
    ];
    await api.admin.create({ ...lesser, kind: "ClusterRole", rules } as object as Parameters<typeof api.admin.create>[0]);
    await api.admin.create({
      ...lesser,
      kind: "ClusterRoleBinding",
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "lesser" },
      subjects: [{ kind: "User", name: "lesser" }],
    } as object as Parameters<typeof api.admin.create>[0]);
    const { informers, cluster } = informed(api.kubeconfig("lesser"), "node");
    await informers.begin();
    await expect.poll(() => warnings.length).toBe(2);
    expect(warnings).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^pods of node node: not watched, so each call reads its objects from the API: HTTP 403/),
        expect.stringMatching(/^NetworkAttachmentDefinitions: not watched.*HTTP 403/),
      ]),
    );
    expect(await cluster.networkAttachmentDefinition("shop", "storage")).toMatchObject({ ok: true });
    expect(informers.counts.definitions).toEqual({ held: 0, asked: 1 });
  });

  test("a restarted API server is watched again", async () => {
    const { informers, cluster } = informed(api.plexus, "node");
    await informers.begin();
    await untilWatching(informers);
    await api.stop();
    await expect.poll(() => statesOf(informers).map(({ live }) => live)).toEqual([false, false]);
    await api.start();
    await untilWatching(informers);
    await api.network("shop", "storage", [{ type: "changed" }]);
    await expect
      .poll(async () => cluster.networkAttachmentDefinition("shop", "storage"))
      .toMatchObject({
        value: { config: expect.stringContaining("changed") },
      });
  });

  describe.skipIf(missingForKube("watching by a daemon"))("by a daemon", () => {
    let node: Node;
    let daemon: TestDaemon;
    afterEach(async () => {
      const ended = { status: await daemon.stop(), left: node.left() };
      node.dispose();
      if (!isDeepStrictEqual(ended, { status: 0, left: nothing })) throw new Error(JSON.stringify(ended));
      for (const name of ["web", "db"]) await api.deletePod("shop", name).catch(() => undefined);
    });
    const started = async (...args: readonly string[]): Promise<void> => {
      node = openNode(api, kubeconfig);
      daemon = await startDaemon({ socket: join(node.plexus.directory, "daemon.sock"), args });
    };
    const call = (verb: string, { pod, ...rest }: ReturnType<Node["attaching"]>): Promise<Answer> =>
      node.request({ verb, ifname: "eth0", netns: pod.path, env: { PLEXUS_SOCKET: daemon.socket }, ...rest });
    const succeed = async (verb: string, attaching: ReturnType<Node["attaching"]>): Promise<void> => {
      const { status, stdout } = await call(verb, attaching);
      expect([status, status === 0 ? "" : stdout]).toEqual([0, ""]);
    };
    /** Requests during an ADD, except events, which follow its answer, and lists and watches. */
    const requestsOf = async (attaching: ReturnType<Node["attaching"]>): Promise<readonly string[]> => {
      const first = proxy.seen.length;
      await succeed("ADD", attaching);
      const requests = proxy.seen.slice(first).filter(({ path }) => !path.endsWith("/events") && !path.includes("?"));
      await succeed("DEL", attaching);
      return requests.map(({ method, path }) => `${method} ${path.split("/").slice(-2).join("/")}`);
    };

    test("an ADD with cached objects only patches the status, on an existing connection", async () => {
      await started("--node-name", "node", "--kubeconfig", kubeconfig);
      await api.network("shop", "storage", [{ type: "main" }]);
      installRecorder(node.plexus.cniPath, "main");
      const attaching = node.attaching(await api.pod("shop", "web", "storage"));
      const plain = { ...attaching, config: node.network([{ type: "main" }], { kubeconfig }) };
      await expect.poll(() => requestsOf(plain)).toEqual(["PATCH web/status"]);
      // The proxy answers events itself, because they are sent during the next call and would occupy connections.
      proxy.script((request) => (isEvent(request) ? { answer: { status: 201, body: "{}" } } : undefined));
      const [connections, first] = [proxy.connections(), proxy.seen.length];
      for (let calls = 0; calls < 5; calls++) {
        expect(await requestsOf(plain)).toEqual(["PATCH web/status"]);
        await expect.poll(() => proxy.seen.slice(first).filter(isEvent).length).toBeGreaterThanOrEqual(2 * (calls + 1));
      }
      const families = readPrometheusText((await httpRequest(join(node.plexus.directory, "status.sock"), "/metrics")).body);
      for (const collection of ["pods", "definitions"]) {
        expect(valueOf(families, "plexus_watch_live", { collection })).toBe(1);
        expect(valueOf(families, "plexus_lookups_total", { collection, answer: "memory" })).toBeGreaterThanOrEqual(6);
      }
      // An event may be in progress while the next call patches its status.
      expect(proxy.connections() - connections).toBeLessThan(5);
    });

    test("the first ADD does not wait for lists, and an ADD with a wrong node name requests its pod", async () => {
      proxy.script(({ method, path }) => (method === "GET" && path.includes("?") ? { delayMs: 300_000 } : undefined));
      await started("--node-name", "wrong");
      await api.network("shop", "storage", [{ type: "main" }]);
      installRecorder(node.plexus.cniPath, "main");
      const attaching = node.attaching(await api.pod("shop", "web", "storage"));
      const plain = { ...attaching, config: node.network([{ type: "main" }], { kubeconfig }) };
      const all = ["GET pods/web", "GET network-attachment-definitions/storage", "PATCH web/status"];
      expect(await requestsOf(plain)).toEqual(all);
      expect(await requestsOf(plain)).toEqual(all);
    });

    test("MO-21 a definition that changes between ADD and DEL does not change the DEL, and is used by the next ADD", async () => {
      await started("--node-name", "node", "--kubeconfig", kubeconfig);
      const [one, two] = [installRecorder(node.plexus.cniPath, "one"), installRecorder(node.plexus.cniPath, "two")];
      installRecorder(node.plexus.cniPath, "main");
      await api.network("shop", "storage", [{ type: "one", mtu: 1 }]);
      const attaching = node.attaching(await api.pod("shop", "web", "storage"));
      const plain = { ...attaching, config: node.network([{ type: "main" }], { kubeconfig }) };
      await expect.poll(() => requestsOf(plain)).toEqual(["PATCH web/status"]);
      one.clear();
      await succeed("ADD", plain);
      await api.network("shop", "storage", [{ type: "two", mtu: 2 }]);
      const next = node.attaching(await api.pod("shop", "db", "storage"));
      const other = { ...next, config: plain.config };
      await expect
        .poll(
          async () => {
            await requestsOf(other);
            return two.calls().length;
          },
          { timeout: 60_000 },
        )
        .toBeGreaterThan(0);
      two.clear();
      await succeed("DEL", plain);
      const ended = one.calls().filter(({ env }) => env["CNI_CONTAINERID"] === plain.containerId);
      expect(ended.map(({ env, stdin }) => [env["CNI_COMMAND"], JSON.parse(stdin).mtu])).toEqual([
        ["ADD", 1],
        ["DEL", 1],
      ]);
      expect(two.calls()).toEqual([]);
    });

    test("MC-14 a changed kubeconfig in YAML is used by the next call, and a truncated kubeconfig is not used", async () => {
      await started();
      await api.network("shop", "storage", [{ type: "main" }]);
      installRecorder(node.plexus.cniPath, "main");
      const path = join(node.plexus.directory, "kubeconfig");
      const whole = stringify(JSON.parse(readFileSync(kubeconfig, "utf8")));
      writeFileSync(path, whole.replace(/server: .*/, "server: https://127.0.0.1:1"));
      const attaching = node.attaching(await api.pod("shop", "web", "storage"));
      const within = (budgetMs: number) => node.network([{ type: "main" }], { kubeconfig: path, kubernetes: { budgetMs } });
      const plain = { ...attaching, config: within(60_000) };
      expect(await call("ADD", { ...plain, config: within(1_000) })).toMatchObject({
        status: 1,
        stdout: expect.stringContaining("API_UNREACHABLE"),
      });
      await succeed("DEL", plain);
      writeFileSync(path, whole);
      await succeed("ADD", plain);
      await succeed("DEL", plain);
      writeFileSync(path, whole.slice(0, whole.length / 2));
      await succeed("ADD", plain);
      await succeed("DEL", plain);
      await expect.poll(() => daemon.stderr()).toContain(`the previously read credentials stay in use: kubeconfig ${path}`);
    });
  });
});
