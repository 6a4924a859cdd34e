// The chart's objects on a real API server: accepted as they are, rights that are exactly these, and admission policies that hold a node's
// token to its own node.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AppsV1Api, AuthorizationV1Api, CoreV1Api, type V1SelfSubjectRulesReview } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { derived } from "../../scripts/manifests.ts";
import { ApiObjects, type ObjectAnswer, objectSockets } from "../../host/cluster/kube/api-objects.ts";
import { addressBlockObject, addressBlocksPath } from "../../features/pools/rules/address-block.ts";
import { addressReservationObject, addressReservationsPath } from "../../features/pools/rules/address-reservation.ts";
import { ok } from "../../src/fault/result.ts";
import { root } from "../lab/compiled.ts";
import { objectsOf as objectsOfApi } from "../lab/kube/apply.ts";
import { adminClient, type AdminClient } from "../lab/kube/admin.ts";
import type { ApiServer } from "../lab/kube/api-server.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { kubeApi } from "../lab/kube/binaries.ts";
import { clientConfig, tokenConfig } from "../lab/kube/client-config.ts";
import { helm } from "../lab/kube/helm.ts";
import { poolRequests } from "../lab/kube/pool-objects.ts";
import { missing, privateNamespaces } from "../lab/requires.ts";
import { applyAll } from "../lab/kube/apply-chart.ts";
import { chart, type Manifest, objectsOf, runHelm, theOnly } from "../lab/kube/chart.ts";
import { systemClock } from "../../host/system/clock.ts";
import { Connection } from "../../host/cluster/kube/connection.ts";

/** Another name and namespace than those of deploy/rbac.yaml, which the API server of the tests has. */
const release = "px";
const namespace = "network";

/** The objects of the release. */
const rendered = (...args: readonly string[]): readonly Manifest[] => {
  const { status, stdout, stderr } = runHelm("template", release, chart, "--namespace", namespace, ...args);
  if (status !== 0) throw new Error(stderr);
  return objectsOf(stdout);
};

/** The API server's refusal of a request. */
interface Refused {
  readonly code: number;
  readonly message: string;
}

const refusal = (error: unknown): Refused => {
  const { code = 0, body = "" } = error as { code?: number; body?: string };
  return { code, message: body };
};

/** A JSON patch that writes the network status. */
const statusPatch = (value: string): readonly object[] => [
  { op: "add", path: "/metadata/annotations/k8s.v1.cni.cncf.io~1network-status", value },
];

const outputOf = async (child: ChildProcess): Promise<string> => {
  let text = "";
  child.stdout?.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const [status] = await once(child, "close");
  return `${text}status ${status}`;
};

