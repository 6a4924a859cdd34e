import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { testDelegate } from "../../../test/delegates/built.ts";
import { answerOnNode } from "./answer-on-node.ts";
import { readVectors } from "./vector.ts";

let puppet: Uint8Array;
beforeAll(async () => {
  puppet = readFileSync(await testDelegate("puppet"));
});

/** What the puppet answers to an ADD in which it does this; `plugins` answer what it calls. */
async function answered(actions: readonly object[], plugins: object = {}): Promise<unknown> {
  const directory = mkdtempSync(join(tmpdir(), "plexus-vectors-"));
  try {
    const stdin = { cniVersion: "1.1.0", name: "net", type: "puppet", do: { ADD: actions } };
    const env = { CNI_CONTAINERID: "pod-1", CNI_NETNS: "/run/netns/x", CNI_IFNAME: "eth0" };
    writeFileSync(join(directory, "one.in.json"), JSON.stringify({ about: "One.", verb: "ADD", env, stdin, plugins }));
    const [vector] = await readVectors(directory);
    if (vector === undefined) throw new Error("no vector");
    return await answerOnNode(vector, puppet);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

test("answers what a node would get", async () => {
  expect(await answered([{ end: "interface" }])).toMatchObject({ result: { interfaces: [{ name: "eth0" }] } });
  expect(await answered([{ end: "fail" }])).toMatchObject({ error: { code: 133, msg: "as it was told" } });
});

test("names the vector and the verdict where the delegate traps or spins, with what it said before", async () => {
  await expect(answered([{ end: "trap" }])).rejects.toThrow(/^vector one: DELEGATE_TRAPPED: trapped: unreachable/);
  await expect(answered([{ end: "spin" }])).rejects.toThrow(/^vector one: LIMIT_TIME: .*2000 ms/);
  const told = { calm: { add: { error: { code: 11, msg: "not now" } } } };
  await expect(answered([{ call: "ADD", type: "calm", anyway: true }, { end: "trap" }], told)).rejects.toThrow(
    /it logged: warn: 11 not now/,
  );
});

test("refuses what a node would refuse", async () => {
  const told = { odd: { add: { error: { code: 0, msg: "nothing is wrong" } } } };
  await expect(answered([{ call: "ADD", type: "odd" }], told)).rejects.toThrow(
    'vector one: a node refuses this answer: an error\'s code is not 0 (its message: "nothing is wrong")',
  );
});
