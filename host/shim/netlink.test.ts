import { execFileSync } from "node:child_process";
import { chmodSync, readdirSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createPodNamespace, type PodNamespace, whyNotPrivate } from "../../test/harness/namespaces.ts";
import { missing, strace } from "../../test/harness/requires.ts";
import { linksRequest } from "../netlink/link.ts";
import { u32Attribute } from "../netlink/attributes.ts";
import { concat, u32 } from "../netlink/bytes.ts";
import { decodeAnswers, encodeRequests, type NetlinkRequest } from "../netlink/message.ts";
import { SECOND_NAMESPACE } from "./messages.ts";
import { callWith, type BrainSide, type HandsAnswer, json } from "./testing/scripted-brain.ts";
import { openWorkshop, type Workshop } from "./testing/workshop.ts";

let shop: Workshop;
beforeAll(async () => {
  shop = await openWorkshop();
});
afterAll(() => shop.dispose());

const EINVAL = 22;
const ENODEV = 19;
const ENAMETOOLONG = 36;
const EBADF = 9;
const EXDEV = 18;

/** RTM_GETLINK of one index: answered by a link or by ENODEV. */
function linkRequest(index: number): NetlinkRequest {
  return { type: 18, flags: 0, body: concat([new Uint8Array(4), u32(index), new Uint8Array(8)]) };
}

function run(script: (brain: BrainSide) => Promise<void>, hands = shop.hands): Promise<HandsAnswer> {
  return callWith(script, { hands, env: { CNI_PATH: shop.cniPath } });
}

