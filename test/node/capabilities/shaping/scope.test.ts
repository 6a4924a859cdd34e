// Shapes in the kernel, in private namespaces; tc(8) shows the qdiscs, classes and filters.

import { spawnSync } from "node:child_process";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createPodNamespace, missingPrivateNamespaces, type PodNamespace } from "../../../lab/namespaces.ts";
import { command, iproute2, linkType, missing, privateNamespaces } from "../../../lab/requires.ts";
import { trafficControl } from "../../../lab/traffic-control.ts";
import { callWith } from "../../shim/testing/scripted-engine.ts";
import { openWorkshop, type Workshop } from "../../shim/testing/workshop.ts";
import { deviceNames } from "../../../../host/capabilities/shaping/devices.ts";
import { type Shaping, shapingFor, type ShapingScope } from "../../../../host/capabilities/shaping/scope.ts";

let shop: Workshop;
let node: PodNamespace;
let pod: PodNamespace;
beforeAll(async () => {
  shop = await openWorkshop();
});
afterAll(() => shop.dispose());

function run(inside: PodNamespace, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync("nsenter", [`--net=${inside.path}`, "--", ...args], { encoding: "utf8" });
  if (status !== 0) throw new Error(`${args.join(" ")}: ${stderr}`);
  return stdout;
}

const qdiscs = (): string[] =>
  run(node, "tc", "qdisc", "show")
    .split("\n")
    .filter((line) => / (?:tbf|htb|ingress) /.test(line))
    .map((line) =>
      line
        .replace(/ refcnt \d+/, "")
        .replace(/bwp[0-9a-f]+/, "IFB")
        .trim(),
    );
const ifbs = (): string => run(node, "ip", "-br", "link", "show", "type", "ifb");

const bucket = { rate: 8_000_000, burst: 800_000, latency: 25 };
const both = { ingress: bucket, egress: { ...bucket, rate: 4_000_000 }, networks: [], exempt: [] };

