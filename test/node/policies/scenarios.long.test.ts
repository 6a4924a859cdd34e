// The scenarios of other projects' end-to-end tests, with real connections between pods' network namespaces, in both families.

import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { replaceTable } from "../../../features/policies/node/pod-table.ts";
import { appliedPolicies } from "../../../features/policies/rules/applied-policies.ts";
import { compile } from "../../../features/policies/rules/compile.ts";
import { finds, type FindPeers } from "../../../features/policies/rules/peers.ts";
import type { PolicyTable } from "../../../features/policies/rules/table.ts";
import { address, readable } from "../../../features/policies/rules/testing/policy-objects.ts";
import { createPodNamespace, inHost, missingPrivateNamespaces, type PodNamespace } from "../../lab/namespaces.ts";
import { command, missing } from "../../lab/requires.ts";
import { callWith } from "../shim/testing/scripted-engine.ts";
import { openWorkshop, type Workshop } from "../shim/testing/workshop.ts";
import { namespaces, type Scenario, type ScenarioPod, scenarios } from "./testing/scenarios.ts";

const reach = join(import.meta.dirname, "testing", "reach.mjs");
const places = 6;
const first = 11;
const network = "shop/red";
const unavailable = missing("scenarios of policies", missingPrivateNamespaces, command("nft", "--version"));

let shop: Workshop;
let wire: PodNamespace;
const pods: PodNamespace[] = [];
const servers: ChildProcessWithoutNullStreams[] = [];

const addressesOf = (place: number): readonly [v4: string, v6: string] => [`10.0.0.${first + place}`, `fd00::${first + place}`];
const entering = (place: number): string[] => [`--net=${pods[place]?.path}`, "--"];

/** Remembers the packets that passed the pod's policies. */
const witness = `table inet witness {
  set seen4 { type ipv4_addr . inet_proto . inet_service; flags dynamic; size 65535; }
  set seen6 { type ipv6_addr . inet_proto . inet_service; flags dynamic; size 65535; }
  chain in { type filter hook input priority 100; ct state new add @seen4 { ip saddr . meta l4proto . th dport }; ct state new add @seen6 { ip6 saddr . meta l4proto . th dport }; }
}`;

beforeAll(async () => {
  if (unavailable) return;
  shop = await openWorkshop();
  wire = createPodNamespace("wire");
  inHost(["sh", "-ec", `ip -n ${wire.name} link add name sw0 type bridge; ip -n ${wire.name} link set sw0 up`]);
  for (let place = 0; place < places; place++) {
    const pod = createPodNamespace("scenario");
    pods.push(pod);
    const [v4, v6] = addressesOf(place);
    inHost([
      "sh",
      "-ec",
      `ip -n ${pod.name} link add net1 type veth peer name p${place} netns ${wire.name}
       ip -n ${wire.name} link set p${place} master sw0 up; ip -n ${pod.name} link set lo up
       ip -n ${pod.name} addr add ${v4}/24 dev net1; ip -n ${pod.name} addr add ${v6}/64 dev net1 nodad; ip -n ${pod.name} link set net1 up`,
    ]);
    const server = spawn("nsenter", [...entering(place), process.execPath, reach, "serve"]);
    servers.push(server);
    for await (const line of createInterface({ input: server.stdout })) if (line === "ready") break;
  }
});
afterAll(() => {
  for (const server of servers) server.kill("SIGKILL");
  for (const pod of pods) pod.dispose();
  wire?.dispose();
  shop?.dispose();
});

