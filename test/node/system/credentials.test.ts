import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { root } from "../../lab/compiled.ts";
import { mappedId, missing } from "../../lab/requires.ts";

import { kubeconfigCredentials, serviceAccountCredentials } from "../../../host/cluster/kube/credentials.ts";

const pem = "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n";
const yaml = `apiVersion: v1
kind: Config
clusters:
- name: c
  cluster:
    server: https://api.example:6443
    certificate-authority: pki/ca.crt
users:
- name: u
  user:
    tokenFile: token
contexts:
- name: x
  context:
    cluster: c
    user: u
current-context: x
`;

let directory = "";
let path = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "plexus-credentials-"));
  path = join(directory, "kubeconfig");
  mkdirSync(join(directory, "pki"));
  writeFileSync(join(directory, "pki", "ca.crt"), pem);
  writeFileSync(join(directory, "token"), "secret\n");
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const read = (text: string): ReturnType<ReturnType<typeof kubeconfigCredentials>> => {
  writeFileSync(path, text);
  return kubeconfigCredentials(path)();
};
const json = JSON.stringify({
  clusters: [{ name: "c", cluster: { server: "https://api.example:6443", "certificate-authority": "pki/ca.crt" } }],
  users: [{ name: "u", user: { tokenFile: "token" } }],
  contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
  "current-context": "x",
});
const anchored = yaml.replace("name: c\n", "name: &c c\n").replace("cluster: c\n", "cluster: *c\n");