describe.skipIf(missing("bounds of traffic", privateNamespaces, iproute2, linkType("veth"), trafficControl, command("tc", "-V")))(
  "the capability shaping",
  () => {
    let scope: ShapingScope;
    beforeEach(() => {
      if (missingPrivateNamespaces() !== undefined) return;
      [node, pod] = [createPodNamespace("shape-node"), createPodNamespace("shape-pod")];
      run(node, "ip", "link", "add", "veth1", "type", "veth", "peer", "name", "eth0", "netns", pod.name);
      run(node, "ip", "link", "set", "veth1", "up");
      scope = {
        type: "bandwidth",
        network: "pods",
        verb: "ADD",
        attachment: { containerId: "one", ifname: "eth0" },
        netns: pod.path,
      };
    });
    afterEach(() => {
      node.dispose();
      pod.dispose();
    });

    async function withShaping(script: (shaping: (more?: Partial<ShapingScope>) => Shaping) => Promise<void>): Promise<void> {
      await callWith((engine) => script((more) => shapingFor({ ...scope, ...more }, engine)), {
        shim: shop.shim,
        netns: node.path,
      });
    }

    test("bounds both directions, recognizes and replaces the shape, and removes it", async () => {
      await withShaping(async (shaping) => {
        expect(await shaping().nodeLink()).toEqual({ ok: "veth1" });
        const made = await shaping().replace(both);
        expect(made).toEqual({ ok: { name: expect.stringMatching(/^bwp[0-9a-f]{12}$/), mac: expect.stringMatching(/:/) } });
        expect(qdiscs()).toEqual([
          "qdisc tbf 1: dev veth1 root rate 8Mbit burst 100000b lat 25ms",
          "qdisc ingress ffff: dev veth1 parent ffff:fff1 ----------------",
          "qdisc tbf 1: dev IFB root rate 4Mbit burst 100000b lat 25ms",
        ]);
        expect(run(node, "tc", "filter", "show", "dev", "veth1", "parent", "ffff:")).toContain("Egress Redirect to device bwp");
        expect(await shaping({ verb: "CHECK" }).difference(both)).toEqual({ ok: undefined });
        const other = { ...both, ingress: { ...bucket, rate: 16_000_000 } };
        expect(await shaping().difference(other)).toEqual({ ok: "the rate of veth1 is 1000000, not 2000000" });
        expect(await shaping().replace(other)).toMatchObject({ ok: { name: expect.stringMatching(/^bwp/) } });
        expect(await shaping().difference(other)).toEqual({ ok: undefined });
        expect(await shaping().usage()).toMatchObject({ ok: { ingress: { drops: 0 }, egress: { drops: 0 } } });
        expect(await shaping({ verb: "DEL" }).remove()).toEqual({ ok: undefined });
        expect(await shaping({ verb: "DEL" }).remove()).toEqual({ ok: undefined });
        expect([qdiscs(), ifbs()]).toEqual([[], ""]);
      });
    });

    test.each([
      ["networks", "default 0x1", "flowid 1:30"],
      ["exempt", "default 0x30", "flowid 1:1"],
    ] as const)("bounds by networks with classes and filters: %s", async (member, fallback, flow) => {
      await withShaping(async (shaping) => {
        const shape = { ...both, [member]: ["10.1.2.3/16", "fd00::/9", "0.0.0.0/0", "2001:db8::1/128"] };
        expect(await shaping().replace(shape)).toMatchObject({ ok: { name: expect.stringMatching(/^bwp/) } });
        expect(qdiscs().filter((line) => line.includes("htb") && line.includes(fallback))).toHaveLength(2);
        const filters = run(node, "tc", "filter", "show", "dev", "veth1", "parent", "1:");
        for (const match of [
          "0a010000/ffff0000 at 12",
          "fd000000/ff800000 at 8",
          "00000000/00000000 at 0",
          "00000001/ffffffff at 20",
        ])
          expect(filters).toContain(`match ${match}`);
        expect(filters).toContain(flow);
        expect(await shaping().difference(shape)).toEqual({ ok: undefined });
        expect(await shaping().difference(both)).toEqual({ ok: "the qdisc of veth1 is htb, not tbf" });
        const fewer = { ...shape, [member]: ["10.1.0.0/16"] };
        expect(await shaping().difference(fewer)).toEqual({ ok: "veth1 has filters of 4 networks, not of 1" });
        expect(await shaping().remove()).toEqual({ ok: undefined });
        expect([qdiscs(), ifbs()]).toEqual([[], ""]);
      });
    });

    test("removes the device of a pod that is gone: DEL, and GC for attachments that are not valid", async () => {
      await withShaping(async (shaping) => {
        const shape = { ...both, ingress: undefined };
        await shaping().replace(shape);
        run(node, "ip", "link", "del", "veth1");
        expect(ifbs()).toContain("bwp");
        const gone = { verb: "GC", attachment: undefined, netns: "" } as const;
        expect(await shaping(gone).retain([{ containerId: "one", ifname: "eth0" }])).toEqual({ ok: 0 });
        expect(await shaping({ ...gone, network: "other" }).retain([])).toEqual({ ok: 0 });
        expect(ifbs()).toContain("bwp");
        expect(await shaping(gone).retain([])).toEqual({ ok: 1 });
        expect(ifbs()).toBe("");
        run(node, "ip", "link", "add", "veth1", "type", "veth", "peer", "name", "eth0", "netns", pod.name);
        await shaping().replace(shape);
        expect(await shaping({ verb: "DEL", netns: "/run/no-such-namespace" }).remove()).toEqual({ ok: undefined });
        expect(ifbs()).toBe("");
      });
    });

    test("removes the device of a call that ended before it was marked, also one with the second name", async () => {
      await withShaping(async (shaping) => {
        for (const name of deviceNames({ network: "pods", containerId: "one", ifname: "eth0" })) {
          run(node, "ip", "link", "add", name, "type", "ifb");
          expect(await shaping({ verb: "DEL", netns: "" }).remove()).toEqual({ ok: undefined });
          expect(ifbs()).toBe("");
        }
      });
    });

    test("leaves foreign qdiscs, and refuses what is not a veth of the attachment", async () => {
      await withShaping(async (shaping) => {
        run(
          node,
          "tc",
          "qdisc",
          "add",
          "dev",
          "veth1",
          "root",
          "handle",
          "7:",
          "tbf",
          ..."rate 1mbit burst 10kb latency 1ms".split(" "),
        );
        const refused = await shaping().replace(both);
        expect(refused).toMatchObject({ err: { msg: expect.stringContaining("adding the token bucket of veth1") } });
        expect(qdiscs()).toEqual([expect.stringContaining("qdisc tbf 7: dev veth1")]);
        expect(ifbs()).toBe("");
        run(pod, "ip", "link", "add", "inner0", "type", "veth", "peer", "name", "inner1");
        const inner = shaping({ attachment: { containerId: "one", ifname: "inner0" } });
        expect(await inner.nodeLink()).toEqual({ ok: undefined });
        expect(await inner.replace(both)).toMatchObject({ err: { msg: expect.stringContaining("inner0") } });
        for (const shape of [
          { ...both, ingress: { ...bucket, rate: 0 } },
          { ...both, networks: ["10.0.0.0/8"], exempt: ["10.1.0.0/16"] },
          { ...both, networks: ["10.0.0.0"] },
        ])
          expect(await shaping().replace(shape)).toMatchObject({ err: { msg: expect.stringContaining("shaping: ") } });
        expect(await shaping({ verb: "DEL" }).replace(both)).toMatchObject({ err: { msg: expect.stringContaining("ADD only") } });
      });
    });
  },
);
