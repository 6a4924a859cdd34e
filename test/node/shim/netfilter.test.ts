// NETLINK with protocol 12: batches of nftables, whose first and last message are not acknowledged.

import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createPodNamespace, type PodNamespace, missingPrivateNamespaces } from "../../lab/namespaces.ts";
import { missing, type Requirement } from "../../lab/requires.ts";
import { attribute, decodeAnswers } from "../../../host/system/netlink/message.ts";
import { concat, u16, u32 } from "../../../host/system/netlink/bytes.ts";
import type { Done } from "../../../host/protocol/messages.ts";
import { callWith } from "./testing/scripted-engine.ts";
import { endlessMs, openWorkshop, type Workshop } from "./testing/workshop.ts";
import { EEXIST, EINVAL, ENOBUFS } from "../../../host/system/errno.ts";

const NFTABLES = 10;
const INET = 1;
const BATCH_BEGIN = 16;
const BATCH_END = 17;
const NEWTABLE = (NFTABLES << 8) | 0;
const GETTABLE = (NFTABLES << 8) | 1;
const REQUEST = 1;
const ACK = 4;
const DUMP = 0x300;
const CREATE = 0x400;
const CREATE_EXCLUSIVELY = 0x600;

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

describe.skipIf(missing("NETLINK of netfilter", missingPrivateNamespaces, nftables))("NETLINK of netfilter", () => {
  let pod: PodNamespace;
  beforeAll(() => {
    pod = createPodNamespace("nft");
  });
  afterAll(() => pod.dispose());

  /** Sends one NETLINK, whose deadline no test reaches. */
  async function ask(request: Uint8Array, protocol: "netfilter" | undefined = "netfilter"): Promise<Done> {
    const answers: Done[] = [];
    await callWith(
      async (engine) => {
        answers.push(await engine.netlink({ path: pod.path, protocol, request, deadlineMs: endlessMs }));
      },
      { shim: shop.shimWith({ NETLINK_MS: endlessMs }) },
    );
    const [done] = answers;
    if (done === undefined) throw new Error("no answer");
    return done;
  }

  const tables = (): string => pod.exec(["nft", "list", "tables"]).stdout;

  test("carries out a batch whose first and last message get no acknowledgement", async () => {
    const { errno, sent, reply } = await ask(messages(begin, table("one"), table("unasked", 0), table("two"), end));
    expect([errno, sent]).toEqual([0, true]);
    expect(decodeAnswers(reply, 5).map((answer) => answer?.errno)).toEqual([undefined, 0, undefined, 0, undefined]);
    expect(tables()).toBe("table inet one\ntable inet unasked\ntable inet two\n");
  });

  test("answers the error of each message of a failed batch, and changes nothing", async () => {
    const before = tables();
    await ask(messages(begin, table("there"), end));
    const { errno, reply } = await ask(messages(begin, table("there"), table("new"), table("there"), end));
    expect(errno).toBe(0);
    expect(decodeAnswers(reply, 5).map((answer) => answer?.errno)).toEqual([undefined, EEXIST, 0, EEXIST, undefined]);
    expect(tables()).toBe(`${before}table inet there\n`);
  });

  test("answers all errors of a batch in which only the last message requests an acknowledgement", async () => {
    const before = tables();
    await ask(messages(begin, table("here"), end));
    const { errno, reply } = await ask(messages(begin, table("here", 0), table("new", 0), table("here", 0), table("newer"), end));
    expect(errno).toBe(0);
    expect(decodeAnswers(reply, 6).map((answer) => answer?.errno)).toEqual([undefined, EEXIST, undefined, EEXIST, 0, undefined]);
    expect(tables()).toBe(`${before}table inet here\n`);
  });

  test("sends a large batch with one acknowledgement, because the receive buffer could not hold one for each message", async () => {
    const many = Array.from({ length: 8000 }, () => ({ ...table("many", 0), flags: CREATE }));
    const { errno, reply } = await ask(messages(begin, ...many, { ...table("many"), flags: CREATE | ACK }, end));
    expect(errno).toBe(0);
    expect(decodeAnswers(reply, 8003)[8001]?.errno).toBe(0);
    expect(tables()).toContain("table inet many\n");
  });

  test("answers errors at once, with ENOBUFS, if the receive buffer cannot hold all of them", async () => {
    await ask(messages(begin, table("full"), end));
    const { errno, sent, reply } = await ask(
      messages(begin, ...Array.from({ length: 20_000 }, () => table("full", 0)), table("last"), end),
    );
    expect([errno, sent]).toEqual([ENOBUFS, true]);
    expect(decodeAnswers(reply, 20_003)[1]?.errno).toBe(EEXIST);
    expect(tables()).not.toContain("table inet last\n");
  });

  test("does not wait after the error that refuses the whole batch, which answers its first message", async () => {
    const { errno, sent, reply } = await ask(messages({ ...begin, resource: 77 }, table("never"), { ...end, resource: 77 }));
    expect([errno, sent]).toEqual([0, true]);
    expect(decodeAnswers(reply, 3).map((answer) => answer?.errno)).toEqual([EINVAL, undefined, undefined]);
  });

  test("receives a dump to its end", async () => {
    const { errno, reply } = await ask(messages({ type: GETTABLE, flags: ACK | DUMP, family: INET }));
    expect(errno).toBe(0);
    expect(decodeAnswers(reply, 1)[0]?.messages.length).toBe(tables().trim().split("\n").length);
  });

  test("refuses a batch without a request for an acknowledgement", async () => {
    expect(await ask(messages(begin, table("t", 0), end))).toMatchObject({ errno: EINVAL, sent: false });
  });
});
