import { execFileSync } from "node:child_process";
import { chmodSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compiledPlugin } from "../../lab/compiled.ts";
import { createPodNamespace, type PodNamespace, missingPrivateNamespaces } from "../../lab/namespaces.ts";
import { missing, strace } from "../../lab/requires.ts";
import { linksRequest } from "../../../host/system/netlink/link.ts";
import { u32Attribute, decodeAnswers, encodeRequests, type NetlinkRequest } from "../../../host/system/netlink/message.ts";
import { concat, u32 } from "../../../host/system/netlink/bytes.ts";
import { SECOND_NAMESPACE } from "../../../host/system/netlink/exchange.ts";
import { callWith, type EngineSide, type ShimAnswer, json } from "./testing/scripted-engine.ts";
import { openWorkshop, type Workshop } from "./testing/workshop.ts";
import { EBADF, ECONNREFUSED, EINVAL, ENAMETOOLONG, ENODEV, EXDEV } from "../../../host/system/errno.ts";

let shop: Workshop;
beforeAll(async () => {
  shop = await openWorkshop();
});
afterAll(() => shop.dispose());

/** RTM_GETLINK of one index. The answer is a link or ENODEV. */
function linkRequest(index: number): NetlinkRequest {
  return { type: 18, flags: 0, body: concat([new Uint8Array(4), u32(index), new Uint8Array(8)]) };
}

function run(script: (engine: EngineSide) => Promise<void>, shim = shop.shim): Promise<ShimAnswer> {
  return callWith(script, { shim, env: { CNI_PATH: shop.cniPath } });
}

