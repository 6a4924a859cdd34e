// Names of a network: CoreDNS answers with the addresses that plexus-controller wrote, beside the endpoint controllers of kube-controller-manager.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Resolver } from "node:dns/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KubernetesObject } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { ApiObjects } from "../../host/cluster/kube/api-objects.ts";
import { servicesPart } from "../../features/services/controller/part.ts";
import { endpointSlicesPath } from "../../features/services/rules/service-slice.ts";
import type { ApiServer } from "../lab/kube/api-server.ts";
import { applyObjects, collectionOf, objectsOf, outcome } from "../lab/kube/apply.ts";
import { kubeApi, kubeProgram, kubePrograms } from "../lab/kube/binaries.ts";
import { endChild, freePorts, lastLines, startChild } from "../lab/kube/child.ts";
import { partContext } from "../lab/kube/part-context.ts";
import { podOn } from "../lab/kube/policy-objects.ts";
import { serviceRequests } from "../lab/kube/service-requests.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { missing, privateNamespaces } from "../lab/requires.ts";
import { coreDns } from "../lab/surroundings/coredns/programs.ts";

const patience = { timeout: 60_000, interval: 100 };
const needed = [privateNamespaces, kubeApi, kubePrograms("kube-controller-manager"), coreDns.requirement];
const controllers = ["endpoints-controller", "endpointslice-controller", "endpointslice-mirroring-controller"];

const service = (name: string, annotations: object, spec: object = {}) => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { namespace: "shop", name, annotations: annotations as Record<string, string> },
  spec: { selector: { app: "db" }, ports: [{ name: "sql", port: 5432 }], clusterIP: "None", ...spec },
});
const nameOf = (text: string): string => `${text}.shop.svc.cluster.local`;

