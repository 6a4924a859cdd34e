// The networks of a node on a real directory: what a client was told stays true on the disk.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { maxStoredBytes } from "../../../src/cni/stored-list.ts";
import { rpcMethods } from "./messages.ts";
import { maxNetworks, NodeNetworks } from "./node-networks.ts";

let directory: string;
let warnings: string[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "plexus-networks-"));
  mkdirSync(join(directory, "net.d"));
  warnings = [];
});
afterEach(() => rmSync(directory, { recursive: true }));

const open = (): NodeNetworks => new NodeNetworks(directory, join(directory, "net.d"), undefined, (text) => warnings.push(text));
const fileOf = (name: string): string => join(directory, "networks", `${name}.json`);

function message(name: string, parameters: Readonly<Record<string, string>> = {}, generation = 1) {
  return { metadata: { name, generation }, cniv1_config: { cni_version: "1.0.0", plugins: [{ type: "bridge", parameters }] } };
}

test.each([
  ["removed", (path: string) => rmSync(path)],
  ["damaged", (path: string) => writeFileSync(path, '{"form":1')],
])("a repeated Set of the same generation mends a file that was %s, and tells no change", (_, harm) => {
  const networks = open();
  networks.set(message("lan"));
  const before = readFileSync(fileOf("lan"), "utf8");
  const changes: string[] = [];
  networks.watch(({ type }) => changes.push(type));
  harm(fileOf("lan"));
  expect(networks.set(message("lan"))).toEqual({ ok: true, value: [] });
  expect(readFileSync(fileOf("lan"), "utf8")).toBe(before);
  expect(changes).toEqual([]);
});

test("a repeated Set writes no file", () => {
  const networks = open();
  networks.set(message("lan"));
  const { ino, mtimeNs } = statSync(fileOf("lan"), { bigint: true });
  networks.set(message("lan"));
  expect(statSync(fileOf("lan"), { bigint: true })).toMatchObject({ ino, mtimeNs });
});

test("the removal of a network whose file is damaged is refused, because sandboxes still fail with it", () => {
  mkdirSync(join(directory, "networks"));
  writeFileSync(fileOf("torn"), '{"form":1');
  const networks = open();
  expect(warnings).toEqual([expect.stringContaining("torn.json")]);
  expect(networks.remove({ name: "torn" })).toMatchObject({
    fault: { kind: "STORE_FAILED", msg: expect.stringContaining("torn.json") },
  });
  expect(networks.set(message("torn"))).toMatchObject({ ok: true });
  expect(networks.remove({ name: "torn" })).toMatchObject({ ok: true });
  expect(existsSync(fileOf("torn"))).toBe(false);
});

test("white space around parameters, which no list has, does not make a file that is too long", () => {
  const networks = open();
  const padded = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`k${index}`, `${" ".repeat(16_000)}1`]));
  expect(networks.set(message("wide", padded))).toMatchObject({
    fault: { kind: "NETWORK_CONFIG_INVALID", msg: expect.stringContaining("has parameters of 320") },
  });
  expect(networks.list()).toEqual([]);
});

test.each([
  ["quotes", '"'],
  ["control characters", "\u0001"],
  ["three bytes for a character", "\u20ac"],
])("the longest networks, full of %s, fit into their files and into one answer of 4 MiB", (_, character) => {
  const networks = open();
  let length = 32_000;
  const wanted = (name: string) => message(name, { a: character.repeat(length >> 1), b: character.repeat(length >> 1) });
  while (!networks.set(wanted("n0")).ok) length -= 100;
  expect(statSync(fileOf("n0")).size).toBeLessThan(maxStoredBytes);
  expect(open().list()).toEqual(networks.list());
  const [only] = networks.list();
  const { plugins, ...config } = only?.config ?? { plugins: [] };
  const parameters = Object.fromEntries(plugins[0]?.parameters ?? []);
  const answer = {
    config: { ...config, cniv1_config: { plugins: [{ parameters }] } },
    status: { reason: "r".repeat(1024) },
  };
  const bytes = rpcMethods
    .get("ListPodNetwork")
    ?.response.encode({ networks: Array.from({ length: maxNetworks }, () => answer) });
  expect(bytes?.length).toBeGreaterThan(500_000);
  expect(bytes?.length).toBeLessThan(4 * 1024 * 1024);
});

test("concurrent Sets of one name end with one of them: the same generation with other content is refused", () => {
  const networks = open();
  const outcomes = Array.from({ length: 8 }, (_, index) => networks.set(message("race", { mtu: String(1400 + index) }, 5)).ok);
  expect(outcomes).toEqual([true, false, false, false, false, false, false, false]);
  expect(open().list()).toMatchObject([{ config: { metadata: { generation: 5 } } }]);
});

test("clients that watch share one look at the directory, and each learns of the network on the disk once", async () => {
  const networks = open();
  const [first, second]: [string[], string[]] = [[], []];
  const stopFirst = networks.watch(({ type, config }) => first.push(`${type} ${config.networkName}`));
  const path = join(directory, "net.d", "10-disk.conflist");
  writeFileSync(path, JSON.stringify({ cniVersion: "1.0.0", name: "disk", plugins: [{ type: "bridge" }] }));
  const stopSecond = networks.watch(({ type, config }) => second.push(`${type} ${config.networkName}`));
  expect([first, second]).toEqual([["ADDED disk"], []]);
  rmSync(path);
  await expect.poll(() => [first, second]).toEqual([["ADDED disk", "REMOVED disk"], ["REMOVED disk"]]);
  stopFirst();
  stopSecond();
});
