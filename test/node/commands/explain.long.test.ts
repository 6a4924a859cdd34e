// plexusctl explain with a node's files, as an administrator runs it before a pod is attached.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { findPlugin } from "../../../host/node/explain/find-plugin.ts";
import { installTestDelegate, testDelegate } from "../../lab/delegates/built.ts";
import { dist, missingBuild } from "../../lab/plexus.ts";
import { withSection } from "../../hostile/components/sections.ts";

const build = missingBuild({ components: ["ipam-host-local"] });
if (build !== undefined) throw new Error(build);

const puppet = { type: "puppet", ipam: { type: "ipam-host-local", subnet: "10.1.0.0/24" } };

describe("plexusctl explain", () => {
  let directory: string;
  let bin: string;
  // The first build of the delegate takes long, so that it must not count as a test's time.
  beforeAll(() => testDelegate("puppet"));
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), "plexus-explain-"));
    bin = join(directory, "bin");
    mkdirSync(bin);
    mkdirSync(join(directory, "net.d"));
    await installTestDelegate("puppet", bin);
    copyFileSync(join(dist, "delegates", "ipam-host-local.wasm"), join(bin, "ipam-host-local.wasm"));
    writeFileSync(join(bin, "native"), "#!/bin/sh\n");
    chmodSync(join(bin, "native"), 0o755);
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  /** Writes Plexus' configuration beside another plugin's. */
  function host(more: object): void {
    writeFileSync(
      join(directory, "net.d", "00-other.conflist"),
      '{"cniVersion":"1.0.0","name":"o","plugins":[{"type":"bridge"}]}',
    );
    const plugin = { type: "plexus", delegates: [{ cniVersion: "1.0.0", name: "pods", plugins: [puppet] }], ...more };
    const list = { cniVersion: "1.0.0", name: "cluster", plugins: [plugin] };
    writeFileSync(join(directory, "net.d", "10-plexus.conflist"), JSON.stringify(list));
  }

  function file(name: string, content: unknown): string {
    const path = join(directory, name);
    writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
    return path;
  }

  function explain(...args: readonly string[]): { status: number | null; stdout: string; stderr: string } {
    const program = [join(dist, "plexusctl.cjs"), "explain", ...args, "--config", join(directory, "net.d"), "--cni-path", bin];
    const { status, stdout, stderr } = spawnSync(process.execPath, program, { encoding: "utf8" });
    return { status, stdout, stderr };
  }

  function json(...args: readonly string[]): { status: number | null; explanation: unknown } {
    const { status, stdout, stderr } = explain(...args, "-o", "json");
    expect(stderr).toBe("");
    return { status, explanation: JSON.parse(stdout) };
  }

  const granted = { log: {}, delegation: { plugins: ["ipam-*"] } };

  test("E-7 shows kind, path, digest, declared capabilities with reasons, grants and limits of each step", () => {
    host({ wasm: { grants: { puppet: granted }, limits: { timeMs: 500 } } });
    const { status, explanation } = json();
    const sum = createHash("sha256")
      .update(readFileSync(join(bin, "puppet.wasm")))
      .digest("hex");
    expect(status).toBe(0);
    expect(explanation).toMatchObject({
      apiVersion: "plexus/v1",
      kind: "Explanation",
      hostConfiguration: join(directory, "net.d", "10-plexus.conflist"),
      cniPath: [bin],
      loads: true,
      networks: [
        {
          name: "pods",
          loads: true,
          steps: [
            {
              type: "puppet",
              kind: "component",
              path: join(bin, "puppet.wasm"),
              digest: `sha256:${sum}`,
              delegate: { name: "puppet", abi: "1.0.0" },
              capabilities: [
                { name: "log", reason: "Logs failed calls.", imported: true, granted: {} },
                { name: "delegation", imported: true, granted: { plugins: ["ipam-*"] } },
              ],
              effective: ["log", "delegation"],
              limits: { timeMs: 500, memoryPages: 256 },
              missing: [],
              uncovered: [],
              problem: null,
              steps: [{ type: "ipam-host-local", role: "ipam", kind: "component", effective: ["log", "leases", "resolver"] }],
            },
          ],
        },
      ],
    });
  });

  test("E-11 X-5: explain prints each step's failure policy and time", () => {
    host({
      delegates: [{ cniVersion: "1.0.0", name: "pods", plugins: [{ type: "native" }, { type: "native" }] }],
      steps: { native: { failure: "open" } },
    });
    const text = explain().stdout.replaceAll(/\s+/g, " ");
    expect(text).toContain(
      'Failure policy closed: a failure fails the chain. Note: The failure policy "open" of native does not hold',
    );
    expect(text).toContain(
      "Failure policy open: after a failure the chain goes on without the step. Time in an ADD: at most 60000 ms",
    );
  });

  test("X-3: explain prints the places of the result that a component may change", () => {
    host({ wasm: { grants: { puppet: { ...granted, result: { change: ["dns", "ips/*/gateway"] } } } } });
    expect(explain().stdout.replaceAll(/\s+/g, " ")).toContain("Its ADD may change of the result: dns, ips/*/gateway.");
  });

  test("X-2: explain prints a shadow, or why it would not run", () => {
    const shadowed = (shadow: string): string => {
      host({ delegates: [{ cniVersion: "1.0.0", name: "pods", plugins: [{ type: "native" }] }], steps: { native: { shadow } } });
      return explain().stdout.replaceAll(/\s+/g, " ");
    };
    expect(shadowed("ipam-host-local")).toContain("Shadow: the component ipam-host-local runs beside native, without effects.");
    expect(shadowed("nowhere")).toContain("the shadow nowhere of native does not run: failed to find plugin");
    const beside = { native: { shadow: "puppet" } };
    const delegates = [{ cniVersion: "1.0.0", name: "pods", plugins: [{ type: "native" }] }];
    host({ delegates, steps: beside, wasm: { grants: { puppet: granted } } });
    expect(explain().stdout.replaceAll(/\s+/g, " ")).toContain("puppet can't run as a shadow: delegation can't be simulated");
  });

  test("X-12: each step has file, line and column of its type, also inside Plexus' configuration and in a manifest", () => {
    host({ wasm: { grants: { puppet: granted } } });
    const { explanation } = json();
    const own = readFileSync(join(directory, "net.d", "10-plexus.conflist"), "utf8");
    const place = (text: string) => ({
      file: join(directory, "net.d", "10-plexus.conflist"),
      line: 1,
      column: own.indexOf(text) + 1,
    });
    expect(explanation).toMatchObject({
      networks: [{ at: place('"pods"'), steps: [{ at: place('"puppet"'), steps: [{ at: place('"ipam-host-local"') }] }] }],
    });
    const config =
      '{\n  "cniVersion": "1.0.0",\n  "name": "two",\n  "plugins": [{ "type": "puppet" },\n    { "type": "gone" }]\n}';
    const path = file("two.conflist", config);
    const steps = [{ at: { file: path, line: 4, column: 25 } }, { kind: "missing", at: { file: path, line: 5, column: 15 } }];
    expect(json(path).explanation).toMatchObject({ networks: [{ at: { line: 3, column: 11 }, steps }] });
    const indented = config.replaceAll("\n", "\n    ");
    const manifest = file(
      "nad.yaml",
      `apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\nmetadata: {name: two, namespace: shop}\nspec:\n  config: |\n    ${indented}\n`,
    );
    expect(json(manifest).explanation).toMatchObject({
      networks: [{ steps: [{ at: { file: manifest, line: 9, column: 29 } }, { at: { line: 10, column: 19 } }] }],
    });
    expect(explain(manifest).stdout).toContain(`${manifest}:10:19`);
  });

  test("X-12: a component whose file name is not its declared name gets a warning, and loads", () => {
    copyFileSync(join(bin, "puppet.wasm"), join(bin, "renamed.wasm"));
    host({ wasm: { grants: { renamed: granted } } });
    const path = file("a.conflist", { cniVersion: "1.0.0", name: "a", plugins: [{ type: "renamed" }] });
    const { status, explanation } = json(path);
    expect(status).toBe(0);
    expect(explanation).toMatchObject({
      networks: [{ steps: [{ warnings: [expect.stringContaining("declares the name puppet")] }] }],
    });
    expect(explain(path).stdout.replaceAll(/\s+/g, " ")).toContain("its file name, renamed.");
  });

  test("a component over wasm.limits.componentMiB would not load, as on a node", () => {
    const path = join(bin, "puppet.wasm");
    const { length } = readFileSync(path);
    writeFileSync(path, withSection(readFileSync(path), "filler", Buffer.alloc(1024 * 1024)));
    host({ wasm: { grants: { puppet: granted }, limits: { componentMiB: 1 } } });
    const refused = explain();
    expect(refused.status).toBe(1);
    // The table breaks lines at words.
    expect(refused.stdout.replaceAll(/\s+/g, " ")).toMatch(
      /Would not load \[COMPONENT_REFUSED\]: component refused: \d+ bytes \(at most 1048576: wasm.limits.componentMiB\)/,
    );
    expect(length).toBeLessThan(1024 * 1024);
    host({ wasm: { grants: { puppet: granted }, limits: { componentMiB: 2 } } });
    expect(explain().status).toBe(0);
  });

  test("E-7 a missing grant ends with status 1 and the JSON that grants it; with that JSON the status is 0", () => {
    host({ wasm: { grants: { puppet: { log: {} } } } });
    const missing = explain();
    expect(missing.status).toBe(1);
    expect(missing.stdout.replaceAll(/\s+/g, " ")).toContain("Would not load [CAPABILITY_NOT_GRANTED]: not granted: delegation.");
    const { explanation } = json();
    expect(explanation).toMatchObject({ loads: false, networks: [{ steps: [{ missing: ["delegation"] }] }] });
    const [network] = (explanation as { networks: readonly { steps: readonly { toGrant: object }[] }[] }).networks;
    const toGrant = network?.steps[0]?.toGrant ?? {};
    expect(toGrant).toEqual({ wasm: { grants: { puppet: { log: {}, delegation: { plugins: ["ipam-host-local"] } } } } });
    host(toGrant);
    expect(json()).toMatchObject({ status: 0, explanation: { loads: true, networks: [{ steps: [{ uncovered: [] }] }] } });
  });

  test("E-7 an IPAM type of the configuration that the grant does not list is shown with the grant's key", () => {
    host({ wasm: { grants: { puppet: { log: {}, delegation: { plugins: ["host-local"] }, firewall: {} } } } });
    const { status, explanation } = json();
    expect(status).toBe(0);
    expect(explanation).toMatchObject({
      networks: [
        {
          steps: [
            {
              uncovered: ["ipam.type ipam-host-local: wasm.grants.puppet.delegation.plugins has host-local"],
              idle: ["firewall"],
            },
          ],
        },
      ],
    });
  });

  test("reads a configuration list, a single configuration, and manifests with definitions in YAML", () => {
    host({ wasm: { grants: { puppet: granted } } });
    const list = file("a.conflist", { cniVersion: "1.0.0", name: "a", plugins: [puppet, { type: "native" }] });
    expect(json(list)).toMatchObject({
      status: 0,
      explanation: {
        networks: [
          { source: list, name: "a", steps: [{ kind: "component" }, { kind: "native", capabilities: [], limits: null }] },
        ],
      },
    });
    const single = file("b.conf", { cniVersion: "1.0.0", name: "b", type: "native" });
    expect(json(single)).toMatchObject({ status: 0, explanation: { networks: [{ name: "b", steps: [{ type: "native" }] }] } });
    const config = JSON.stringify({ cniVersion: "1.0.0", type: "nobody" });
    const yaml = file(
      "nads.yaml",
      ["one", "two"]
        .map(
          (name) =>
            `apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\nmetadata: {name: ${name}, namespace: shop}\nspec: {config: '${config}'}\n`,
        )
        .join("---\n"),
    );
    const problem = { kind: "PLUGIN_NOT_FOUND", code: 7, msg: expect.stringContaining('failed to find plugin "nobody"') };
    expect(json(yaml)).toMatchObject({
      status: 1,
      explanation: {
        loads: false,
        networks: [
          { source: "shop/one", steps: [{ kind: "missing", path: null, problem }] },
          { source: "shop/two", loads: false },
        ],
      },
    });
  });

  test("reads a definition by name from the manifests of the host configuration", () => {
    const manifests = join(directory, "manifests");
    mkdirSync(manifests);
    const metadata = { name: "fast", namespace: "shop" };
    const spec = { config: JSON.stringify({ cniVersion: "1.0.0", type: "native" }) };
    file("manifests/a.json", { apiVersion: "k8s.cni.cncf.io/v1", kind: "NetworkAttachmentDefinition", metadata, spec });
    host({ manifests, definitions: { trusted: ["shop"] } });
    expect(json("shop/fast")).toMatchObject({
      status: 0,
      explanation: { networks: [{ source: "shop/fast", name: "fast", definition: { namespace: "shop", trusted: true } }] },
    });
    const absent = explain("shop/slow");
    expect([absent.status, absent.stderr]).toEqual([1, expect.stringContaining("shop/slow")]);
  });

  test("shows what a definition's namespace may use, and the rule that a refused native plugin needs", () => {
    const manifests = join(directory, "manifests");
    mkdirSync(manifests);
    const spec = { config: JSON.stringify({ cniVersion: "1.0.0", type: "native", master: "eth0", vlans: [1] }) };
    const metadata = { name: "fast", namespace: "shop" };
    file("manifests/a.json", { apiVersion: "k8s.cni.cncf.io/v1", kind: "NetworkAttachmentDefinition", metadata, spec });
    const rule = { namespaces: ["shop"], native: { native: { master: ["eth1"] } }, files: ["storage"] };
    host({ manifests, definitions: { rules: [rule] } });
    const fragment = { rules: [{ namespaces: ["shop"], native: { native: { master: ["eth0"], vlans: "*" } } }] };
    const problem = { kind: "DEFINITION_FORBIDDEN", msg: expect.stringContaining('"master" with the value "eth0"') };
    const definition = { namespace: "shop", trusted: false, native: ["native"], ipam: [], components: [], files: ["storage"] };
    const steps = [{ problem, toGrant: { definitions: fragment } }];
    expect(json("shop/fast")).toMatchObject({
      status: 1,
      explanation: { networks: [{ name: "shop.fast", definition, steps }] },
    });
    const text = explain("shop/fast").stdout.replaceAll(/\s+/g, " ");
    expect(text).toContain("Definitions of namespace shop may use by definitions.rules: native plugins: native;");
    host({ manifests, definitions: fragment });
    expect(json("shop/fast").status).toBe(0);
  });

  test("E-8 a misspelt grant in the host configuration is reported with the valid names", () => {
    host({ wasm: { grants: { puppet: { delegtion: {} } } } });
    const { status, stderr } = explain();
    expect(status).toBe(1);
    expect(stderr).toContain("wasm.grants.puppet.delegtion: no such key; did you mean delegation?");
  });

  test("E-8 a misspelt key of the host configuration is reported instead of reading another configuration", () => {
    host({ namespaceIsolatoin: true });
    const { status, stderr } = explain();
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining("namespaceIsolatoin: no such key; did you mean namespaceIsolation?"),
    ]);
  });

  test.each([
    [["a", "b"], "explain takes one argument"],
    [["/nowhere"], "/nowhere"],
    [["shop/fast"], "names no cluster"],
  ])("the arguments %j fail with one line on stderr", (args, line) => {
    host({});
    const { status, stdout, stderr } = explain(...args);
    expect([status === 0, stdout]).toEqual([false, ""]);
    expect(stderr).toContain(line);
  });

  test("an invalid component is reported, and none of its bytes reach the terminal", () => {
    host({});
    writeFileSync(
      join(bin, "bad.wasm"),
      Buffer.concat([Buffer.from([0, 0x61, 0x73, 0x6d, 13, 0, 1, 0]), Buffer.from("\u001b[31m")]),
    );
    const { status, stdout } = explain(file("bad.conflist", { cniVersion: "1.0.0", name: "bad", plugins: [{ type: "bad" }] }));
    expect(status).toBe(1);
    expect(stdout).toContain("Would not load [COMPONENT_REFUSED]");
    expect(stdout).not.toContain("\u001b");
  });

  test("findPlugin finds the same file as the shim", () => {
    const second = join(directory, "second");
    mkdirSync(second);
    copyFileSync(join(bin, "puppet.wasm"), join(second, "native.wasm"));
    writeFileSync(join(second, "text.wasm"), "text");
    symlinkSync(join(bin, "native"), join(second, "link"));
    mkdirSync(join(second, "directory"));
    const path = `:${bin}:${second}:`;
    expect(findPlugin("native", path, false)).toEqual({ kind: "native", path: join(bin, "native") });
    expect(findPlugin("native", path, true)).toEqual({ kind: "native", path: join(bin, "native") });
    expect(findPlugin("native", second, ["native"])).toEqual({ kind: "component", path: join(second, "native.wasm") });
    expect(findPlugin("link", path, false)).toEqual({ kind: "native", path: join(second, "link") });
    const missing = { kind: "missing", unfit: "" };
    for (const type of ["", "../bin/native", "absent", "puppet.wasm/", "n".repeat(256)]) {
      expect(findPlugin(type, path, false)).toEqual(missing);
    }
    writeFileSync(join(second, "locked"), "#!/bin/sh\n", { mode: 0o644 });
    for (const [type, name] of [
      ["text", "text.wasm"],
      ["directory", "directory"],
      ["locked", "locked"],
    ] as const)
      expect(findPlugin(type, path, false)).toEqual({ ...missing, unfit: join(second, name) });
  });
});
