// `plexusctl sysdump` on a node whose files are full of secrets.

import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { chainTraceText, readChainTrace } from "../../src/chain-trace/read-chain-trace.ts";
import { exampleStep, exampleTrace } from "../../src/chain-trace/testing/example-trace.ts";
import { dist, missingBuild } from "../lab/plexus.ts";
import { missing } from "../lab/requires.ts";

/** Each has its own form or place; none may be in the archive. */
const secrets = {
  keyed: "correct-horse-battery",
  unkeyedInLog: "staple/staple+9",
  jwt: "eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.eyJzdWIiOiJzeXN0ZW0ifQ.c2lnbmF0dXJl",
  yamlToken: "yaml-kubeconfig-token-77",
  execEnvironment: "exec-plugin-value-88",
  username: "operator-login-name",
  annotation: "annotation-of-another-operator",
  trace: "quoted-by-a-plugin-in-a-trace",
  pem: "MHcCAQEEIPrivateKeyBody0123456789",
  encryptedPem: "OtherKeyBodyAfterAHeader012345678",
  certificate: "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t",
  urlPassword: "pa55word-in-url",
  bootstrap: "abcdef.0123456789abcdef",
  tokenFile: "content-of-the-token-file",
};

function pem(type: string, body: string): string {
  return `-----BEGIN ${type}-----\n${body}\n-----END ${type}-----\n`;
}

