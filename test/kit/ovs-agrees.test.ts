// The simulated ports against a real Open vSwitch: the same requests succeed or fail with the same code in both, and leave the same ports.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ovsFor } from "../../host/capabilities/ovs/scope.ts";
import type { Verb } from "../../src/cni/environment.ts";
import { missingOpenVswitch, type OpenVswitch, startOpenVswitch } from "../lab/neutron/open-vswitch.ts";
import { missing } from "../lab/requires.ts";
import { MemoryOvs, type MemoryPort } from "../../delegates/sdk/testing/memory-ovs.ts";
import { systemClock } from "../../host/system/clock.ts";

const wanted = { bridge: "br-int", link: "veth1", interfaceId: "mine", mac: "FA:16:3E:00:00:01" };
const facts = { hostVeths: ["veth1", "veth2"] };
const config = JSON.stringify({ runtimeConfig: { externalPort: { binding: { type: "ovs", interfaceId: "mine" } } } });
type Name = keyof MemoryOvs["functions"];
type Request = readonly [verb: Verb, pod: string, func: Name, ...args: unknown[]];

const requests: readonly Request[] = [
  ["ADD", "one", "addPort", wanted],
  ["ADD", "one", "addPort", wanted],
  ["ADD", "one", "addPort", { ...wanted, mac: "fa:16:3e:00:00:02" }],
  ["ADD", "two", "addPort", wanted],
  ["ADD", "one", "addPort", { ...wanted, link: "eth0" }],
  ["ADD", "one", "addPort", { ...wanted, link: "veth2", bridge: "br-ex" }],
  ["ADD", "one", "addPort", { ...wanted, link: "veth2", interfaceId: "other" }],
  ["ADD", "one", "addPort", { ...wanted, link: "veth2", mac: "none" }],
  ["DEL", "one", "addPort", wanted],
  ["CHECK", "one", "removePorts"],
  ["CHECK", "two", "port", "veth1"],
  ["CHECK", "one", "settle", "veth2", 1],
  ["DEL", "two", "removePort", "veth1"],
  ["DEL", "two", "removePort", "no link"],
  ["CHECK", "two", "port", "a-name-that-is-too-long"],
  ["DEL", "two", "removePorts"],
  ["ADD", "two", "addPort", { ...wanted, link: "veth2" }],
  ["ADD", "two", "retain", []],
  ["GC", "", "ports"],
  ["GC", "", "retain", [{ containerId: "one", ifname: "net1" }]],
  ["STATUS", "", "probe"],
  ["DEL", "one", "removePort", "veth1"],
  ["DEL", "one", "removePort", "veth1"],
  ["ADD", "one", "addPort", wanted],
  ["ADD", "one", "addPort", { ...wanted, link: "veth2" }],
  ["DEL", "one", "removePorts"],
  ["DEL", "one", "removePorts"],
  ["ADD", "one", "addPort", { ...wanted, interfaceId: "" }],
  ["ADD", "one", "addPort", { ...wanted, interfaceId: "", tag: 8 }],
  ["ADD", "one", "addPort", { ...wanted, interfaceId: "", trunks: [] }],
  ["ADD", "one", "addPort", { ...wanted, interfaceId: "", tag: 7 }],
  ["ADD", "one", "addPort", { ...wanted, interfaceId: "", tag: 7 }],
  ["ADD", "one", "addPort", { ...wanted, interfaceId: "" }],
  [
    "ADD",
    "one",
    "addPort",
    {
      ...wanted,
      link: "veth2",
      trunks: [
        { first: 10, last: 10 },
        { first: 11, last: 12 },
      ],
      number: 9,
    },
  ],
  ["ADD", "one", "addPort", { ...wanted, link: "veth2", trunks: [{ first: 10, last: 12 }], number: 9 }],
  ["ADD", "one", "addPort", { ...wanted, link: "veth2" }],
  ["ADD", "one", "addPort", { ...wanted, link: "veth2", trunks: [{ first: 10, last: 11 }] }],
  ["ADD", "one", "addPort", { ...wanted, link: "veth2", number: 8 }],
  ["ADD", "one", "addPort", { ...wanted, link: "veth2", number: 70_000 }],
  ["DEL", "one", "removePorts"],
];

const verbs = { ADD: "add", DEL: "del", CHECK: "check", GC: "gc", STATUS: "status", VERSION: "status" } as const;
const attachmentOf = (pod: string) => (pod === "" ? undefined : { containerId: pod, ifname: "net1" });

describe.skipIf(missing("ports in memory and in Open vSwitch", missingOpenVswitch))("the simulated ports", () => {
  let ovs: OpenVswitch;
  beforeAll(async () => {
    ovs = await startOpenVswitch();
    ovs.vsctl("add-br", "br-int");
  });
  afterAll(() => ovs?.dispose());

  test("agree with a real Open vSwitch", async () => {
    const ports = new Map<string, MemoryPort>();
    for (const request of requests) {
      const [verb, pod, func, ...args] = request;
      const attachment = attachmentOf(pod);
      const grant = { bridges: ["br-int"], vlans: ["7", "10-12"], socket: ovs.socket };
      const scope = { type: "external-port", network: "backend", verb, attachment, grant, facts, maxMs: 60_000 };
      const real = ovsFor({ ...scope, providedInterfaceId: "mine" }, systemClock.now);
      const simulated = new MemoryOvs({ vlans: ["7", "10-12"] }, { verb: verbs[verb], attachment, facts, config }, ports)
        .functions;
      const expected = { request, answer: await answerOf(real, func, args), ports: ovs.vsctl("list-ports", "br-int") };
      const answer = await answerOf(simulated, func, args);
      expect({ request, answer, ports: [...ports.keys()].toSorted().join("\n") }).toEqual(expected);
    }
  });
});

/** The answer, or the code of its fault. */
async function answerOf(functions: object, func: Name, args: readonly unknown[]): Promise<unknown> {
  const called: unknown = Reflect.get(functions, func);
  if (typeof called !== "function") throw new Error(`${func} is missing`);
  const answer = await called(...args);
  return "err" in answer ? answer.err.code : answer;
}