/** The table of one pod of a scenario, as its node makes it. */
function tableOf({ pods: all, policies }: Scenario, { namespace = "shop", labels }: ScenarioPod): PolicyTable | undefined {
  const link = { ifname: "net1", networks: [network] };
  const read = policies.map((spec, index) =>
    readable({
      metadata: { namespace: "shop", name: `p${index}`, annotations: { "k8s.v1.cni.cncf.io/policy-for": network } },
      spec,
    }),
  );
  const findPeers: FindPeers = (query) =>
    Object.values(all).flatMap((each, place) => {
      const { namespace: own = "shop" } = each;
      const namespaceLabels = new Map(Object.entries(namespaces[own] ?? {}));
      const isPeer = finds(query, { namespace: own, namespaceLabels, labels: new Map(Object.entries(each.labels)) });
      return isPeer ? [{ addresses: addressesOf(place).map(address), ports: [] }] : [];
    });
  const applied = appliedPolicies(read, { namespace, labels: new Map(Object.entries(labels)) }, link);
  const interfaces = applied.policies.length === 0 ? [] : [{ link, policies: applied.policies }];
  const table = compile({ interfaces, ports: [], findPeers, established: "keep" });
  if (!table.ok) throw new Error(table.problem);
  return table.value;
}

interface Connection {
  readonly text: string;
  readonly from: number;
  readonly to: number;
  readonly protocol: "tcp" | "udp";
  readonly port: string;
  readonly isAllowed: boolean;
}

function connectionsOf({ pods: all, passes, stops }: Scenario): readonly Connection[] {
  const names = Object.keys(all);
  const read = (text: string, isAllowed: boolean): Connection => {
    const [from = "", to = "", target = ""] = text.split(" ");
    const [port = "", protocol] = target.split("/");
    const ends = { from: names.indexOf(from), to: names.indexOf(to) };
    return { text, ...ends, protocol: protocol === "udp" ? "udp" : "tcp", port, isAllowed };
  };
  return [...passes.map((text) => read(text, true)), ...stops.map((text) => read(text, false))];
}

/** The connections to these addresses that were answered, and those whose first packet passed the policies of the other end. */
function tried(
  from: number,
  connections: readonly Connection[],
  family: 0 | 1,
): { readonly answered: string[]; readonly arrived: string[] } {
  const targetOf = ({ to, protocol, port }: Connection): string => `${protocol}/${addressesOf(to)[family]}/${port}`;
  const count = connections.filter(({ isAllowed }) => isAllowed).length;
  const args = [...entering(from), process.execPath, reach, "ask", String(count), ...connections.map(targetOf)];
  const answers: string[] = JSON.parse(spawnSync("nsenter", args, { encoding: "utf8" }).stdout);
  const arrived = connections.filter(({ to, protocol, port }) => {
    const listed = pods[to]?.exec(["nft", "-n", "list", "table", "inet", "witness"]).stdout ?? "";
    return listed.includes(`${addressesOf(from)[family]} . ${protocol === "tcp" ? 6 : 17} . ${port}`);
  });
  return {
    answered: connections.filter((each) => answers.includes(targetOf(each))).map(({ text }) => text),
    arrived: arrived.map(({ text }) => text),
  };
}

describe.skipIf(unavailable)("scenarios of multi-networkpolicy-nftables and multi-networkpolicy-iptables", () => {
  test.each(scenarios.map((scenario) => [scenario.name, scenario] as const))("PO-21: %s", async (_, scenario) => {
    await callWith(
      async (shim) => {
        for (const [place, pod] of pods.entries()) {
          const own = Object.values(scenario.pods)[place];
          const table = own === undefined ? undefined : tableOf(scenario, own);
          expect(await replaceTable(shim, pod.path, table)).toEqual({ ok: true, value: undefined });
          const input = `table inet witness\ndelete table inet witness\n${witness}`;
          expect(spawnSync("nsenter", [...entering(place), "nft", "-f", "-"], { input, encoding: "utf8" }).stderr).toBe("");
        }
      },
      { shim: shop.shim },
    );
    const connections = connectionsOf(scenario);
    for (const family of [0, 1] as const) {
      for (const [from, own] of Map.groupBy(connections, (each) => each.from)) {
        const allowed = own.filter(({ isAllowed }) => isAllowed).map(({ text }) => text);
        const { answered, arrived } = tried(from, own, family);
        expect([answered, arrived]).toEqual([allowed, allowed]);
      }
    }
  });
});
