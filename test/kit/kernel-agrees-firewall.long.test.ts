// The simulated firewall of a node against the kernel: the same requests succeed or fail with the same code in both, and leave the same rules.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Firewall, firewallFor } from "../../host/capabilities/firewall/scope.ts";
import type { FirewallCondition, FirewallPortMapping, FirewallRules } from "../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { createRuleNode, type RuleNode } from "../lab/rule-node.ts";
import { callWith } from "../node/shim/testing/scripted-engine.ts";
import { openWorkshop, type Workshop } from "../node/shim/testing/workshop.ts";
import { command, missing, privateNamespaces } from "../lab/requires.ts";
import { MemoryFirewall, RuleTable } from "../../delegates/sdk/testing/memory-firewall.ts";
import type { DelegateCall } from "../../delegates/sdk/testing/records.ts";

/** `further`: a second attachment of the pod `one`. */
type Pod = "one" | "two" | "further";
type Request<Name extends keyof Firewall> = readonly [Pod, DelegateCall["verb"], Name, ...Parameters<Firewall[Name]>];
type AnyRequest = { [Name in keyof Firewall]: Request<Name> }[keyof Firewall];

const facts = {
  one: { addresses: ["10.1.0.5/24", "fd00:1::5/64", "10.1.0.6"], hostVeths: ["veth1"] },
  two: { addresses: ["10.1.0.7/24", "fd00:1::7/64"], hostVeths: ["veth2"] },
  further: { addresses: ["10.1.0.8/24"], hostVeths: ["veth3"] },
} as const;
const mac = "0a:58:0a:01:00:05";

const mapping = (more: Partial<FirewallPortMapping> = {}): FirewallPortMapping => ({
  protocol: "tcp",
  hostPort: 8080,
  podAddress: "10.1.0.5/24",
  podPort: 80,
  masquerading: "local",
  ...more,
});
const ports = (...mappings: readonly FirewallPortMapping[]): FirewallRules => ({ masquerades: [], portMappings: [...mappings] });
const masquerades = (...addresses: readonly string[]): FirewallRules => ({
  masquerades: addresses.map((address) => ({ address })),
  portMappings: [],
});
const nothing = ports();
const ofTwo = (more: Partial<FirewallPortMapping> = {}): FirewallRules => ports(mapping({ podAddress: "10.1.0.7/24", ...more }));
const ofFurther = (more: Partial<FirewallPortMapping> = {}): FirewallRules =>
  ports(mapping({ podAddress: "10.1.0.8/24", ...more }));
const restricted = (verb: "add" | "check", rules: FirewallRules, ...conditions: readonly FirewallCondition[]): AnyRequest =>
  verb === "add" ? ["one", verb, "replaceRestricted", rules, conditions] : ["one", verb, "checkRestricted", rules, conditions];
const notTo = (network: string, more: Partial<FirewallCondition> = {}): FirewallCondition => ({
  side: "destination",
  negated: true,
  network,
  ...more,
});
const replace = (rules: FirewallRules, pod: Pod = "one"): AnyRequest => [pod, "add", "replace", rules];
const check = (rules: FirewallRules, pod: Pod = "one"): AnyRequest => [pod, "check", "check", rules];
const remove = (pod: Pod = "one"): AnyRequest => [pod, "del", "remove"];
const retain = (...pods: readonly Pod[]): AnyRequest => ["one", "gc", "retain", pods.map(attachmentOf)];

