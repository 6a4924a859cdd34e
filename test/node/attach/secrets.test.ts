// Secrets of a step's configuration in every output: the runtime's answer, stderr, `logFile`, the trace, the daemon's log, the status document
// and spans. Plugins and components quote their configuration in errors, details, stderr and log lines. test/api/pods.long.test.ts has the events.

import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { installTestDelegate, testDelegate } from "../../lab/delegates/built.ts";
import { type Collector, startCollector } from "../../lab/collector.ts";
import { startDaemon } from "../../lab/daemon.ts";
import { httpRequest } from "../../lab/http-request.ts";
import type { Answer } from "../../lab/plexus.ts";
import { installRecorder, type RecorderPlugin } from "../../lab/recorder.ts";
import { missing, privateNamespaces } from "../../lab/requires.ts";
import { missingForMixed } from "../../lab/mixed-network.ts";
import { openStage, type Stage } from "../../lab/stage.ts";

/** Values without a shape by which a text alone would betray them. */
const secrets = {
  pwd: "correct horse",
  pass: "tr0ub4dor&3",
  auth: 'quoted "battery"',
  token: "staple/staple+x",
  key: "Zm9vYmFy",
  cookie: "c00kiemonster",
  dsn: "svc:pa55word@db",
};
/** Every secret as a plugin may write it, without its key. */
const leaks = Object.values(secrets).flatMap((secret) => [
  secret,
  JSON.stringify(secret),
  encodeURIComponent(secret),
  Buffer.from(`user:${secret}`).toString("base64"),
]);
const leaking = `dial tcp 10.0.0.1:443: refused (${leaks.join(" | ")})`;
const forms = Object.values(secrets).flatMap((secret) => [
  secret,
  JSON.stringify(secret).slice(1, -1),
  encodeURIComponent(secret),
  Buffer.from(secret).toString("base64").replaceAll("=", ""),
]);

/** Fails if a text has any secret. */
function expectNoSecret(text: string): void {
  expect(forms.filter((form) => text.includes(form))).toEqual([]);
}

const read = (path: string): string => (existsSync(path) ? readFileSync(path, "utf8") : "");
const wasm = (): object => ({ grants: { puppet: { log: {}, delegation: { plugins: [] } } } });

