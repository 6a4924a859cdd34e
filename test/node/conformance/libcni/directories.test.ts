// Compares the network that Plexus finds in a directory of configurations with the one that libcni finds (L-20 to L-24).

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { filesWith, findNetwork, type ConfigFile } from "../../../../src/cni/config-directory.ts";
import type { Fault } from "../../../../src/fault/fault.ts";
import type { NetworkList } from "../../../../src/cni/network-list.ts";
import { missing } from "../../../lab/requires.ts";
import { askOracle, missingOracle, type OracleAnswer } from "./oracle.ts";

const list = (name: string, type: string, more: object = {}): string =>
  JSON.stringify({ cniVersion: "1.0.0", name, plugins: [{ type }], ...more });
const single = (name: string, type: string): string => JSON.stringify({ cniVersion: "0.4.0", name, type });

const directories: readonly (readonly [title: string, files: Readonly<Record<string, string>>])[] = [
  ["an empty directory", {}],
  ["only files with other extensions", { "a.txt": "x", "b.conflist.bak": "{", "c.CONF": "{", conflist: "{" }],
  [
    "two lists with the same name: the first by file name wins",
    { "b.conflist": list("net", "b"), "a.conflist": list("net", "a") },
  ],
  [
    "a list and a single configuration: the list wins, whatever the file names",
    { "a.conf": single("net", "a"), "z.conflist": list("net", "z") },
  ],
  ["single configurations with both extensions, sorted together", { "b.conf": single("net", "b"), "a.json": single("net", "a") }],
  ["only another network", { "a.conflist": list("other", "a"), "b.conf": single("other", "b") }],
  ["a broken list before the match", { "a.conflist": "{", "b.conflist": list("net", "b") }],
  ["a broken list after the match", { "a.conflist": list("net", "a"), "b.conflist": "{" }],
  ["a broken single configuration after a matching list", { "a.conflist": list("net", "a"), "b.conf": "{" }],
  ["a single configuration without a type before the match", { "a.conf": '{"name":"x"}', "b.conf": single("net", "b") }],
  [
    "file names outside the Basic Multilingual Plane, sorted by bytes",
    { "\u{1f600}.conflist": list("net", "emoji"), "\uff5e.conflist": list("net", "tilde") },
  ],
  ["a hidden file", { ".conflist": list("net", "hidden"), "b.conflist": list("net", "b") }],
  [
    "a subdirectory's plugins",
    { "a.conflist": list("net", "a"), "net/2.conf": '{"type":"two"}', "net/1.conf": '{"type":"one"}', "net/3.json": "{" },
  ],
  [
    "a subdirectory that loadOnlyInlinedPlugins excludes",
    { "a.conflist": list("net", "a", { loadOnlyInlinedPlugins: true }), "net/1.conf": "{" },
  ],
  ["a subdirectory with a broken file", { "a.conflist": list("net", "a"), "net/1.conf": "{" }],
  [
    "a list without plugins, with a subdirectory",
    { "a.conflist": '{"cniVersion":"1.0.0","name":"net"}', "net/1.conf": '{"type":"one"}' },
  ],
  ["a list without plugins, without a subdirectory", { "a.conflist": '{"cniVersion":"1.0.0","name":"net"}' }],
];

function readConfigFiles(directory: string): ConfigFile[] {
  if (statSync(directory, { throwIfNoEntry: false }) === undefined) return [];
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => ({ path: join(directory, entry.name), text: readFileSync(join(directory, entry.name), "utf8") }));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function libcniNetwork(answer: OracleAnswer | undefined): unknown {
  if (answer?.error !== undefined) return answer.error.kind ?? "refused";
  const plugins = isRecord(answer?.result) ? answer.result["plugins"] : undefined;
  return Array.isArray(plugins) ? plugins.filter(isRecord).map((plugin) => plugin["type"]) : answer;
}

function types(network: NetworkList): readonly string[] {
  return network.plugins.map((plugin) => plugin.type);
}

/** libcni's kind of error for a network that was not found, or "refused" for a file that could not be read. */
function kindOf({ kind, msg }: Fault): string {
  if (kind !== "NETWORK_UNKNOWN") return "refused";
  return msg.startsWith("no net configurations") ? "no-configs" : "not-found";
}

describe.skipIf(missing("configuration directories compared with libcni", missingOracle))(
  "configuration directories compared with libcni",
  () => {
    let parent = "";
    beforeAll(() => {
      parent = mkdtempSync(join(tmpdir(), "plexus-net.d-"));
    });
    afterAll(() => rmSync(parent, { recursive: true, force: true }));

    function createDirectory(files: Readonly<Record<string, string>>): string {
      const directory = mkdtempSync(join(parent, "net.d-"));
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(dirname(join(directory, name)), { recursive: true });
        writeFileSync(join(directory, name), text);
      }
      return directory;
    }

    test.each(directories)("L-24: finds the same network as libcni: %s", (_, files) => {
      const directory = createDirectory(files);
      const [libcniAnswer] = askOracle([], "", [{ do: "LOAD", dir: directory, name: "net" }]);
      const subdirectories = new Map([["net", readConfigFiles(join(directory, "net"))]]);
      const found = findNetwork({ path: directory, files: readConfigFiles(directory), subdirectories }, "net", true);
      expect(found.ok ? types(found.value.list) : kindOf(found.fault)).toEqual(libcniNetwork(libcniAnswer));
    });

    test.each([[[".conf"]], [[".conf", ".json"]], [[".conflist"]], [[""]]])(
      "L-23: lists the same files as libcni for the extensions %j",
      (extensions) => {
        const directory = createDirectory({
          ...Object.fromEntries(directories.flatMap(([, files]) => Object.entries(files))),
          "d.conf/x": "",
          noext: "",
        });
        const [libcniAnswer] = askOracle([], "", [{ do: "CONF-FILES", dir: directory, extensions }]);
        const found = filesWith(extensions, readConfigFiles(directory)).map((file) => file.path);
        expect(found).toEqual(libcniAnswer?.result);
      },
    );
  },
);