describe.skipIf(missing("NETLINK", missingPrivateNamespaces))("NETLINK", () => {
  let pod: PodNamespace;
  beforeAll(() => {
    pod = createPodNamespace("shim");
  });
  afterAll(() => pod.dispose());

  test("answers every message of a batch, and continues after an error", async () => {
    const requests = [linkRequest(1), linkRequest(12_345), linkRequest(1), linksRequest];
    await run(async (engine) => {
      const effect = { path: pod.path, request: encodeRequests(requests), deadlineMs: 60_000 };
      const { errno, sent, reply } = await engine.netlink(effect);
      expect([errno, sent]).toEqual([0, true]);
      const answers = decodeAnswers(reply, requests.length);
      expect(answers.map((answer) => answer?.errno)).toEqual([0, ENODEV, 0, 0]);
      expect(answers.map((answer) => answer?.messages.length)).toEqual([1, 0, 1, 1]);
    });
  });

  test("the shim and its plugins stay in their namespace, and no descriptor stays open", async () => {
    shop.script("where", "readlink /proc/self/ns/net");
    await run(async (engine) => {
      const look = (): readonly string[] => [
        readlinkSync(`/proc/${engine.shim.pid}/ns/net`),
        ...readdirSync(`/proc/${engine.shim.pid}/fd`),
      ];
      await engine.request();
      const before = look();
      for (const path of [pod.path, "", "/nonexistent", "/etc/passwd"]) {
        await engine.netlink({ path, request: encodeRequests([linksRequest]), deadlineMs: 60_000 });
      }
      expect(look()).toEqual(before);
      const { stdout } = await engine.exec({ type: "where" });
      expect(Buffer.from(stdout).toString().trim()).toBe(readlinkSync("/proc/self/ns/net"));
      expect(before[0]).toBe(readlinkSync("/proc/self/ns/net"));
    });
  });

  test("keeps one netfilter socket, and discards late answers to earlier effects", async () => {
    const what = { path: "", protocol: "netfilter", deadlineMs: 60_000 } as const;
    const [beginning, generation] = [0x10, 0x0a10];
    const [foreign, general] = [Uint8Array.of(0, 0, 0, 200), new Uint8Array(4)];
    // The kernel refuses a batch for an unknown subsystem as a whole; its messages get no answers.
    const batch = encodeRequests([
      { type: beginning, flags: 0, quiet: true, body: foreign },
      { type: generation, flags: 0, body: general },
      { type: generation, flags: 0, body: general },
    ]);
    await run(async (engine) => {
      const open = (): number => readdirSync(`/proc/${engine.shim.pid}/fd`).length;
      await engine.request();
      const before = open();
      for (let times = 0; times < 3; times++) {
        const refused = await engine.netlink({ ...what, request: batch });
        expect(refused.errno).toBe(0);
        expect(decodeAnswers(refused.reply, 3)[0]?.errno).toBeGreaterThan(0);
        const asked = await engine.netlink({
          ...what,
          request: encodeRequests([{ type: generation, flags: 0, body: general }]),
        });
        expect(decodeAnswers(asked.reply, 1)).toMatchObject([{ errno: 0, messages: [{ type: 0x0a0f }] }]);
        expect(open()).toBe(before + 1);
      }
    });
  });

  // A pod with CAP_NET_ADMIN may send to sockets in its namespace: a flood filled their buffers, and an effect had no end.
  test("takes messages of the kernel alone", async () => {
    const generation = encodeRequests([{ type: 0x0a10, flags: 0, body: new Uint8Array(4) }]);
    await run(async (engine) => {
      await engine.netlink({ path: "", protocol: "netfilter", request: generation, deadlineMs: 60_000 });
      await engine.changes({ deadlineMs: 60_000 });
      const open = new Set(
        readdirSync(`/proc/${engine.shim.pid}/fd`).map((fd) => readlinkSync(`/proc/${engine.shim.pid}/fd/${fd}`)),
      );
      const sockets = readFileSync("/proc/self/net/netlink", "utf8")
        .split("\n")
        .map((line) => line.trim().split(/\s+/u))
        .filter((columns) => open.has(`socket:[${columns.at(-1)}]`));
      const posted = sockets.map(([, protocol = "", port = ""]) =>
        Number(execFileSync(compiledPlugin("post"), [protocol, port], { encoding: "utf8" })),
      );
      expect(posted).toEqual([ECONNREFUSED, ECONNREFUSED]);
    });
  });

  test("has a descriptor of the second namespace open only while it sends", async () => {
    // RTM_GETNSID of NETNSA_FD succeeds only if the descriptor is a network namespace.
    const ask: NetlinkRequest = { type: 90, flags: 0, body: concat([new Uint8Array(4), u32Attribute(3, SECOND_NAMESPACE)]) };
    const request = encodeRequests([ask]);
    await run(async (engine) => {
      await engine.request();
      const before = readdirSync(`/proc/${engine.shim.pid}/fd`);
      const answered = async (effect: { path: string; second?: string }): Promise<number | undefined> => {
        const { reply, errno } = await engine.netlink({ request, deadlineMs: 60_000, ...effect });
        expect(errno).toBe(0);
        return decodeAnswers(reply, 1)[0]?.errno;
      };
      expect(await answered({ path: "", second: pod.path })).toBe(0);
      expect(await answered({ path: pod.path, second: pod.path })).toBe(0);
      expect(await answered({ path: "" })).toBe(EBADF);
      for (const [second, errno] of [
        ["/nonexistent", 2],
        [`/${"n".repeat(5000)}`, ENAMETOOLONG],
      ] as const) {
        expect(await engine.netlink({ path: "", request, deadlineMs: 60_000, second })).toMatchObject({ errno, sent: false });
      }
      expect(readdirSync(`/proc/${engine.shim.pid}/fd`)).toEqual(before);
    });
  });

  test("refuses the shim's link namespace under another path, if it must be another namespace", async () => {
    const request = encodeRequests([linkRequest(1)]);
    const link = join(shop.directory, "own");
    symlinkSync("/proc/self/ns/net", link);
    await run(async (engine) => {
      const asked = { request, deadlineMs: 60_000 };
      for (const path of ["/proc/self/ns/net", `/proc/${process.pid}/ns/net`, link]) {
        expect(await engine.netlink({ ...asked, path })).toMatchObject({ errno: EXDEV, sent: false });
        expect(await engine.netlink({ ...asked, path: "", second: path })).toMatchObject({ errno: EXDEV, sent: false });
        expect(await engine.netlink({ ...asked, path, allowsOwn: true })).toMatchObject({ errno: 0, sent: true });
      }
      expect(await engine.netlink({ ...asked, path: pod.path, second: pod.path })).toMatchObject({ errno: 0, sent: true });
    });
  });

  test("sends nothing if the messages are malformed or request no acknowledgement, or if the path is not a namespace", async () => {
    const valid = encodeRequests([linkRequest(1)]);
    const unacknowledged = Uint8Array.from(valid);
    unacknowledged[6] = 1;
    const long = Uint8Array.from(valid);
    long.set(u32(valid.length + 1), 0);
    const maxLength = Uint8Array.from(valid);
    maxLength.set(u32(0xffff_ffff), 0);
    const short = Uint8Array.from(valid);
    short.set(u32(15), 0);
    const refused = [
      new Uint8Array(0),
      valid.subarray(0, 15),
      unacknowledged,
      long,
      maxLength,
      short,
      concat([valid, new Uint8Array(3)]),
    ];
    await run(async (engine) => {
      for (const request of refused) {
        expect(await engine.netlink({ path: "", request, deadlineMs: 60_000 })).toMatchObject({ errno: EINVAL, sent: false });
      }
      for (const [path, errno] of [
        ["/nonexistent", 2],
        [shop.shim, EINVAL],
        ["/dev/null", EINVAL],
        [`/${"n".repeat(5000)}`, ENAMETOOLONG],
      ] as const) {
        expect(await engine.netlink({ path, request: valid, deadlineMs: 60_000 })).toMatchObject({ errno, sent: false });
      }
      expect(await engine.netlink({ path: "", request: valid, deadlineMs: 60_000 })).toMatchObject({ errno: 0, sent: true });
    });
  });

  test.skipIf(missing("the way back", strace))(
    "ends the call without further effects if the shim cannot return from a namespace",
    async () => {
      const tracer = execFileSync("sh", ["-c", "command -v strace"], { encoding: "utf8" }).trim();
      const stuck = join(shop.directory, "stuck");
      writeFileSync(stuck, `#!/bin/sh\nexec ${tracer} -qq -o /dev/null -e inject=setns:error=EPERM:when=2 ${shop.shim}\n`);
      chmodSync(stuck, 0o755);
      const answer = await run(async (engine) => {
        await engine.request();
        void engine.netlink({ path: pod.path, request: encodeRequests([linksRequest]), deadlineMs: 60_000 });
        await engine.shim.answer;
      }, stuck);
      expect(answer.status).toBe(1);
      const msg = `plexus: no way back from the network namespace ${pod.path}: Operation not permitted`;
      expect(json(answer.stdout)).toMatchObject({ code: 5, msg });
    },
  );
});
