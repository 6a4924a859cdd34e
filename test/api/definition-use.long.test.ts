// The verb "use" on NetworkAttachmentDefinitions at admission: a real API server reads selections without a JSON parser, whatever their spelling.

import type { KubernetesObject } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { ApiObject, ApiObjects } from "../../host/cluster/kube/api-objects.ts";
import { compat, strict } from "../../src/npwg/profile.ts";
import { parseSelection } from "../../src/npwg/selection.ts";
import type { ApiServer } from "../lab/kube/api-server.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { applyObjects, collectionOf, objectsOf, outcome } from "../lab/kube/apply.ts";
import { kubeApi } from "../lab/kube/binaries.ts";
import { networkObjects } from "../lab/kube/network-objects.ts";
import { networkRequests } from "../lab/kube/network-requests.ts";
import { missing, privateNamespaces } from "../lab/requires.ts";

const selection = "k8s.v1.cni.cncf.io/networks";
const otherDefault = "v1.multus-cni.io/default-network";
const json = (...elements: readonly object[]): string => JSON.stringify(elements);
const rbac = "rbac.authorization.k8s.io";

/** Spellings of texts that select `secret`, for which the pods' service account lacks the right, or that hide what they select. */
const hostile: readonly string[] = [
  "secret",
  " secret ",
  "storage,secret",
  "storage , shop/secret@eth1",
  "other/storage",
  "storage\n,\tsecret",
  json({ name: "secret" }),
  json({ name: "storage" }, { name: "secret", interface: "a" }),
  json({ name: "storage", namespace: "other" }),
  json({ namespace: "other", "cni-args": { a: [{ b: "]},{" }] }, name: "storage" }),
  '[{"name":"storage"},{"\\u006eame":"secret"}]',
  '[{"name":"\\u0073ecret"}]',
  '[{"name":"storage","namespac\\u0065":"other"}]',
  '[{"name":"storage","name":"secret"}]',
  '[{"name":"secret","name":"storage"}]',
  '[{"Name":"secret","name":"storage"}]',
  '[{"name":"storage","Namespace":"other"}]',
  '[{"name":"storage","name\u017fpace":"other"}]',
  '[{"name":"storage","namespace":"shop","namespace":"other"}]',
  '[{"name" : "secret"}]',
  '[{"name"\n:\t"secret"}]',
  '[{"interface":"\\"name\\":\\"storage\\"","name":"secret"}]',
  '[{"interface":"a","x.y/z":{"name":"storage"},"name":"secret"}]',
  '[{"x.y/z":"\\\\","name":"secret"}]',
  '[{"x.y/z":"\\\\\\"","name":"secret","a.b":"\\"name\\":\\"storage\\""}]',
  '[{"name":"storage"}, {"name":"secret"}]',
  '[{"name":"storage"},[{"name":"secret"}]]',
  '[[{"name":"secret"}]]',
  '{"name":"secret"}',
  '"secret"',
  '[{"name":["secret"]}]',
  '[{"name":"storage"}]]',
  '[{"name":"storage"}],[{"name":"secret"}]',
  '[{"name":"storage"}',
  '[{"name":null}]',
  '[{"namespace":"shop"}]',
  '[{"name":""}]',
  '[{"name":"storage","namespace":null}]',
  '\u00a0[{"name":"secret"}]',
  '\ufeff[{"name":"secret"}]',
  "\ufeffsecret",
  "storage\u00a0,secret",
  "storage\u2028secret",
  "storage@eth1@eth2",
  "a/b/c",
  "SECRET",
  "storage;secret",
  ",storage",
  "storage,",
  "[storage]",
  json({ name: "storage", "cni-args": { a: [[[[[[1]]]]]] } }),
  json({ name: "storage", "cni-args": { namespace: "other" } }),
  "[".repeat(8000),
  '"'.repeat(8000),
  `[${"\\".repeat(8000)}`,
  `[{"name":"storage","a.b":[${"1,".repeat(900)}1]},{"name":"secret"}]`,
  `${"a,".repeat(4000)}a`,
  "storage,".repeat(20) + "storage",
  "storage".padEnd(8193) + ",secret",
];

/** Whether Plexus would read a network from the text that the pods' service account may not use. */
function selectsForbidden(text: string): boolean {
  return [compat, strict].some((profile) => {
    const read = parseSelection(text, "shop", profile);
    return read.ok && read.value.networks.some(({ namespace, name }) => namespace !== "shop" || name !== "storage");
  });
}