const both = ports(mapping(), mapping({ hostPort: 53, protocol: "udp", podPort: 5353, masquerading: "none" }));
const at = { hostAddress: "192.0.2.1" };
const scenarios: readonly (readonly [about: string, requests: readonly AnyRequest[]])[] = [
  [
    "rules are installed, recognized, replaced and removed",
    [replace(both), check(both), replace(ports(mapping())), check(both), remove(), remove()],
  ],
  [
    "no rules are the same as absent rules",
    [check(nothing), replace(nothing), check(nothing), retain(), replace(both), replace(nothing), retain()],
  ],
  ["rules in another order are others", [replace(both), check(ports(...both.portMappings.toReversed()))]],
  [
    "rules of one family in their order, whatever the order of the families",
    [
      replace(ports(mapping(), mapping({ podAddress: "fd00:1::5/64" }))),
      check(ports(mapping({ podAddress: "fd00:1::5/64" }), mapping())),
    ],
  ],
  ["an address in another spelling is the same", [replace(masquerades("fd00:1::5/64")), check(masquerades("fd00:1:0::5/64"))]],
  ["another prefix length is another rule", [replace(masquerades("10.1.0.5/24")), check(masquerades("10.1.0.5/16"))]],
  ["another kind of masquerading is another rule", [replace(ports(mapping())), check(ports(mapping({ masquerading: "all" })))]],
  [
    "a port of another attachment",
    [replace(ports(mapping())), replace(ofTwo(), "two"), check(ofTwo(), "two"), check(ports(mapping()))],
  ],
  [
    "FI-10: a port of the pod's first attachment is shared by its second, and by no other pod until both are gone",
    [
      replace(ports(mapping())),
      replace(ofFurther(), "further"),
      check(ofFurther(), "further"),
      replace(ofTwo(), "two"),
      remove(),
      check(ofFurther(), "further"),
      replace(ofTwo(), "two"),
      replace(ports(mapping())),
      check(ports(mapping())),
      remove("further"),
      replace(ofTwo(), "two"),
      remove(),
      replace(ofTwo(), "two"),
      replace(ofFurther(), "further"),
    ],
  ],
  [
    "FI-10: a port at all addresses and at one, of two attachments of a pod",
    [
      replace(ports(mapping())),
      replace(ofFurther(at), "further"),
      check(ofFurther(at), "further"),
      remove(),
      replace(ofTwo(), "two"),
      replace(ports(mapping())),
      remove("further"),
      replace(ofTwo(), "two"),
      replace(ofFurther(), "further"),
      remove(),
      retain("one"),
      replace(ofTwo(), "two"),
    ],
  ],
  [
    "FI-10: GC leads a shared port to the attachment that remains",
    [
      replace(both),
      replace(ofFurther(), "further"),
      retain("further", "two"),
      check(ofFurther(), "further"),
      replace(ofTwo(), "two"),
      replace(both),
      retain("two"),
      replace(ofTwo(), "two"),
    ],
  ],
  [
    "FI-23: conditions of port mappings are part of the rules",
    [
      restricted("add", both, notTo("10.96.0.0/12"), notTo("192.0.2.0/24", { side: "source" })),
      restricted("check", both, notTo("10.96.0.0/12"), notTo("192.0.2.0/24", { side: "source" })),
      restricted("check", both, notTo("10.96.0.1/12"), notTo("192.0.2.0/24", { side: "source" })),
      restricted("check", both, notTo("10.96.0.0/12")),
      restricted("check", both, notTo("10.96.0.0/12", { negated: false })),
      restricted("check", both, notTo("10.96.0.0/16")),
      check(both),
      restricted("add", both, notTo("fd00:10:96::/108")),
      check(both),
      restricted("add", ports(mapping({ podAddress: "fd00:1::5/64" })), notTo("fd00:10:96::/108"), notTo("10.96.0.0/12")),
      restricted("check", ports(mapping({ podAddress: "fd00:1::5/64" })), notTo("fd00:10:96::/108")),
      remove(),
    ],
  ],
  [
    "FI-23: conditions that are none",
    [
      restricted("add", both, notTo("10.96.0.0")),
      restricted("add", both, notTo("node")),
      restricted("add", both, notTo("10.96.0.0/12"), notTo("10.1.0.0/16")),
      restricted("add", both),
      check(both),
    ],
  ],
  ["a port of another protocol", [replace(ports(mapping())), replace(ofTwo({ protocol: "udp" }), "two")]],
  ["a port of the other family", [replace(ports(mapping())), replace(ofTwo({ podAddress: "fd00:1::7/64" }), "two")]],
  ["a port at one address, after the port at all", [replace(ports(mapping())), replace(ofTwo(at), "two")]],
  ["a port at all addresses, after the port at one", [replace(ports(mapping(at))), replace(ofTwo(), "two")]],
  [
    "a port at two addresses",
    [replace(ports(mapping(at))), replace(ofTwo({ hostAddress: "192.0.2.2" }), "two"), replace(ofTwo(at), "two")],
  ],
  [
    "a failed request keeps the earlier rules",
    [
      replace(ofTwo({ hostPort: 1 }), "two"),
      replace(ports(mapping())),
      replace(ofTwo(), "two"),
      check(ofTwo({ hostPort: 1 }), "two"),
    ],
  ],
  [
    "one port twice in one request",
    [replace(ports(mapping(), mapping({ podPort: 81 }))), check(ports(mapping(), mapping({ podPort: 81 })))],
  ],
  [
    "two masquerades",
    [
      replace(masquerades("10.1.0.5/24", "10.1.0.6/24")),
      check(masquerades("10.1.0.5/24", "10.1.0.6/24")),
      check(masquerades("10.1.0.5/24")),
    ],
  ],
  [
    "an address that is not the attachment's",
    [replace(masquerades("10.1.0.9/24")), replace(ofTwo()), check(masquerades("10.1.0.9/24"))],
  ],
  [
    "texts that are no addresses",
    [replace(masquerades("10.1.0.5")), replace(masquerades("pod")), replace(ports(mapping({ hostAddress: "node" })))],
  ],
  [
    "ports and addresses of zeros",
    [
      replace(ports(mapping({ hostPort: 0 }))),
      replace(ports(mapping({ podPort: 0 }))),
      replace(ports(mapping({ hostAddress: "0.0.0.0" }))),
    ],
  ],
  ["a host address of the other family", [replace(ports(mapping({ hostAddress: "2001:db8::1" })))]],
  [
    "GC removes the rules and guards of attachments that are gone, and counts each attachment once",
    [
      replace(both),
      ["one", "add", "guardFrames", "veth1", mac],
      replace(ofTwo({ hostPort: 1 }), "two"),
      retain("two"),
      retain("two"),
      retain(),
    ],
  ],
  [
    "a guard is recognized, and is replaced by the next",
    [
      ["one", "add", "framesGuarded", "veth1", mac],
      ["one", "add", "guardFrames", "veth1", mac],
      ["one", "check", "framesGuarded", "veth1", mac],
      ["one", "check", "framesGuarded", "veth1", "0a:58:0a:01:00:06"],
      ["one", "add", "guardFrames", "veth1", "0a:58:0a:01:00:06"],
      replace(both),
      ["one", "check", "framesGuarded", "veth1", "0a:58:0a:01:00:06"],
      remove(),
    ],
  ],
  [
    "guards of other links and of no MAC",
    [
      ["one", "add", "guardFrames", "veth2", mac],
      ["one", "add", "guardFrames", "veth1", "0A:58:0a:01:00:05"],
      ["one", "check", "framesGuarded", "veth1", "mac"],
    ],
  ],
  [
    "verbs that may not change rules",
    [
      ["one", "del", "replace", both],
      ["one", "check", "replace", both],
      ["one", "del", "check", nothing],
      ["one", "check", "remove"],
      ["one", "del", "guardFrames", "veth1", mac],
      ["one", "del", "framesGuarded", "veth1", mac],
      ["one", "add", "retain", []],
      ["one", "gc", "remove"],
      ["one", "status", "check", nothing],
      ["one", "status", "probe"],
      ["one", "add", "probe"],
    ],
  ],
];

