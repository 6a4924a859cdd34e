// Credential plugins as real programs. test/api/plexusctl-access.long.test.ts has them in front of a real API server.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { root } from "../../lab/compiled.ts";
import { command, missing } from "../../lab/requires.ts";
import { readCredentialPlugin } from "../../../src/kube/credential-plugin.ts";
import { kubeconfigCredentials } from "../../../host/cluster/kube/credentials.ts";
import { credentialPluginRunner } from "../../../host/programs/plexusctl/cluster-access/run-credential-plugin.ts";

const apiVersion = "client.authentication.k8s.io/v1";
const pem = "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n";

let directory = "";
const at = (name: string): string => join(directory, name);
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "plexus-plugin-"));
  mkdirSync(at("bin"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** The output of a plugin with this status, as a command of a shell script. */
const print = (status: object): string => `printf %s '${JSON.stringify({ apiVersion, kind: "ExecCredential", status })}'`;

/** Writes the plugin `bin/plexus-login` with this script, and a kubeconfig that names it. Answers the kubeconfig's path. */
function plugin(script: string, exec: object = {}, cluster: object = {}): string {
  writeFileSync(at("bin/plexus-login"), `#!/bin/sh\ncd '${directory}' || exit\n${script}\n`, { mode: 0o755 });
  const entry = { apiVersion, command: "./bin/plexus-login", interactiveMode: "Never", ...exec };
  const kubeconfig = {
    "current-context": "x",
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    clusters: [{ name: "c", cluster: { server: "https://api.example", "certificate-authority-data": btoa(pem), ...cluster } }],
    users: [{ name: "u", user: { exec: entry } }],
  };
  writeFileSync(at("kubeconfig"), JSON.stringify(kubeconfig));
  return at("kubeconfig");
}

const limits = { maxMs: 600_000, maxBytes: 64 * 1024 };
const source = (path: string, more: Partial<typeof limits> = {}): ReturnType<typeof kubeconfigCredentials> =>
  kubeconfigCredentials(path, { plugins: { read: readCredentialPlugin, run: credentialPluginRunner({ ...limits, ...more }) } });
const refused = (msg: RegExp): object => ({
  ok: false,
  fault: { kind: "CREDENTIALS_UNREADABLE", msg: expect.stringMatching(msg) },
});

describe("a credential plugin", () => {
  test("gets its arguments without a shell, the environment and its input, and gives a token", async () => {
    const script = `printf '%s|' "$@" "$REGION" "$HOME" > seen\nprintf %s "$KUBERNETES_EXEC_INFO" > input\n${print({ token: "t1" })}`;
    const args = ["a b", "$(touch shell)", ";touch shell"];
    const path = plugin(script, { args, env: [{ name: "REGION", value: "eu" }], provideClusterInfo: true });
    expect(await source(path)()).toMatchObject({
      ok: true,
      value: { source: path, server: "https://api.example", authority: pem, token: "t1", certificate: undefined },
    });
    expect(readFileSync(at("seen"), "utf8").split("|").slice(0, -1)).toEqual([...args, "eu", process.env["HOME"] ?? ""]);
    expect(existsSync(at("shell"))).toBe(false);
    expect(JSON.parse(readFileSync(at("input"), "utf8"))).toEqual({
      apiVersion,
      kind: "ExecCredential",
      spec: { interactive: false, cluster: { server: "https://api.example", "certificate-authority-data": btoa(pem) } },
    });
  });

  test("gives a client certificate", async () => {
    const read = await source(plugin(print({ clientCertificateData: pem, clientKeyData: `${pem}k` })))();
    expect(read).toMatchObject({ ok: true, value: { token: undefined, certificate: { certificate: pem, key: `${pem}k` } } });
  });

  test("with a name is found on PATH, and with a slash relative to the kubeconfig", async () => {
    const before = process.env["PATH"];
    const found = plugin(print({ token: "path" }), { command: "plexus-login" });
    expect(await source(found)()).toMatchObject(refused(/"plexus-login" of kubeconfig .*: the program is not on PATH/));
    process.env["PATH"] = `${at("bin")}:${before}`;
    try {
      expect(await source(found)()).toMatchObject({ value: { token: "path" } });
    } finally {
      process.env["PATH"] = before;
    }
    expect(await source(plugin(print({ token: "relative" }), { command: "bin/plexus-login" }))()).toMatchObject({
      value: { token: "relative" },
    });
  });

  test("runs once for all requests, and again when its credential has expired", async () => {
    const count = "echo run >> runs; n=$(wc -l < runs)";
    const until = (time: string): string =>
      `${count}\nprintf '{"apiVersion":"${apiVersion}","kind":"ExecCredential","status":{"token":"t%s","expirationTimestamp":"${time}"}}' $n`;
    const kept = source(plugin(until("2999-01-01T00:00:00Z")));
    const all = await Promise.all([kept(), kept(), kept()]);
    expect([...all, await kept()].map((read) => read.ok && read.value.token)).toEqual(["t1", "t1", "t1", "t1"]);
    const expired = source(plugin(until("2020-01-01T00:00:00Z")));
    expect([await expired(), await expired()]).toMatchObject([{ value: { token: "t2" } }, { value: { token: "t3" } }]);
  });

  test("is not run if the kubeconfig may not be used, and never without a caller's consent", async () => {
    const path = plugin(`touch ran\n${print({ token: "t" })}`, {}, { "insecure-skip-tls-verify": true });
    expect(await source(path)()).toMatchObject({ fault: { msg: expect.stringContaining("insecure-skip-tls-verify") } });
    plugin(`touch ran\n${print({ token: "t" })}`);
    expect(await kubeconfigCredentials(path)()).toMatchObject({
      fault: { kind: "KUBECONFIG_INVALID", msg: expect.stringContaining("exec would start a program") },
    });
    expect(existsSync(at("ran"))).toBe(false);
  });

  test("that is missing is named with the kubeconfig's hint as one inert line", async () => {
    const installHint = "Install it:\n  see \u001B[31mexample.com\u001B[0m";
    const path = plugin("", { command: "bin/none", installHint });
    expect(await source(path)()).toMatchObject(
      refused(/^credential plugin ".*\/bin\/none" of kubeconfig .*: the program does not exist: Install it: see example\.com$/),
    );
    expect(await source(plugin("", { command: "bin/none" }))()).toMatchObject(
      refused(/does not exist: install it, or use a kube/),
    );
    writeFileSync(at("bin/plain"), "");
    expect(await source(plugin("", { command: "bin/plain" }))()).toMatchObject(refused(/it cannot be started: EACCES$/));
    const env = [{ name: "LONG", value: "x".repeat(200_000) }];
    expect(await source(plugin("", { env }))()).toMatchObject(refused(/it cannot be started: E2BIG$/));
  });

  test.each<[string, string, RegExp]>([
    ["fails", "exit 3", /it ended with status 3/],
    ["is killed", "kill -TERM $$", /it ended with SIGTERM/],
    ["gives no JSON", "echo s3cret", /no ExecCredential in JSON$/],
    ["writes without end", "yes s3cret", /it wrote more than 65536 bytes$/],
    ["gives a wrong time", print({ token: "t", expirationTimestamp: "soon" }), /expirationTimestamp is not a time$/],
  ])("that %s is refused", async (_, script, msg) => {
    const read = await source(plugin(script))();
    expect(read).toMatchObject(refused(msg));
    expect(JSON.stringify(read)).not.toContain("s3cret");
  });

  test("with a line feed in its token is refused", async () => {
    expect(await source(plugin(print({ token: "a b" })))()).toMatchObject({
      fault: { kind: "KUBECONFIG_INVALID", msg: expect.stringContaining("plugin's token is not a bearer token") },
    });
  });

  test("that hangs is ended in time, also if its own child holds the pipe", async () => {
    const path = plugin("echo $$ > pid\nsleep 1000 &\necho $! > child\nwait");
    // A busy machine needs longer until the plugin has begun.
    for (let seconds = 1.5; !existsSync(at("child")); seconds *= 3) {
      const read = await source(path, { maxMs: seconds * 1000 })();
      expect(read).toMatchObject(refused(new RegExp(`it gave no credential within ${seconds} s$`)));
    }
    const pid = Number(readFileSync(at("pid"), "utf8"));
    await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
    process.kill(Number(readFileSync(at("child"), "utf8")), "SIGKILL");
  });

  test("that needs a terminal is refused without one", async () => {
    const probe = probeOf(plugin(`touch ran\n${print({ token: "t" })}`, { interactiveMode: "Always" }));
    const { stdout } = spawnSync(process.execPath, probe, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
    expect(stdout).toContain("it needs a terminal as stdin (interactiveMode: Always)");
    expect(existsSync(at("ran"))).toBe(false);
  });

  test.skipIf(missing("a terminal", command("script", "--version")))(
    "gets the terminal as stdin, unless its mode is Never",
    () => {
      const script = `[ -t 0 ] && t=terminal || t=none\necho "$t $KUBERNETES_EXEC_INFO" >> seen\n${print({ token: "t" })}`;
      for (const interactiveMode of ["Always", "IfAvailable", "Never"]) {
        const line = [process.execPath, ...probeOf(plugin(script, { interactiveMode }))].map((word) => `'${word}'`).join(" ");
        const { status } = spawnSync("script", ["-qec", line, "/dev/null"], { encoding: "utf8", timeout: 120_000 });
        expect(status).toBe(0);
      }
      const seen = readFileSync(at("seen"), "utf8").trim().split("\n");
      expect(seen.map((each) => each.replace(/\{.*"spec":/, ""))).toEqual([
        'terminal {"interactive":true}}',
        'terminal {"interactive":true}}',
        'none {"interactive":false}}',
      ]);
    },
  );
});

/** Node's arguments for a process that reads the credentials and prints the outcome. */
function probeOf(path: string): readonly string[] {
  writeFileSync(
    at("probe.ts"),
    `import { administratorCredentials } from ${JSON.stringify(join(root, "host/programs/plexusctl/cluster-access/access-options.ts"))};
console.log(JSON.stringify(await administratorCredentials(process.argv[2])()));`,
  );
  return [at("probe.ts"), path];
}
