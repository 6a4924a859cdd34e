// How plexusctl reaches a real API server: by a kubeconfig's credential plugin, and by the service account of a pod.

import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { KubernetesObject } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { ApiObject, ApiObjects } from "../../host/cluster/kube/api-objects.ts";
import type { CommandResult } from "../../host/node/command-line/command.ts";
import { runCommandLine } from "../../host/programs/plexusctl/run-command-line.ts";
import { apiAddress } from "../lab/kube/address.ts";
import { type ApiServer, plexusUser } from "../lab/kube/api-server.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { applyObjects, collectionOf, objectsOf, outcome } from "../lab/kube/apply.ts";
import { kubeApi } from "../lab/kube/binaries.ts";
import { poolObject, poolRequests } from "../lab/kube/pool-objects.ts";
import { dist, missingBuild } from "../lab/plexus.ts";
import { missing, privateNamespaces } from "../lab/requires.ts";

const apiVersion = "client.authentication.k8s.io/v1";
const rbac = { apiVersion: "rbac.authorization.k8s.io/v1", metadata: { name: "plexus-pools-administrator" } };
/** The rights of docs/how-to/addresses-across-nodes.md for `pools show` and `pools import`. */
const rules = [
  { apiGroups: ["plexus.dev"], resources: ["addresspools"], verbs: ["get", "list", "patch"] },
  { apiGroups: ["plexus.dev"], resources: ["addressblocks", "addressreservations"], verbs: ["list"] },
  { apiGroups: ["whereabouts.cni.cncf.io"], resources: ["ippools", "overlappingrangeipreservations"], verbs: ["list"] },
  { apiGroups: ["whereabouts.cni.cncf.io"], resources: ["ippools"], verbs: ["patch"] },
];
const finalizerRule = {
  apiGroups: ["plexus.dev"],
  resources: ["podnetworks", "podnetworkattachments", "externalports"],
  verbs: ["list"],
};
/** Runs a program as in a pod whose service account has the token $TOKEN. */
const inPod = `mount -t tmpfs none /var/run
account=/var/run/secrets/kubernetes.io/serviceaccount
mkdir -p $account
printf %s "$TOKEN" > $account/token
printf %s "$AUTHORITY" > $account/ca.crt
exec "$@"`;

function show(kubeconfig: string): Promise<CommandResult> {
  return runCommandLine(["pools", "show", "--kubeconfig", kubeconfig], false);
}