describe.skipIf(missing("the chart on a Kubernetes API", privateNamespaces, kubeApi, helm))(
  "the chart on a Kubernetes API",
  () => {
    let api: ApiServer;
    let admin: AdminClient;
    let apps: AppsV1Api;
    const apply = (objects: readonly Manifest[], dryRun = false) => applyAll(api.adminKubeconfig, objects, { dryRun });
    const require = async (objects: readonly Manifest[]): Promise<void> => {
      const refusals = await apply(objects);
      if (refusals.length > 0) throw new Error(refusals.join("\n"));
    };

    /** The clients of a service account's token. */
    function clientsOf(token: string) {
      const config = tokenConfig(api.url, api.authority.certificate, token);
      return {
        core: config.makeApiClient(CoreV1Api),
        authorization: config.makeApiClient(AuthorizationV1Api),
      };
    }
    type Clients = ReturnType<typeof clientsOf>;
    interface Bound {
      readonly kind: "Pod" | "Node";
      readonly name: string;
      readonly uid?: string;
    }
    const request = async (core: CoreV1Api, bound?: Bound, seconds = 3600, account = release): Promise<string> => {
      const boundObjectRef = bound === undefined ? {} : { boundObjectRef: { apiVersion: "v1", ...bound } };
      const body = { spec: { audiences: ["https://kubernetes.default.svc"], expirationSeconds: seconds, ...boundObjectRef } };
      const made = await core.createNamespacedServiceAccountToken({ namespace, name: account, body });
      return made.status?.token ?? "";
    };

    const pods = new Map<string, string>();
    const createPod = async (space: string, name: string, nodeName: string, serviceAccountName: string): Promise<void> => {
      const spec = {
        nodeName,
        serviceAccountName,
        automountServiceAccountToken: false,
        containers: [{ name: "main", image: "none" }],
      };
      const annotations = { "example.com/kept": "yes" };
      const body = { metadata: { name, namespace: space, annotations, labels: { app: name } }, spec };
      const made = await admin.core.createNamespacedPod({ namespace: space, body });
      pods.set(`${space}/${name}`, made.metadata?.uid ?? "");
    };

    /** As the daemon of the node: with a token that is bound to the DaemonSet's pod there. */
    let onA: Clients;
    beforeAll(async () => {
      api = await sharedApiServer({ alsoAllowed: [...poolRequests, "create ipamclaims", "patch ipamclaims/status"] });
      admin = adminClient(api.adminKubeconfig);
      apps = clientConfig(api.adminKubeconfig).makeApiClient(AppsV1Api);
      for (const name of [namespace, "shop"]) await api.namespace(name);
      for (const name of ["node-a", "node-b"]) await admin.core.createNode({ body: { metadata: { name } } });
      await require(rendered("--no-hooks"));
      for (const [space, name, node, account] of [
        [namespace, "daemon-a", "node-a", release],
        ["shop", "web-a", "node-a", "default"],
        ["shop", "web-b", "node-b", "default"],
      ] as const)
        await createPod(space, name, node, account);
      onA = clientsOf(await request(admin.core, { kind: "Pod", name: "daemon-a", uid: pods.get(`${namespace}/daemon-a`) ?? "" }));
      // A new policy takes a moment until the server follows it.
      const holds = async (): Promise<boolean> => {
        // A patch that changes nothing would be allowed.
        const answer = await patch(onA, "web-a", [{ op: "add", path: "/metadata/labels/early", value: `${Date.now()}` }]);
        return answer !== "done" && answer.message.includes("may not change labels");
      };
      await vi.waitUntil(holds, { timeout: 60_000, interval: 200 });
    });
    afterAll(() => api?.dispose());

    const patch = async ({ core }: Pick<Clients, "core">, name: string, body: readonly object[]): Promise<Refused | "done"> => {
      try {
        await core.patchNamespacedPodStatus({ namespace: "shop", name, body });
        return "done";
      } catch (error) {
        return refusal(error);
      }
    };
    describe("the objects", () => {
      test.each([
        ["the defaults", []],
        ["hooks before a removal", ["--show-only", "templates/uninstall.yaml"]],
        ["hooks after an installation", ["--show-only", "templates/ready.yaml"]],
        ["hooks after a removal", ["--set", "networks.enabled=true", "--show-only", "templates/finalizers.yaml"]],
        ["oneShot: off", ["--set", "oneShot=off"]],
        [
          "components with a Secret",
          ["--set", "components[0].type=c,components[0].reference=r.example/c@sha256:1,componentsPullSecret=r"],
        ],
        [
          "metrics on the node's address",
          ["--set", "metrics.address=node,metrics.dashboard.enabled=true,daemon.otlp=http://c:4318"],
        ],
        ["pools of addresses", ["--set", "pools.enabled=true"]],
        ["PodNetworks", ["--set", "networks.enabled=true"]],
        ["external ports", ["--set", "externalPorts.enabled=true", "--set", "externalPorts.secretName=openstack"]],
        ["Open vSwitch", ["--set", "externalPorts.ovs.socket=/run/openvswitch/db.sock"]],
        [
          "external ports in Kuryr's form",
          ["--set", "externalPorts.enabled=true,externalPorts.kuryr.annotation=true,externalPorts.kuryr.kuryrPorts=true"],
        ],
        ["K3s", ["--values", join(chart, "values-k3s.yaml")]],
        ["MicroK8s", ["--values", join(chart, "values-microk8s.yaml")]],
      ])("are accepted with strict validation: %s", async (_, args) => {
        expect(await apply(rendered(...args), true)).toEqual([]);
      });

      test("of deploy/plexus.yaml and the example are accepted, again and again", async () => {
        for (const file of [derived.manifest, derived.manifest, join(root, "deploy", "example.yaml")])
          expect(await apply(objectsOf(readFileSync(file, "utf8")))).toEqual([]);
      });

      test("have no field that strict validation refuses, because it refuses an unknown one", async () => {
        const wrong = objectsOf(
          JSON.stringify(theOnly(rendered("--no-hooks"), "DaemonSet")).replace("hostNetwork", "hostNetwrk"),
        );
        expect(await apply(wrong, true)).toEqual([expect.stringContaining("hostNetwrk")]);
      });
    });

    test("MO-27 RBAC gives the service account exactly these rights", async () => {
      const reviewed = await onA.authorization.createSelfSubjectRulesReview({ body: { spec: { namespace } } });
      expect(rulesIn(reviewed)).toEqual(
        [
          "get list watch: k8s.cni.cncf.io/network-attachment-definitions",
          "get list watch: /pods",
          "patch: /pods/status",
          "create: /events",
          "get: /nodes",
          `get: apps/daemonsets ${release}`,
          `get: /namespaces ${namespace}`,
          `create: /serviceaccounts/token ${release}`,
        ].toSorted(),
      );
      const elsewhere = await onA.authorization.createSelfSubjectRulesReview({ body: { spec: { namespace: "shop" } } });
      expect(rulesIn(elsewhere).join("\n")).not.toMatch(/daemonsets|serviceaccounts/u);
    });

    describe("MO-22 the admission policy lets a token that is bound to a pod on node-a", () => {
      test("write the network status of a pod on node-a, again and again", async () => {
        expect(await patch(onA, "web-a", statusPatch("[]"))).toBe("done");
        expect(await patch(onA, "web-a", statusPatch('[{"name":"x"}]'))).toBe("done");
        expect(
          await patch(onA, "web-a", [{ op: "remove", path: "/metadata/annotations/k8s.v1.cni.cncf.io~1network-status" }]),
        ).toBe("done");
      });

      test("but not of a pod on node-b", async () => {
        expect(await patch(onA, "web-b", statusPatch("[]"))).toMatchObject({
          code: 403,
          message: expect.stringMatching(/own node only.*node-a.*node-b/u),
        });
      });

      test.each([
        ["another annotation", [{ op: "add", path: "/metadata/annotations/example.com~1x", value: "1" }], "network-status only"],
        [
          "another annotation's value",
          [{ op: "replace", path: "/metadata/annotations/example.com~1kept", value: "no" }],
          "network-status only",
        ],
        [
          "another annotation's removal",
          [{ op: "remove", path: "/metadata/annotations/example.com~1kept" }],
          "network-status only",
        ],
        ["a label", [{ op: "add", path: "/metadata/labels/x", value: "1" }], "labels"],
        ["a finalizer", [{ op: "add", path: "/metadata/finalizers", value: ["example.com/x"] }], "finalizers"],
        ["the phase", [{ op: "add", path: "/status/phase", value: "Succeeded" }], "may not change the status"],
        ["the pod's address", [{ op: "add", path: "/status/podIPs", value: [{ ip: "10.0.0.1" }] }], "may not change the status"],
        [
          "a condition",
          [{ op: "add", path: "/status/conditions", value: [{ type: "Ready", status: "True" }] }],
          "may not change the status",
        ],
        [
          "the status and a label together",
          [...statusPatch("[]"), { op: "add", path: "/metadata/labels/x", value: "1" }],
          "labels",
        ],
      ])("nor %s", async (_, body, why) => {
        expect(await patch(onA, "web-a", body)).toMatchObject({ code: 403, message: expect.stringContaining(why) });
      });

      test("nor the spec, which a patch of the status leaves as it was", async () => {
        await patch(onA, "web-a", [{ op: "replace", path: "/spec/containers/0/image", value: "evil" }]);
        const { spec } = await admin.core.readNamespacedPod({ namespace: "shop", name: "web-a" });
        expect(spec?.containers[0]?.image).toBe("none");
      });

      test("and does not concern other users", async () => {
        expect(await patch(admin, "web-a", [{ op: "add", path: "/metadata/labels/x", value: "1" }])).toBe("done");
      });

      test("a token without a node may change nothing", async () => {
        const unbound = clientsOf(await request(admin.core));
        expect(await patch(unbound, "web-a", statusPatch("[]"))).toMatchObject({
          code: 403,
          message: expect.stringContaining("own node only"),
        });
      });
    });

    describe("MO-22 tokens for one-shot engines", () => {
      const refused = (bound?: Bound, seconds?: number, account?: string): Promise<Refused | string> =>
        request(onA.core, bound, seconds, account).catch(refusal);

      test("are bound to the own node, and may do there what the daemon may", async () => {
        const onNode = clientsOf(await request(onA.core, { kind: "Node", name: "node-a" }, 86_400));
        expect(await patch(onNode, "web-a", statusPatch("[]"))).toBe("done");
        expect(await patch(onNode, "web-b", statusPatch("[]"))).toMatchObject({
          code: 403,
          message: expect.stringContaining("own node only"),
        });
        expect(await patch(onNode, "web-a", [{ op: "add", path: "/metadata/labels/x", value: "2" }])).toMatchObject({
          code: 403,
        });
        // A stolen token ends after a day.
        expect(await request(onNode.core, { kind: "Node", name: "node-a" }).catch(refusal)).toMatchObject({
          code: 403,
          message: expect.stringContaining("bound to a pod"),
        });
      });

      test.each<[string, Bound | undefined, number | undefined, string]>([
        ["another node", { kind: "Node", name: "node-b" }, undefined, "own node only"],
        ["a pod", { kind: "Pod", name: "daemon-a" }, undefined, "own node only"],
        ["nothing", undefined, undefined, "own node only"],
        ["the own node for two days", { kind: "Node", name: "node-a" }, 172_800, "at most a day"],
      ])("are not bound to %s", async (_, bound, seconds, why) => {
        expect(await refused(bound, seconds)).toMatchObject({ code: 403, message: expect.stringContaining(why) });
      });

      test("are not of another service account", async () => {
        expect(await refused({ kind: "Node", name: "node-a" }, 3600, "default")).toMatchObject({ code: 403 });
      });

      test("end with the Node object", async () => {
        await admin.core.createNode({ body: { metadata: { name: "node-c" } } });
        await createPod(namespace, "daemon-c", "node-c", release);
        await createPod("shop", "web-c", "node-c", "default");
        const onC = clientsOf(await request(admin.core, { kind: "Pod", name: "daemon-c" }));
        const onNode = clientsOf(await request(onC.core, { kind: "Node", name: "node-c" }));
        expect(await patch(onNode, "web-c", statusPatch("[]"))).toBe("done");
        await admin.core.deleteNode({ name: "node-c" });
        await expect.poll(() => patch(onNode, "web-c", statusPatch("[]"))).toMatchObject({ code: 401 });
      });
    });

    describe("the hook before an uninstallation", () => {
      const name = `${release}-uninstall`;
      const daemonSet = { namespace, name };
      /** Runs the script of the hook's Job with the rights of its service account. */
      const wait = (seconds: number, token: string, lateStatus = "0", replaces = "true"): ChildProcess => {
        const tokenFile = join(api.directory, "uninstall-token");
        writeFileSync(tokenFile, token);
        const { hostname, port } = new URL(api.url);
        const env = {
          NAMESPACE: namespace,
          DAEMONSET: name,
          SECONDS: String(seconds),
          OTHERS: "; the others wait",
          LATE: "",
          LATE_STATUS: lateStatus,
          REPLACES: replaces,
          TOKEN_FILE: tokenFile,
          KUBERNETES_SERVICE_HOST: hostname,
          KUBERNETES_SERVICE_PORT: port,
          NODE_EXTRA_CA_CERTS: api.authority.certificate,
        };
        return spawn(
          process.execPath,
          ["--input-type=module", "--eval", readFileSync(join(chart, "files", "wait-for-nodes.mjs"), "utf8")],
          {
            env,
            stdio: ["ignore", "pipe", "inherit"],
          },
        );
      };
      const report = async (
        desiredNumberScheduled: number,
        numberReady: number,
        updatedNumberScheduled = desiredNumberScheduled,
      ): Promise<void> => {
        const { metadata } = await apps.readNamespacedDaemonSet(daemonSet);
        const status = {
          observedGeneration: metadata?.generation,
          desiredNumberScheduled,
          numberReady,
          updatedNumberScheduled,
        };
        const body = [{ op: "replace", path: "/status", value: { currentNumberScheduled: 0, numberMisscheduled: 0, ...status } }];
        await apps.patchNamespacedDaemonSetStatus({ ...daemonSet, body });
      };
      let token = "";
      beforeAll(async () => {
        await require(rendered("--show-only", "templates/uninstall.yaml"));
        token = await request(admin.core, undefined, 3600, name);
      });

      test("waits for each node's pod", async () => {
        await report(3, 2);
        const child = wait(170, token);
        const output = outputOf(child);
        await once(child.stdout ?? child, "data");
        await new Promise((resolve) => setTimeout(resolve, 1500));
        expect(child.exitCode).toBeNull();
        await report(3, 3);
        expect(await output).toMatch(/^2 of 3 nodes are done.*\n3 of 3 nodes are done.*\nstatus 0$/u);
      });

      test("waits for pods of the current generation, unless the administrator replaces them (OnDelete)", async () => {
        await report(3, 3, 0);
        expect(await outputOf(wait(2, token, "1"))).toMatch(/0 of 3 nodes are done.*\nthe time is over\nstatus 1$/u);
        expect(await outputOf(wait(170, token, "1", "false"))).toMatch(/^3 of 3 nodes are done.*\nstatus 0$/u);
      });

      test("ends with its time, and does not fail", async () => {
        await report(3, 2);
        expect(await outputOf(wait(2, token))).toMatch(/the time is over\nstatus 0$/u);
        expect(await outputOf(wait(2, "wrong", "1"))).toMatch(/HTTP 401\nthe time is over\nstatus 1$/u);
      });

      test("may read its own DaemonSet, and nothing else", async () => {
        const { authorization } = clientsOf(token);
        const reviewed = await authorization.createSelfSubjectRulesReview({ body: { spec: { namespace } } });
        expect(rulesIn(reviewed)).toEqual([`get: apps/daemonsets ${name}`]);
      });
    });

    test("a daemon claims and gives back blocks of its own node only, and changes holders of its own node only", async () => {
      await require(
        rendered("--no-hooks", "--set", "pools.enabled=true").filter(({ metadata }) =>
          /pool|block|reservation|claim/u.test(metadata.name),
        ),
      );
      const bound = { kind: "Pod", name: "daemon-a", uid: pods.get(`${namespace}/daemon-a`) ?? "" } as const;
      const daemon = new ApiObjects({
        connection: new Connection(systemClock, objectSockets),
        credentials: async () =>
          ok({
            source: "test",
            server: api.url,
            authority: readFileSync(api.authority.certificate, "utf8"),
            serverName: undefined,
            insecure: false,
            certificate: undefined,
            token: await request(admin.core, bound),
          }),
      });
      const claimed = async (index: number, node: string): Promise<ObjectAnswer> => {
        const span = { family: 4, first: BigInt(0x0a_32_00_00 + index * 64), last: BigInt(0x0a_32_00_3f + index * 64) } as const;
        const claim = { pool: "storage", index, span, node, holder: "h", freeAfterSeconds: 60 };
        return daemon.create(addressBlocksPath, addressBlockObject(claim));
      };
      const foreign = expect.stringMatching(/own node only.*node-a.*node-b/u);
      // The API server compiles the policy some time after its creation.
      await vi.waitFor(async () => expect(await claimed(0, "node-b")).toMatchObject({ kind: "refused", why: foreign }), {
        timeout: 60_000,
        interval: 250,
      });
      expect(await claimed(1, "node-a")).toMatchObject({ kind: "object" });
      const path = `${addressBlocksPath}/storage-1`;
      expect(await daemon.patch(`${path}/status`, { status: { orphanedSince: null } })).toMatchObject({ kind: "refused" });
      expect(await daemon.patch(path, { metadata: { labels: { x: "1" } } })).toMatchObject({ kind: "refused" });
      const all = objectsOfApi(api.adminKubeconfig);
      const span = { family: 4, first: 0x0a_32_01_00n, last: 0x0a_32_01_3fn } as const;
      const other = { pool: "storage", index: 4, span, node: "node-b", holder: "h", freeAfterSeconds: 60 };
      expect(await all.create(addressBlocksPath, addressBlockObject(other))).toMatchObject({ kind: "object" });
      expect(await daemon.remove(`${addressBlocksPath}/storage-4`)).toMatchObject({ kind: "refused", why: foreign });
      expect(await daemon.remove(path)).toMatchObject({ kind: "object" });

      const owner = { namespace: "shop", name: "vm", uid: "u", pod: undefined, ifname: "net1" };
      const reserve = (kind: "Pod" | "IPAMClaim", last: number, node: string): Promise<ObjectAnswer> => {
        const address = { family: 4, value: BigInt(0x0a_32_ff_00 + last) } as const;
        const held = [{ node, pod: "web", podUid: "u", containerId: "c", instance: undefined }];
        const claim = { pool: "storage", address, owner: { kind, ...owner } };
        return daemon.create(addressReservationsPath, addressReservationObject(claim, held));
      };
      const foreignHolder = expect.stringContaining("holders of the token's own node only");
      expect(await reserve("Pod", 1, "node-b")).toMatchObject({ kind: "refused", why: foreignHolder });
      for (const [kind, last] of [
        ["Pod", 2],
        ["IPAMClaim", 3],
      ] as const)
        expect(await reserve(kind, last, "node-a")).toMatchObject({ kind: "object" });
      const stranger = { node: "node-b", pod: "x", podUid: "v", containerId: "d" };
      const added = [{ op: "add", path: "/spec/holders/-", value: stranger }];
      expect(await daemon.patch(reservationPath(3), added, "json")).toMatchObject({ kind: "refused" });
      expect(await daemon.patch(reservationPath(3), { spec: { holders: [] } })).toMatchObject({ kind: "object" });
      expect(await daemon.remove(reservationPath(3))).toMatchObject({
        kind: "refused",
        why: expect.stringContaining("delete reservations of pods only"),
      });
      expect(await daemon.patch(reservationPath(2), { metadata: { finalizers: ["example.com/x"] } })).toMatchObject({
        kind: "refused",
        why: expect.stringContaining("the holders of a reservation only"),
      });
      expect(await daemon.remove(reservationPath(2))).toMatchObject({ kind: "object" });

      // FI-02: of an IPAMClaim only the addresses.
      // Newer definitions of the kind have further members in the status.
      const definition = readFileSync(join(root, "deploy", "crd-ipamclaims.yaml"), "utf8");
      const preserving = "              x-kubernetes-preserve-unknown-fields: true\n";
      await require(objectsOf(definition.replace("              required: [ips]\n", preserving)));
      const claims = "/apis/k8s.cni.cncf.io/v1alpha1/namespaces/shop/ipamclaims";
      const metadata = { name: "vm", namespace: "shop" };
      const vm = {
        apiVersion: "k8s.cni.cncf.io/v1alpha1",
        kind: "IPAMClaim",
        metadata,
        spec: { network: "n", interface: "net1" },
      };
      await vi.waitFor(async () => expect(await all.create(claims, vm)).toMatchObject({ kind: "object" }), {
        timeout: 60_000,
        interval: 250,
      });
      const ips = ["10.50.255.3"];
      await vi.waitFor(
        async () =>
          expect(await daemon.patch(`${claims}/vm/status`, { status: { ips, conditions: [{ type: "x" }] } })).toMatchObject({
            kind: "refused",
            why: expect.stringContaining("status.ips of IPAMClaims only"),
          }),
        { timeout: 60_000, interval: 250 },
      );
      expect(await daemon.patch(`${claims}/vm/status`, { status: { ips } })).toMatchObject({ kind: "object" });
      daemon.close();
      all.close();
    });

    test("helm's own validation against the server's schema accepts the chart", () => {
      const args = ["install", "validated", chart, "--namespace", "validated", "--create-namespace", "--dry-run=server"];
      const installed = runHelm(...args, "--kubeconfig", api.adminKubeconfig);
      expect(installed).toMatchObject({ status: 0, stdout: expect.stringContaining("Plexus 0.1.0 is installed") });
    });
  },
);

/** The rules of a review without those that every user has, as `verbs: group/resource names`. */
function rulesIn({ status }: V1SelfSubjectRulesReview): readonly string[] {
  return (status?.resourceRules ?? [])
    .map(({ apiGroups = [], resources = [], resourceNames = [], verbs }) => {
      const what = [...resources.map((each) => `${apiGroups.join("")}/${each}`), ...resourceNames];
      return `${verbs.toSorted().join(" ")}: ${what.join(" ")}`;
    })
    .filter((rule) => !/self/u.test(rule))
    .toSorted();
}

/** The path of the reservation of 10.50.255.`last` in the pool `storage`. */
function reservationPath(last: number): string {
  return `${addressReservationsPath}/storage.10.50.255.${last}`;
}
