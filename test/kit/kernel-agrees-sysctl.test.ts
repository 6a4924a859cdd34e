// The simulated sysctls of a pod against the kernel: the same requests succeed or fail with the same code in both, and leave the same values.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sysctlFor } from "../../host/capabilities/sysctl/scope.ts";
import { callWith } from "../node/shim/testing/scripted-engine.ts";
import { openWorkshop, type Workshop } from "../node/shim/testing/workshop.ts";
import { createPodNamespace } from "../lab/namespaces.ts";
import { iproute2, missing, privateNamespaces } from "../lab/requires.ts";
import { MemorySysctl } from "../../delegates/sdk/testing/memory-sysctl.ts";
import type { DelegateCall } from "../../delegates/sdk/testing/records.ts";

type Settings = readonly (readonly [key: string, value: string])[];
interface Request {
  readonly verb: DelegateCall["verb"];
  /** A setting with an empty value is only read. */
  readonly write?: Settings;
  readonly read?: readonly string[];
}

/** A setting with an integer, two with several integers, a text, and an unsigned integer. */
const filter = "net/ipv4/conf/lo/rp_filter";
const range = "net/ipv4/ip_local_port_range";
const memory = "net/ipv4/tcp_rmem";
const congestion = "net/ipv4/tcp_congestion_control";
const ttl = "net/ipv4/ip_default_ttl";
const known = [filter, range, memory, congestion, ttl];

const write = (...settings: Settings): Request => ({ verb: "add", write: settings });
const scenarios: readonly (readonly [about: string, requests: readonly Request[]])[] = [
  [
    "values are written, and the earlier ones answered",
    [write([filter, "2"], [ttl, "33"]), { verb: "check", read: [ttl, filter] }],
  ],
  ["a setting twice in one request", [write([filter, "2"], [filter, "1"])]],
  ["an empty value reads", [write([filter, ""], [ttl, "33"])]],
  [
    "a failure undoes the earlier settings",
    [write([filter, "2"], ["net/ipv4/nothing", "1"]), write([filter, "2"], [ttl, "many"])],
  ],
  ["an unknown setting", [{ verb: "add", read: ["net/ipv4/nothing"] }, write(["net/ipv4/nothing", ""])]],
  [
    "integers in other notations",
    [write([filter, "0x2"]), write([filter, "01"]), write([filter, " 2 \n"]), write([filter, "-1"]), write([filter, "+1"])],
  ],
  [
    "texts that are no integers",
    [write([filter, "many"]), write([filter, "1x"]), write([filter, " "]), write([filter, "1.5"]), write([filter, "09"])],
  ],
  ["integers out of range", [write([filter, "2147483648"]), write([filter, "99999999999999999999999"])]],
  [
    "several integers",
    [write([range, "2000 3000"]), write([range, "2100\t3100"]), write([range, "2200"]), write([range, "many 3000"])],
  ],
  ["more integers than the setting has", [write([ttl, "33"], [filter, "1 2"]), write([range, "2000 3000 4000"])]],
  ["three integers", [write([memory, "4096 131072 6291456"]), write([memory, "8192 131072"])]],
  ["a text", [write([congestion, "reno"]), write([congestion, "reno\n"])]],
  ["a text of several lines", [write([congestion, "reno\ncubic"])]],
  ["no settings", [write(), { verb: "add", read: [] }]],
  [
    "texts that are no keys",
    [
      write(["kernel/hostname", "x"]),
      write(["net/../kernel/hostname", "x"]),
      { verb: "add", read: ["net//core"] },
      write([filter, "1\0"]),
    ],
  ],
  ["too many settings", [{ verb: "add", read: Array.from({ length: 257 }, () => filter) }]],
  [
    "verbs that may not write or have no pod",
    [
      { verb: "check", write: [[filter, "2"]] },
      { verb: "del", write: [[filter, "2"]] },
      { verb: "del", read: [filter] },
      { verb: "gc", read: [filter] },
      { verb: "gc", write: [[filter, "1"]] },
      { verb: "status", read: [filter] },
    ],
  ],
];

describe.skipIf(missing("the kernel against the simulated sysctls", privateNamespaces, iproute2))(
  "X-7: the simulated sysctls agree with the kernel",
  () => {
    let shop: Workshop;
    beforeAll(async () => {
      shop = await openWorkshop();
    });
    afterAll(() => shop.dispose());

    test.each(scenarios)("%s", async (_about, requests) => {
      const pod = createPodNamespace("kit");
      try {
        await callWith(
          async (engine) => {
            const kernelFor = (verb: DelegateCall["verb"]) =>
              sysctlFor(
                {
                  type: "tuning",
                  verb: ({ add: "ADD", del: "DEL", check: "CHECK", gc: "GC", status: "STATUS" } as const)[verb],
                  attachment: verb === "gc" || verb === "status" ? undefined : { ifname: "eth0" },
                  netns: pod.path,
                  keys: ["*/*", "*/*/*", "*/*/*/*", "*/*/*/*/*"],
                  allowlist: "/nonexistent",
                },
                { sysctl: (effect) => engine.sysctl(effect) },
              );
            const values = async (): Promise<Readonly<Record<string, string>>> => {
              const read = await kernelFor("check").read(known);
              if (!("ok" in read)) throw new Error(read.err.msg);
              return Object.fromEntries(known.map((key, at) => [key, read.ok[at] ?? ""]));
            };
            const simulated = new MemorySysctl({ values: await values() });
            for (const { verb, write: settings, read = [] } of requests) {
              const records = settings?.map(([key, value]) => ({ key, value }));
              const [kernel, inMemory] = [kernelFor(verb), simulated.functions(verb)];
              const expected = records === undefined ? await kernel.read(read) : await kernel.write(records);
              const answer = records === undefined ? inMemory.read([...read]) : inMemory.write(records);
              const after = { request: settings ?? read, answer: shown(answer), values: simulated.values() };
              expect(after).toEqual({ request: settings ?? read, answer: shown(expected), values: await values() });
            }
          },
          { shim: shop.shim },
        );
      } finally {
        pod.dispose();
      }
    });
  },
);

/** The answer without the texts of faults. */
function shown(answer: { readonly ok: readonly string[] } | { readonly err: { readonly code: number } }): unknown {
  return "err" in answer ? { fails: answer.err.code } : answer;
}
