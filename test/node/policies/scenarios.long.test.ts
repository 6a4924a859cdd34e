// The scenarios of other projects' end-to-end tests, with real connections between network namespaces of pods, in both families.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { replaceTable } from "../../../features/policies/node/pod-table.ts";
import { createPodNamespace, inHost, missingPrivateNamespaces, type PodNamespace } from "../../lab/namespaces.ts";
import { demanded, judgeScenario } from "../../lab/policies/judge-scenario.ts";
import { type ReachServer, startReachServer } from "../../lab/policies/reach-server.ts";
import { addressesOf, castOf, networks, places, policiesOf, tableOf } from "../../lab/policies/scenario.ts";
import { scenarios } from "../../lab/policies/scenarios.ts";
import { command, missing } from "../../lab/requires.ts";
import { callWith } from "../shim/testing/scripted-engine.ts";
import { openWorkshop, type Workshop } from "../shim/testing/workshop.ts";

const unavailable = missing("scenarios of policies", missingPrivateNamespaces, command("nft", "--version"));

let shop: Workshop;
let wire: PodNamespace;
const pods: PodNamespace[] = [];
const servers: ReachServer[] = [];

beforeAll(async () => {
  if (unavailable) return;
  shop = await openWorkshop();
  wire = createPodNamespace("wire");
  for (const { name } of networks)
    inHost(["sh", "-ec", `ip -n ${wire.name} link add name ${name} type bridge; ip -n ${wire.name} link set ${name} up`]);
  for (const place of places) {
    const pod = createPodNamespace("scenario");
    pods.push(pod);
    for (const network of networks) {
      const [port, [v4, v6]] = [`${network.name}${place.host}`, addressesOf(place, network)];
      inHost([
        "sh",
        "-ec",
        `ip -n ${pod.name} link add ${network.ifname} type veth peer name ${port} netns ${wire.name}
         ip -n ${wire.name} link set ${port} master ${network.name} up; ip -n ${pod.name} link set lo up
         ip -n ${pod.name} addr add ${v4}/24 dev ${network.ifname}; ip -n ${pod.name} addr add ${v6}/64 dev ${network.ifname} nodad
         ip -n ${pod.name} link set ${network.ifname} up`,
      ]);
    }
  }
  servers.push(...(await Promise.all(pods.map(({ path }) => startReachServer(path)))));
});
afterAll(() => {
  for (const server of servers) server.stop();
  for (const pod of pods) pod.dispose();
  wire?.dispose();
  shop?.dispose();
});

describe.skipIf(unavailable)("scenarios of multi-networkpolicy-nftables and multi-networkpolicy-iptables", () => {
  test.each(scenarios.map((scenario) => [scenario.name, scenario] as const))("PO-21: %s", async (_, scenario) => {
    const cast = castOf(scenario);
    const policies = policiesOf(scenario, "policy");
    await callWith(
      async (shim) => {
        for (const [index, pod] of pods.entries()) {
          const own = cast[index];
          const table = own === undefined ? undefined : tableOf(policies, cast, own);
          expect(await replaceTable(shim, pod.path, table)).toEqual({ ok: true, value: undefined });
        }
      },
      { shim: shop.shim },
    );
    expect(await judgeScenario(scenario, cast, servers)).toEqual(demanded(scenario));
  });
});