/** Rules and guards whose presence shows the state after each request. */
const probes: readonly AnyRequest[] = [
  ...[nothing, both, ports(mapping()), ports(mapping(at)), masquerades("10.1.0.5/24")].map((rules) => check(rules)),
  ...[nothing, ofTwo(), ofTwo(at), ofTwo({ hostPort: 1 })].map((rules) => check(rules, "two")),
  ...[nothing, ofFurther(), ofFurther(at)].map((rules) => check(rules, "further")),
  ["one", "check", "framesGuarded", "veth1", mac],
];

describe.skipIf(missing("the kernel against the simulated firewall", privateNamespaces, command("nft", "--version")))(
  "X-7: the simulated firewall agrees with the kernel",
  () => {
    let shop: Workshop;
    let node: RuleNode;
    beforeAll(async () => {
      shop = await openWorkshop();
      node = createRuleNode();
    });
    afterAll(() => {
      shop.dispose();
      node.dispose();
    });
    afterEach(() => void node.nft(["flush", "ruleset"]));

    test.each(scenarios)("%s", async (_about, requests) => {
      const table = new RuleTable();
      const [inKernel, inMemory]: [unknown[], unknown[]] = [[], []];
      await callWith(
        async (engine) => {
          for (const request of requests.flatMap((each) => [each, ...probes])) {
            const [pod, verb] = request;
            const attachment = verb === "gc" || verb === "status" ? undefined : attachmentOf(pod);
            const scope = { type: "portmap", network: "pods", grant: { masquerade: true, hostPorts: ["1-65535"] }, verb };
            const kernel = firewallFor(
              { ...scope, facts: facts[pod], ...(attachment === undefined ? {} : { attachment }) },
              engine,
            );
            const memory = new MemoryFirewall(undefined, { verb, attachment, facts: facts[pod] }, table).functions;
            inKernel.push([request, shown(await ask(kernel, request))]);
            inMemory.push([request, shown(await ask(memory, request))]);
          }
        },
        { shim: shop.shim, netns: node.path },
      );
      expect(inMemory).toEqual(inKernel);
    });
  },
);

function attachmentOf(pod: Pod): { readonly containerId: string; readonly ifname: string } {
  return pod === "further" ? { containerId: "one", ifname: "net1" } : { containerId: pod, ifname: "eth0" };
}

/** Sends the request to either firewall. */
function ask(firewall: Readonly<Record<keyof Firewall, (...parameters: never[]) => unknown>>, request: AnyRequest): unknown {
  const [, , name, ...parameters] = request;
  return firewall[name](...(parameters as never[]));
}

/** The answer without the texts of faults. */
function shown(answer: unknown): unknown {
  if (typeof answer !== "object" || answer === null) throw new Error("no answer");
  if (!("err" in answer)) return answer;
  const { err } = answer;
  return typeof err === "object" && err !== null && "code" in err ? { fails: err.code } : answer;
}