describe.skipIf(missingForMixed("secrets") || missing("secrets", privateNamespaces))("secrets of a configuration", () => {
  let stage: Stage;
  let leaky: RecorderPlugin;
  beforeAll(() => testDelegate("puppet"));
  beforeEach(async () => {
    stage = openStage({ native: [], components: [] });
    leaky = installRecorder(stage.plexus.cniPath, "leaky");
    await installTestDelegate("puppet", stage.plexus.cniPath, ["puppet"]);
  });
  afterEach(() => stage.dispose());

  const logFile = (): string => join(stage.plexus.directory, "log");
  const trace = (): string => join(stage.plexus.directory, "trace");
  const nativeStep = { type: "leaky", ipam: { backend: secrets } };
  const wasmStep = (...actions: readonly object[]): object => ({
    type: "puppet",
    ipam: { backend: secrets },
    do: { ADD: actions, DEL: actions },
  });
  const logs = { log: leaking };
  const fails = { end: "fail", msg: leaking, details: leaking };
  const add = (step: object, more: object = {}, env: Readonly<Record<string, string>> = {}, verb = "ADD"): Promise<Answer> =>
    stage.request({
      verb,
      containerId: "told",
      netns: stage.pod().path,
      ifname: "eth0",
      args: "K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web",
      config: stage.network([step], { logFile: logFile(), logLevel: "debug", ...more }),
      env,
    });
  /** Fails unless the native plugin or component was called and nothing that the call wrote has a secret. */
  const expectNoSecretOf = ({ stdout, stderr }: Answer): void => {
    for (const text of [stdout, stderr, read(logFile()), read(trace())]) expectNoSecret(text);
    expect(stdout + stderr).toContain("dial tcp 10.0.0.1:443: refused ([redacted] | ");
  };

  test("in the error of a native plugin: message, details and stderr", async () => {
    const answer = { cniVersion: "1.0.0", code: 107, msg: leaking, details: leaking };
    leaky.script("ADD", { exit: 1, stdout: JSON.stringify(answer), stderr: leaking });
    const failed = await add(nativeStep);
    expect(failed.json).toMatchObject({ code: 107 });
    expectNoSecretOf(failed);
    expect([read(logFile()), read(trace())]).toEqual(Array(2).fill(expect.stringContaining("refused ([redacted]")));
  });

  test.each([
    ["without an error object", { exit: 1, stderr: leaking }],
    ["with an error that is no JSON", { exit: 1, stdout: leaking }],
    ["with a result that is no JSON", { exit: 0, stdout: `{"cniVersion":"1.0.0", ${leaking}` }],
    ["with a result of a wrong type", { exit: 0, stdout: JSON.stringify({ cniVersion: "1.0.0", ips: leaking }) }],
  ])("of a native plugin that ends %s", async (_, script) => {
    leaky.script("ADD", script);
    const failed = await add(nativeStep);
    expect(failed.status).toBe(1);
    for (const text of [failed.stdout, failed.stderr, read(logFile()), read(trace())]) expectNoSecret(text);
  });

  test("in the stderr of a native plugin that succeeds, also where the text is cut", async () => {
    leaky.script("ADD", { stderr: `${leaking}\n${"x".repeat(65_536 - leaking.length - 8)}${secrets.cookie}` });
    const added = await add(nativeStep);
    expect(added.status).toBe(0);
    expectNoSecretOf(added);
    expect(added.stderr).not.toContain(secrets.cookie.slice(0, 5));
  });

  test("in the log lines and the error of a component", async () => {
    const failed = await add(wasmStep(logs, fails), { wasm: wasm() });
    expect(failed.json).toMatchObject({ code: 133 });
    expectNoSecretOf(failed);
    expect(failed.stderr).toContain("puppet: warn: dial tcp 10.0.0.1:443: refused ([redacted]");
  });

  test("in a repeated DEL, and in what the journal and the record of an abandoned attachment say", async () => {
    leaky.script("DEL", { exit: 1, stdout: JSON.stringify({ code: 107, msg: leaking }) });
    const more = { del: { tries: 2, seconds: 1 } };
    expect((await add(nativeStep, more)).status).toBe(0);
    for (let count = 0; count < 3; count++) expectNoSecret((await add(nativeStep, more, {}, "DEL")).stdout);
    expectNoSecret(read(logFile()));
  });

  describe("with a daemon", () => {
    let collector: Collector;
    beforeEach(async () => void (collector = await startCollector()));
    afterEach(() => collector.close());

    test("in its log, its status document and its spans", async () => {
      const socket = join(stage.plexus.directory, "daemon", "plexus.sock");
      const args = ["--state-dir", stage.plexus.state("cni"), "--log-level", "debug", "--otlp", collector.url];
      const daemon = await startDaemon({ socket, args });
      try {
        const answer = { cniVersion: "1.0.0", code: 107, msg: leaking, details: leaking };
        leaky.script("ADD", { exit: 1, stdout: JSON.stringify(answer), stderr: leaking }, 1);
        leaky.script("ADD", { stderr: leaking }, 2);
        const calls = [
          await add(nativeStep, {}, { PLEXUS_SOCKET: socket }),
          await add(nativeStep, {}, { PLEXUS_SOCKET: socket }),
          await add(wasmStep(logs, fails), { wasm: wasm(), name: "other" }, { PLEXUS_SOCKET: socket }),
        ];
        expect(calls.map(({ status }) => status)).toEqual([1, 0, 1]);
        for (const call of calls) expectNoSecretOf(call);
        const { body } = await httpRequest(join(dirname(socket), "status.sock"), "/status");
        expect(body).toContain("refused ([redacted]");
        expectNoSecret(body);
        await expect.poll(() => collector.spans.length).toBeGreaterThanOrEqual(6);
        expectNoSecret(JSON.stringify(collector.spans));
      } finally {
        await daemon.stop();
      }
      expect(daemon.stderr()).toContain("refused ([redacted]");
      expectNoSecret(daemon.stderr());
    });
  });
});
