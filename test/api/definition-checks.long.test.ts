// Problems of NetworkAttachmentDefinitions on a real API server: plexus-controller's conditions and Events, and the admission policy for definitions.

import type { KubernetesObject } from "@kubernetes/client-node";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { ApiObject, ApiObjects } from "../../host/cluster/kube/api-objects.ts";
import { startController, type TestController } from "../lab/controller.ts";
import { accountRequests, boundController } from "../lab/kube/controller-account.ts";
import { helm } from "../lab/kube/helm.ts";
import type { ApiServer } from "../lab/kube/api-server.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { applyObjects, collectionOf, objectsOf, outcome } from "../lab/kube/apply.ts";
import { kubeApi } from "../lab/kube/binaries.ts";
import { networkRequests } from "../lab/kube/network-requests.ts";
import { dist } from "../lab/plexus.ts";
import { missing, privateNamespaces } from "../lab/requires.ts";

const annotation = "plexus.dev/conditions";
const resourceKey = "k8s.v1.cni.cncf.io/resourceName";
const pool = (subnet: string, type = "macvlan"): object => ({ cniVersion: "1.0.0", type, ipam: { type: "host-local", subnet } });

interface Definition {
  readonly metadata: { readonly resourceVersion: string; readonly annotations?: Readonly<Record<string, string>> };
}

function definition(
  name: string,
  config: unknown,
  { namespace = "shop", annotations = {} }: { readonly namespace?: string; readonly annotations?: object } = {},
): ApiObject & KubernetesObject {
  return {
    apiVersion: "k8s.cni.cncf.io/v1",
    kind: "NetworkAttachmentDefinition",
    metadata: { name, namespace, annotations: annotations as Record<string, string> },
    spec: { config: typeof config === "string" ? config : JSON.stringify(config) },
  };
}

function pathOf(name: string, namespace = "shop"): string {
  return `${collectionOf(definition(name, "", { namespace }))}/${name}`;
}

function expectSoon<T>(check: () => Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: 60_000, interval: 50 });
}

