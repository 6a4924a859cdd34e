import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { testDelegate } from "../lab/delegates/built.ts";
import { answerOnNode } from "../../delegates/sdk/testing/answer-on-node.ts";
import { readVectors } from "../../delegates/sdk/testing/vector.ts";
import { defaultLimits, limitsOf } from "../../host/sandbox/limits.ts";

let puppet: Uint8Array;
beforeAll(async () => {
  puppet = readFileSync(await testDelegate("puppet"));
});

/** The puppet's answer to an ADD with these actions; `plugins`: the answers of the plugins that it calls. */
async function answerTo(
  actions: readonly object[],
  plugins: object = {},
  limits = defaultLimits,
  cniVersion = "1.1.0",
): Promise<unknown> {
  const directory = mkdtempSync(join(tmpdir(), "plexus-vectors-"));
  try {
    const stdin = { cniVersion, name: "net", type: "puppet", do: { ADD: actions } };
    const env = { CNI_CONTAINERID: "pod-1", CNI_NETNS: "/run/netns/x", CNI_IFNAME: "eth0" };
    writeFileSync(join(directory, "one.in.json"), JSON.stringify({ about: "One.", verb: "ADD", env, stdin, plugins }));
    const [vector] = await readVectors(directory);
    if (vector === undefined) throw new Error("no vector");
    return await answerOnNode(vector, puppet, limits);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

test("answers the delegate's result or error", async () => {
  expect(await answerTo([{ end: "interface" }])).toMatchObject({ result: { interfaces: [{ name: "eth0" }] } });
  expect(await answerTo([{ end: "fail" }])).toMatchObject({ error: { code: 133, msg: "the configuration requests a failure" } });
});

test("names the vector and the verdict if the delegate traps or spins, with its earlier log", async () => {
  await expect(answerTo([{ end: "trap" }])).rejects.toThrow(/^vector one: DELEGATE_TRAPPED: trapped: unreachable/);
  // A short limit: a loop burns a CPU until it ends. mistakes.test.ts has the default.
  await expect(answerTo([{ end: "spin" }], {}, limitsOf({ timeMs: 50 }))).rejects.toThrow(/^vector one: LIMIT_TIME: .* 50 ms/);
  const plugins = { calm: { add: { error: { code: 11, msg: "not now" } } } };
  await expect(answerTo([{ call: "ADD", type: "calm", anyway: true }, { end: "trap" }], plugins)).rejects.toThrow(
    /it logged: warn: 11 not now/,
  );
});

test("refuses an answer that a node would refuse", async () => {
  const plugins = { odd: { add: { error: { code: 0, msg: "nothing is wrong" } } } };
  await expect(answerTo([{ call: "ADD", type: "odd" }], plugins)).rejects.toThrow(
    'vector one: a node refuses this answer: an error\'s code is not 0 (its message: "nothing is wrong")',
  );
});

test("refuses a vector in a CNI version that the delegate does not declare", async () => {
  await expect(answerTo([{ end: "interface" }], {}, defaultLimits, "0.2.0")).rejects.toThrow(
    /^vector one: VERSION_UNSUPPORTED: puppet: the network's cniVersion is "0\.2\.0", but the delegate supports .*\n {2}Remedy: add the version to cniVersions/,
  );
});