describe.skipIf(missing("NETLINK", whyNotPrivate))("NETLINK", () => {
  let pod: PodNamespace;
  beforeAll(() => {
    pod = createPodNamespace("hands");
  });
  afterAll(() => pod.dispose());

  test("answers every message of one go, each with its own end, and goes on after an error", async () => {
    const requests = [linkRequest(1), linkRequest(12_345), linkRequest(1), linksRequest];
    await run(async (brain) => {
      const effect = { path: pod.path, request: encodeRequests(requests), deadlineMs: 5000 };
      const { errno, sent, reply } = await brain.netlink(effect);
      expect([errno, sent]).toEqual([0, true]);
      const answers = decodeAnswers(reply, requests.length);
      expect(answers.map((answer) => answer?.errno)).toEqual([0, ENODEV, 0, 0]);
      expect(answers.map((answer) => answer?.messages.length)).toEqual([1, 0, 1, 1]);
    });
  });

  test("leaves the hands and their plugins where they were, and no descriptor behind", async () => {
    shop.script("where", "readlink /proc/self/ns/net");
    await run(async (brain) => {
      const look = (): readonly string[] => [
        readlinkSync(`/proc/${brain.hands.pid}/ns/net`),
        ...readdirSync(`/proc/${brain.hands.pid}/fd`),
      ];
      await brain.request();
      const before = look();
      for (const path of [pod.path, "", "/nonexistent", "/etc/passwd"]) {
        await brain.netlink({ path, request: encodeRequests([linksRequest]), deadlineMs: 5000 });
      }
      expect(look()).toEqual(before);
      const { stdout } = await brain.exec({ type: "where", environment: new Map([["PATH", "/bin:/usr/bin"]]) });
      expect(Buffer.from(stdout).toString().trim()).toBe(readlinkSync("/proc/self/ns/net"));
      expect(before[0]).toBe(readlinkSync("/proc/self/ns/net"));
    });
  });

  test("keeps one socket of netfilter's, and hears nothing of earlier effects on it", async () => {
    const what = { path: "", protocol: "netfilter", deadlineMs: 5000 } as const;
    const [beginning, generation] = [0x10, 0x0a10];
    const [foreign, general] = [Uint8Array.of(0, 0, 0, 200), new Uint8Array(4)];
    // A batch for a subsystem that there is none of is refused as one; its messages never had an answer.
    const batch = encodeRequests([
      { type: beginning, flags: 0, quiet: true, body: foreign },
      { type: generation, flags: 0, body: general },
      { type: generation, flags: 0, body: general },
    ]);
    await run(async (brain) => {
      const open = (): number => readdirSync(`/proc/${brain.hands.pid}/fd`).length;
      await brain.request();
      const before = open();
      for (let times = 0; times < 3; times++) {
        const refused = await brain.netlink({ ...what, request: batch });
        expect(refused.errno).toBe(0);
        expect(decodeAnswers(refused.reply, 3)[0]?.errno).toBeGreaterThan(0);
        const asked = await brain.netlink({
          ...what,
          request: encodeRequests([{ type: generation, flags: 0, body: general }]),
        });
        expect(decodeAnswers(asked.reply, 1)).toMatchObject([{ errno: 0, messages: [{ type: 0x0a0f }] }]);
        expect(open()).toBe(before + 1);
      }
    });
  });

  test("names a second namespace to the kernel by a descriptor that is there for the one send", async () => {
    // RTM_GETNSID of NETNSA_FD: answered where the descriptor is a network namespace.
    const ask: NetlinkRequest = { type: 90, flags: 0, body: concat([new Uint8Array(4), u32Attribute(3, SECOND_NAMESPACE)]) };
    const request = encodeRequests([ask]);
    await run(async (brain) => {
      await brain.request();
      const before = readdirSync(`/proc/${brain.hands.pid}/fd`);
      const answered = async (effect: { path: string; second?: string }): Promise<number | undefined> => {
        const { reply, errno } = await brain.netlink({ request, deadlineMs: 5000, ...effect });
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
        expect(await brain.netlink({ path: "", request, deadlineMs: 5000, second })).toMatchObject({ errno, sent: false });
      }
      expect(readdirSync(`/proc/${brain.hands.pid}/fd`)).toEqual(before);
    });
  });

  test("refuses its own namespace by another name where it must be a foreign one", async () => {
    const request = encodeRequests([linkRequest(1)]);
    const own = join(shop.directory, "own");
    symlinkSync("/proc/self/ns/net", own);
    await run(async (brain) => {
      const asked = { request, deadlineMs: 5000, foreign: true };
      for (const path of ["/proc/self/ns/net", `/proc/${process.pid}/ns/net`, own]) {
        expect(await brain.netlink({ ...asked, path })).toMatchObject({ errno: EXDEV, sent: false });
        expect(await brain.netlink({ ...asked, path: "", second: path })).toMatchObject({ errno: EXDEV, sent: false });
        expect(await brain.netlink({ ...asked, path, foreign: false })).toMatchObject({ errno: 0, sent: true });
      }
      expect(await brain.netlink({ ...asked, path: pod.path, second: pod.path })).toMatchObject({ errno: 0, sent: true });
    });
  });

  test("sends nothing of what is no row of messages that ask to be acknowledged, nor to a namespace that is none", async () => {
    const good = encodeRequests([linkRequest(1)]);
    const unacknowledged = Uint8Array.from(good);
    unacknowledged[6] = 1;
    const long = Uint8Array.from(good);
    long.set(u32(good.length + 1), 0);
    const endless = Uint8Array.from(good);
    endless.set(u32(0xffff_ffff), 0);
    const short = Uint8Array.from(good);
    short.set(u32(15), 0);
    const refused = [
      new Uint8Array(0),
      good.subarray(0, 15),
      unacknowledged,
      long,
      endless,
      short,
      concat([good, new Uint8Array(3)]),
    ];
    await run(async (brain) => {
      for (const request of refused) {
        expect(await brain.netlink({ path: "", request, deadlineMs: 5000 })).toMatchObject({ errno: EINVAL, sent: false });
      }
      for (const [path, errno] of [
        ["/nonexistent", 2],
        [shop.hands, EINVAL],
        ["/dev/null", EINVAL],
        [`/${"n".repeat(5000)}`, ENAMETOOLONG],
      ] as const) {
        expect(await brain.netlink({ path, request: good, deadlineMs: 5000 })).toMatchObject({ errno, sent: false });
      }
      expect(await brain.netlink({ path: "", request: good, deadlineMs: 5000 })).toMatchObject({ errno: 0, sent: true });
    });
  });

  test.skipIf(missing("the way back", strace))(
    "ends the call where there is no way back from a namespace, doing nothing more",
    async () => {
      const tracer = execFileSync("sh", ["-c", "command -v strace"], { encoding: "utf8" }).trim();
      const stuck = join(shop.directory, "stuck");
      writeFileSync(stuck, `#!/bin/sh\nexec ${tracer} -qq -o /dev/null -e inject=setns:error=EPERM:when=2 ${shop.hands}\n`);
      chmodSync(stuck, 0o755);
      const answer = await run(async (brain) => {
        await brain.request();
        void brain.netlink({ path: pod.path, request: encodeRequests([linksRequest]), deadlineMs: 5000 });
        await brain.hands.answer;
      }, stuck);
      expect(answer.status).toBe(1);
      const msg = `plexus: no way back from the network namespace ${pod.path}: Operation not permitted`;
      expect(json(answer.stdout)).toMatchObject({ code: 5, msg });
    },
  );
});
