import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { root } from "../../lab/compiled.ts";
import type { Result } from "../../../src/fault/result.ts";
import { manifestDirectory } from "../../../host/cluster/manifests/manifest-directory.ts";
import { systemClock } from "../../../host/system/clock.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "plexus-manifests-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function write(name: string, content: string | object): string {
  const path = join(directory, name);
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

const pod = (name: string, rest: object = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "ns", ...rest },
  spec: { containers: [] },
});
const nad = (name: string, config?: unknown) => ({
  apiVersion: "k8s.cni.cncf.io/v1",
  kind: "NetworkAttachmentDefinition",
  metadata: { name, namespace: "ns" },
  ...(config === undefined ? {} : { spec: { config } }),
});

function value<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(result.fault.msg);
  return result.value;
}

function refusal<T>(result: Result<T>): { kind: string; msg: string; details: string } {
  if (result.ok) throw new Error(`accepted: ${JSON.stringify(result.value)}`);
  return { kind: result.fault.kind, msg: result.fault.msg, details: result.fault.details ?? "" };
}

const isWebFound = async () => (await manifestDirectory(directory, systemClock).pod("ns", "web")).ok;
const problems = async () => refusal(await manifestDirectory(directory, systemClock).pod("ns", "none")).details;

const demo = `
apiVersion: v1
kind: Pod
metadata:
  name: web
  namespace: ns
  uid: 0a1b
  annotations:
    k8s.v1.cni.cncf.io/networks: |
      [{"name": "a"}]
---
# nothing
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: { name: a, namespace: ns }
spec:
  config: '{
    "cniVersion": "1.0.0",
    "type": "bridge"
  }'
---
apiVersion: v1
kind: Namespace
metadata: { name: ns }
`;

describe("reading", () => {
  test("YAML with several documents gives its pods and definitions; other kinds are ignored", async () => {
    write("demo.yaml", demo);
    const cluster = manifestDirectory(directory, systemClock);
    const web = value(await cluster.pod("ns", "web"));
    expect(web).toMatchObject({ namespace: "ns", name: "web", uid: "0a1b" });
    expect(web.annotations.get("k8s.v1.cni.cncf.io/networks")).toBe('[{"name": "a"}]\n');
    const config = value(await cluster.networkAttachmentDefinition("ns", "a")).config;
    expect(JSON.parse(config ?? "")).toEqual({ cniVersion: "1.0.0", type: "bridge" });
  });

  test("N1-05: the specification's examples give their three configurations, also with a closing quote in the first column", async () => {
    const text = readFileSync(join(root, "host/cluster/manifests/specification-examples.txt"), "utf8");
    write("examples.yaml", text);
    const cluster = manifestDirectory(directory, systemClock);
    const config = async (name: string): Promise<unknown> =>
      JSON.parse(value(await cluster.networkAttachmentDefinition("default", name)).config ?? "null");
    expect(await config("a-bridge-network")).toMatchObject({ type: "bridge", ipam: { dataDir: "/mnt/cluster-ipam" } });
    expect(await config("another-bridge-network")).toMatchObject({
      plugins: [{ type: "bridge" }, { type: "port-forwarding" }, {}],
    });
    expect(await config("thick")).toEqual({ cniVersion: "0.3.0", type: "awesome-plugin" });
    expect(await config("reference")).toBe(null);
  });

  test("JSON files, a List and a PodList give their objects", async () => {
    write("pods.json", { apiVersion: "v1", kind: "PodList", items: [{ metadata: { name: "p1", namespace: "ns" } }, pod("p2")] });
    write("all.json", { apiVersion: "v1", kind: "List", items: [pod("p3"), nad("n1", "{}")] });
    const cluster = manifestDirectory(directory, systemClock);
    for (const name of ["p1", "p2", "p3"]) expect(value(await cluster.pod("ns", name)).name).toBe(name);
    expect(value(await cluster.networkAttachmentDefinition("ns", "n1")).config).toBe("{}");
  });

  test("a manifest without a namespace is in the namespace default", async () => {
    write("p.yml", "apiVersion: v1\nkind: Pod\nmetadata: { name: p }\n");
    expect(value(await manifestDirectory(directory, systemClock).pod("default", "p")).namespace).toBe("default");
  });

  test("the YAML library is loaded only if a file is not JSON", () => {
    write("p.json", pod("p"));
    const probe = `
      import { manifestDirectory } from ${JSON.stringify(join(root, "host/cluster/manifests/manifest-directory.ts"))};
      import { systemClock } from ${JSON.stringify(join(root, "host/system/clock.ts"))};
      import { registerHooks } from "node:module";
      const loaded = [];
      registerHooks({ resolve(specifier, context, next) { loaded.push(specifier); return next(specifier, context); } });
      const found = await manifestDirectory(process.argv[1], systemClock).pod("ns", "p");
      console.log(JSON.stringify({ ok: found.ok, yaml: loaded.includes("yaml") }));`;
    const run = () => execFileSync(process.execPath, ["--input-type=module", "-e", probe, directory], { encoding: "utf8" });
    expect(JSON.parse(run())).toEqual({ ok: true, yaml: false });
    write("q.yaml", demo);
    expect(JSON.parse(run())).toEqual({ ok: true, yaml: true });
  });

  test("a lookup sees added, changed and removed files", async () => {
    const cluster = manifestDirectory(directory, systemClock);
    const path = write("n.json", nad("a", "{}"));
    expect(value(await cluster.networkAttachmentDefinition("ns", "a")).config).toBe("{}");
    write("n.json", nad("a", '{"type":"x"}'));
    expect(value(await cluster.networkAttachmentDefinition("ns", "a")).config).toBe('{"type":"x"}');
    rmSync(path);
    expect(refusal(await cluster.networkAttachmentDefinition("ns", "a")).kind).toBe("NETWORK_NOT_FOUND");
  });
});

