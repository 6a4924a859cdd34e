// The networks of prepared claims through the installed binary: with the annotation's networks, in failures, and without the API.

import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ClaimStore } from "../../../features/claims/node/claim-store.ts";
import type { PreparedNetwork } from "../../../features/claims/rules/prepared-claim.ts";
import { manifestsIn, type Manifests, uidOf } from "../../lab/manifests.ts";
import { bridgeStep, missingForMixed, mixedInstallation } from "../../lab/mixed-network.ts";
import { missing, referencePlugins } from "../../lab/requires.ts";
import { type Attaching, nothing, openStage, type Stage } from "../../lab/stage.ts";

const subnet = (third: number): object => ({ type: "host-local", ranges: [[{ subnet: `10.88.${third}.0/24` }]] });
const link = { name: "br-claims", kind: "bridge", isExclusive: false } as const;

function network(request: string, more: Partial<PreparedNetwork> = {}): PreparedNetwork {
  const text = JSON.stringify({ cniVersion: "1.0.0", name: `of-${request}`, plugins: [{ type: "bridge", ipam: subnet(1) }] });
  return {
    request,
    pool: "node",
    device: `shared-${request}`,
    shareId: "",
    source: { kind: "list", text },
    isOfClass: true,
    link,
    ...more,
  };
}

const skip = missingForMixed("networks of claims") || missing("networks of claims", referencePlugins("host-device"));

