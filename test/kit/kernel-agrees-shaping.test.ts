// The simulated shapes against the kernel: the same requests get the same answers in both.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Shaping, shapingFor } from "../../host/capabilities/shaping/scope.ts";
import type { ShapingCapability, ShapingShape } from "../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { MemoryShaping } from "../../delegates/sdk/testing/memory-shaping.ts";
import { cniVerb, type DelegateCall } from "../../delegates/sdk/testing/records.ts";
import { callWith } from "../node/shim/testing/scripted-engine.ts";
import { openWorkshop, type Workshop } from "../node/shim/testing/workshop.ts";
import { createPodNamespace } from "../lab/namespaces.ts";
import { iproute2, linkType, missing, privateNamespaces } from "../lab/requires.ts";
import { trafficControl } from "../lab/traffic-control.ts";

type Verb = DelegateCall["verb"];
type Request = {
  readonly [F in keyof ShapingCapability]: readonly [Verb, F, ...Parameters<ShapingCapability[F]>];
}[keyof ShapingCapability];

const bucket = { rate: 8_000_000, burst: 800_000, latency: 25 };
const slow = { ...bucket, rate: 16_000 };
const shape = (more: Partial<ShapingShape> = {}): ShapingShape => ({
  ingress: bucket,
  egress: { ...bucket, rate: 4_000_000 },
  networks: [],
  exempt: [],
  ...more,
});
const networks = ["10.1.2.3/16", "fd00::/9"];
/** Each shape is made once, and compared with all of them. */
const shapes: readonly ShapingShape[] = [
  shape(),
  shape({ egress: undefined }),
  shape({ ingress: slow }),
  shape({ ingress: undefined, egress: { ...bucket, latency: 50 } }),
  shape({ networks }),
  shape({ networks: ["10.1.0.0/16"] }),
  shape({ networks: ["10.1.0.0/16", "fe00::/9"] }),
  shape({ exempt: networks }),
  shape({ ingress: undefined, egress: undefined }),
];
const wrong: readonly ShapingShape[] = [
  shape({ ingress: { ...bucket, rate: 7 } }),
  shape({ egress: { ...bucket, burst: 8 * 2 ** 32 } }),
  shape({ networks: ["10.1.0.0"] }),
  shape({ networks, exempt: ["10.3.0.0/16"] }),
  shape({ exempt: Array.from({ length: 65 }, (_, at) => `10.${at}.0.0/16`) }),
];
const one = { containerId: "one", ifname: "eth0" };

const requests: readonly Request[] = [
  ["add", "nodeLink"],
  ["add", "usage"],
  ["check", "difference", shape()],
  ...shapes.flatMap((made): readonly Request[] => [
    ["add", "replace", made],
    ...shapes.map((each): Request => ["check", "difference", each]),
  ]),
  ["add", "replace", shape()],
  ["check", "usage"],
  ...wrong.map((each): Request => ["add", "replace", each]),
  ["check", "difference", shape()],
  ["del", "replace", shape()],
  ["del", "nodeLink"],
  ["del", "difference", shape()],
  ["check", "remove"],
  ["add", "retain", []],
  ["gc", "remove"],
  ["gc", "retain", [one]],
  ["gc", "retain", []],
  ["gc", "retain", []],
  ["add", "replace", shape({ egress: undefined })],
  ["del", "remove"],
  ["del", "remove"],
  ["check", "difference", shape()],
];

const call = (capability: object, [, name, ...parameters]: Request): unknown =>
  Reflect.apply(Reflect.get(capability, name), undefined, parameters);

/** The answer without the texts of faults, the devices' MACs and absent members. */
function shown(answer: unknown): unknown {
  const json = JSON.parse(JSON.stringify(answer, (key, value: unknown) => (key === "mac" ? undefined : value)));
  return "err" in json ? { fails: json.err.code } : json;
}

describe.skipIf(missing("the kernel against simulated shapes", privateNamespaces, iproute2, linkType("veth"), trafficControl))(
  "X-7: shaping in the kernel and simulated",
  () => {
    let shop: Workshop;
    beforeAll(async () => {
      shop = await openWorkshop();
    });
    afterAll(() => shop.dispose());

    test("the same answers to each request", async () => {
      const [node, pod] = [createPodNamespace("shape-node"), createPodNamespace("shape-pod")];
      try {
        // IPv6 sends packets of its own when a link comes up, and the counters have them.
        for (const each of [node, pod]) each.exec(["sh", "-c", "echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6"]);
        node.exec(["ip", "link", "add", "veth1", "type", "veth", "peer", "name", "eth0", "netns", pod.name]);
        const made = new Map<string, ShapingShape>();
        const scopeOf = (verb: Verb) => ({
          verb: cniVerb(verb),
          attachment: verb === "gc" ? undefined : one,
          network: "pods",
        });
        const kernel = (engine: Parameters<typeof shapingFor>[1], verb: Verb): Shaping =>
          shapingFor({ ...scopeOf(verb), type: "bandwidth", netns: verb === "gc" ? "" : pod.path }, engine);
        await callWith(
          async (engine) => {
            for (const [at, request] of requests.entries()) {
              const expected = shown(await call(kernel(engine, request[0]), request));
              const simulated = new MemoryShaping({}, { ...scopeOf(request[0]), nodeLink: () => "veth1" }, made).functions;
              expect([at, request, shown(call(simulated, request))]).toEqual([at, request, expected]);
              // The kernel's qdiscs of `ingress` end with the veth only.
              if (request[1] === "retain" && made.size === 0) node.exec(["tc", "qdisc", "del", "dev", "veth1", "root"]);
            }
          },
          { shim: shop.shim, netns: node.path },
        );
      } finally {
        node.dispose();
        pod.dispose();
      }
    });
  },
);