describe.skipIf(missing("names of Services on further networks", ...needed))("names of a network", () => {
  let api: ApiServer;
  let objects: ApiObjects;
  const term = new AbortController();
  let running: Promise<void> | undefined;
  const children: ReturnType<typeof startChild>[] = [];
  const directory = mkdtempSync(join(tmpdir(), "plexus-names-"));
  const resolver = new Resolver({ timeout: 5000, tries: 2 });

  const create = async (object: KubernetesObject & Readonly<Record<string, unknown>>): Promise<void> => {
    const made = outcome(await objects.create(collectionOf(object), object));
    if (typeof made === "string") throw new Error(made);
  };
  /** A ready pod, which also has an address of the cluster's network. */
  const pod = async (name: string, networks: Readonly<Record<string, readonly string[]>>, podIP: string): Promise<void> => {
    const made = podOn("shop", name, { app: "db" }, networks);
    await create({ ...made, spec: { ...(made["spec"] as object), hostname: name, subdomain: "db", nodeName: "n1" } });
    const status = { phase: "Running", podIP, podIPs: [{ ip: podIP }], conditions: [{ type: "Ready", status: "True" }] };
    outcome(await objects.patch(`/api/v1/namespaces/shop/pods/${name}/status`, { status }));
  };
  const annotate = async (network: string | null): Promise<void> => {
    const change = { metadata: { annotations: { "plexus.dev/network": network } } };
    outcome(await objects.patch("/api/v1/namespaces/shop/services/plain", change));
  };
  const managers = async (name: string): Promise<readonly unknown[]> => {
    const listed = await objects.list(endpointSlicesPath("shop"), { labelSelector: `kubernetes.io/service-name=${name}` });
    if (listed.kind !== "list") throw new Error(listed.why);
    const slices = listed.items as readonly { readonly metadata: { readonly labels: Readonly<Record<string, string>> } }[];
    return [...new Set(slices.map(({ metadata }) => metadata.labels["endpointslice.kubernetes.io/managed-by"]))];
  };

  beforeAll(async () => {
    api = await sharedApiServer({ alsoAllowed: serviceRequests });
    objects = objectsOf(api.adminKubeconfig);
    await api.namespace("shop");
    await applyObjects(objects, "deploy/helm/plexus/files/services.yaml");
    const [dns = 0, secure = 0] = await freePorts(2);
    const corefile = join(directory, "Corefile");
    writeFileSync(
      corefile,
      `cluster.local:${dns} {\n bind 127.0.0.1\n kubernetes cluster.local {\n kubeconfig ${api.adminKubeconfig}\n ttl 0\n }\n}\n`,
    );
    children.push(
      startChild(coreDns.path("coredns") ?? "", ["-conf", corefile], join(directory, "coredns.log")),
      startChild(
        kubeProgram("kube-controller-manager") ?? "",
        [
          `--kubeconfig=${api.adminKubeconfig}`,
          `--controllers=${controllers.join(",")}`,
          "--leader-elect=false",
          `--secure-port=${secure}`,
          `--cert-dir=${directory}`,
          "--bind-address=127.0.0.1",
        ],
        join(directory, "manager.log"),
      ),
    );
    resolver.setServers([`127.0.0.1:${dns}`]);
    running = servicesPart()(partContext(objects)).run(term.signal);
    await create({ apiVersion: "v1", kind: "Node", metadata: { name: "n1" } });
    await pod("one", { "shop/red": ["10.1.0.1", "fd00:1::1"] }, "192.168.0.1");
    await pod("two", { "shop/red": ["10.1.0.2"] }, "192.168.0.2");
  });
  afterAll(async () => {
    term.abort();
    await running;
    for (const child of children) await endChild(child);
    rmSync(directory, { recursive: true, force: true });
    objects?.close();
    await api?.dispose();
  });

  test("SV-05: a headless Service resolves to the pods' addresses on its network (A, AAAA, SRV, and the names of pods)", async () => {
    // The API server compiles the admission policy some time after its creation.
    await vi.waitFor(async () => {
      outcome(await objects.remove("/api/v1/namespaces/shop/services/db"));
      await create(service("db", { "plexus.dev/network": "red" }));
      expect(outcome(await objects.get("/api/v1/namespaces/shop/services/db"))).not.toHaveProperty("spec.selector");
    }, patience);
    const answers = async (): Promise<unknown> => [
      (await resolver.resolve4(nameOf("db"))).toSorted(),
      await resolver.resolve6(nameOf("db")),
      await resolver.resolve4(nameOf("two.db")),
      (await resolver.resolveSrv(`_sql._tcp.${nameOf("db")}`)).map(({ name, port }) => `${name}:${port}`).toSorted(),
    ];
    const expected = [
      ["10.1.0.1", "10.1.0.2"],
      ["fd00:1::1"],
      ["10.1.0.2"],
      [`${nameOf("one.db")}:5432`, `${nameOf("two.db")}:5432`],
    ];
    try {
      await vi.waitFor(async () => expect(await answers()).toEqual(expected), patience);
    } catch (error) {
      throw new Error(`${String(error)}\n${lastLines(join(directory, "coredns.log"))}`, { cause: error });
    }
  });

  test("SV-04: kube-controller-manager writes no slice of the Service, and hands one over that it had and gets it back", async () => {
    expect(await managers("db")).toEqual(["plexus-controller"]);
    await create(service("plain", {}, { clusterIP: undefined }));
    await vi.waitFor(async () => expect(await managers("plain")).toEqual(["endpointslice-controller.k8s.io"]), patience);
    await annotate("red");
    await vi.waitFor(async () => expect(await managers("plain")).toEqual(["plexus-controller"]), patience);
    // The mirroring controller has had the time of another Service's slices.
    await create(service("later", {}, { clusterIP: undefined }));
    await vi.waitFor(async () => expect(await managers("later")).toEqual(["endpointslice-controller.k8s.io"]), patience);
    expect(await managers("plain")).toEqual(["plexus-controller"]);
    await annotate(null);
    await vi.waitFor(async () => expect(await managers("plain")).toEqual(["endpointslice-controller.k8s.io"]), patience);
  });
});
