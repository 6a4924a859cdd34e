// The chart's externalPorts.authority: plexus-controller, started with the chart's arguments, variables and files, and providers over HTTPS.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ApiObjects } from "../../host/cluster/kube/api-objects.ts";
import { externalPortName } from "../../features/external-ports/rules/external-port.ts";
import { type Container, type Manifest, render, theOnly } from "../lab/kube/chart.ts";
import { startController, type TestController } from "../lab/controller.ts";
import { applyObjects, objectsOf } from "../lab/kube/apply.ts";
import type { ApiServer, CreatedPod } from "../lab/kube/api-server.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { kubeApi } from "../lab/kube/binaries.ts";
import { makeAuthority } from "../lab/kube/certificates.ts";
import { helm } from "../lab/kube/helm.ts";
import { networkRequests, portRequests } from "../lab/kube/network-requests.ts";
import { startPortProvider, type TestProvider } from "../lab/port-provider.ts";
import { missing, privateNamespaces } from "../lab/requires.ts";

/** Where the chart's pod has the files of its ConfigMap. */
const mounted = "/etc/plexus-controller";

interface Port {
  readonly status?: { readonly conditions?: readonly { readonly type: string }[] };
}

/** The controller's container in the rendered Deployment. */
function containerOf(objects: readonly Manifest[]): Container {
  const { spec } = theOnly(objects, "Deployment") as Manifest & {
    readonly spec: { readonly template: { readonly spec: { readonly containers: readonly Container[] } } };
  };
  const [container, ...more] = spec.template.spec.containers;
  if (container === undefined || more.length > 0) throw new Error("plexus-controller is not the only container");
  return container;
}

describe.skipIf(missing("the authority of providers", privateNamespaces, kubeApi, helm))("externalPorts.authority", () => {
  const directory = mkdtempSync(join(tmpdir(), "plexus-authority-"));
  let api: ApiServer;
  let objects: ApiObjects;
  const providers = new Map<string, TestProvider>();
  const pods = new Map<string, CreatedPod>();
  let controller: TestController | undefined;

  /** Writes the files of the rendered ConfigMap, and starts the controller as the rendered Deployment does. */
  async function startAsChart(authority: string): Promise<void> {
    const settings = [...providers].map(([name, { url }]) => ({ name, type: "http", namespaces: ["*"], owner: "test", url }));
    const externalPorts = { enabled: true, providers: settings, authority };
    const rendered = render("--set-json", `externalPorts=${JSON.stringify(externalPorts)}`);
    const files = rendered.find(({ kind, metadata: { name } }) => kind === "ConfigMap" && name === "plexus-external-ports");
    for (const [name, text] of Object.entries(files?.["data"] ?? {})) writeFileSync(join(directory, name), String(text));
    const { args = [], env = [] } = containerOf(rendered);
    controller = await startController({
      identity: "c",
      kubeconfig: api.adminKubeconfig,
      // The test's process has no pod IP, and checks no definitions.
      args: args.filter((each) => each.startsWith("--external-ports=")).map((each) => each.replace(mounted, directory)),
      env: Object.fromEntries(
        env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value.replace(mounted, directory)]])),
      ),
    });
  }

  beforeAll(async () => {
    const [known, unknown] = ["known", "unknown"].map((name) => makeAuthority(join(directory, name), name));
    if (known === undefined || unknown === undefined) throw new Error("no authorities");
    const server = { commonName: "fabric", alternativeNames: ["IP:127.0.0.1"] };
    providers.set("signed", await startPortProvider({ tls: known.issue("signed", server) }));
    providers.set("foreign", await startPortProvider({ tls: unknown.issue("foreign", server) }));
    providers.set(
      "misnamed",
      await startPortProvider({ tls: known.issue("misnamed", { ...server, alternativeNames: ["DNS:other"] }) }),
    );
    api = await sharedApiServer({ alsoAllowed: [...networkRequests, ...portRequests] });
    objects = objectsOf(api.adminKubeconfig);
    await applyObjects(objects, "deploy/helm/plexus/files/external-ports.yaml");
    for (const name of providers.keys()) {
      await api.network("shop", name, [{ type: "external-port" }], {
        "plexus.dev/external-port": JSON.stringify({ provider: name }),
      });
      pods.set(name, await api.pod("shop", name, name));
    }
    await startAsChart(readFileSync(known.certificate, "utf8"));
  });
  afterAll(async () => {
    await controller?.kill();
    objects?.close();
    for (const provider of providers.values()) provider.dispose();
    await api?.dispose();
    rmSync(directory, { recursive: true, force: true });
  });

  /** The condition Ready of the port of the pod that has a port of this provider. */
  async function ready(provider: string): Promise<unknown> {
    const name = externalPortName(pods.get(provider)?.uid ?? "", 0);
    const answer = await objects.get(`/apis/plexus.dev/v1alpha1/namespaces/shop/externalports/${name}`);
    const port = answer.kind === "object" ? (answer.object as unknown as Port) : undefined;
    return port?.status?.conditions?.find(({ type }) => type === "Ready");
  }

  test("KU-20 lets plexus-controller get a port from a provider whose certificate the authority has signed", async () => {
    await expect.poll(() => ready("signed")).toMatchObject({ status: "True" });
    expect(providers.get("signed")?.ports.size).toBe(1);
  });

  test.each([
    ["foreign", /no trusted authority has signed .* To do: .*externalPorts\.authority/u],
    ["misnamed", /does not match certificate's altnames/u],
  ])("KU-22 a provider whose certificate is %s gets no request, and the port's condition says why", async (name, message) => {
    await expect
      .poll(() => ready(name))
      .toMatchObject({ status: "False", reason: "ProviderUnavailable", message: expect.stringMatching(message) });
    expect(providers.get(name)?.ensured).toBe(0);
    expect(providers.get(name)?.ports.size).toBe(0);
  });
});