describe.skipIf(missing("plexusctl sysdump", () => missingBuild()))("plexusctl sysdump", () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "plexus-sysdump-"));
    for (const name of ["net.d", "etc", "state", "bin"]) mkdirSync(join(directory, name));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  const log = (): string => join(directory, "plexus.log");

  function plant(): void {
    const write = (name: string, text: string): void => writeFileSync(join(directory, name), text);
    const plexus = {
      cniVersion: "1.0.0",
      name: "plexus",
      type: "plexus",
      kubeconfig: join(directory, "etc/plexus.kubeconfig"),
      clusterNetwork: join(directory, "net.d/10-vpn.conflist"),
      logFile: log(),
    };
    write("net.d/00-plexus.conf", JSON.stringify(plexus));
    const vpn = {
      type: "vpn",
      psk: secrets.keyed,
      peer: `https://vpn:${secrets.urlPassword}@peer:443`,
      ipam: { type: "etcd", etcd_key: secrets.unkeyedInLog },
      metadata: { annotations: { "example.com/secret-note": secrets.annotation, "k8s.v1.cni.cncf.io/networks": "storage" } },
    };
    write("net.d/10-vpn.conflist", JSON.stringify({ cniVersion: "1.0.0", name: "vpn", plugins: [vpn] }));
    const kubeconfig = `apiVersion: v1
kind: Config
clusters: [{ name: c, cluster: { server: "https://api:6443", certificate-authority-data: ${secrets.certificate} } }]
users:
  - name: plexus
    user:
      token: ${secrets.yamlToken}
      username: ${secrets.username}
      exec: { command: login, env: [{ name: VALUE, value: ${secrets.execEnvironment} }] }
`;
    write("etc/plexus.kubeconfig", kubeconfig);
    write("etc/token", secrets.tokenFile);
    mkdirSync(join(directory, "state/traces"));
    write(
      "state/traces/2026-01-01T00-00-00.000Z_ADD_a.json",
      chainTraceText(exampleTrace([exampleStep({ stdin: JSON.stringify({ name: "vpn", psk: secrets.trace, tokens: 4 }) })])),
    );
    write("state/traces/2026-01-02T00-00-00.000Z_ADD_b.json", '{"kind": "another file"}');
    const lines = [
      "2026-01-01 info attached shop/web",
      `etcd refused ${secrets.unkeyedInLog} for 10.244.0.9`,
      `Authorization: Bearer ${secrets.jwt}`,
      `password=${secrets.keyed}`,
      pem("EC PRIVATE KEY", secrets.pem),
      pem("RSA PRIVATE KEY", `Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n${secrets.encryptedPem}`),
      `kubeadm join --token ${secrets.bootstrap}`,
      "the last line",
    ];
    writeFileSync(log(), `${lines.join("\n")}\n`);
  }

  function sysdump(...args: readonly string[]) {
    const places = [
      "--config",
      join(directory, "net.d"),
      "--state-dir",
      join(directory, "state"),
      "--cni-path",
      join(directory, "bin"),
    ];
    const all = [join(dist, "plexusctl.cjs"), "sysdump", "--status-socket", join(directory, "status.sock"), ...places, ...args];
    const { status, stdout, stderr } = spawnSync(process.execPath, all, { encoding: "utf8", cwd: directory });
    return { status, stdout, stderr };
  }

  /** The archive's files by name, as tar(1) unpacks them. */
  function unpacked(archive: string): ReadonlyMap<string, string> {
    const to = join(directory, "unpacked");
    mkdirSync(to);
    execFileSync("tar", ["-xzf", archive, "-C", to]);
    const names = readdirSync(to, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    return new Map(names.map((entry) => [entry.name, readFileSync(join(entry.parentPath, entry.name), "utf8")]));
  }

  test("writes the files that a report needs, and none of the secrets", () => {
    plant();
    const archive = join(directory, "dump.tar.gz");
    const result = sysdump("-o", archive);
    expect([result.status, result.stderr]).toEqual([0, ""]);
    const files = unpacked(archive);
    const all = [...files.values()].join("\n");
    expect(Object.entries(secrets).filter(([, secret]) => all.includes(secret))).toEqual([]);
    const documents = [
      "contents",
      "versions",
      "status",
      "doctor",
      "node-checks",
      "explanation",
      "lint",
      "traces",
      "kernel",
      "network",
    ];
    for (const name of documents) expect([name, files.get(`${name}.json`)?.slice(0, 1)]).toEqual([name, "{"]);
    // The plugin vpn is not installed.
    expect(JSON.parse(files.get("node-checks.json") ?? "")).toMatchObject({ kind: "NodeChecks", isAble: false });
    expect(JSON.parse(files.get("lint.json") ?? "")).toMatchObject({
      findings: expect.arrayContaining([expect.objectContaining({ file: join(directory, "net.d/10-vpn.conflist") })]),
    });
    expect(JSON.parse(files.get("traces.json") ?? "").traces).toHaveLength(2);
    const trace = [...files].find(([name]) => name.endsWith("_ADD_a.json"))?.[1] ?? "";
    // plexusctl trace can read it.
    expect(readChainTrace(trace, "trace")).toMatchObject({ ok: true, value: { plexus: exampleTrace().plexus } });
    for (const text of [
      "10-vpn.conflist",
      "attached shop/web",
      "for 10.244.0.9",
      "the last line",
      '"type": "vpn"',
      "https://api:6443",
      '"storage"',
    ])
      expect([text, all.includes(text)]).toEqual([text, true]);
    // No daemon runs, so the archive says why there are no metrics.
    expect(JSON.parse(files.get("contents.json") ?? "")).toMatchObject({
      leftOut: expect.arrayContaining([
        { name: "metrics.txt", why: "the socket does not exist" },
        { name: "calls.json", why: "the socket does not exist" },
        { name: expect.stringMatching(/^traces\/.*_ADD_b\.json$/), why: expect.stringContaining("must be") },
      ]),
    });
    expect(JSON.parse(files.get("network.json") ?? "")).toMatchObject({
      links: expect.arrayContaining([expect.objectContaining({ name: "lo" })]),
    });
  });

  test("--max-mib bounds the dump: of logs the end stays, and contents.json names what is missing", () => {
    plant();
    appendFileSync(log(), "x".repeat(99).concat("\n").repeat(60_000));
    appendFileSync(log(), "the newest line\n");
    appendFileSync(join(directory, "state/traces/2026-01-02T00-00-00.000Z_ADD_b.json"), " ".repeat(200_000));
    const archive = join(directory, "dump.tar.gz");
    expect(sysdump("-o", archive, "--max-mib", "1").status).toBe(0);
    const files = unpacked(archive);
    const size = [...files.values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    expect(size).toBeLessThanOrEqual(1024 * 1024);
    expect(size).toBeGreaterThan(900 * 1024);
    const logged = [...files].find(([name]) => name.endsWith("plexus.log"))?.[1] ?? "";
    expect(logged.endsWith("the newest line\n")).toBe(true);
    const { leftOut } = JSON.parse(files.get("contents.json") ?? "");
    expect(leftOut).toContainEqual({
      name: expect.stringMatching(/_ADD_b\.json$/),
      why: "has 200024 bytes: a dump of this size has 131072 bytes of traces",
    });
    expect(leftOut.filter(({ name }: { name: string }) => name.endsWith("plexus.log"))).toEqual([
      expect.objectContaining({ why: expect.stringMatching(/^the first \d+ bytes: only the end is taken$/) }),
      expect.objectContaining({ why: expect.stringMatching(/the dump is full/) }),
    ]);
  });

  test("never overwrites a file, and -o - writes the archive to stdout", () => {
    writeFileSync(join(directory, "mine"), "mine");
    const refused = sysdump("-o", "mine");
    expect([refused.status, readFileSync(join(directory, "mine"), "utf8")]).toEqual([1, "mine"]);
    const shell = `"${process.execPath}" "${join(dist, "plexusctl.cjs")}" sysdump -o - --config "${join(directory, "net.d")}" | tar -tz`;
    expect(execFileSync("sh", ["-c", shell], { encoding: "utf8" })).toContain("plexus-sysdump/contents.json\n");
  });

  test.each([
    [["--max-mib", "0"], "--max-mib 0: must be a number from 1 to 1000"],
    [["--nonsense"], "unknown option --nonsense"],
  ])("%j is refused in one line", (args, line) => {
    const { status, stdout, stderr } = sysdump(...args);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(line);
  });
});