describe.skipIf(missing("checks of definitions", privateNamespaces, kubeApi, helm))(
  "an API server with checks of definitions",
  () => {
    let api: ApiServer;
    let objects: ApiObjects;
    let controller: TestController;
    let configuration: string;
    const create = async (object: ApiObject & KubernetesObject, query = ""): Promise<ApiObject | string> =>
      outcome(await objects.create(`${collectionOf(object)}${query}`, object));
    const read = async (name: string, namespace = "shop"): Promise<Definition> => {
      const answer = await objects.get(pathOf(name, namespace));
      if (answer.kind !== "object") throw new Error(answer.why);
      return answer.object as unknown as Definition;
    };
    /** The conditions as `type reason message`. */
    const conditions = async (name: string, namespace = "shop"): Promise<readonly string[]> => {
      const text = (await read(name, namespace)).metadata.annotations?.[annotation] ?? "[]";
      const list: readonly { type: string; reason: string; message: string }[] = JSON.parse(text);
      return list.map(({ type, reason, message }) => `${type} ${reason} ${message}`);
    };
    const events = async (name: string): Promise<readonly string[]> => {
      const answer = await objects.list("/api/v1/namespaces/shop/events");
      const items = answer.kind === "list" ? (answer.items as { involvedObject: { name: string }; reason: string }[]) : [];
      return items.filter(({ involvedObject }) => involvedObject.name === name).map(({ reason }) => reason);
    };
    const configure = (rules: readonly object[]): void =>
      writeFileSync(configuration, JSON.stringify({ type: "plexus", definitions: { trusted: ["net"], rules } }));
    const rule = { namespaces: ["*"], native: { macvlan: "*" }, ipam: { "host-local": "*" } };

    beforeAll(async () => {
      api = await sharedApiServer({ alsoAllowed: [...networkRequests, ...accountRequests, "list events"] });
      objects = objectsOf(api.adminKubeconfig);
      configuration = join(api.directory, "plexus.json");
      configure([rule]);
      for (const namespace of ["shop", "other", "net"]) await api.namespace(namespace);
      const { kubeconfig, leaseArgs } = await boundController(api, objects, "px", "definitionChecks.enabled=true");
      controller = await startController({
        identity: "c",
        kubeconfig,
        args: [
          ...leaseArgs,
          "--check-definitions",
          configuration,
          "--components",
          join(dist, "delegates"),
          "--known-plugins",
          "macvlan,host-local",
        ],
      });
    });
    afterAll(async () => {
      await controller?.kill();
      objects?.close();
      await api?.dispose();
    });

    test("MO-31: each kind of problem stands on the definition itself, and a definition without one stays untouched", async () => {
      const good = await create(definition("good", pool("10.1.0.0/24")));
      await create(definition("shared", pool("10.9.0.0/16"), { namespace: "net" }));
      await create(definition("foreign", pool("10.1.0.0/24"), { namespace: "other" }));
      await create(definition("broken", '{"cniVersion": "1.0.0", "type": }'));
      await create(definition("typo", pool("10.2.0.0/24", "macvlam")));
      await create(definition("ungranted", { cniVersion: "1.0.0", type: "bridge-adapter", bridge: "br0" }));
      await create(definition("overlap", pool("10.9.1.0/24")));
      await create(definition("same", { ...pool("10.3.0.0/24"), name: "twin" }));
      await create(definition("twin", { ...pool("10.4.0.0/24"), name: "twin" }));
      await expectSoon(async () => {
        expect(await conditions("broken")).toEqual([
          expect.stringMatching(/^Valid UnreadableConfiguration spec\.config is not JSON: line 1, column 33/),
        ]);
        expect(await conditions("typo")).toEqual([
          expect.stringMatching(/^Valid UnknownPlugin no node has a plugin of type macvlam\. /),
        ]);
        expect(await conditions("ungranted")).toEqual([
          expect.stringMatching(/^Valid MissingGrant bridge-adapter: not granted: .*links/),
        ]);
        expect(await conditions("overlap")).toEqual([
          expect.stringMatching(
            /^Distinct SubnetOverlap 10\.9\.1\.0\/24 overlaps 10\.9\.0\.0\/16 of network shared \(net\/shared\)/,
          ),
        ]);
        expect(await conditions("twin")).toEqual([expect.stringMatching(/^Distinct NameCollision /)]);
        expect(await events("broken")).toEqual(["DefinitionInvalid"]);
        expect(await events("overlap")).toEqual(["DefinitionConflict"]);
      });
      expect(await read("good")).toEqual(good);
      for (const name of ["shared", "foreign"]) expect(await conditions(name, name === "shared" ? "net" : "other")).toEqual([]);
    });

    test("MO-31: a mended definition loses its conditions, and the controller writes no more than once for a change", async () => {
      await objects.patch(pathOf("broken"), { spec: { config: JSON.stringify(pool("10.5.0.0/24")) } });
      // Another writer of the annotation gets one answer at once, if the last write is old, and one after ten seconds.
      for (let round = 0; round < 20; round++)
        await objects.patch(pathOf("typo"), { metadata: { annotations: { [annotation]: `${round}` } } });
      await objects.patch(pathOf("good"), { metadata: { annotations: { [annotation]: "mine" }, labels: { a: "b" } } });
      await expectSoon(async () => {
        expect(await conditions("broken")).toEqual([]);
        expect(await events("broken")).toEqual(expect.arrayContaining(["DefinitionInvalid", "DefinitionValid"]));
        expect(await conditions("typo")).toEqual([expect.stringContaining("macvlam")]);
        expect((await read("good")).metadata.annotations ?? {}).toEqual({});
      });
      const patches = api
        .audit("system:serviceaccount:network:px-controller")
        .filter(({ verb, resource }) => verb === "patch" && resource === "network-attachment-definitions");
      const writes = Object.groupBy(
        patches.filter(({ code }) => code === 200),
        ({ name = "" }) => name,
      );
      expect(Object.fromEntries(Object.entries(writes).map(([name, list]) => [name, list?.length]))).toEqual({
        broken: 2,
        typo: expect.toSatisfy((count: number) => count === 2 || count === 3),
        good: 1,
        ungranted: 1,
        overlap: 1,
        twin: 1,
      });
      expect(controller.stderr()).not.toContain("HTTP 409");
    });

    test("MO-31: a changed configuration of Plexus is followed, and a mistake in it changes nothing", async () => {
      writeFileSync(configuration, '{"type":"plexus","definitions":{"trustd":[]}}');
      await expectSoon(async () => expect(controller.stderr()).toContain("trustd"));
      expect(await conditions("overlap")).toHaveLength(1);
      const grants = { "bridge-adapter": { log: {}, links: { bridges: ["br0"] }, firewall: {}, delegation: {}, announce: {} } };
      configure([{ ...rule, grants }]);
      await expectSoon(async () => expect(await conditions("ungranted")).toEqual([]));
    });

    describe("with the policy for definitions", () => {
      const binding = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/plexus-definitions";
      beforeAll(async () => {
        await create(definition("old", "no object"));
        await applyObjects(objects, "deploy/helm/plexus/files/definition-admission.yaml");
        for (const deadline = Date.now() + 60_000; typeof (await create(definition("tried", "x"), "?dryRun=All")) !== "string";) {
          if (Date.now() > deadline) throw new Error("the policy is not active after 60 s");
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
      });

      test.each([
        ["without a configuration", "", {}],
        ["of one plugin", pool("10.1.0.0/24"), {}],
        [
          "of a list, with a resource",
          ' {"plugins": [{"type":"bridge"}]}\n',
          { annotations: { [resourceKey]: "intel.com/sriov_net-A" } },
        ],
        ["of 131,000 characters", `{"type":"bridge","x":"${"y".repeat(131_000)}"}`, {}],
      ])("MO-31: accepts a definition %s", async (_, config, more) => {
        expect(await create(definition("a", config, more), "?dryRun=All")).toMatchObject({ kind: "NetworkAttachmentDefinition" });
      });

      test.each([
        ["a name with a dot", "a.b", pool("10.1.0.0/24"), {}, "DNS-1123 label"],
        ["a name of 64 characters", "a".repeat(64), pool("10.1.0.0/24"), {}, "DNS-1123 label"],
        ["a list", "a", "[]", {}, "JSON object"],
        ["a text", "a", '"{}"', {}, "JSON object"],
        ["half an object", "a", '{"type":"bridge"', {}, "JSON object"],
        ["a byte order mark", "a", "\ufeff{}", {}, "JSON object"],
        ["an empty object", "a", "{}", {}, '"plugins"'],
        ["single quotes", "a", "{'type': 'bridge'}", {}, '"plugins"'],
        ["131,073 characters and more", "a", `{"type":"bridge","x":"${"y".repeat(131_072)}"}`, {}, "more than 131072 characters"],
        ["a million brackets", "a", "{".repeat(1_000_000), {}, "more than 131072 characters"],
        ["a path as its resource", "a", "", { annotations: { [resourceKey]: "../x" } }, "resourceName must be"],
      ])("MO-31: refuses a definition with %s", async (_, name, config, more, why) => {
        expect(await create(definition(name, config, more), "?dryRun=All")).toContain(why);
      });

      test("MO-31: an invalid definition that is older than the policy can still be labelled and get its conditions", async () => {
        const labelled = outcome(await objects.patch(pathOf("old"), { metadata: { labels: { a: "b" } } }));
        expect(labelled).toMatchObject({ kind: "NetworkAttachmentDefinition" });
        await expectSoon(async () => expect(await conditions("old")).toHaveLength(1));
        expect(outcome(await objects.patch(pathOf("old"), { spec: { config: "still none" } }))).toContain("JSON object");
      });

      test("MO-31: with Warn and Audit the definition is created", async () => {
        await objects.patch(binding, { spec: { validationActions: ["Warn", "Audit"] } });
        await expectSoon(async () =>
          expect(await create(definition("tried", "x"), "?dryRun=All")).toMatchObject({ kind: "NetworkAttachmentDefinition" }),
        );
      });
    });
  },
);
