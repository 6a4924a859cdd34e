import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readObjects } from "../../cluster/manifests/manifest-objects.ts";
import { checkMigration, type MigrationCheck } from "./check-migration.ts";

const crd = { apiVersion: "k8s.cni.cncf.io/v1", kind: "NetworkAttachmentDefinition" };
const definition = (namespace: string, name: string, config?: object): object => ({
  ...crd,
  metadata: { namespace, name },
  ...(config === undefined ? {} : { spec: { config: JSON.stringify(config) } }),
});
const bridge = { cniVersion: "1.0.0", name: "storage", type: "bridge", bridge: "br0" };
const pod = (namespace: string, name: string, annotations: Readonly<Record<string, string>>): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { namespace, name, annotations },
});
const networks = "k8s.v1.cni.cncf.io/networks";
const defaultNetwork = "v1.multus-cni.io/default-network";

async function check(config: Readonly<Record<string, unknown>>, ...items: readonly object[]): Promise<MigrationCheck> {
  const list = JSON.stringify({ apiVersion: "v1", kind: "List", items });
  const { objects, problems } = await readObjects("objects.json", list);
  expect(problems).toEqual([]);
  const checked = await checkMigration({ name: "multus-cni-network", ...config }, objects, "", []);
  if (!checked.ok) throw new Error(checked.fault.msg);
  return checked.value;
}

const multus = { profile: "multus" } as const;

test("settings that behave as under Multus are not listed, and pods without networks are not counted", async () => {
  const all = [
    definition("shop", "storage", bridge),
    pod("shop", "a", { [networks]: "storage" }),
    pod("shop", "b", {}),
    pod("other", "c", { [networks]: "shop/storage@data0", [defaultNetwork]: "shop/storage" }),
  ];
  expect(await check(multus, ...all)).toEqual({ definitions: 1, pods: 2, differences: [] });
});

test("without profile multus the rules for definitions hold", async () => {
  const { differences } = await check({ profile: "compat" }, definition("shop", "storage", bridge));
  expect(differences).toMatchObject([{ object: "NetworkAttachmentDefinition shop/storage", effect: "fails" }]);
  expect(differences[0]?.why).toContain("bridge");
});

test.each([
  ["clusterNetwork", { clusterNetwork: "pods", multusNamespace: "kube-system" }],
  ["clusterNetwork of a node's file", { clusterNetwork: "calico" }],
  ["defaultNetworks", { defaultNetworks: ["extra"] }],
  ["auxiliaryCNIChainName", { auxiliaryCNIChainName: "vendor" }],
])("a check reads and writes nothing of the machine: %s", async (_what, config) => {
  const cniDir = mkdtempSync(join(tmpdir(), "plexus-check-"));
  const all = [
    definition("kube-system", "pods", { ...bridge, name: "pods" }),
    definition("shop", "storage", bridge),
    pod("shop", "a", { [networks]: "storage" }),
  ];
  const { differences } = await check({ ...multus, ...config, cniDir, confDir: join(cniDir, "none") }, ...all);
  expect([differences, readdirSync(cniDir)]).toEqual([[], []]);
  rmSync(cniDir, { recursive: true });
});

test("namespace isolation also holds for a pod's default network", async () => {
  const config = { ...multus, namespaceIsolation: true };
  const { differences } = await check(
    config,
    definition("shop", "storage", bridge),
    pod("other", "a", { [defaultNetwork]: "shop/storage" }),
  );
  expect(differences).toMatchObject([{ object: "Pod other/a", effect: "fails" }]);
  expect(differences[0]?.why).toContain("default network");
});

test("requested addresses without the capability differ; with it they do not", async () => {
  const selection = { [networks]: '[{"name":"storage","ips":["10.1.0.5/24"]}]' };
  const without = await check(multus, definition("shop", "storage", bridge), pod("shop", "a", selection));
  expect(without.differences).toMatchObject([{ object: "Pod shop/a", effect: "differs" }]);
  const capable = { ...bridge, capabilities: { ips: true } };
  const withIt = await check(multus, definition("shop", "storage", capable), pod("shop", "a", selection));
  expect(withIt.differences).toEqual([]);
});

test("other requests without the capability, missing definitions and wrong annotations fail the pod", async () => {
  const { differences } = await check(
    multus,
    definition("shop", "storage", bridge),
    pod("shop", "ports", { [networks]: '[{"name":"storage","portMappings":[{"hostPort":80,"containerPort":80}]}]' }),
    pod("shop", "missing", { [networks]: "absent" }),
    pod("shop", "wrong", { [networks]: "[{]" }),
  );
  expect(differences.map(({ object, effect }) => `${object} ${effect}`)).toEqual([
    "Pod shop/ports fails",
    "Pod shop/missing fails",
    "Pod shop/wrong fails",
  ]);
});

test("a definition that cannot be read fails", async () => {
  const { differences } = await check(multus, { ...crd, metadata: { namespace: "shop", name: "broken" }, spec: { config: "{" } });
  expect(differences).toMatchObject([{ object: "NetworkAttachmentDefinition shop/broken", effect: "fails" }]);
});
