import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { selfContainedText } from "../../../src/cni/network-list.ts";
import { MultusScratch } from "./multus-scratch.ts";

let directory = "";
let warnings: string[] = [];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "plexus-scratch-"));
  warnings = [];
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function scratch(): MultusScratch {
  return new MultusScratch([directory, directory], (text) => void warnings.push(text));
}

/** A delegate as Multus 4.2.1 writes it for a list or a single configuration, without the members that Plexus does not read. */
function delegate(configuration: string, more: object = {}): object {
  return {
    Conf: {},
    ConfList: {},
    CNINetworkConfigList: { Plugins: null },
    Name: "x",
    Bytes: Buffer.from(configuration).toString("base64"),
    ...more,
  };
}

const list = '{"cniVersion":"1.0.0","name":"cbr0","plugins":[{"type":"flannel","big":9007199254740993},{"type":"tuning"}]}';
const single = '{"cniVersion":"0.4.0","name":"second","type":"macvlan"}';

describe("Multus' list of a container's delegates", () => {
  test("contains its networks in order, byte for byte, with the interface names that Multus gives", () => {
    const delegates = [delegate(list), delegate(single), delegate(single, { ifnameRequest: "lan0" })];
    writeFileSync(join(directory, "ctr"), JSON.stringify(delegates));
    const networks = scratch().networks("ctr", "eth0");
    expect(networks.map(({ list: { name, plugins }, ifname }) => [name, plugins.length, ifname])).toEqual([
      ["cbr0", 2, "eth0"],
      ["second", 1, "net1"],
      ["second", 1, "lan0"],
    ]);
    expect(networks[0] === undefined ? "" : selfContainedText(networks[0].list)).toBe(list);
    expect(warnings).toEqual([]);
  });

  test("may lack name and version in the bytes; then the member Conf gives them", () => {
    const beside = { Conf: { name: "cbr0", cniVersion: "0.3.1" } };
    writeFileSync(join(directory, "ctr"), JSON.stringify([delegate('{"type":"flannel"}', beside)]));
    expect(scratch().networks("ctr", "eth0")[0]?.list).toMatchObject({ name: "cbr0", cniVersion: "0.3.1" });
  });

  test.each([
    ["no text", ""],
    ["an incomplete text", JSON.stringify([delegate(list)]).slice(0, 50)],
    ["an object", "{}"],
    ["null for a delegate", "[null]"],
    ["a delegate without bytes", '[{"Bytes":5}]'],
    ["bytes that are not a configuration", '[{"Bytes":"AAAA"}]'],
    ["a network that names another directory", JSON.stringify([delegate('{"name":"../x","type":"y"}')])],
    ["a plugin that names another directory", JSON.stringify([delegate('{"name":"x","type":"../y"}')])],
  ])("that contains %s is ignored with one warning, and can be removed", (_, text) => {
    writeFileSync(join(directory, "ctr"), text);
    expect(scratch().networks("ctr", "eth0")).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining("ignoring Multus' state")]);
    scratch().remove("ctr");
    expect(readdirSync(directory)).toEqual([]);
  });

  test("is a regular file: a link or a directory is neither read nor removed", () => {
    writeFileSync(join(directory, "other"), JSON.stringify([delegate(list)]));
    symlinkSync(join(directory, "other"), join(directory, "linked"));
    mkdirSync(join(directory, "results"));
    for (const name of ["linked", "results", "absent"]) {
      expect([scratch().networks(name, "eth0"), scratch().has(name)]).toEqual([[], false]);
      scratch().remove(name);
    }
    expect(readdirSync(directory).toSorted()).toEqual(["linked", "other", "results"]);
    expect(warnings).toEqual([]);
  });
});