/** Texts that select `storage` of the namespace shop only, or nothing. */
const canonical: readonly string[] = [
  "",
  "  ",
  "[]",
  "storage",
  " storage@eth1 , shop/storage ",
  json({ name: "storage" }),
  '[ { "name" : "storage", "namespace" : "shop" } ,\n\t{"interface":"a","namespace":"","name":"storage"} ]',
  json({
    name: "storage",
    ips: ["10.1.1.11/24", "fd00::1"],
    mac: "02:23:45:67:89:01",
    portMappings: [
      { hostPort: 8080, containerPort: 80, protocol: "tcp" },
      { hostPort: 1, containerPort: 1 },
    ],
    bandwidth: { ingressRate: 1e3, ingressBurst: 1600 },
    "cni-args": { "a.b": { c: [{ d: [true, null, -1.5] }], 'é\n"\\': "Ünïcode: [{}]," } },
    "k8s.cni.cncf.io/x": ["name", "namespace"],
  }),
  Array.from({ length: 20 }, () => "storage").join(","),
];

describe.skipIf(missing("the verb use on definitions", privateNamespaces, kubeApi))(
  "an API server with the policy definition-use",
  () => {
    let api: ApiServer;
    let objects: ApiObjects;
    const { pod } = networkObjects;
    const named = (name: string, annotations: object): ApiObject & KubernetesObject => {
      const plain = pod(name, undefined);
      return { ...plain, metadata: { ...plain.metadata, annotations: annotations as Record<string, string> } };
    };
    const create = async (object: ApiObject & KubernetesObject, query = ""): Promise<ApiObject | string> =>
      outcome(await objects.create(`${collectionOf(object)}${query}`, object));
    const tryPod = (text: string, key = selection): Promise<ApiObject | string> =>
      create(named("tried", { [key]: text }), "?dryRun=All");

    beforeAll(async () => {
      api = await sharedApiServer({ alsoAllowed: [...networkRequests, "create roles", "create rolebindings"] });
      objects = objectsOf(api.adminKubeconfig);
      await applyObjects(objects, "deploy/helm/plexus/files/networks.yaml", "CustomResourceDefinition");
      await applyObjects(objects, "deploy/helm/plexus/files/definition-use.yaml");
      const rule = { apiGroups: ["k8s.cni.cncf.io"], resources: ["network-attachment-definitions"], verbs: ["use"] };
      for (const namespace of ["shop", "kube-system"]) {
        await api.namespace(namespace);
        await create({
          apiVersion: `${rbac}/v1`,
          kind: "Role",
          metadata: { name: "use", namespace },
          rules: [{ ...rule, resourceNames: ["storage"] }],
        });
        await create({
          apiVersion: `${rbac}/v1`,
          kind: "RoleBinding",
          metadata: { name: "use", namespace },
          roleRef: { apiGroup: rbac, kind: "Role", name: "use" },
          subjects: [{ kind: "ServiceAccount", name: "default", namespace: "shop" }],
        });
      }
      // The API server compiles a policy, and reads new rights, some time after their creation.
      for (const deadline = Date.now() + 60_000; ; await new Promise((resolve) => setTimeout(resolve, 100))) {
        const isRefused = JSON.stringify(await tryPod("secret")).includes("may not use");
        if (isRefused && typeof (await tryPod("storage")) !== "string") break;
        if (Date.now() > deadline) throw new Error("the policy is not active after 60 s");
      }
    });
    afterAll(async () => {
      objects?.close();
      await api?.dispose();
    });

    test.each(hostile.map((text) => [text.slice(0, 80), text]))("refuses %j", async (_, text) => {
      const before = api.cpuMs();
      for (const key of [selection, otherDefault]) expect(await tryPod(text, key)).toMatch(/definition-use/);
      // The text's length cannot make a request expensive.
      expect(api.cpuMs() - before).toBeLessThan(5000);
    });

    test.each(canonical.map((text) => [text.slice(0, 80), text]))(
      "accepts %j, and Plexus reads permitted networks only",
      async (_, text) => {
        expect(await tryPod(text)).toMatchObject({ kind: "Pod" });
        expect(selectsForbidden(text)).toBe(false);
      },
    );

    test("refuses each mutation of a selection that Plexus reads as another network", async () => {
      const fragments = [
        "secret",
        '"',
        "\\",
        ",",
        "{",
        "}",
        "[",
        "]",
        ":",
        '"name"',
        '"namespace"',
        '"other"',
        "@",
        "/",
        " ",
        "\n",
        "a",
        "\\u0061",
      ];
      // A linear congruential generator, so that each run tries the same texts.
      let state = 7;
      const random = (below: number): number => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) % below;
      const bases = [...canonical, ...hostile].filter(({ length }) => length > 0 && length < 200);
      const texts = Array.from({ length: 20_000 }, () => {
        const base = bases[random(bases.length)] ?? "";
        const at = random(base.length + 1);
        return base.slice(0, at) + (fragments[random(fragments.length)] ?? "") + base.slice(at + random(3));
      });
      const forbidden = [...new Set(texts)].filter(selectsForbidden).slice(0, 100);
      expect(forbidden.length).toBe(100);
      const accepted: string[] = [];
      for (const text of forbidden) if (typeof (await tryPod(text)) !== "string") accepted.push(text);
      expect(accepted).toEqual([]);
    });

    test("checks a changed selection as a new one, through the status, too, and leaves an unchanged one alone", async () => {
      expect(await create(named("changed", { [selection]: "storage" }))).toMatchObject({ kind: "Pod" });
      const path = `${collectionOf(pod("changed", undefined))}/changed`;
      const patch = async (annotations: object, subresource = ""): Promise<ApiObject | string> =>
        outcome(await objects.patch(`${path}${subresource}`, { metadata: { annotations } }));
      for (const subresource of ["", "/status"]) {
        expect(await patch({ [selection]: "storage,secret" }, subresource)).toContain("may not use");
        expect(await patch({ [otherDefault]: "secret" }, subresource)).toContain("kube-system/secret");
      }
      expect(await patch({ [otherDefault]: "storage" })).toMatchObject({ kind: "Pod" });
      const binding = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/plexus-definition-use";
      expect(outcome(await objects.patch(binding, { spec: { validationActions: ["Audit"] } }))).toMatchObject({ spec: {} });
      await vi.waitFor(async () => expect(await patch({ [selection]: "secret" })).toMatchObject({ kind: "Pod" }), {
        timeout: 60_000,
        interval: 100,
      });
      await objects.patch(binding, { spec: { validationActions: ["Deny"] } });
      await vi.waitFor(async () => expect(await tryPod("secret")).toContain("may not use"), { timeout: 60_000, interval: 100 });
      expect(await patch({ other: "text" })).toMatchObject({ kind: "Pod" });
      expect(await patch({ [selection]: null }, "/status")).toMatchObject({ kind: "Pod" });
    });

    test("a Binding selects no networks, and a PodNetworkAttachment lends no definition that its author may not use", async () => {
      await create(named("bound", {}));
      const target = { apiVersion: "v1", kind: "Node", name: "n1" };
      const metadata = { name: "bound", namespace: "shop", annotations: { [selection]: "storage" } };
      const binding = { apiVersion: "v1", kind: "Binding", metadata, target };
      expect(outcome(await objects.create("/api/v1/namespaces/shop/pods/bound/binding", binding))).toContain(
        "a Binding cannot select",
      );
      const role = { apiGroups: ["plexus.dev"], resources: ["podnetworkattachments"], verbs: ["create"] };
      await create({ apiVersion: `${rbac}/v1`, kind: "ClusterRole", metadata: { name: "attach" }, rules: [role] });
      for (const name of ["attach", "use"]) {
        await create({
          apiVersion: `${rbac}/v1`,
          kind: "RoleBinding",
          metadata: { name: `tenant-${name}`, namespace: "shop" },
          roleRef: { apiGroup: rbac, kind: name === "use" ? "Role" : "ClusterRole", name },
          subjects: [{ kind: "User", apiGroup: rbac, name: "tenant" }],
        });
      }
      const tenant = objectsOf(api.kubeconfig("tenant"));
      const attach = async (...names: readonly string[]): Promise<ApiObject | string> => {
        const parametersRefs = names.map((name) => ({ group: "k8s.cni.cncf.io", kind: "network-attachment-definitions", name }));
        const object = networkObjects.attachment("lent", "default", { parametersRefs });
        return outcome(await tenant.create(`${collectionOf(object)}?dryRun=All`, object));
      };
      try {
        await vi.waitFor(async () => expect(await attach("storage")).toMatchObject({ kind: "PodNetworkAttachment" }), {
          timeout: 60_000,
          interval: 100,
        });
        expect(await attach("storage", "storage", "secret")).toContain(
          "you may not use a NetworkAttachmentDefinition of shop/storage",
        );
      } finally {
        tenant.close();
      }
    });
  },
);