const skip = missing("plexusctl's access to the API", privateNamespaces, kubeApi, () => missingBuild());
describe.skipIf(skip)("plexusctl's access to the API", () => {
  let api: ApiServer;
  let objects: ApiObjects;
  let users = 0;

  const create = async (object: KubernetesObject & ApiObject): Promise<void> => {
    const made = await objects.create(collectionOf(object), object);
    if (made.kind !== "object") throw new Error(`${object.kind}: ${JSON.stringify(made)}`);
  };

  beforeAll(async () => {
    const listed = [...(rules[2]?.resources ?? []), ...finalizerRule.resources].map((each) => `list ${each}`);
    const rights = ["create clusterroles", "create clusterrolebindings"];
    api = await sharedApiServer({ alsoAllowed: [...poolRequests, ...listed, ...rights] });
    objects = objectsOf(api.adminKubeconfig);
    await applyObjects(objects, "deploy/helm/plexus/files/pools.yaml");
    const subjects = [{ kind: "ServiceAccount", name: "plexus", namespace: "kube-system" }];
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: rbac.metadata.name };
    const created: readonly (KubernetesObject & ApiObject)[] = [
      { ...rbac, kind: "ClusterRole", rules: [...rules, finalizerRule] },
      { ...rbac, kind: "ClusterRoleBinding", roleRef, subjects },
      poolObject("storage", [{ subnet: "10.50.0.0/16" }]),
    ];
    for (const object of created) await vi.waitFor(() => create(object), { timeout: 60_000, interval: 100 });
    await api.network("shop", "storage", [{ type: "bridge", bridge: "br0" }]);
  });
  afterAll(async () => {
    objects?.close();
    await api?.dispose();
  });

  /** A kubeconfig whose user has a credential plugin: a shell script beside the kubeconfig. */
  function pluginKubeconfig(script: string, exec: object = {}): string {
    users += 1;
    writeFileSync(join(api.directory, `login-${users}`), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const entry = { apiVersion, command: `./login-${users}`, interactiveMode: "IfAvailable", ...exec };
    return api.kubeconfig(`person-${users}`, [], { user: { exec: entry } });
  }
  const print = (status: object): string => {
    const path = join(api.directory, `output-${users + 1}`);
    writeFileSync(path, JSON.stringify({ apiVersion, kind: "ExecCredential", status }));
    return `cat ${path}`;
  };
  const requestsOf = (user: string): number => api.audit(user).filter(({ agent }) => agent === "plexus").length;

  test("each command with --kubeconfig has the rights of a plugin's token, and runs the plugin once", async () => {
    const runs = join(api.directory, "runs");
    const token = await api.token();
    const kubeconfig = pluginKubeconfig(`echo "$1" >> ${runs}\n${print({ token })}`, { args: ["get-token"] });
    const multus = join(api.directory, "00-multus.conf");
    writeFileSync(multus, JSON.stringify({ type: "multus-shim", name: "multus-cni-network" }));
    const commands: Readonly<Record<string, RegExp>> = {
      "pools show": /^storage /m,
      "pools import storage": /^0 addresses of whereabouts can be imported/m,
      "finalizers release": /^AddressPool +storage/m,
      lint: /^1 networks: /m,
      [`migrate --check ${multus}`]: /^1 definitions and 0 pods/,
    };
    for (const [command, expected] of Object.entries(commands)) {
      const before = requestsOf(plexusUser);
      const { stdout, stderr } = await runCommandLine([...command.split(" "), "--kubeconfig", kubeconfig], false);
      expect([command, stderr]).toEqual([command, undefined]);
      expect(stdout).toMatch(expected);
      expect(requestsOf(plexusUser)).toBeGreaterThan(before);
    }
    expect(readFileSync(runs, "utf8")).toBe("get-token\n".repeat(Object.keys(commands).length));
  });

  test("a plugin's client certificate is the user", async () => {
    const { certificate, key } = api.authority.issue("eve", { commonName: "eve", groups: ["system:masters"] });
    const [clientCertificateData, clientKeyData] = [certificate, key].map((path) => readFileSync(path, "utf8"));
    const { stdout } = await show(pluginKubeconfig(print({ clientCertificateData, clientKeyData })));
    expect(stdout).toMatch(/^storage /m);
    expect(requestsOf("eve")).toBeGreaterThan(0);
  });

  test("KUBECONFIG may list files, of which absent ones are skipped; without it ~/.kube/config counts", async () => {
    const whole: Readonly<Record<string, unknown>> = JSON.parse(
      readFileSync(api.kubeconfig("lister", ["system:masters"]), "utf8"),
    );
    const home = join(api.directory, "home");
    const at = (name: string, content: object): string => {
      const path = join(home, ".kube", name);
      mkdirSync(join(home, ".kube"), { recursive: true });
      writeFileSync(path, JSON.stringify(content));
      return path;
    };
    const { users: entries, ...rest } = whole;
    const files = [at("access", { users: entries }), join(home, "absent"), at("cluster", { ...rest, users: [] })];
    vi.stubEnv("HOME", home);
    try {
      vi.stubEnv("KUBECONFIG", files.join(":"));
      expect(await runCommandLine(["pools", "show"], false)).toMatchObject({ stdout: expect.stringMatching(/^storage /m) });
      vi.stubEnv("KUBECONFIG", files.slice(0, 2).join(":"));
      expect(await runCommandLine(["pools", "show"], false)).toMatchObject({
        status: 1,
        stderr: expect.stringMatching(/^kubeconfig .*access: current-context is missing/),
      });
      vi.stubEnv("KUBECONFIG", "");
      at("config", whole);
      expect(await runCommandLine(["pools", "show"], false)).toMatchObject({ stdout: expect.stringMatching(/^storage /m) });
    } finally {
      vi.unstubAllEnvs();
    }
    expect(requestsOf("lister")).toBeGreaterThan(1);
  });

  test("a plugin that is missing, fails, or gives an invalid token ends the command with status 1 and the reason", async () => {
    const installHint = "See https://example.com/login";
    const missingPlugin = await show(pluginKubeconfig("", { command: "plexus-no-such-login", installHint }));
    expect(missingPlugin).toMatchObject({ status: 1, stderr: expect.stringMatching(/is not on PATH: See https:\/\/example/) });
    expect(await show(pluginKubeconfig("exit 7"))).toMatchObject({ status: 1, stderr: expect.stringContaining("status 7") });
    const refused = await show(pluginKubeconfig(print({ token: "wrong" })));
    expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining("HTTP 401") });
  });

  test("--in-cluster has the rights of the pod's service account", async () => {
    const environment = {
      ...process.env,
      KUBERNETES_SERVICE_HOST: apiAddress,
      KUBERNETES_SERVICE_PORT: String(api.port),
      KUBECONFIG: "/none",
      TOKEN: await api.token(),
      AUTHORITY: readFileSync(api.authority.certificate, "utf8"),
    };
    const plexusctl = (...args: readonly string[]): { readonly stdout: string; readonly stderr: string } => {
      const program = [process.execPath, join(dist, "plexusctl.cjs"), ...args, "--in-cluster"];
      return spawnSync("unshare", ["--mount", "sh", "-ec", inPod, "sh", ...program], { encoding: "utf8", env: environment });
    };
    const before = requestsOf(plexusUser);
    expect(plexusctl("pools", "show")).toMatchObject({ stderr: "", stdout: expect.stringMatching(/^storage /m) });
    const leases = join(api.directory, "leases");
    mkdirSync(join(leases, "storage"), { recursive: true });
    writeFileSync(join(leases, "storage", "10.50.0.77"), "c77\r\nnet1");
    const imported = plexusctl("pools", "import", "storage", "--host-local", leases, "--source", "host-local-n1", "--write");
    expect(imported).toMatchObject({ stderr: "", stdout: expect.stringContaining("excludes 1 addresses") });
    expect(plexusctl("finalizers", "release")).toMatchObject({ stdout: expect.stringMatching(/^AddressPool +storage/m) });
    expect(requestsOf(plexusUser)).toBeGreaterThan(before + 2);
    const pool = outcome(await objects.get("/apis/plexus.dev/v1alpha1/addresspools/storage"));
    expect(pool).toMatchObject({ spec: { exclude: ["10.50.0.77"] } });
  });
});