describe.skipIf(skip)("networks of claims", () => {
  let stage: Stage;
  let manifests: Manifests;
  let store: ClaimStore;
  beforeEach(() => {
    stage = openStage({ ...mixedInstallation, native: [...mixedInstallation.native, "host-device"] });
    manifests = manifestsIn(join(stage.plexus.directory, "manifests"));
    manifests.network("storage", [bridgeStep({ bridge: "br-storage", isDefaultGateway: false, ipam: subnet(2) })]);
    store = new ClaimStore(stage.plexus.state("cni"));
  });
  afterEach(() => stage.dispose());

  const prepare = async (name: string, pod: string, ...networks: readonly PreparedNetwork[]): Promise<void> => {
    const claim = { namespace: "shop", name, uid: `claim-${name}`, pods: [uidOf(pod)], isShareable: false, networks };
    expect(store.write(claim)).toEqual({ ok: true, value: undefined });
  };
  const attaching = (name: string, more: object = {}): Attaching => ({
    config: stage.network([bridgeStep()], { manifests: manifests.directory, claims: true, ...more }),
    // The directory of device information is the whole machine's, and other tests detach containers named ctr-web.
    containerId: `claims-${name}`,
    pod: stage.pod(),
    args: manifests.argsOf(name),
  });

  test("DR-06, DR-10: the claims' networks come after the annotation's, by the claims' names, and the status lists all", async () => {
    manifests.pod("web", "storage");
    await prepare("b", "web", network("second"));
    await prepare("a", "web", network("first", { interface: "net1", ips: ["10.88.1.77"] }), network("next"));
    // Another pod's claim, and a pod without claims.
    await prepare("other", "db", network("first"));
    const web = attaching("web");
    await stage.succeed("ADD", web);
    expect(manifests.statusOf("web")).toMatchObject([
      { name: "pods" },
      { name: "shop/storage", interface: "net2", ips: [expect.stringMatching(/^10\.88\.2\./)] },
      { name: "shop/a.first", interface: "net1", ips: ["10.88.1.77"] },
      { name: "shop/a.next", interface: "net3", ips: [expect.stringMatching(/^10\.88\.1\./)] },
      { name: "shop/b.second", interface: "net4" },
    ]);
    // The journal alone undoes: the claims are unprepared, and the definition is gone.
    for (const name of ["a", "b", "other"]) expect(store.remove(`claim-${name}`)).toMatchObject({ ok: true });
    await stage.succeed("DEL", web);
    expect(stage.left()).toMatchObject({ ...nothing, links: expect.any(Array) });
  });

  test("DR-10: an interface name that a claim and the annotation both request is refused, and nothing stays", async () => {
    manifests.pod("web", "storage@data0");
    await prepare("a", "web", network("first", { interface: "data0" }));
    const answer = await stage.call("ADD", attaching("web"));
    expect(answer.stdout).toContain("INTERFACE_NAME_TAKEN");
    expect(answer.stdout).toContain("a.first");
    store.remove("claim-a");
    expect(stage.left()).toMatchObject({ ...nothing, links: expect.any(Array) });
  });

  test("DR-13: a list with the policies of a network is that network's attachment in the pod's status, and a pool needs an IPAM component", async () => {
    manifests.pod("web");
    const listed = network("first");
    const text = listed.source.kind === "list" ? listed.source.text : "";
    await prepare("a", "web", { ...listed, source: { kind: "list", text, policies: "shop/storage" } });
    const web = attaching("web");
    await stage.succeed("ADD", web);
    expect(manifests.statusOf("web")).toMatchObject([{ name: "pods" }, { name: "shop/storage", interface: "net1" }]);
    await stage.succeed("DEL", web);
    await prepare("a", "web", { ...listed, addressPool: "cluster" });
    const refused = await stage.call("ADD", web);
    // Native host-local ignores the pool, and its answer shows it.
    expect(refused.stdout).toContain("should have an address of AddressPool cluster, but has 10.88.1.");
    const claimFile = expect.stringMatching(/^claims\/claim-a\./u);
    expect(stage.left()).toMatchObject({ ...nothing, links: expect.any(Array), state: [claimFile] });
    await prepare("a", "web", { ...listed, source: { kind: "podNetwork", name: "blue" } });
    const off = await stage.call("ADD", web);
    expect(off.stdout).toContain(
      String.raw`resource claim shop/a, request first: PodNetwork \"blue\": the key podNetworks is off`,
    );
  });

  test("DR-15: an exclusive PCI device moves into the pod, and the pod's status has its device information", async () => {
    manifests.pod("web");
    stage.node.exec(["ip", "link", "add", "vf0", "type", "veth", "peer", "name", "vf0peer"]);
    const text = JSON.stringify({ cniVersion: "1.0.0", name: "vf", plugins: [{ type: "host-device" }] });
    const exclusive = { name: "vf0", kind: "link", isExclusive: true, pciAddress: "0000:18:02.1" } as const;
    await prepare("a", "web", network("first", { source: { kind: "list", text }, link: exclusive }));
    const web = attaching("web");
    await stage.succeed("ADD", web);
    const information = { type: "pci", version: "1.1.0", pci: { "pci-address": "0000:18:02.1" } };
    expect(manifests.statusOf("web")).toMatchObject([{ name: "pods" }, { name: "shop/a.first", "device-info": information }]);
    store.remove("claim-a");
    await stage.succeed("DEL", web);
    expect(stage.left()).toMatchObject({ ...nothing, links: expect.arrayContaining(["vf0"]) });
    stage.node.exec(["ip", "link", "delete", "vf0"]);
  });

  test("DR-11: an ADD whose claim cannot be attached undoes all, and with the key off a claim attaches nothing", async () => {
    manifests.pod("web");
    const text = JSON.stringify({
      cniVersion: "1.0.0",
      name: "x",
      plugins: [{ type: "bridge", bridge: "br-other", ipam: subnet(1) }],
    });
    await prepare("a", "web", network("first"), network("wrong", { source: { kind: "list", text } }));
    const refused = await stage.call("ADD", attaching("web"));
    expect(refused.stdout).toContain("resource claim shop/a, request wrong");
    expect(refused.stdout).toContain(String.raw`bridge is \"br-other\", but the claimed device is \"br-claims\"`);
    await stage.succeed("ADD", attaching("web", { claims: false }));
    expect(manifests.statusOf("web")).toMatchObject([{ name: "pods" }]);
  });
});
