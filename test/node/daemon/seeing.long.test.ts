// Metrics, readiness, status, log and spans of the built daemon with real plugins and attachments, as Prometheus, a kubelet, a log reader and
// an OpenTelemetry collector get them.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, closeSync, constants, openSync, readdirSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { httpRequest } from "../../lab/http-request.ts";
import { startCollector, type Collector, type ReceivedSpan } from "../../lab/collector.ts";
import { sandboxUidsHere, startDaemon, type TestDaemon } from "../../lab/daemon.ts";
import { buildWat } from "../../hostile/components/wat.ts";
import { dist } from "../../lab/plexus.ts";
import { readPrometheusText, valueOf } from "../../lab/prometheus-text.ts";
import { installHostile, installRecorder } from "../../lab/recorder.ts";
import { missing, type Requirement } from "../../lab/requires.ts";
import { bridgeStep, missingForMixed, mixedInstallation, mixedNetwork, shaperStep } from "../../lab/mixed-network.ts";
import { openStage, type Attaching, type Stage } from "../../lab/stage.ts";

const anotherUid: Requirement = () =>
  spawnSync("setpriv", ["--reuid=65534", "--regid=65534", "--clear-groups", "true"]).status === 0
    ? undefined
    : "this user namespace maps no other uid";

const podArgs = "IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=cart-7;PASSWORD=hunter2-args";

/** Lines of the log so far. Every line must be JSON. */
function linesOf({ stderr }: TestDaemon): readonly Readonly<Record<string, unknown>>[] {
  return stderr()
    .split("\n")
    .slice(0, -1)
    .map((line): Readonly<Record<string, unknown>> => JSON.parse(line));
}