describe("refused lookups", () => {
  test("MO-03: a pod without a manifest is a fault with code 11, never a success", async () => {
    write("demo.yaml", demo);
    const result = await manifestDirectory(directory, systemClock).pod("ns", "ghost");
    expect(result).toMatchObject({ ok: false, fault: { kind: "POD_NOT_FOUND", code: 11 } });
    expect(refusal(result).msg).toContain("ns/ghost");
    expect((await manifestDirectory(directory, systemClock).pod("other", "web")).ok).toBe(false);
  });

  test("MO-03: a missing directory is a fault", async () => {
    const result = await manifestDirectory(join(directory, "missing"), systemClock).pod("ns", "p");
    expect(refusal(result)).toMatchObject({ kind: "CLUSTER_UNREADABLE", msg: expect.stringContaining("ENOENT") });
  });

  test("MO-04: a pod with another uid is refused, unless it is the mirror pod of the static pod", async () => {
    write("p.json", pod("p", { uid: "new" }));
    const mirror = { "kubernetes.io/config.source": "file", "kubernetes.io/config.mirror": "static" };
    write("s.json", pod("s", { uid: "mirror", annotations: mirror }));
    write("posing.json", pod("posing", { uid: "new", annotations: { "kubernetes.io/config.source": "file" } }));
    write("u.json", pod("u"));
    const cluster = manifestDirectory(directory, systemClock);
    expect(refusal(await cluster.pod("ns", "p", { uid: "old" }))).toMatchObject({
      kind: "POD_NOT_FOUND",
      msg: 'pod ns/p has uid "new", but the runtime means "old"',
    });
    expect((await cluster.pod("ns", "p", { uid: "new" })).ok).toBe(true);
    expect((await cluster.pod("ns", "p", { uid: "" })).ok).toBe(true);
    expect((await cluster.pod("ns", "s", { uid: "static" })).ok).toBe(true);
    expect((await cluster.pod("ns", "s", { uid: "another" })).ok).toBe(false);
    expect((await cluster.pod("ns", "posing", { uid: "old" })).ok).toBe(false);
    expect((await cluster.pod("ns", "u", { uid: "any" })).ok).toBe(true);
  });

  test("N1-12: the fault of a missing definition names it and the unreadable files", async () => {
    write("broken.json", '{"kind": "Pod",}');
    write("broken.yaml", "a: [1\nb: 2\n");
    const found = refusal(await manifestDirectory(directory, systemClock).networkAttachmentDefinition("ns", "lost"));
    expect(found).toMatchObject({ kind: "NETWORK_NOT_FOUND", msg: expect.stringContaining("ns/lost") });
    expect(found.details).toContain('broken.json is not JSON: line 1, column 15: expected no comma before "}"');
    expect(found.details).toContain("broken.yaml, document 1");
  });

  test("two documents for one object are refused, and the fault names both files", async () => {
    write("a.json", nad("n", "{}"));
    write("b.yaml", "apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\nmetadata: {name: n, namespace: ns}\n");
    write("c.yaml", `${demo}---${demo}`);
    const cluster = manifestDirectory(directory, systemClock);
    const { kind, msg } = refusal(await cluster.networkAttachmentDefinition("ns", "n"));
    expect(kind).toBe("CLUSTER_UNREADABLE");
    expect(msg).toContain("a.json and in ");
    expect(msg).toContain("b.yaml");
    expect(refusal(await cluster.pod("ns", "web")).msg).toContain("twice in ");
  });

  test("N1-03: a config that is an object instead of a string is refused, and the fault names the file", async () => {
    write(
      "n.yaml",
      "apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\nmetadata: {name: n}\nspec: {config: {type: bridge}}\n",
    );
    const found = refusal(await manifestDirectory(directory, systemClock).networkAttachmentDefinition("default", "n"));
    expect(found.kind).toBe("NETWORK_INVALID");
    expect(found.msg).toContain("n.yaml: NetworkAttachmentDefinition default/n: spec.config must be a string");
  });
});

