// The capability `routing` against the kernel, and the simulated rules against both: the same requests get the same answers, and leave the same rules.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { routingFor } from "../../host/capabilities/routing/scope.ts";
import type { RoutingCapability, RoutingRule } from "../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { MemoryRouting } from "../../delegates/sdk/testing/memory-routing.ts";
import { cniVerb, type DelegateCall } from "../../delegates/sdk/testing/records.ts";
import { callWith } from "../node/shim/testing/scripted-engine.ts";
import { openWorkshop, type Workshop } from "../node/shim/testing/workshop.ts";
import { createPodNamespace } from "../lab/namespaces.ts";
import { iproute2, linkType, missing, privateNamespaces } from "../lab/requires.ts";

type Verb = DelegateCall["verb"];
/** A request in a verb; the rest of the parameters are those of the function. */
type Request = {
  readonly [F in keyof RoutingCapability]: readonly [Verb, F, ...Parameters<RoutingCapability[F]>];
}[keyof RoutingCapability];

const from = (source: string, table: number, more: Partial<RoutingRule> = {}): RoutingRule => ({
  family: source.includes(":") ? "ipv6" : "ipv4",
  source,
  table,
  ...more,
});
const every = {
  destination: "10.8.0.0/16",
  incomingLink: "eth0",
  outgoingLink: "eth1",
  mark: { value: 1, mask: 255 },
  priority: 500,
};
const list: Request = ["check", "listRules", "pod"];

const scenarios: readonly (readonly [about: string, requests: readonly Request[]])[] = [
  [
    "rules of both families",
    [["add", "addRules", "pod", [from("10.1.0.5/32", 100), from("fd00::5/128", 100), from("10.1.0.6/32", 101)]], list],
  ],
  ["every condition", [["add", "addRules", "pod", [from("10.1.0.0/24", 70_000, every)]], list]],
  [
    "a mark of 0, and networks with host bits",
    [["add", "addRules", "pod", [from("10.1.0.9/24", 9, { mark: { value: 0, mask: 4 } })]], list],
  ],
  [
    "a rule that exists, and a rule twice",
    [
      ["add", "addRules", "pod", [from("10.1.0.5/32", 100)]],
      ["add", "addRules", "pod", [from("10.1.0.5/32", 100), from("10.1.0.7/32", 100), from("10.1.0.7/32", 100)]],
      ["add", "addRules", "pod", [from("10.1.0.5/32", 100, { priority: 10 })]],
      list,
    ],
  ],
  [
    "the removal of exactly these rules",
    [
      [
        "add",
        "addRules",
        "pod",
        [from("10.1.0.5/32", 100), from("10.1.0.5/32", 100, { incomingLink: "eth0" }), from("10.1.0.5/32", 100, { priority: 7 })],
      ],
      ["del", "deleteRules", "pod", [from("10.1.0.5/32", 100, { priority: 8 }), from("10.1.0.5/31", 100)]],
      list,
      ["del", "deleteRules", "pod", [from("10.1.0.5/32", 100)]],
      list,
      ["del", "deleteRules", "pod", [from("10.1.0.5/32", 100)]],
    ],
  ],
  [
    "free tables",
    [
      ["add", "addRules", "pod", [from("10.1.0.5/32", 100), from("fd00::5/128", 102)]],
      ["add", "freeTables", 3],
      ["add", "freeTables", 65],
    ],
  ],
  [
    "malformed rules",
    [
      ["add", "addRules", "pod", [from("10.1.0.5", 100)]],
      ["add", "addRules", "pod", [{ ...from("10.1.0.5/32", 100), family: "ipv6" }]],
      ["add", "addRules", "pod", [from("10.1.0.5/32", 0)]],
      ["add", "addRules", "pod", [from("10.1.0.5/32", 100), from("10.1.0.5/32", 100, { incomingLink: "a/b" })]],
      ["add", "addRules", "pod", [from("10.1.0.5/32", 100, { mark: { value: 1, mask: 0 } })]],
      ["add", "addRules", "pod", Array.from({ length: 257 }, () => from("10.1.0.5/32", 100))],
      ["add", "addRules", "host", [from("10.1.0.5/32", 100)]],
      list,
    ],
  ],
  [
    "verbs that change nothing or have no pod",
    [
      ["del", "addRules", "pod", [from("10.1.0.5/32", 100)]],
      ["check", "deleteRules", "pod", []],
      ["gc", "deleteRules", "pod", []],
      ["gc", "listRules", "pod"],
      ["status", "routes", "pod", 100],
      ["status", "freeTables", 1],
    ],
  ],
];