describe("a kubeconfig", () => {
  test.each([
    ["YAML", yaml],
    ["YAML with anchors", anchored],
    ["JSON", json],
  ])("in %s gives the content of its files, whose paths are relative to the kubeconfig", async (_, text) => {
    expect(await read(text)).toEqual({
      ok: true,
      value: {
        source: path,
        server: "https://api.example:6443",
        serverName: undefined,
        insecure: false,
        authority: pem,
        token: "secret",
        certificate: undefined,
      },
    });
  });

  async function namesNoFile(writer: string, mode: number, uid: number, gid: number): Promise<void> {
    const refused = {
      ok: false,
      fault: { kind: "KUBECONFIG_INVALID", msg: expect.stringContaining(`because ${writer} may write`) },
    };
    const written = async (text: string): ReturnType<typeof read> => {
      writeFileSync(path, text);
      if (uid !== 0 || gid !== 0) chownSync(path, uid, gid);
      chmodSync(path, mode);
      return kubeconfigCredentials(path)();
    };
    const server = "https://api.example:6443";
    const cluster = { server, "certificate-authority-data": Buffer.from(pem).toString("base64") };
    const whole = (user: object, more: object = {}): string =>
      JSON.stringify({
        ...JSON.parse(json),
        clusters: [{ name: "c", cluster: { ...cluster, ...more } }],
        users: [{ name: "u", user }],
      });
    expect(await written(whole({ tokenFile: "token" }))).toMatchObject(refused);
    expect(await written(whole({ "client-certificate": "pki/ca.crt", "client-key": "pki/ca.crt" }))).toMatchObject(refused);
    expect(await written(json)).toMatchObject(refused);
    expect(await written(whole({ token: "own" }))).toMatchObject({ ok: true, value: { token: "own", authority: pem } });
  }

  test.each([["every user", 0o646, 0, 0]])(
    "that %s may write names no file: that user would get the content of root's files",
    namesNoFile,
  );

  test.skipIf(missing("a kubeconfig of another user", mappedId(4242))).each([
    ["group 4242", 0o664, 0, 4242],
    ["user 4242", 0o600, 4242, 0],
  ])("that %s may write names no file: that user would get the content of root's files", namesNoFile);

  test("MC-14: is read again by each call, with its files", async () => {
    writeFileSync(path, yaml);
    const source = kubeconfigCredentials(path);
    expect(await source()).toMatchObject({ value: { token: "secret" } });
    writeFileSync(join(directory, "token"), "rotated");
    expect(await source()).toMatchObject({ value: { token: "rotated" } });
    writeFileSync(path, yaml.replace("api.example", "other.example"));
    expect(await source()).toMatchObject({ value: { server: "https://other.example:6443" } });
  });

  test("loads the YAML library only if it is not JSON", () => {
    const probe = `
      import { kubeconfigCredentials } from ${JSON.stringify(join(root, "host/cluster/kube/credentials.ts"))};
      import { registerHooks } from "node:module";
      const loaded = [];
      registerHooks({ resolve(specifier, context, next) { loaded.push(specifier); return next(specifier, context); } });
      const read = await kubeconfigCredentials(process.argv[1])();
      console.log(JSON.stringify({ ok: read.ok, yaml: loaded.includes("yaml") }));`;
    const run = (text: string): unknown => {
      writeFileSync(path, text);
      return JSON.parse(execFileSync(process.execPath, ["--input-type=module", "-e", probe, path], { encoding: "utf8" }));
    };
    expect([run(json), run(yaml)]).toEqual([
      { ok: true, yaml: false },
      { ok: true, yaml: true },
    ]);
  });

  test("from docs/how-to/install-by-hand.md is JSON", async () => {
    const page = readFileSync(join(root, "docs/how-to/install-by-hand.md"), "utf8");
    const written = /cat > plexus\.kubeconfig <<END\n(.*?)\nEND\n/s.exec(page)?.[1] ?? "";
    writeFileSync(join(directory, "ca.crt"), pem);
    const text = written.replace(/\$\(.*\)/, "https://api.example:6443");
    expect(JSON.parse(text)).toMatchObject({ kind: "Config" });
    expect(await read(text)).toMatchObject({
      ok: true,
      value: { server: "https://api.example:6443", authority: pem, token: "secret" },
    });
  });

  test.each<[string, string, string, RegExp]>([
    ["broken YAML", "a: [1\nb: 2\n", "KUBECONFIG_INVALID", /kubeconfig .*kubeconfig: "/],
    ["broken JSON", '{"a": }', "KUBECONFIG_INVALID", /is not JSON: line 1, column 7/],
    ["too many aliases", `a: &a [x,x]\nc: [${"*a,".repeat(100)}]\n`, "KUBECONFIG_INVALID", /alias/i],
    [
      "a token with a line feed",
      yaml.replace("tokenFile: token", '"token": "a\\nb"'),
      "KUBECONFIG_INVALID",
      /not a bearer token/,
    ],
    [
      "a path to a missing file",
      yaml.replace("pki/ca.crt", "pki/none"),
      "CREDENTIALS_UNREADABLE",
      /certificate-authority of kubeconfig .*pki\/none: ENOENT/,
    ],
    ["a directory in place of a file", yaml.replace("pki/ca.crt", "pki"), "KUBECONFIG_INVALID", /pki: is not a file/],
  ])("%s is refused", async (_, text, kind, msg) => {
    expect(await read(text)).toMatchObject({ ok: false, fault: { kind, msg: expect.stringMatching(msg) } });
  });

  test("a FIFO in place of a file is refused without blocking", async () => {
    execFileSync("mkfifo", [join(directory, "pipe")]);
    expect(await read(yaml.replace("pki/ca.crt", "pipe"))).toMatchObject({
      ok: false,
      fault: { msg: expect.stringMatching(/is not a file/) },
    });
  });

  test("a file of more than 1 MiB is refused", async () => {
    writeFileSync(join(directory, "token"), "x".repeat(1024 * 1024 + 1));
    expect(await read(yaml)).toMatchObject({ ok: false, fault: { msg: expect.stringMatching(/at most 1048576 are read/) } });
  });
});

test.each([
  ["empty", ""],
  ["incomplete", pem.slice(0, 40)],
  ["not a certificate", "secret\n"],
])("an authority's file that is %s is refused, because Node would trust the public authorities", async (_, text) => {
  writeFileSync(join(directory, "pki", "ca.crt"), text);
  expect(await read(yaml)).toMatchObject({
    fault: { kind: "KUBECONFIG_INVALID", msg: expect.stringContaining("no certificate in PEM") },
  });
  writeFileSync(join(directory, "ca.crt"), text);
  expect(await serviceAccountCredentials(directory, "https://api.example")()).toMatchObject({
    fault: { kind: "KUBECONFIG_INVALID" },
  });
});

test("a service account's files give its token and authority", async () => {
  writeFileSync(join(directory, "ca.crt"), pem);
  const source = serviceAccountCredentials(directory, "https://api.example");
  expect(await source()).toMatchObject({ ok: true, value: { server: "https://api.example", token: "secret", authority: pem } });
  rmSync(join(directory, "token"));
  expect(await source()).toMatchObject({ ok: false, fault: { kind: "CREDENTIALS_UNREADABLE", code: 11 } });
});
