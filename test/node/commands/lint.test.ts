// plexusctl lint with a node's files and manifests: every rule finds its mistake, at its place.

import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { LintFinding } from "../../../src/lint/finding.ts";
import { lintRules } from "../../../src/lint/rules.ts";
import { runCommandLine } from "../../../host/programs/plexusctl/run-command-line.ts";
import { dist, missingBuild } from "../../lab/plexus.ts";
import { missing } from "../../lab/requires.ts";
import { withSection } from "../../hostile/components/sections.ts";

const components = ["tuning", "ipam-host-local"];

const list = (name: string, ...plugins: readonly object[]): object => ({ cniVersion: "1.0.0", name, plugins });

const pool = (subnet: string) => ({ type: "bridge", ipam: { type: "host-local", subnet } });

function definition(config: string, name = "fast"): string {
  return `apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\nmetadata: {name: ${name}, namespace: shop}\nspec:\n  config: ${config}\n`;
}

/** A network with addresses of AddressPool `storage`, a virtual machine that uses it, and another pool. */
const pooled = `'{"cniVersion": "1.0.0", "name": "fast", "type": "bridge", "ipam": {"type": "ipam-host-local", "pool": "storage"}}'`;
const machineAndPool = `kind: VirtualMachine
metadata: {name: db, namespace: shop}
spec: {template: {spec: {networks: [{name: data, multus: {networkName: fast}}]}}}
---
kind: AddressPool
metadata: {name: other}
spec: {keepInstanceAddresses: true}
`;

function lineOf(text: string, line: number): string {
  return text.split("\n")[line - 1] ?? "";
}

function severityOf(rule: string): string {
  return Object.entries(lintRules).find(([id]) => id === rule)?.[1].severity ?? "";
}

