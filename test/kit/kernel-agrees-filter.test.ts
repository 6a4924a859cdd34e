// The simulated acceptances against the kernel: the same requests get the same answers in both.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { filterFor } from "../../host/capabilities/filter/scope.ts";
import type { FilterAcceptance, FilterCapability } from "../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { FilterTable, MemoryFilter } from "../../delegates/sdk/testing/memory-filter.ts";
import { cniVerb, type DelegateCall } from "../../delegates/sdk/testing/records.ts";
import { createRuleNode } from "../lab/rule-node.ts";
import { callWith } from "../node/shim/testing/scripted-engine.ts";
import { openWorkshop, type Workshop } from "../node/shim/testing/workshop.ts";
import { command, missing, privateNamespaces } from "../lab/requires.ts";

type Verb = DelegateCall["verb"];
type Pod = "one" | "two";
type Request = {
  readonly [F in keyof FilterCapability]: readonly [Pod, Verb, F, ...Parameters<FilterCapability[F]>];
}[keyof FilterCapability];

const addresses = { one: ["10.1.0.5/24", "fd00:1::5"], two: ["10.1.0.7"] } as const;
const accept = (pod: Pod, more: Partial<FilterAcceptance> = {}): FilterAcceptance => ({
  addresses: [...addresses[pod]],
  adminChain: "CNI-ADMIN",
  ingress: "open",
  bridge: undefined,
  ...more,
});
const replace = (pod: Pod, more?: Partial<FilterAcceptance>): Request => [pod, "add", "replace", accept(pod, more)];
const compare = (pod: Pod, more?: Partial<FilterAcceptance>): Request => [pod, "check", "difference", accept(pod, more)];
const idOf = (pod: Pod) => ({ containerId: pod, ifname: "eth0" });

const separated: readonly Partial<FilterAcceptance>[] = [
  { ingress: "same-bridge", bridge: "br0" },
  { ingress: "isolated", bridge: "br0" },
  { ingress: "same-bridge", bridge: "br1" },
];
const wrong: readonly Partial<FilterAcceptance>[] = [
  { addresses: ["10.1.0.99"] },
  { addresses: ["10.1.0.x"] },
  { adminChain: "INPUT" },
  { adminChain: "CNI-FORWARD" },
  { adminChain: "" },
  { adminChain: "-A" },
  { adminChain: "A".repeat(29) },
  { ingress: "isolated" },
  { ingress: "isolated", bridge: "br+" },
  { ingress: "isolated", bridge: "*" },
];

const requests: readonly Request[] = [
  ["one", "status", "probe"],
  compare("one"),
  ["one", "del", "remove"],
  replace("one"),
  compare("one"),
  replace("one"),
  compare("one"),
  compare("two"),
  compare("one", { adminChain: "SITE" }),
  replace("one", { adminChain: "SITE" }),
  compare("one", { adminChain: "SITE" }),
  replace("one", { addresses: ["10.1.0.5"] }),
  compare("one"),
  compare("one", { addresses: ["10.1.0.5/24"] }),
  ...separated.map((each) => compare("one", each)),
  ...separated.flatMap((each) => [replace("one", each), ...separated.map((other) => compare("one", other)), compare("one")]),
  ...wrong.map((each) => replace("one", each)),
  replace("two"),
  compare("two"),
  ["one", "add", "retain", []],
  ["one", "del", "replace", accept("one")],
  ["one", "del", "difference", accept("one")],
  ["one", "check", "remove"],
  ["one", "gc", "remove"],
  ["one", "gc", "retain", [idOf("one"), idOf("two")]],
  ["one", "gc", "retain", [idOf("one")]],
  compare("one"),
  compare("two"),
  replace("one", { addresses: [] }),
  compare("one"),
  replace("one"),
  ["one", "del", "remove"],
  ["one", "del", "remove"],
  compare("one"),
  ["one", "gc", "retain", []],
];

const call = (capability: object, [, , name, ...parameters]: Request): unknown =>
  Reflect.apply(Reflect.get(capability, name), undefined, parameters);

/** The answer without the texts of faults and absent members. */
function shown(answer: unknown): unknown {
  const json = JSON.parse(JSON.stringify(answer));
  return "err" in json ? { fails: json.err.code } : json;
}

describe.skipIf(missing("the kernel against simulated acceptances", privateNamespaces, command("nft", "-v")))(
  "X-7: filter in the kernel and simulated",
  () => {
    let shop: Workshop;
    beforeAll(async () => {
      shop = await openWorkshop();
    });
    afterAll(() => shop.dispose());

    test("the same answers to each request", async () => {
      const node = createRuleNode();
      try {
        const table = new FilterTable();
        await callWith(
          async (engine) => {
            for (const [at, request] of requests.entries()) {
              const [pod, verb] = request;
              const attachment = verb === "gc" || verb === "status" ? undefined : idOf(pod);
              const scope = { verb: cniVerb(verb), attachment, facts: { addresses: addresses[pod] } };
              const grant = { bridges: ["*"], adminChains: ["*"] };
              const kernel = filterFor({ ...scope, type: "firewall", network: "pods", grant }, engine);
              const expected = shown(await call(kernel, request));
              const simulated = new MemoryFilter({}, scope, table).functions;
              expect([at, request, shown(call(simulated, request))]).toEqual([at, request, expected]);
            }
          },
          { shim: shop.shim, netns: node.path },
        );
      } finally {
        node.dispose();
      }
    });
  },
);
