// The daemon as a pod of a real API server: its service account, the credentials of one-shot engines, and what a stop means for the node's
// network configuration.

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { isJsonObject } from "../../src/json/document.ts";
import { startDaemon, type TestDaemon } from "../lab/daemon.ts";
import { httpRequest } from "../lab/http-request.ts";
import type { ApiServer } from "../lab/kube/api-server.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { readPrometheusText, valueOf } from "../lab/prometheus-text.ts";
import { missingForKube, type Node, openNode } from "../lab/kube/node.ts";

const within = { timeout: 60_000, interval: 50 };
const namespace = "kube-system";
const apps = { apiVersion: "apps/v1", kind: "DaemonSet" } as const;
const rbac = "rbac.authorization.k8s.io";

/** The fields of a DaemonSet's pod that select a node by its name. */
function selectingNode(name: string): object {
  const term = { matchFields: [{ key: "metadata.name", operator: "In", values: [name] }] };
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } } } };
}

function claimsOf(token: string): unknown {
  return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
}

describe.skipIf(missingForKube("a daemon as a pod"))("a daemon as a pod", () => {
  let api: ApiServer;
  let node: Node;
  let daemon: TestDaemon | undefined;
  beforeAll(async () => {
    api = await sharedApiServer({
      alsoAllowed: ["get daemonsets", "get namespaces", "get nodes", "create serviceaccounts/token"],
    });
    await api.admin.create({ apiVersion: "v1", kind: "Node", metadata: { name: "node" } });
    await api.network("shop", "storage", [{ type: "bridge", bridge: "br-storage" }]);
  });
  afterAll(() => api?.dispose());
  beforeEach(async () => {
    node = openNode(api);
    for (const directory of [netD(), serviceAccount(), directoryOf("template")]) mkdirSync(directory);
    writeFileSync(join(serviceAccount(), "token"), await api.token());
    writeFileSync(join(serviceAccount(), "ca.crt"), readFileSync(api.authority.certificate));
    const pods = { cniVersion: "1.0.0", name: "pods", plugins: [node.bridge("pods", "10.10.0.0/24")] };
    writeFileSync(join(netD(), "10-pods.conflist"), JSON.stringify(pods));
    const { name: _name, cniVersion: _version, ...template } = { name: "", cniVersion: "", ...node.host({}) };
    writeFileSync(join(directoryOf("template"), "config.json"), JSON.stringify(template));
    await allow();
    await makeDaemonSet();
  });
  afterEach(async () => {
    await daemon?.stop();
    daemon = undefined;
    node.dispose();
    await remove({ ...apps, metadata: { name: "plexus", namespace } });
    await deny();
  });

  const directoryOf = (name: string): string => join(node.plexus.directory, name);
  const netD = (): string => directoryOf("net.d");
  const serviceAccount = (): string => directoryOf("service-account");
  const written = (): string => join(netD(), "00-plexus.conflist");
  const socket = (): string => join(node.plexus.directory, "daemon", "plexus.sock");
  const statusSocket = (): string => join(node.plexus.directory, "daemon", "status.sock");
  const nodeKubeconfig = (): string => join(directoryOf("credentials"), "kubeconfig");

  async function remove(object: Parameters<ApiServer["admin"]["delete"]>[0], propagation?: string): Promise<void> {
    await api.admin.delete(object, undefined, undefined, undefined, undefined, propagation).catch((error: unknown) => {
      if (!isJsonObject(error) || error["code"] !== 404) throw error;
    });
  }

  const role = { apiVersion: `${rbac}/v1`, kind: "ClusterRole", metadata: { name: "plexus-pod" } };
  const binding = { apiVersion: `${rbac}/v1`, kind: "ClusterRoleBinding", metadata: { name: "plexus-pod" } };

  /** Gives the service account the rights of a daemon in a DaemonSet. */
  async function allow(): Promise<void> {
    const rules = [
      { apiGroups: ["apps"], resources: ["daemonsets"], verbs: ["get"] },
      { apiGroups: [""], resources: ["namespaces", "nodes"], verbs: ["get"] },
      { apiGroups: [""], resources: ["serviceaccounts/token"], resourceNames: ["plexus"], verbs: ["create"] },
    ];
    const withRules = { ...role, rules };
    await api.admin.create(withRules);
    const subjects = [{ kind: "ServiceAccount", name: "plexus", namespace }];
    const roleRef = { apiGroup: rbac, kind: "ClusterRole", name: "plexus-pod" };
    const withSubjects = { ...binding, roleRef, subjects };
    await api.admin.create(withSubjects);
  }

  async function deny(): Promise<void> {
    await remove(binding);
    await remove(role);
  }

  async function makeDaemonSet(space = namespace, pod: object = {}): Promise<void> {
    const labels = { app: "plexus" };
    const spec = { containers: [{ name: "plexusd", image: "none" }], ...pod };
    const template = { metadata: { labels }, spec };
    const more = { spec: { selector: { matchLabels: labels }, template } };
    await api.admin.create({ ...apps, metadata: { name: "plexus", namespace: space }, ...more });
  }

  async function start(
    env: Readonly<Record<string, string>> = { POD_NAMESPACE: namespace, DAEMONSET: "plexus" },
  ): Promise<TestDaemon> {
    daemon = await startDaemon({
      socket: socket(),
      env,
      args: [
        ["--state-dir", node.plexus.state("cni"), "--node-name", "node", "--api-server", api.url],
        ["--cni-config-dir", netD(), "--cni-config", join(directoryOf("template"), "config.json")],
        ["--service-account", serviceAccount(), "--node-credentials", directoryOf("credentials")],
        ["--cni-bin-dir", node.plexus.cniPath],
      ].flat(),
    });
    await expect.poll(() => existsSync(written()), within).toBe(true);
    return daemon;
  }

  /** The configuration that a runtime would pass. */
  function passed(): object {
    const list: unknown = JSON.parse(readFileSync(written(), "utf8"));
    if (!isJsonObject(list) || !Array.isArray(list["plugins"])) throw new Error("the written file is no list");
    const [plugin] = list["plugins"];
    return { ...plugin, name: list["name"], cniVersion: list["cniVersion"] };
  }

  /** A runtime's call. `engine`: which engine alone can serve it. */
  async function call(
    verb: string,
    pod: { readonly name: string; readonly args: string; readonly path: string },
    engine: "daemon" | "one-shot",
  ) {
    const env = engine === "daemon" ? { PLEXUS_SOCKET: socket(), PLEXUS_HOME: "/nowhere" } : { PLEXUS_SOCKET: "/nowhere" };
    const { name: containerId, args, path: netns } = pod;
    return node.request({ verb, containerId, netns, ifname: "eth0", config: passed(), args, env });
  }

  async function podNamed(name: string) {
    const { args } = await api.pod("shop", name, "storage");
    return { name, args, path: node.pod().path };
  }

  const nodeToken = (): string => JSON.parse(readFileSync(nodeKubeconfig(), "utf8")).users[0].user.token;
  const metric = async (name: string, labels: Readonly<Record<string, string>> = {}) =>
    valueOf(readPrometheusText((await httpRequest(statusSocket(), "/metrics")).body), name, labels);

  test("MO-22 serves calls with its service account; one-shot engines have a token that is bound to the node", async () => {
    await start();
    const [one, two] = [await podNamed("one"), await podNamed("two")];
    expect(passed()).toMatchObject({ kubeconfig: nodeKubeconfig() });
    expect(await call("ADD", one, "daemon")).toMatchObject({ status: 0 });
    expect(await api.statusOf("shop", "one")).toMatchObject([{ interface: "eth0" }, { name: "shop/storage" }]);
    await expect.poll(() => existsSync(nodeKubeconfig()), within).toBe(true);
    expect(claimsOf(nodeToken())).toMatchObject({
      "kubernetes.io": { node: { name: "node" }, serviceaccount: { name: "plexus" } },
    });
    expect(await metric("plexus_node_credentials_expiry_timestamp_seconds")).toBeGreaterThan(Date.now() / 1000 + 3000);
    expect(await metric("plexus_node_credentials_renewals_total", { outcome: "renewed" })).toBe(1);
    await daemon?.stop();
    daemon = undefined;
    expect(await call("ADD", two, "one-shot")).toMatchObject({ status: 0 });
    expect(await api.statusOf("shop", "two")).toMatchObject([{ interface: "eth0" }, { name: "shop/storage" }]);
    for (const pod of [one, two]) expect(await call("DEL", pod, "one-shot")).toMatchObject({ status: 0 });
  });

  test("MO-22 the daemon's calls never use the file of one-shot engines", async () => {
    await start();
    await expect.poll(() => existsSync(nodeKubeconfig()), within).toBe(true);
    writeFileSync(nodeKubeconfig(), JSON.stringify({ "current-context": "evil" }));
    const pod = await podNamed("unled");
    expect(await call("ADD", pod, "daemon")).toMatchObject({ status: 0 });
    expect(await call("DEL", pod, "daemon")).toMatchObject({ status: 0 });
  });

  test("MO-22 a token that is rotated while the API is away is used once the API is back", async () => {
    await start();
    await expect.poll(() => existsSync(nodeKubeconfig()), within).toBe(true);
    const before = nodeToken();
    const fresh = await api.token();
    await api.stop();
    writeFileSync(join(serviceAccount(), "token"), fresh);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    expect(nodeToken()).toBe(before);
    await api.start();
    const pod = await podNamed("rotated");
    expect(await call("ADD", pod, "daemon")).toMatchObject({ status: 0 });
    expect(await call("DEL", pod, "daemon")).toMatchObject({ status: 0 });
    // The account may be another one of the same name, so the node's token is renewed, too.
    await expect.poll(nodeToken, { timeout: 90_000, interval: 500 }).not.toBe(before);
  });

  test("a problem of the configuration is an Event of the node", async () => {
    await start();
    writeFileSync(join(directoryOf("template"), "config.json"), '{"logLevle": "debug"}');
    const events = api.admin.list.bind(api.admin, "v1", "Event", "default");
    await expect
      .poll(async () => JSON.stringify((await events()).items), within)
      .toMatch(/"kind":"Node","name":"node".*TEMPLATE_INVALID: .*logLevle/);
  });

  /** Stops the daemon; whether the configuration stays. */
  async function staysAtStop(): Promise<boolean> {
    await daemon?.stop();
    daemon = undefined;
    return existsSync(written());
  }

  test("MO-26 the configuration stays when the DaemonSet remains", async () => {
    const started = await start();
    expect(await staysAtStop()).toBe(true);
    expect(started.stderr()).toContain("stays: the DaemonSet remains");
  });

  test("MO-26 the configuration goes with the DaemonSet, and the calls before are served", async () => {
    const started = await start();
    await remove({ ...apps, metadata: { name: "plexus", namespace } });
    const pod = await podNamed("last");
    const [added, stays] = await Promise.all([call("ADD", pod, "daemon"), staysAtStop()]);
    expect([added.status, stays]).toEqual([0, false]);
    expect(started.stderr()).toContain("the DaemonSet is gone");
  });

  test("MO-26 the configuration goes while the DaemonSet is being deleted in the foreground", async () => {
    await start();
    await remove({ ...apps, metadata: { name: "plexus", namespace } }, "Foreground");
    expect(await staysAtStop()).toBe(false);
    // No garbage collector runs here, so the finalizer stays.
    const gone = { ...apps, metadata: { name: "plexus", namespace, finalizers: null } };
    await api.admin.patch(gone as never, undefined, undefined, undefined, undefined, "application/merge-patch+json" as never);
  });

  test("MO-26 the configuration goes when a DaemonSet of the same name is another one", async () => {
    await start();
    await expect
      .poll(() => api.audit().filter(({ verb, resource }) => verb === "get" && resource === "daemonsets").length, within)
      .toBeGreaterThan(0);
    await remove({ ...apps, metadata: { name: "plexus", namespace } });
    await makeDaemonSet();
    expect(await staysAtStop()).toBe(false);
  });

  test("MO-26 the configuration goes with the rights or with the account", async () => {
    await start();
    await deny();
    expect(await staysAtStop()).toBe(false);
    await allow();
    const started = await start();
    writeFileSync(join(serviceAccount(), "token"), "revoked");
    expect(await staysAtStop()).toBe(false);
    expect(started.stderr()).toContain("HTTP 401");
  });

  test("MO-26 the configuration goes with the namespace, although the DaemonSet is still there", async () => {
    await api.namespace("leaving");
    await makeDaemonSet("leaving");
    await start({ POD_NAMESPACE: "leaving", DAEMONSET: "plexus" });
    await remove({ apiVersion: "v1", kind: "Namespace", metadata: { name: "leaving" } });
    expect(await staysAtStop()).toBe(false);
  });

  test("MO-26 the configuration goes when the DaemonSet no longer selects the node", async () => {
    await remove({ ...apps, metadata: { name: "plexus", namespace } });
    await makeDaemonSet(namespace, { nodeSelector: { "plexus/use": "yes" } });
    await start();
    expect(await staysAtStop()).toBe(false);
  });

  test("MO-26 the configuration goes when the DaemonSet's affinity no longer selects the node, and stays while it does", async () => {
    for (const [name, stays] of [
      ["node", true],
      ["other", false],
    ] as const) {
      await remove({ ...apps, metadata: { name: "plexus", namespace } });
      await makeDaemonSet(namespace, selectingNode(name));
      await start();
      expect(await staysAtStop()).toBe(stays);
    }
  });

  test("MO-26 a removal that was begun for a DaemonSet that is gone ends when the next one's daemon starts", async () => {
    await start();
    const begin = async (): Promise<string> => {
      await httpRequest(statusSocket(), "/removal?begin", "POST");
      return readFileSync(written(), "utf8");
    };
    await expect.poll(begin, within).toMatch(/"retirement": \{"daemonSet":"[^"]+\/1","held":false\}/);
    expect(await staysAtStop()).toBe(true);
    await start();
    expect(readFileSync(written(), "utf8")).toContain('"retired":true');
    await expect.poll(() => metric("plexus_cni_configuration_retired"), within).toBe(1);
    expect(await staysAtStop()).toBe(true);
    await remove({ ...apps, metadata: { name: "plexus", namespace } });
    await makeDaemonSet();
    const started = await start();
    await expect.poll(() => readFileSync(written(), "utf8"), within).not.toContain("retired");
    expect(started.stderr()).toContain("it was begun for another DaemonSet");
    expect(await metric("plexus_cni_configuration_retired")).toBe(0);
  });

  test("MO-26 the configuration stays while the API is away", async () => {
    const started = await start();
    await api.stop();
    // Connections open and never answer, so that a daemon that waits for the API does not end.
    const opened = new Set<Socket>();
    const silent = createServer((connection) => void opened.add(connection.on("error", () => undefined)));
    await new Promise<void>((resolve) => silent.listen(api.port, "0.0.0.0", resolve));
    try {
      expect(await staysAtStop()).toBe(true);
      expect(opened.size).toBeGreaterThan(0);
      expect(started.stderr()).toContain("stays: the Kubernetes API gave no answer");
    } finally {
      for (const connection of opened) connection.destroy();
      await new Promise((resolve) => silent.close(resolve));
      await api.start();
    }
  });

  test("the configuration is written although the API is away at the start", async () => {
    await api.stop();
    try {
      rmSync(written(), { force: true });
      await start();
      expect(existsSync(nodeKubeconfig())).toBe(false);
    } finally {
      await api.start();
    }
    await expect.poll(() => existsSync(nodeKubeconfig()), { timeout: 90_000, interval: 200 }).toBe(true);
  });
});
