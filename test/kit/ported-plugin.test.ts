// The delegate of docs/how-to/port-a-go-plugin.md: its code builds, and answers what the reference plugin `static` answers.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildDelegate } from "../../delegates/sdk/build/build-delegate.ts";
import { writeScaffold } from "../../delegates/sdk/build/scaffold.ts";
import { prepared, type PreparedComponent, type Run } from "../../delegates/sdk/component/run.ts";
import { vectorOf } from "../../delegates/sdk/testing/vector.ts";
import { defaultLimits } from "../../host/sandbox/limits.ts";
import { missing, referencePlugin, referencePlugins } from "../lab/requires.ts";

const env = { CNI_CONTAINERID: "pod-1", CNI_NETNS: "/run/netns/pod-1", CNI_IFNAME: "eth0" };
const page = readFileSync("docs/how-to/port-a-go-plugin.md", "utf8");

/** The page's first block of code in a language. */
function block(language: string): string {
  return new RegExp(`\`\`\`${language}\n([\\s\\S]*?\n)\`\`\``).exec(page)?.[1] ?? "";
}

let dir: string;
let ported: PreparedComponent;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "plexus-ported-"));
  await writeScaffold(dir, { name: "my-static", capabilities: [], language: "ts", home: { kind: "repository", sdk: "0.1.0" } });
  const declaration = JSON.parse(readFileSync(join(dir, "delegate.json"), "utf8"));
  writeFileSync(join(dir, "delegate.json"), JSON.stringify({ ...declaration, capabilities: {} }));
  writeFileSync(join(dir, "src/index.ts"), block("ts"));
  const { bytes } = await buildDelegate({ dir, outFile: join(dir, "build/my-static.wasm") });
  const component = prepared({ type: "my-static", bytes, granted: [], limits: defaultLimits });
  if (!component.ok) throw new Error(component.fault.msg);
  ported = component.value;
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const run = (verb: string, stdin: object): Run =>
  ported.call(vectorOf("run", JSON.stringify({ about: "A run.", verb, env, stdin }), "run"));

const network = (more: object): object => ({ cniVersion: "1.0.0", name: "net", type: "my-static", ...more });
const ipam = { type: "my-static", addresses: [{ address: "10.10.0.1/24", gateway: "10.10.0.254" }, { address: "fd00::5/64" }] };

const configurations: readonly (readonly [what: string, stdin: object])[] = [
  ["two addresses", network({ ipam })],
  [
    "routes and name resolution",
    network({
      ipam: {
        ...ipam,
        routes: [{ dst: "0.0.0.0/0", gw: "10.10.0.254" }],
        dns: { nameservers: ["10.10.0.254"], domain: "pods.example", search: ["example"] },
      },
    }),
  ],
  ["addresses of args.cni", network({ ipam, args: { cni: { ips: ["10.10.0.9/24"] } } })],
  [
    "addresses of runtimeConfig",
    network({ ipam, args: { cni: { ips: ["10.10.0.9/24"] } }, runtimeConfig: { ips: ["10.10.0.8/24"] } }),
  ],
];

describe.skipIf(missing("a plugin that was ported from Go", referencePlugins("static")))("the ported static plugin", () => {
  test.each(configurations)("answers ADD with %s as the reference plugin does", (_what, stdin) => {
    const reference = spawnSync(referencePlugin("static") ?? "", {
      encoding: "utf8",
      env: { ...env, CNI_COMMAND: "ADD", CNI_PATH: "/nowhere" },
      input: JSON.stringify(stdin),
    });
    expect(reference.status).toBe(0);
    expect(JSON.parse(run("ADD", stdin).stdout)).toEqual(JSON.parse(reference.stdout));
  });
});

test("the ported plugin checks, deletes, and refuses an address without a prefix length", () => {
  const added = JSON.parse(run("ADD", network({ ipam })).stdout);
  expect(run("CHECK", network({ ipam, prevResult: added })).stdout).toBe("");
  const other = { ...added, ips: [{ address: "10.10.0.77/24" }] };
  expect(JSON.parse(run("CHECK", network({ ipam, prevResult: other })).stdout)).toMatchObject({
    code: 100,
    msg: "my-static: static: Failed to find address 10.10.0.1/24 on the result",
  });
  expect(run("DEL", network({ ipam }))).toMatchObject({ succeeded: true, stdout: "" });
  const invalid = network({ ipam: { type: "my-static", addresses: [{ address: "10.10.0.1" }] } });
  expect(JSON.parse(run("ADD", invalid).stdout)).toMatchObject({ code: 7 });
});
