// Policies of an interface that the plugin `vrf` has put into a VRF of the pod. `npm run vm -- test/node/policies/vrf.test.ts` runs it on Debian's kernel.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createPodNamespace, inHost, missingPrivateNamespaces, type PodNamespace } from "../../lab/namespaces.ts";
import { linkType, missing } from "../../lab/requires.ts";
import { callWith } from "../shim/testing/scripted-engine.ts";
import { openWorkshop, type Workshop } from "../shim/testing/workshop.ts";
import { replaceTable } from "../../../features/policies/node/pod-table.ts";
import { policyObject, readable, tableOf, type TestPod } from "../../../features/policies/rules/testing/policy-objects.ts";

const unavailable = missing("policies of a VRF's interface", missingPrivateNamespaces, linkType("vrf"));

let shop: Workshop;
let pod: PodNamespace;
let peer: PodNamespace;

/** The pod has 10.0.0.1 and fd00::1 on net1, which is in the VRF blue; the peer has 10.0.0.2 and fd00::2. Routes of the main table let processes outside the VRF ask. */
beforeAll(async () => {
  if (unavailable) return;
  shop = await openWorkshop();
  pod = createPodNamespace("vrf");
  peer = createPodNamespace("peer");
  const [a, b] = [pod.name, peer.name];
  inHost([
    "sh",
    "-ec",
    `ip -n ${a} link add net1 type veth peer name net1 netns ${b}
     ip -n ${a} link add blue type vrf table 10; ip -n ${a} link set blue up; ip -n ${a} link set net1 master blue
     ip -n ${a} link set net1 up; ip -n ${b} link set net1 up
     ip -n ${a} addr add 10.0.0.1/24 dev net1; ip -n ${a} addr add fd00::1/64 dev net1 nodad
     ip -n ${b} addr add 10.0.0.2/24 dev net1; ip -n ${b} addr add fd00::2/64 dev net1 nodad
     ip -n ${a} route add 10.0.0.2/32 dev net1; ip -n ${a} -6 route add fd00::2/128 dev net1`,
  ]);
});

afterAll(() => {
  shop?.dispose();
  pod?.dispose();
  peer?.dispose();
});

const db: readonly TestPod[] = [{ namespace: "a", labels: { app: "db" }, addresses: ["10.0.0.2", "fd00::2"] }];
const from = (app: string): object => ({
  podSelector: {},
  policyTypes: ["Ingress", "Egress"],
  ingress: [{ from: [{ podSelector: { matchLabels: { app } } }] }],
  egress: [{ to: [{ podSelector: { matchLabels: { app } } }] }],
});

/** The echo requests that are answered: to the pod, and from it. */
async function answered(spec: object | undefined): Promise<readonly boolean[]> {
  const table = spec === undefined ? undefined : tableOf([readable(policyObject(spec))], db);
  await callWith(async (engine) => expect(await replaceTable(engine, pod.path, table)).toEqual({ ok: true, value: undefined }), {
    shim: shop.shim,
  });
  return [peer.ping("10.0.0.1"), peer.ping("fd00::1"), pod.ping("10.0.0.2"), pod.ping("fd00::2")];
}

describe.skipIf(unavailable)("the policies of an interface in a VRF", () => {
  test("PO-11: packets to the pod and from it are judged as those of any other interface", async () => {
    expect(await answered(undefined)).toEqual([true, true, true, true]);
    expect(await answered({ podSelector: {}, policyTypes: ["Ingress"] })).toEqual([false, false, true, true]);
    expect(await answered({ podSelector: {}, policyTypes: ["Egress"] })).toEqual([true, true, false, false]);
    expect(await answered(from("ui"))).toEqual([false, false, false, false]);
    expect(await answered(from("db"))).toEqual([true, true, true, true]);
  });
});