describe("unusual files", () => {
  beforeEach(() => write("demo.yaml", demo));

  test("the links of a mounted ConfigMap are followed", async () => {
    rmSync(join(directory, "demo.yaml"));
    mkdirSync(join(directory, "..2026_01"));
    writeFileSync(join(directory, "..2026_01", "demo.yaml"), demo);
    symlinkSync("..2026_01", join(directory, "..data"));
    symlinkSync("..data/demo.yaml", join(directory, "demo.yaml"));
    expect(await isWebFound()).toBe(true);
  });

  test("a link that leads out of the directory, a dangling link and a loop are not read", async () => {
    const outside = mkdtempSync(join(tmpdir(), "plexus-outside-"));
    writeFileSync(join(outside, "x.json"), JSON.stringify(pod("outside")));
    symlinkSync(join(outside, "x.json"), join(directory, "out.json"));
    symlinkSync("nowhere.json", join(directory, "dangling.json"));
    symlinkSync("loop.json", join(directory, "loop.json"));
    const cluster = manifestDirectory(directory, systemClock);
    const { kind, details } = refusal(await cluster.pod("ns", "outside"));
    rmSync(outside, { recursive: true });
    expect(kind).toBe("POD_NOT_FOUND");
    expect(details).toContain("out.json is a link that leads out of the directory");
    expect(details).toContain("dangling.json");
    expect(details).toContain("ELOOP");
    expect(await isWebFound()).toBe(true);
  });

  test("a pipe, a directory and a link to /dev/zero neither block the lookup nor hide other files", async () => {
    execFileSync("mkfifo", [join(directory, "pipe.json")]);
    mkdirSync(join(directory, "folder.yaml"));
    symlinkSync("/dev/zero", join(directory, "zero.json"));
    expect(await isWebFound()).toBe(true);
    expect(await problems()).toMatch(
      /folder\.yaml is not a regular file[^]*pipe\.json is not a regular file[^]*zero\.json is not a regular file/,
    );
  });

  test("a file beyond 4 MiB is not read", async () => {
    truncateSync(write("huge.json", "{}"), 1 << 30);
    expect(await isWebFound()).toBe(true);
    expect(await problems()).toContain("huge.json has 1073741824 bytes; at most 4194304 are read");
  });

  test("hidden files and files with other extensions are ignored", async () => {
    write(".hidden.yaml", "a: [");
    write("notes.txt", "a: [");
    write("demo.yaml~", "a: [");
    expect(await problems()).not.toContain("Not read");
  });

  test("a file that is not UTF-8 is not read", async () => {
    writeFileSync(join(directory, "latin.json"), Buffer.from([0x7b, 0xe9, 0x7d]));
    expect(await problems()).toContain("latin.json");
  });

  const laughs = [
    "a: &a [x,x,x,x,x,x,x,x,x,x]",
    ..."bcdefgh".split("").map((each, index) => {
      const before = String.fromCharCode(97 + index);
      return `${each}: &${each} [${Array(10).fill(`*${before}`).join()}]`;
    }),
  ].join("\n");
  test.each([
    ["a billion laughs", laughs],
    ["deep nesting", "[".repeat(100_000)],
    ["a duplicate key", "kind: Pod\nkind: List\n"],
    ["a list as a document", "- a\n- b\n"],
    ["a list within a list", JSON.stringify({ kind: "List", items: [{ kind: "List", items: [] }] })],
    ["a pod without a name", "apiVersion: v1\nkind: Pod\nmetadata: {}\n"],
    ["a pod whose name is a path", "apiVersion: v1\nkind: Pod\nmetadata: {name: ../../etc/x}\n"],
    ["a pod in a namespace that is a path", "apiVersion: v1\nkind: Pod\nmetadata: {name: x, namespace: ../x}\n"],
    ["an annotation that is not a string", "apiVersion: v1\nkind: Pod\nmetadata: {name: x, annotations: {a: 5}}\n"],
    [
      "a definition of another version",
      "apiVersion: k8s.cni.cncf.io/v2\nkind: NetworkAttachmentDefinition\nmetadata: {name: x}\n",
    ],
  ])("A-04: %s is reported and does not hide other files", async (_, text) => {
    write("odd.yaml", text);
    expect(await isWebFound()).toBe(true);
    expect(await problems()).toContain("odd.yaml");
  });

  test("A-04: a key __proto__ does not change an object's prototype", async () => {
    write(
      "odd.json",
      '{"apiVersion":"v1","kind":"Pod","__proto__":{"metadata":{"name":"evil"}},"metadata":{"__proto__":{"name":"evil"}}}',
    );
    write("odd.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: y, annotations: {__proto__: z, constructor: c}}\n");
    const cluster = manifestDirectory(directory, systemClock);
    expect((await cluster.pod("default", "evil")).ok).toBe(false);
    const annotations = value(await cluster.pod("default", "y")).annotations;
    expect([...annotations]).toEqual([
      ["__proto__", "z"],
      ["constructor", "c"],
    ]);
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
});

describe("the status", () => {
  const web = { namespace: "ns", name: "web.0", annotations: new Map<string, string>() };

  test("N1-36: the status file has the pod's name, and a new status replaces it", async () => {
    const cluster = manifestDirectory(directory, systemClock);
    value(await cluster.publishStatus(web, '[{"name":"a","default":true}]'));
    value(await cluster.publishStatus(web, '[{"name":"b","default":true}]'));
    const path = join(directory, "status", "ns.web.0.json");
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual([{ name: "b", default: true }]);
    expect(readdirSync(join(directory, "status"))).toEqual(["ns.web.0.json"]);
    expect(statSync(path).mode & 0o777).toBe(0o644);
  });

  test("each published status replaces the whole file", async () => {
    const cluster = manifestDirectory(directory, systemClock);
    const texts = ["a", "b"].map((each) => JSON.stringify([each.repeat(100_000)]));
    for (let round = 0; round < 40; round++) {
      value(await cluster.publishStatus(web, texts[round % 2] ?? ""));
      expect(texts).toContain(readFileSync(join(directory, "status", "ns.web.0.json"), "utf8").trimEnd());
    }
  });

  test("a link at the temporary path is not followed", async () => {
    mkdirSync(join(directory, "status"));
    const victim = write("victim.txt", "untouched");
    symlinkSync(victim, join(directory, "status", `.ns.web.0.json.${process.pid}`));
    value(await manifestDirectory(directory, systemClock).publishStatus(web, "[]"));
    expect(readFileSync(victim, "utf8")).toBe("untouched");
  });

  test("A-05: a pod whose name is a path is refused, and a status directory that cannot be written is a fault", async () => {
    const cluster = manifestDirectory(directory, systemClock);
    expect(refusal(await cluster.publishStatus({ ...web, name: "../x" }, "[]")).kind).toBe("INTERNAL");
    expect(refusal(await cluster.publishStatus({ ...web, namespace: "a/b" }, "[]")).kind).toBe("INTERNAL");
    write("status", "a file in the way");
    expect(refusal(await cluster.publishStatus(web, "[]")).kind).toBe("STORE_FAILED");
  });

  test("the status file is not read as a manifest", async () => {
    const cluster = manifestDirectory(directory, systemClock);
    value(await cluster.publishStatus(web, JSON.stringify(pod("fake"))));
    expect((await cluster.pod("ns", "fake")).ok).toBe(false);
  });
});