const call = (capability: object, [, name, ...parameters]: Request): unknown =>
  Reflect.apply(Reflect.get(capability, name), undefined, parameters);

/** The answer without the texts of faults and absent members. */
function shown(answer: unknown): unknown {
  const json: unknown = JSON.parse(JSON.stringify(answer));
  return typeof json === "object" && json !== null && "err" in json ? { fails: Reflect.get(Object(json.err), "code") } : json;
}

describe.skipIf(missing("the kernel against the simulated rules", privateNamespaces, iproute2))(
  "X-7: routing in the kernel and simulated",
  () => {
    let shop: Workshop;
    beforeAll(async () => {
      shop = await openWorkshop();
    });
    afterAll(() => shop.dispose());

    /** Runs a script with the capability of a verb in a new pod, and ip(8) in it. */
    const inPod = async (
      script: (
        capability: (
          verb: Verb,
          grant?: object,
          netns?: string,
          spoil?: (request: Uint8Array) => void,
        ) => ReturnType<typeof routingFor>,
        ip: (text: string) => string,
      ) => Promise<void>,
    ): Promise<void> => {
      const pod = createPodNamespace("routing");
      try {
        await callWith(
          (engine) =>
            script(
              (verb, grant = {}, netns = pod.path, spoil = () => undefined) =>
                routingFor(
                  { type: "sbr", verb: cniVerb(verb), hasPod: verb !== "gc" && verb !== "status", grant, netns },
                  {
                    netlink: (effect) => {
                      spoil(effect.request);
                      return engine.netlink(effect);
                    },
                  },
                ),
              (text) => pod.exec(["ip", ...text.split(" ")]).stdout,
            ),
          { shim: shop.shim },
        );
      } finally {
        pod.dispose();
      }
    };

    test.each(scenarios)("%s", async (_about, requests) => {
      await inPod(async (capability) => {
        const simulated = new MemoryRouting({}, { routesAt: () => [], vrfs: () => [] });
        for (const request of requests) {
          const expected = shown(await call(capability(request[0]), request));
          expect([request, shown(call(simulated.functions(request[0]), request))]).toEqual([request, expected]);
        }
      });
    });

    test("a rule that the kernel refuses leaves none of its request, but an earlier rule that is equal to one of them", async () => {
      await inPod(async (capability, ip) => {
        ip("rule add from 10.1.0.4/32 lookup 99");
        ip("rule add from 10.1.0.3/32 lookup 102");
        const before = ip("rule show");
        const rules = [from("10.1.0.1/32", 100), from("10.1.0.2/32", 101), from("10.1.0.3/32", 102)];
        // The capability refuses what the kernel would, so the second message gets a prefix length that no address has.
        const spoiled = capability("add", {}, undefined, (request) => {
          const length = new DataView(request.buffer, request.byteOffset).getUint32(0, true);
          if (request[4] === 32) request[length + 18] = 33;
        });
        expect(await spoiled.addRules("pod", rules)).toMatchObject({
          err: {
            code: 5,
            details: expect.not.stringContaining("not undone"),
            msg: expect.stringContaining("adding the rule from 10.1.0.2/32 lookup 101"),
          },
        });
        expect(ip("rule show")).toBe(before);
      });
    });

    test("a namespace that is gone has no rules", async () => {
      await inPod(async (capability) => {
        const rules = [from("10.1.0.1/32", 100)];
        for (const netns of ["", "/run/netns/nothing-there"]) {
          const gone = capability("del", {}, netns);
          const answers = [await gone.listRules("pod"), await gone.deleteRules("pod", rules), await gone.routes("pod", 100)];
          expect(answers).toEqual([{ ok: [] }, { ok: undefined }, { ok: [] }]);
          expect(await capability("add", {}, netns).addRules("pod", rules)).toMatchObject({ err: { code: 5 } });
        }
      });
    });

    test("routes of a table have link and source, a rule with another condition is not listed, and both take their table", async () => {
      await inPod(async (capability, ip) => {
        ip("link set lo up");
        ip("address add 10.1.0.5/24 dev lo");
        ip("route add 10.8.0.0/16 dev lo src 10.1.0.5 table 101");
        ip("route add unreachable 10.9.0.0/16 table 102");
        ip("rule add ipproto tcp lookup 100");
        ip("rule add not from 10.1.0.5 lookup 103");
        expect(shown(await capability("add").routes("pod", 101))).toEqual({
          ok: [{ dst: "10.8.0.0/16", link: "lo", source: "10.1.0.5", table: 101, scope: 253 }],
        });
        expect(await capability("add").listRules("pod")).toEqual({ ok: [] });
        expect(await capability("add").freeTables(2)).toEqual({ ok: [104, 105] });
      });
    });

    test.skipIf(missing("free tables beside a VRF", linkType("vrf")))(
      "the table of a VRF without routes is not free",
      async () => {
        await inPod(async (capability, ip) => {
          ip("link add red type vrf table 100");
          expect(await capability("add").freeTables(2)).toEqual({ ok: [101, 102] });
        });
      },
    );

    // A pod could otherwise make the DEL exceed the limit of its input, and keep its link and its addresses.
    test("a DEL gets the beginning of a long list of the pod's rules", async () => {
      await inPod(async (capability) => {
        for (let net = 0; net < 5; net++)
          await capability("add").addRules(
            "pod",
            Array.from({ length: 250 }, (_, host) => from(`10.2.${net}.${host}/32`, 101)),
          );
        const lengthIn = async (verb: "add" | "del"): Promise<number | undefined> => {
          const listed = await capability(verb).listRules("pod");
          return "ok" in listed ? listed.ok.length : undefined;
        };
        expect([await lengthIn("add"), await lengthIn("del")]).toEqual([1250, 1024]);
      });
    });

    test("the node's rules need a granted table and a granted priority", async () => {
      await inPod(async (capability) => {
        const grant = { tables: ["200-201"], priorities: ["1000-1001"] };
        const rule = from("10.1.0.5/32", 200, { priority: 1000 });
        const refused = [
          from("10.1.0.5/32", 202, { priority: 1000 }),
          from("10.1.0.5/32", 254, { priority: 1001 }),
          from("10.1.0.5/32", 200, { priority: 999 }),
          from("10.1.0.5/32", 200, { priority: 0 }),
        ];
        for (const each of refused) {
          expect(await capability("add", grant).addRules("host", [rule, each])).toMatchObject({
            err: { code: 7, msg: expect.stringContaining("of the node is not granted: wasm.grants.sbr.routing.") },
          });
        }
        for (const other of [{}, { tables: ["200"] }, { priorities: ["1000"] }]) {
          expect(await capability("add", other).addRules("host", [rule])).toMatchObject({ err: { code: 7 } });
          expect(await capability("add", other).listRules("host")).toMatchObject({ err: { code: 7 } });
          expect(await capability("del", other).deleteRules("host", [rule])).toMatchObject({ err: { code: 7 } });
        }
        expect(await capability("add").routes("host", 200)).toMatchObject({ err: { code: 7 } });
      });
    });
  },
);