describe.skipIf(missingForMixed("a daemon's telemetry"))("a daemon's telemetry", () => {
  let stage: Stage;
  let collector: Collector;
  const daemons: TestDaemon[] = [];
  beforeEach(async () => {
    stage = openStage(mixedInstallation);
    collector = await startCollector();
  });
  afterEach(async () => {
    await Promise.all(daemons.splice(0).map(({ stop }) => stop()));
    collector.close();
    stage.dispose();
  });

  const socket = (): string => join(stage.plexus.directory, "daemon", "plexus.sock");
  const statusSocket = (): string => join(dirname(socket()), "status.sock");
  const state = (): string => join(stage.plexus.directory, "state", "cni");
  async function daemon(...args: string[]): Promise<TestDaemon> {
    const started = await startDaemon({ socket: socket(), args: ["--state-dir", state(), ...args] });
    daemons.push(started);
    return started;
  }
  const call = (
    verb: string,
    { config, containerId, pod, args = podArgs }: Attaching,
    env: Readonly<Record<string, string>> = {},
  ) =>
    stage.request({
      verb,
      containerId,
      netns: typeof pod === "string" ? pod : pod.path,
      ifname: "eth0",
      config,
      args,
      env: { PLEXUS_SOCKET: socket(), ...env },
    });
  const readyz = () => httpRequest(statusSocket(), "/readyz").catch(() => ({ status: 0 }));
  const metrics = async (where: string | number = statusSocket()) =>
    readPrometheusText((await httpRequest(where, "/metrics")).body);

  test("MO-19, E-16: metrics of an ADD, its DEL and a failed ADD by network, plugin and fault", async () => {
    await daemon();
    installHostile(stage.plexus.cniPath, "fails-with-code");
    const succeeding = { config: mixedNetwork(stage), containerId: "good", pod: stage.pod() };
    expect((await call("ADD", succeeding)).status).toBe(0);
    const during = await metrics();
    expect(valueOf(during, "plexus_journal_entries", { state: "kept" })).toBe(1);
    expect(valueOf(during, "plexus_journal_size_bytes", { state: "kept" })).toBeGreaterThan(500);
    expect((await call("DEL", succeeding)).status).toBe(0);
    const failing = { config: stage.network([bridgeStep(), { type: "fails-with-code" }]), containerId: "bad", pod: stage.pod() };
    expect((await call("ADD", failing)).status).toBe(1);
    const families = await metrics();
    const calls = (verb: string, outcome: string) => valueOf(families, "plexus_calls_total", { verb, outcome });
    expect([calls("ADD", "done"), calls("ADD", "failed"), calls("DEL", "done")]).toEqual([1, 1, 1]);
    expect(valueOf(families, "plexus_call_failures_total", { verb: "ADD", fault: "PLUGIN_FAILED" })).toBe(1);
    expect(valueOf(families, "plexus_attachment_failures_total", { verb: "ADD", fault: "PLUGIN_FAILED", network: "pods" })).toBe(
      1,
    );
    const step = (verb: string, type: string, kind: string) =>
      valueOf(families, "plexus_step_duration_seconds", { verb, type, kind, network: "pods" }, "_count");
    expect(step("ADD", "bridge", "native")).toBe(2);
    expect(step("ADD", "ipam-host-local", "wasm")).toBe(2);
    expect(step("ADD", "status-shaper", "wasm")).toBe(1);
    // The undo of the failed ADD is a DEL of its steps.
    expect(step("DEL", "bridge", "native")).toBe(2);
    expect(valueOf(families, "plexus_step_failures_total", { type: "fails-with-code", fault: "PLUGIN_FAILED" })).toBe(1);
    const seconds = valueOf(families, "plexus_attachment_duration_seconds", { verb: "ADD", network: "pods" }, "_sum") ?? 0;
    expect(seconds).toBeGreaterThan(0.001);
    expect(valueOf(families, "plexus_journal_entries", { state: "kept" })).toBe(0);
    expect(valueOf(families, "plexus_sandbox_processes", { state: "idle" })).toBeGreaterThan(0);
    expect(valueOf(families, "process_resident_memory_bytes")).toBeGreaterThan(10_000_000);
  });

  test("MO-29 metrics of a full queue and of a refused call", async () => {
    const running = await daemon("--calls", "1", "--queue", "1");
    const slow = installRecorder(stage.plexus.cniPath, "slow");
    // The test kills the daemon instead of releasing the calls.
    slow.hold("ADD");
    const config = stage.network([{ type: "slow" }]);
    const add = (containerId: string) => call("ADD", { config, containerId, pod: stage.pod() });
    const first = add("first");
    await expect.poll(() => slow.calls().length).toBe(1);
    const second = add("second");
    await expect.poll(async () => valueOf(await metrics(), "plexus_queue_calls", { state: "waiting" })).toBe(1);
    expect((await add("third")).json).toMatchObject({ code: 11 });
    const families = await metrics();
    const of = (name: string) => ["active", "waiting"].map((queued) => valueOf(families, name, { state: queued }));
    expect(of("plexus_queue_calls")).toEqual(of("plexus_queue_bound_calls"));
    expect(valueOf(families, "plexus_queue_refused_total")).toBe(1);
    expect(valueOf(families, "plexus_queue_wait_seconds", {}, "_count")).toBe(1);
    daemons.splice(0);
    running.signal("SIGKILL");
    expect((await Promise.all([first, second])).map(({ json }) => json?.["code"])).toEqual([11, 11]);
  });

  test("E-16: metrics of a delegate that exceeds its time limit and of the replaced sandbox process", async () => {
    await daemon();
    writeFileSync(join(stage.plexus.cniPath, "spin.wasm"), await buildWat("spin"));
    const wasm = { limits: { timeMs: 300 } };
    const config = stage.host({ wasm, delegates: [{ cniVersion: "1.0.0", name: "pods", plugins: [{ type: "spin" }] }] });
    expect((await call("ADD", { config, containerId: "spun", pod: stage.pod() })).json).toMatchObject({ code: 999 });
    await expect.poll(async () => valueOf(await metrics(), "plexus_sandbox_restarts_total")).toBeGreaterThanOrEqual(1);
    const families = await metrics();
    expect(valueOf(families, "plexus_limit_verdicts_total", { limit: "LIMIT_TIME", type: "spin" })).toBeGreaterThanOrEqual(1);
    const failed = { verb: "ADD", kind: "wasm", fault: "LIMIT_TIME", network: "pods", type: "spin" };
    expect(valueOf(families, "plexus_step_failures_total", failed)).toBe(1);
    expect(valueOf(families, "plexus_call_failures_total", { verb: "ADD", fault: "LIMIT_TIME" })).toBe(1);
  });

  test("metrics of the leases of native host-local and of the delegate", async () => {
    await daemon();
    const native = { type: "host-local", subnet: "10.20.0.0/29", dataDir: stage.leases };
    const add = (containerId: string, config: object) => call("ADD", { config, containerId, pod: stage.pod() });
    expect((await add("n", stage.network([bridgeStep({ ipam: native })]))).status).toBe(0);
    const named = (network: string, step: object) =>
      stage.host({ delegates: [{ cniVersion: "1.0.0", name: network, plugins: [step] }] });
    const wasm = { type: "ipam-host-local", subnet: "10.21.0.0/28" };
    for (const id of ["w1", "w2"]) {
      expect((await add(id, named("wasm", bridgeStep({ ipam: wasm, bridge: "br1" })))).status).toBe(0);
    }
    const families = await metrics();
    const pool = (name: string) => [
      valueOf(families, "plexus_leases_used", { pool: `${stage.leases}/${name}` }),
      valueOf(families, "plexus_leases_size", { pool: `${stage.leases}/${name}` }),
    ];
    // 8 and 16 addresses, without those of network, broadcast and gateway.
    expect([pool("pods"), pool("wasm")]).toEqual([
      [1, 5],
      [2, 13],
    ]);
  });

  test("readiness: 503 while the journal is not writable, then 200", async () => {
    await daemon();
    await expect.poll(async () => (await httpRequest(statusSocket(), "/healthz?start")).status).toBe(200);
    expect((await httpRequest(statusSocket(), "/readyz")).status).toBe(200);
    rmSync(state(), { recursive: true });
    writeFileSync(state(), "a file in its place");
    const unready = await httpRequest(statusSocket(), "/readyz");
    expect(unready.status).toBe(503);
    expect(unready.body).toMatch(new RegExp(`^\\[-\\] journal: ${state()}: .*can't be written`, "m"));
    expect(valueOf(await metrics(), "plexus_ready")).toBe(0);
    // Liveness does not depend on the journal, and neither does the start of a daemon that was ready once.
    for (const path of ["/healthz", "/healthz?start"]) expect((await httpRequest(statusSocket(), path)).status).toBe(200);
    rmSync(state());
    expect((await httpRequest(statusSocket(), "/readyz")).status).toBe(200);
  });

  test("readiness of a confined daemon: 503 with the journal on a read-only mount", async () => {
    const began = performance.now();
    const confined = await startDaemon({
      socket: socket(),
      args: ["--state-dir", "/usr/lib/plexus-state"],
      confined: { writable: [dirname(socket())] },
    });
    daemons.push(confined);
    const { status, body } = await httpRequest(statusSocket(), "/readyz");
    expect(status).toBe(503);
    expect(body).toMatch(/^\[-\] journal: \/usr\/lib\/plexus-state: \/usr\/lib can't be written: E[A-Z]+$/m);
    expect((await httpRequest(statusSocket(), "/healthz")).status).toBe(200);
    const start = await httpRequest(statusSocket(), "/healthz?start");
    // After 20 s a daemon that is never ready counts as started.
    expect(start.status).toBe(performance.now() - began < 20_000 ? 503 : start.status);
  });

  test("over TCP serves metrics and health without pod names; only the socket serves the status", async () => {
    const { stderr } = await daemon("--metrics-listen", "0");
    const port = Number(/serves metrics on 127\.0\.0\.1:(\d+)/.exec(stderr())?.[1]);
    expect(valueOf(await metrics(port), "plexus_build_info")).toBe(1);
    await expect.poll(async () => (await httpRequest(port, "/readyz")).status).toBe(200);
    expect((await httpRequest(port, "/status")).status).toBe(403);
    // A repeated request gets the same cached answer, so that many requests cost little.
    const same = async () => (await httpRequest(port, "/metrics")).body === (await httpRequest(port, "/metrics")).body;
    await expect.poll(same).toBe(true);
    expect((await httpRequest(port, "/metrics", "POST")).status).toBe(405);
    expect((await httpRequest(port, "/etc/passwd")).status).toBe(404);
    expect((await httpRequest(statusSocket(), "/status")).type).toBe("application/json");
  });

  test("over TCP is served despite 80 silent connections", async () => {
    const { stderr } = await daemon("--metrics-listen", "0");
    const port = Number(/serves metrics on 127\.0\.0\.1:(\d+)/.exec(stderr())?.[1]);
    const silent = Array.from({ length: 80 }, () => connect(port, "127.0.0.1").on("error", () => undefined));
    onTestFinished(() => silent.forEach((each) => void each.destroy()));
    await Promise.all(silent.map((each) => once(each, "connect")));
    expect((await httpRequest(port, "/healthz")).status).toBe(200);
    expect(valueOf(await metrics(port), "plexus_build_info")).toBe(1);
  });

  test.skipIf(missing("another uid's request to the status socket", anotherUid))(
    "the status socket closes connections of another uid, whatever its mode",
    async () => {
      await daemon();
      chmodSync(stage.plexus.directory, 0o755);
      chmodSync(statusSocket(), 0o666);
      const get = `require("node:http").get({socketPath:${JSON.stringify(statusSocket())},path:"/healthz"},(r)=>process.exit(r.statusCode===200?0:3)).on("error",()=>process.exit(4))`;
      const as = (...uid: string[]) => spawnSync("setpriv", [...uid, process.execPath, "-e", get]).status;
      expect([as("--reuid=65534", "--regid=65534", "--clear-groups"), as("--reuid=0")]).toEqual([4, 0]);
    },
  );

  test("E-15: the log has JSON lines with the call's fields and without secrets", async () => {
    const running = await daemon("--log-level", "debug");
    const secret = "hunter2-config";
    const probe = installRecorder(stage.plexus.cniPath, "leaky");
    probe.script("ADD", {
      exit: 1,
      stdout: JSON.stringify({
        cniVersion: "1.0.0",
        code: 123,
        msg: `failing config {"password":"${secret}"}\u001B[2J\n{"level":"info","msg":"forged"}\u0007 at https://u:${secret}@x/`,
      }),
    });
    const config = stage.network([bridgeStep(), { type: "leaky", password: secret, apiToken: secret }]);
    const answer = await call("ADD", { config, containerId: "told", pod: stage.pod() });
    expect(answer.json).toMatchObject({ code: 123 });
    await expect.poll(() => linesOf(running).some(({ level }) => level === "error")).toBe(true);
    const text = running.stderr();
    expect(text).not.toContain("hunter2");
    // oxlint-disable-next-line no-control-regex -- control characters are what must be absent
    expect(text).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/);
    const lines = linesOf(running);
    const ended = lines.find(({ level }) => level === "error");
    const identity = { verb: "ADD", pod: "shop/cart-7", container: "told", ifname: "eth0", network: "pods" };
    expect(ended).toMatchObject({ ...identity, fault: "PLUGIN_FAILED", code: 123, ms: expect.any(Number), name: "plexusd" });
    expect(ended?.["msg"]).toContain("[redacted]");
    const callLines = lines.filter(({ request }) => request === ended?.["request"]);
    expect(callLines.filter(({ step, verb }) => step !== undefined && verb === "ADD")).toMatchObject([
      { ...identity, level: "debug", step: "ipam-host-local", kind: "wasm", nested: true },
      { ...identity, level: "debug", step: "bridge", kind: "native" },
      { ...identity, level: "warn", step: "leaky", kind: "native", fault: "PLUGIN_FAILED" },
    ]);
    expect(lines.some(({ msg }) => msg === "forged")).toBe(false);
  });

  test("L-64, E-17: a collector gets a span for each call and step, and a plugin gets its step's span as TRACEPARENT", async () => {
    const running = await daemon("--otlp", collector.url);
    const probe = installRecorder(stage.plexus.cniPath, "probe");
    const traceId = "0af7651916cd43dd8448eb211c80319c";
    const caller = "b7ad6b7169203331";
    const config = stage.network([bridgeStep(), shaperStep, { type: "probe" }], { trace: undefined });
    const env = { TRACEPARENT: `00-${traceId}-${caller}-01`, TRACESTATE: "runtime=1" };
    expect((await call("ADD", { config, containerId: "traced", pod: stage.pod() }, env)).status).toBe(0);
    // The daemon sends the remaining spans at its end.
    daemons.splice(0);
    expect(await running.stop()).toBe(0);
    const byName = new Map(collector.spans.map((span) => [span.name, span]));
    const [root, bridge] = [byName.get("CNI ADD"), byName.get("ADD bridge")];
    expect([...byName.keys()].toSorted()).toEqual([
      "ADD bridge",
      "ADD ipam-host-local",
      "ADD probe",
      "ADD status-shaper",
      "CNI ADD",
    ]);
    expect(collector.spans.every((span) => span.traceId === traceId)).toBe(true);
    expect(root?.parentSpanId).toBe(caller);
    const parents = ["ADD bridge", "ADD status-shaper", "ADD probe"].map((name) => byName.get(name)?.parentSpanId);
    expect(new Set(parents)).toEqual(new Set([root?.spanId]));
    expect(byName.get("ADD ipam-host-local")?.parentSpanId).toBe(bridge?.spanId);
    const [seen] = probe.calls();
    expect(seen?.env).toMatchObject({
      TRACEPARENT: `00-${traceId}-${byName.get("ADD probe")?.spanId}-01`,
      TRACESTATE: "runtime=1",
    });
    expect(attributesOf(bridge)).toMatchObject({
      "k8s.namespace.name": "shop",
      "k8s.pod.name": "cart-7",
      "cni.network": "pods",
      "plexus.step.kind": "native",
    });
    expect(Number(bridge?.endTimeUnixNano)).toBeGreaterThan(Number(bridge?.startTimeUnixNano));
    expect(collector.requests.map(({ url, headers }) => [url, headers["content-type"]])).toEqual([
      ["/v1/traces", "application/json"],
    ]);
  });

  test("L-64 an unsampled trace is not recorded, and a call without a valid trace starts one", async () => {
    const running = await daemon("--otlp", collector.url);
    const probe = installRecorder(stage.plexus.cniPath, "probe");
    const config = stage.network([{ type: "probe" }], { trace: undefined });
    const unsampled = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
    const add = (containerId: string, env: Readonly<Record<string, string>>) =>
      call("ADD", { config, containerId, pod: stage.pod() }, env);
    expect((await add("unsampled", { TRACEPARENT: unsampled })).status).toBe(0);
    expect((await add("malformed", { TRACEPARENT: "00-zz", TRACESTATE: "stale=1" })).status).toBe(0);
    daemons.splice(0);
    await running.stop();
    expect(collector.spans.map(({ name }) => name).toSorted()).toEqual(["ADD probe", "CNI ADD"]);
    const root = collector.spans.find(({ name }) => name === "CNI ADD");
    expect(root?.parentSpanId).toBeUndefined();
    const [first, second] = probe.calls();
    expect(first?.env["TRACEPARENT"]).toBe(unsampled);
    expect(second?.env["TRACEPARENT"]).toMatch(new RegExp(`^00-${root?.traceId}-[0-9a-f]{16}-01$`));
    expect(second?.env["TRACESTATE"]).toBeUndefined();
  });

  test("spans are sent again after a 503; no call waits for an absent collector", async () => {
    collector.fail(503);
    const running = await daemon("--otlp", collector.url);
    const config = stage.network([{ type: "probe" }]);
    installRecorder(stage.plexus.cniPath, "probe");
    const attaching = { config, containerId: "patient", pod: stage.pod() };
    expect((await call("ADD", attaching)).status).toBe(0);
    await expect.poll(() => collector.spans.length).toBe(2);
    collector.close();
    expect((await call("DEL", attaching)).status).toBe(0);
    await expect.poll(async () => valueOf(await metrics(), "plexus_spans_total", { outcome: "dropped" })).toBe(2);
    await expect.poll(() => running.stderr()).toContain("spans were dropped: ");
  });

  test.each([
    ["another protocol", "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n", ""],
    ["garbage", "\u0000garbage\r\n\r\n", ""],
    ["contradictory headers", "HTTP/1.1 200 OK\r\n\r\n", "trailer=x"],
  ])("spans for a collector that answers %s are dropped, and calls succeed", async (_, answer, headers) => {
    const server = createServer((client) => void client.on("error", () => undefined).once("data", () => client.write(answer)));
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port }: Pick<AddressInfo, "port"> = Object(server.address());
    const env = { OTEL_EXPORTER_OTLP_HEADERS: headers };
    const args = ["--state-dir", state(), "--otlp", `http://127.0.0.1:${port}`];
    daemons.push(await startDaemon({ socket: socket(), args, env }));
    installRecorder(stage.plexus.cniPath, "probe");
    const attaching = { config: stage.network([{ type: "probe" }]), containerId: "spans", pod: stage.pod() };
    for (const [verb, dropped] of [
      ["ADD", 2],
      ["DEL", 4],
    ] as const) {
      expect((await call(verb, attaching)).status).toBe(0);
      const families = async () => valueOf(await metrics(), "plexus_spans_total", { outcome: "dropped" });
      await expect.poll(families).toBe(dropped);
    }
    server.close();
  });

  test("a full log pipe without a reader delays neither calls nor the daemon's end", async () => {
    const fifo = join(stage.plexus.directory, "log");
    expect(spawnSync("mkfifo", [fifo]).status).toBe(0);
    const full = openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK);
    const log = openSync(fifo, constants.O_WRONLY);
    expect(() => {
      for (;;) writeSync(full, Buffer.alloc(4096));
    }).toThrow("EAGAIN");
    const program = ["--disable-warning=ExperimentalWarning", join(dist, "plexusd.cjs")];
    const args = ["--socket", socket(), "--state-dir", state(), "--log-level", "debug", ...sandboxUidsHere()];
    const child = spawn(process.execPath, [...program, ...args], { stdio: ["ignore", "ignore", log], env: {} });
    onTestFinished(() => void child.kill("SIGKILL"));
    const ended = once(child, "exit");
    await expect.poll(readyz).toMatchObject({ status: 200 });
    installRecorder(stage.plexus.cniPath, "probe");
    const attaching = { config: stage.network([{ type: "probe" }]), containerId: "unread", pod: stage.pod() };
    for (const verb of ["ADD", "CHECK", "DEL"]) expect((await call(verb, attaching)).status).toBe(0);
    child.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
    for (const file of [full, log]) closeSync(file);
  });

  test("a closed log pipe delays neither calls nor the daemon's end", async () => {
    const program = ["--disable-warning=ExperimentalWarning", join(dist, "plexusd.cjs")];
    const args = ["--socket", socket(), "--state-dir", state(), "--log-level", "debug"];
    const child = spawn(process.execPath, [...program, ...args], { stdio: ["ignore", "ignore", "pipe"], env: {} });
    onTestFinished(() => void child.kill("SIGKILL"));
    const ended = once(child, "exit");
    let stderrText = "";
    child.stderr.on("data", (chunk: Buffer) => (stderrText += chunk.toString()));
    await expect.poll(() => stderrText).toContain("listens on");
    child.stderr.destroy();
    installRecorder(stage.plexus.cniPath, "probe");
    const attaching = { config: stage.network([{ type: "probe" }]), containerId: "unread", pod: stage.pod() };
    for (const verb of ["ADD", "CHECK", "DEL"]) expect((await call(verb, attaching)).status).toBe(0);
    expect(valueOf(await metrics(), "plexus_log_lines_dropped_total")).toBeGreaterThan(0);
    child.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
  });

  test("a daemon whose metrics port is in use does not start and leaves no socket", async () => {
    const taken = createServer();
    await once(taken.listen(0, "127.0.0.1"), "listening");
    const { port }: Pick<AddressInfo, "port"> = Object(taken.address());
    await expect(daemon("--metrics-listen", String(port))).rejects.toThrow("EADDRINUSE");
    expect(readdirSync(dirname(socket()))).toEqual([]);
    taken.close();
  });

  test("readiness: 503 after the call socket's file was removed or replaced", async () => {
    await daemon();
    await expect.poll(async () => (await httpRequest(statusSocket(), "/readyz")).status).toBe(200);
    rmSync(socket());
    const unready = { status: 503, body: expect.stringContaining(`[-] socket: ${socket()}: does not listen`) };
    expect(await httpRequest(statusSocket(), "/readyz")).toMatchObject(unready);
    const other = createServer();
    await once(other.listen(socket()), "listening");
    expect(await httpRequest(statusSocket(), "/readyz")).toMatchObject(unready);
    other.close();
  });
});

