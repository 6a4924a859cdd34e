// NETLINK with protocol 12: nftables' batches, of which the first and the last message are not acknowledged.

import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createPodNamespace, type PodNamespace, whyNotPrivate } from "../../test/harness/namespaces.ts";
import { missing, type Requirement } from "../../test/harness/requires.ts";
import { attribute } from "../netlink/attributes.ts";
import { concat, u16, u32 } from "../netlink/bytes.ts";
import { decodeAnswers } from "../netlink/message.ts";
import type { Done } from "./messages.ts";
import { callWith } from "./testing/scripted-brain.ts";
import { openWorkshop, type Workshop } from "./testing/workshop.ts";

const NFTABLES = 10;
const INET = 1;
const BATCH_BEGIN = 16;
const BATCH_END = 17;
const NEWTABLE = (NFTABLES << 8) | 0;
const GETTABLE = (NFTABLES << 8) | 1;
const REQUEST = 1;
const ACK = 4;
const DUMP = 0x300;
const CREATE_EXCLUSIVELY = 0x600;
const EEXIST = 17;
const EINVAL = 22;
const deadlineMs = 5000;

let shop: Workshop;
beforeAll(async () => {
  shop = await openWorkshop();
});
afterAll(() => shop.dispose());

/** Messages numbered from 1, each with nfnetlink's header: family, version 0, resource in network order. */
function messages(
  ...list: readonly { type: number; flags: number; family?: number; resource?: number; rest?: Uint8Array }[]
): Uint8Array {
  return concat(
    list.flatMap(({ type, flags, family = 0, resource = 0, rest = new Uint8Array() }, index) => [
      concat([u32(20 + rest.length), u16(type), u16(flags | REQUEST), u32(index + 1), u32(0)]),
      concat([Uint8Array.of(family, 0, resource >> 8, resource & 255), rest]),
    ]),
  );
}

const named = (name: string): Uint8Array => attribute(1, Buffer.from(`${name}\0`));
const begin = { type: BATCH_BEGIN, flags: 0, resource: NFTABLES };
const end = { type: BATCH_END, flags: 0, resource: NFTABLES };
const table = (name: string, flags = ACK): { type: number; flags: number; family: number; rest: Uint8Array } => ({
  type: NEWTABLE,
  flags: flags | CREATE_EXCLUSIVELY,
  family: INET,
  rest: named(name),
});

const nftables: Requirement = () => {
  const tried = spawnSync("unshare", ["--net", "nft", "add", "table", "inet", "t"], { encoding: "utf8" });
  return tried.status === 0 ? undefined : `no nft, or a kernel without nftables: ${tried.stderr}`;
};

describe.skipIf(missing("NETLINK of netfilter", whyNotPrivate, nftables))("NETLINK of netfilter", () => {
  let pod: PodNamespace;
  beforeAll(() => {
    pod = createPodNamespace("nft");
  });
  afterAll(() => pod.dispose());

  /** One NETLINK; fails where it was not answered long before its deadline. */
  async function ask(request: Uint8Array, protocol: "netfilter" | undefined = "netfilter"): Promise<Done> {
    const answers: Done[] = [];
    await callWith(
      async (brain) => {
        answers.push(await brain.netlink({ path: pod.path, protocol, request, deadlineMs }));
      },
      { hands: shop.hands },
    );
    const [done] = answers;
    if (done === undefined) throw new Error("no answer");
    return done;
  }

  const tables = (): string => pod.exec(["nft", "list", "tables"]).stdout;

  test("does a batch, whose first and last message nobody acknowledges", async () => {
    const { errno, sent, reply } = await ask(messages(begin, table("one"), table("unasked", 0), table("two"), end));
    expect([errno, sent]).toEqual([0, true]);
    expect(decodeAnswers(reply, 5).map((answer) => answer?.errno)).toEqual([undefined, 0, undefined, 0, undefined]);
    expect(tables()).toBe("table inet one\ntable inet unasked\ntable inet two\n");
  });

  test("waits for the error of each message of a batch that fails, and nothing of it is done", async () => {
    const before = tables();
    await ask(messages(begin, table("there"), end));
    const { errno, reply } = await ask(messages(begin, table("there"), table("new"), table("there"), end));
    expect(errno).toBe(0);
    expect(decodeAnswers(reply, 5).map((answer) => answer?.errno)).toEqual([undefined, EEXIST, 0, EEXIST, undefined]);
    expect(tables()).toBe(`${before}table inet there\n`);
  });

  test("waits no longer where the batch as a whole is refused, under its first message", async () => {
    const { errno, sent, reply } = await ask(messages({ ...begin, resource: 77 }, table("never"), { ...end, resource: 77 }));
    expect([errno, sent]).toEqual([0, true]);
    expect(decodeAnswers(reply, 3).map((answer) => answer?.errno)).toEqual([EINVAL, undefined, undefined]);
  });

  test("takes a dump to its end", async () => {
    const { errno, reply } = await ask(messages({ type: GETTABLE, flags: ACK | DUMP, family: INET }));
    expect(errno).toBe(0);
    expect(decodeAnswers(reply, 1)[0]?.messages.length).toBe(tables().trim().split("\n").length);
  });

  test("refuses a batch in which nothing is acknowledged", async () => {
    expect(await ask(messages(begin, table("t", 0), end))).toMatchObject({ errno: EINVAL, sent: false });
  });
});