describe.skipIf(missing("plexusctl lint", () => missingBuild({ components })))("plexusctl lint", () => {
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), "plexus-lint-"));
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  beforeEach(() => {
    rmSync(directory, { recursive: true, force: true });
    for (const name of ["bin", "net.d"]) mkdirSync(join(directory, name), { recursive: true });
    for (const name of components) copyFileSync(join(dist, "delegates", `${name}.wasm`), join(directory, "bin", `${name}.wasm`));
    for (const name of ["bridge", "host-local"]) writeFileSync(join(directory, "bin", name), "#!/bin/sh\n", { mode: 0o755 });
  });

  const at = (name: string): string => join(directory, name);
  const host = (more: object = {}): void =>
    write(
      "net.d/10-plexus.conflist",
      list("cluster", { type: "plexus", delegates: [list("pods", { type: "bridge" })], ...more }),
    );

  function write(name: string, content: object | string): void {
    writeFileSync(at(name), typeof content === "string" ? content : JSON.stringify(content, undefined, 2));
  }

  function run(...args: readonly string[]) {
    return runCommandLine(["lint", "--config", at("net.d"), "--cni-path", at("bin"), ...args], false);
  }

  /** The findings as `FILE:LINE:COLUMN RULE`, and the text in the file at each place. */
  async function findings(
    ...args: readonly string[]
  ): Promise<readonly { readonly rule: string; readonly text: string; readonly message: string }[]> {
    const { stdout, stderr } = await run(...args, "-o", "json");
    expect(stderr).toBeUndefined();
    const found: readonly LintFinding[] = JSON.parse(stdout).findings;
    return found.map(({ rule, file, line, column, message }) => {
      let text = "";
      try {
        text = lineOf(readFileSync(file, "utf8"), line).slice(column - 1);
      } catch {
        // An unreadable file has no text.
      }
      return { rule, text, message };
    });
  }

  const grants = { wasm: { grants: { tuning: { log: {}, sysctl: {}, links: {}, state: {} } } } };

  test("a network without mistakes ends with status 0", async () => {
    host();
    write("good.conflist", list("good", { type: "bridge", ipam: { type: "host-local", subnet: "10.1.0.0/24" } }));
    expect(await run(at("good.conflist"))).toEqual({ stdout: "1 networks: 0 errors, 0 warnings, 0 notes\n", status: 0 });
    expect(await run("--node")).toMatchObject({ status: 0 });
  });

  const cases: readonly (readonly [rule: keyof typeof lintRules, at: string, prepare: () => readonly string[]])[] = [
    ["unreadable-file", "", () => [at("absent.conflist")]],
    ["unreadable-configuration", "tru", () => (write("a.conf", '{"name": "a",\n "type": tru}'), [at("a.conf")])],
    [
      "unreadable-configuration",
      "5",
      () => (write("a.conf", { name: "a", cniVersion: "1.0.0", type: "bridge", ipam: 5 }), [at("a.conf")]),
    ],
    ["plexus-configuration", '"x"', () => (host({ wasm: { limits: { timeMs: "x" } } }), ["--node"])],
    ["invalid-definition", "5", () => (write("n.yaml", definition("5")), [at("n.yaml")])],
    [
      "forbidden-by-policy",
      "bridge",
      () => (host(), write("n.yaml", definition(`'{"cniVersion": "1.0.0", "type": "bridge"}'`)), [at("n.yaml")]),
    ],
    ["unknown-plugin", "brigde", () => (write("a.conflist", list("a", { type: "brigde" })), [at("a.conflist")])],
    [
      "unsupported-version",
      "9.0.0",
      () => (write("a.conflist", { ...list("a", { type: "bridge" }), cniVersion: "9.0.0" }), [at("a.conflist")]),
    ],
    [
      "missing-grant",
      "tuning",
      () => (host({ wasm: { grants: { tuning: {} } } }), write("a.conflist", list("a", { type: "tuning" })), [at("a.conflist")]),
    ],
    [
      "uncovered-value",
      "{",
      () => (
        host(grants),
        write("a.conflist", list("a", { type: "tuning", sysctl: { "net.core.somaxconn": "9" } })),
        [at("a.conflist")]
      ),
    ],
    [
      "unused-grant",
      "tuning",
      () => (
        host({ wasm: { grants: { tuning: { ...grants.wasm.grants.tuning, firewall: {} } } } }),
        write("a.conflist", list("a", { type: "tuning" })),
        [at("a.conflist")]
      ),
    ],
    [
      "refused-component",
      "big",
      () => (
        grown("big"),
        host({ wasm: { limits: { componentMiB: 1 } } }),
        write("a.conflist", list("a", { type: "big" })),
        [at("a.conflist")]
      ),
    ],
    [
      "unmet-demand",
      "tuning",
      () => (
        host({ wasm: { grants: { tuning: { ...grants.wasm.grants.tuning, digest: `sha256:${"0".repeat(64)}` } } } }),
        write("a.conflist", list("a", { type: "tuning" })),
        [at("a.conflist")]
      ),
    ],
    [
      "other-name",
      "shaper",
      () => (
        copyFileSync(at("bin/tuning.wasm"), at("bin/shaper.wasm")),
        host({ wasm: { grants: { shaper: grants.wasm.grants.tuning } } }),
        write("a.conflist", list("a", { type: "shaper" })),
        [at("a.conflist")]
      ),
    ],
    [
      "would-not-load",
      "tuning",
      () => (host({ wasm: { enabled: false } }), write("a.conflist", list("a", { type: "tuning" })), [at("a.conflist")]),
    ],
    [
      "policy-without-effect",
      "bridge",
      () => (
        host({ steps: { bridge: { failure: "open" } } }),
        write("a.conflist", list("a", { type: "bridge" })),
        [at("a.conflist")]
      ),
    ],
    [
      "name-collision",
      "a",
      () => (
        write("a.conflist", list("a", { type: "bridge" })),
        write("b.conflist", list("a", { type: "host-local" })),
        [at("a.conflist"), at("b.conflist")]
      ),
    ],
    ["type-twice", "bridge", () => (write("a.conflist", list("a", { type: "bridge" }, { type: "bridge" })), [at("a.conflist")])],
    [
      "subnet-overlap",
      "10.1.0.0/24",
      () => (
        write("a.conflist", list("a", pool("10.1.0.0/16"))),
        write("b.conflist", list("b", pool("10.1.0.0/24"))),
        [at("a.conflist"), at("b.conflist")]
      ),
    ],
    [
      "range-overlap",
      "10.1.0.0/25",
      () => (
        write(
          "a.conflist",
          list("a", {
            type: "bridge",
            ipam: { type: "host-local", ranges: [[{ subnet: "10.1.0.0/24" }], [{ subnet: "10.1.0.0/25" }]] },
          }),
        ),
        [at("a.conflist")]
      ),
    ],
    ["invalid-subnet", "10.1.0.0/33", () => (write("a.conflist", list("a", pool("10.1.0.0/33"))), [at("a.conflist")])],
    [
      "bridge-addresses",
      "br7",
      () => (
        write("a.conflist", list("a", { ...pool("10.1.0.0/24"), bridge: "br7", isGateway: true })),
        write("b.conflist", list("b", { ...pool("10.2.0.0/24"), bridge: "br7", isGateway: true })),
        [at("a.conflist"), at("b.conflist")]
      ),
    ],
    [
      "instance-address",
      "storage",
      () => (write("net.yaml", definition(pooled)), write("others.yaml", machineAndPool), [at("net.yaml"), at("others.yaml")]),
    ],
  ];

  function grown(name: string): void {
    writeFileSync(at(`bin/${name}.wasm`), withSection(readFileSync(at("bin/tuning.wasm")), "filler", Buffer.alloc(1024 * 1024)));
  }

  test.each(cases)("rule %s finds its mistake at its place: %s", async (rule, text, prepare) => {
    const targets = prepare();
    const found = await findings(...targets);
    const own = found.filter((each) => each.rule === rule);
    expect(found.map((each) => each.rule)).toContain(rule);
    expect(own[0]?.text.replace(/^"/, "").replace(/^\{ "/, "")).toMatch(
      new RegExp(`^\\W{0,3}${RegExp.escape(text.replaceAll('"', ""))}`),
    );
    expect((await run(...targets)).status).toBe(found.some((each) => severityOf(each.rule) === "error") ? 1 : 0);
    expect((await run(...targets, "--strict")).status).toBe(found.some((each) => severityOf(each.rule) !== "note") ? 1 : 0);
  });

  test("every rule has a case", () => {
    // `partly-examined` is plexus-controller's: plexusctl compares all ranges.
    const tried = new Set([...cases.map(([rule]) => rule), "partly-examined"]);
    expect(Object.keys(lintRules).filter((rule) => !tried.has(rule as keyof typeof lintRules))).toEqual([]);
  });

  const block = `|\n    {\n      "cniVersion": "1.0.0", "name": "n",\n      "plugins": [{"type": "gone"}]\n    }`;
  test.each([
    ["a block", block],
    ["double quotes", '"{\\"cniVersion\\": \\"1.0.0\\", \\"name\\": \\"n\\", \\"plugins\\": [{\\"type\\": \\"gone\\"}]}"'],
    ["single quotes", `'{"cniVersion": "1.0.0", "name": "n", "plugins": [{"type": "gone"}]}'`],
  ])("places in a manifest are those of the file: spec.config in %s", async (_, config) => {
    host();
    write("n.yaml", `${definition(config)}---\n${definition(config, "slow")}`);
    const found = await findings(at("n.yaml"));
    expect(found.map(({ rule, text }) => [rule, text.replaceAll("\\", "").slice(0, 6)])).toEqual([
      ["unknown-plugin", '"gone"'],
      ["unknown-plugin", '"gone"'],
    ]);
  });

  test("--sarif has the rule, the place and the level of each finding", async () => {
    write("a.conflist", list("a", { type: "gone" }));
    const { stdout, status } = await run(at("a.conflist"), "--sarif");
    expect(status).toBe(1);
    const [sarif] = JSON.parse(stdout).runs;
    expect(sarif.results).toMatchObject([
      {
        ruleId: "unknown-plugin",
        level: "error",
        locations: [
          { physicalLocation: { artifactLocation: { uri: at("a.conflist") }, region: { startLine: 6, startColumn: 15 } } },
        ],
      },
    ]);
    expect(sarif.tool.driver.rules[sarif.results[0].ruleIndex].id).toBe("unknown-plugin");
  });

  test("text of a hostile file reaches the terminal without control characters", async () => {
    write("a.conflist", list("a", { type: "x\u001B[31m\u202E" }));
    for (const form of ["table", "json", "yaml", "name"]) {
      const { stdout } = await run(at("a.conflist"), "-o", form);
      // oxlint-disable-next-line no-control-regex -- control characters are what must be absent
      expect(stdout).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u202E]/);
    }
  });

  test("the command line needs a target", async () => {
    expect(await run()).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("name files, or give --node or --kubeconfig"),
    });
  });
});