function run(...args: string[]) {
  const program = ["--disable-warning=ExperimentalWarning", join(dist, "plexusd.cjs"), ...args];
  return spawnSync(process.execPath, program, { encoding: "utf8" });
}

describe("plexusd's command line", () => {
  test("--help prints every option to stdout", () => {
    const { status, stdout, stderr } = run("--help");
    expect([status, stderr]).toEqual([0, ""]);
    for (const option of ["--socket", "--status-socket", "--metrics-listen", "--otlp", "--log-level", "--calls"])
      expect(stdout).toContain(`\n  ${option} `);
    expect(Math.max(...stdout.split("\n").map(({ length }) => length))).toBeLessThanOrEqual(80);
  });

  test.each([
    [["--nonsense"], "Unknown option '--nonsense'"],
    [["surplus"], "Unexpected argument 'surplus'"],
    [["--calls", "0"], "--calls 0: must be a whole number from 1 to 4096"],
    [["--socket", "relative.sock"], "--socket relative.sock: must be an absolute path of at most 107 bytes"],
    [["--metrics-listen", "99999"], "--metrics-listen 99999: must be a port"],
    [["--otlp", "ftp://x"], "--otlp ftp://x: must be a URL of http or https"],
    [["--log-level", "loud"], "--log-level loud: must be one of debug, info, warn, error"],
  ])("the arguments %j end it with status 2 and one line", (args, line) => {
    const { status, stdout, stderr } = run(...args);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/^plexusd: .*\n$/);
    expect(stderr).toContain(line);
  });
});

function attributesOf(span: ReceivedSpan | undefined): Readonly<Record<string, unknown>> {
  return Object.fromEntries((span?.attributes ?? []).map(({ key, value }) => [key, Object.values(value)[0]]));
}
