// Attacker: whoever may create pods and NetworkAttachmentDefinitions in some namespaces, and loads the node: slow calls, many calls, many
// attachments, long lists, many large definitions. Pods of other namespaces must be served all the same. A hostile plugin never ends on its own,
// so that a victim that waited for one would never be served.

import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Connection } from "../../../host/cluster/kube/connection.ts";
import { Informers } from "../../../host/cluster/api/informers.ts";
import { type ScriptedApiServer, startScriptedApiServer } from "../../../host/cluster/testing/scripted-api-server.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed } from "../../../src/fault/result.ts";
import { manifestsIn, type Manifests } from "../../lab/manifests.ts";
import { openStage, type Stage } from "../../lab/stage.ts";
import { startDaemon, type TestDaemon } from "../../lab/daemon.ts";
import { httpRequest } from "../../lab/http-request.ts";
import { sandboxProcesses } from "../../lab/sandbox-processes.ts";
import { readPrometheusText, valueOf } from "../../lab/prometheus-text.ts";
import { type Answer, dist } from "../../lab/plexus.ts";
import { installRecorder, type RecorderPlugin } from "../../lab/recorder.ts";
import { command, missing, privateNamespaces } from "../../lab/requires.ts";
import { buildWat } from "../components/wat.ts";
import { systemClock } from "../../../host/system/clock.ts";

const result = '{"cniVersion":"1.0.0","ips":[{"address":"10.0.0.2/24"}]}';

describe.skipIf(missing("load by authors of definitions", privateNamespaces))("an author of pods and definitions", () => {
  let stage: Stage;
  beforeEach(() => {
    stage = openStage({});
  });
  afterEach(() => stage.dispose());

  describe("with slow networks", () => {
    let daemon: TestDaemon;
    let slow: RecorderPlugin;
    const running: Promise<unknown>[] = [];
    beforeEach(async () => {
      const socket = join(stage.plexus.directory, "daemon", "plexus.sock");
      daemon = await startDaemon({ socket, args: ["--calls", "4", "--queue", "16"] });
      slow = installRecorder(stage.plexus.cniPath, "slow");
      for (const verb of ["ADD", "DEL"]) slow.hold(verb);
      installRecorder(stage.plexus.cniPath, "fast").script("ADD", { stdout: result });
    });
    afterEach(async () => {
      daemon.signal("SIGKILL");
      await Promise.allSettled(running.splice(0));
    });

    const send = (namespace: string, pod: string, type: string, verb = "ADD"): Promise<Answer> => {
      const answer = stage.request({
        verb,
        containerId: `ctr-${namespace}-${pod}`,
        netns: "/run/netns/none",
        ifname: "eth0",
        args: `IgnoreUnknown=1;K8S_POD_NAMESPACE=${namespace};K8S_POD_NAME=${pod}`,
        // The hostile plugins run until the daemon is killed: neither Plexus nor this test ends their calls before a victim's.
        config: stage.network([{ type }], { trace: undefined, stepTimeoutMs: 240_000, callTimeoutMs: 600_000 }),
        env: { PLEXUS_SOCKET: daemon.socket, PLEXUS_HOME: "/nowhere" },
        ...(type === "slow" ? { deadlineMs: 600_000 } : {}),
      });
      running.push(answer);
      return answer;
    };
    /** Sends the attacker's calls and waits until all of them run, wait or are refused. */
    const attack = async (namespaces: readonly string[], pods: number): Promise<void> => {
      let refused = 0;
      for (const namespace of namespaces)
        for (let pod = 0; pod < pods; pod++) void send(namespace, `pod-${pod}`, "slow").then(() => (refused += 1));
      const arrived = async (): Promise<number> => {
        const { body } = await httpRequest(join(dirname(daemon.socket), "status.sock"), "/metrics");
        const families = readPrometheusText(body);
        const inQueue = ["active", "waiting"].map((state) => valueOf(families, "plexus_queue_calls", { state }) ?? 0);
        return inQueue.reduce((sum, each) => sum + each, refused);
      };
      await expect.poll(arrived).toBe(namespaces.length * pods);
      await expect.poll(() => slow.calls().length).toBeGreaterThanOrEqual(namespaces.length);
    };

    test("does not delay the calls of a pod of another namespace, although only 4 calls are served at once", async () => {
      await attack(["hostile"], 12);
      for (const pod of ["a", "b", "c"]) {
        for (const verb of ["ADD", "DEL"]) {
          const { status, stdout } = await send("shop", pod, "fast", verb);
          expect({ status, stdout: status === 0 ? "" : stdout }).toEqual({ status: 0, stdout: "" });
        }
      }
    });

    test("of two namespaces does not delay the calls of a third one", async () => {
      await attack(["hostile-1", "hostile-2"], 6);
      expect((await send("shop", "web", "fast")).status).toBe(0);
    });

    test("cannot fill the queue, so that calls of other namespaces would be refused", async () => {
      await attack(["hostile"], 40);
      const answers = await Promise.all(["a", "b", "c", "d"].map((pod) => send("shop", pod, "fast")));
      expect(answers.map(({ status, stdout }) => [status, status === 0 ? "" : stdout])).toEqual(answers.map(() => [0, ""]));
    });
  });

  describe("with components that use all of their time", () => {
    const hostileCalls = 16;
    let daemon: TestDaemon;
    const running: Promise<unknown>[] = [];
    beforeEach(async () => {
      const socket = join(stage.plexus.directory, "daemon", "plexus.sock");
      daemon = await startDaemon({ socket, args: ["--sandboxes", "2"] });
      writeFileSync(join(stage.plexus.cniPath, "spin.wasm"), await buildWat("spin"));
      copyFileSync(join(dist, "delegates", "status-shaper.wasm"), join(stage.plexus.cniPath, "status-shaper.wasm"));
      installRecorder(stage.plexus.cniPath, "fast").script("ADD", { stdout: result });
    });
    afterEach(async () => {
      daemon.signal("SIGKILL");
      await Promise.allSettled(running.splice(0));
    });

    const send = (namespace: string, pod: string, plugins: readonly object[]): Promise<Answer> => {
      const answer = stage.request({
        verb: "ADD",
        containerId: `ctr-${namespace}-${pod}`,
        netns: "/run/netns/none",
        ifname: "eth0",
        args: `IgnoreUnknown=1;K8S_POD_NAMESPACE=${namespace};K8S_POD_NAME=${pod}`,
        config: stage.network(plugins, { trace: undefined, wasm: { limits: { timeMs: 60_000 } } }),
        env: { PLEXUS_SOCKET: daemon.socket, PLEXUS_HOME: "/nowhere" },
      });
      running.push(answer);
      return answer;
    };

    /** Steps that wait for a sandbox process. */
    const waitingSteps = async (): Promise<number | undefined> => {
      const { body } = await httpRequest(join(dirname(daemon.socket), "status.sock"), "/metrics");
      return valueOf(readPrometheusText(body), "plexus_sandbox_waiting_calls");
    };

    const sandboxes = (): readonly number[] => sandboxProcesses("guest-process.cjs", daemon.pid);
    /** Kills sandbox processes that have not ended by themselves. */
    const kill = (pids: readonly number[]): void => {
      const present = sandboxes();
      for (const pid of pids) if (present.includes(pid)) process.kill(pid, "SIGKILL");
    };

    test("does not delay the components of another namespace by more than the calls that compute already", async () => {
      const victim = [{ type: "fast" }, { type: "status-shaper", dns: { nameservers: ["10.0.0.1"] } }];
      // The daemon knows the victim's component.
      expect(await send("shop", "first", victim)).toMatchObject({ status: 0 });
      // The process that this call has left would be the victim's alone.
      kill(sandboxes());
      for (let pod = 0; pod < hostileCalls; pod++) void send("hostile", `pod-${pod}`, [{ type: "spin" }]);
      // Two of them compute.
      await expect.poll(waitingSteps).toBe(hostileCalls - 2);
      const computing = sandboxes();
      const answer = send("shop", "second", victim);
      await expect.poll(waitingSteps).toBe(hostileCalls - 1);
      // The two calls end. Those that waited before the victim would compute for a minute in their place.
      kill(computing);
      const { status, stdout } = await answer;
      expect({ status, stdout: status === 0 ? "" : stdout }).toEqual({ status: 0, stdout: "" });
    });
  });

  describe("with large pods", () => {
    let manifests: Manifests;
    let main: RecorderPlugin;
    beforeEach(() => {
      manifests = manifestsIn(join(stage.plexus.directory, "manifests"));
      main = installRecorder(stage.plexus.cniPath, "main");
      main.script("ADD", { stdout: result });
      manifests.network("plain", [{ type: "main" }]);
    });
    const call = (verb: string, more: object = {}, plugins = 1): Promise<Answer> =>
      stage.call(verb, {
        config: stage.network(
          Array.from({ length: plugins }, () => ({ type: "main" })),
          { manifests: manifests.directory, ...more },
        ),
        containerId: "ctr-web",
        pod: "/run/netns/none",
        args: manifests.argsOf("web"),
      });
    const select = (count: number): void =>
      manifests.pod(
        "web",
        Array.from({ length: count }, () => ({ name: "plain" })),
      );

    test("is refused more than 64 attachments, the administrator's included, before any plugin runs", async () => {
      select(64);
      const { json } = await call("ADD");
      expect(json).toMatchObject({
        code: 7,
        msg: "the pod's annotation k8s.v1.cni.cncf.io/networks selects 64 networks, and the configuration adds 1: 65 in all, but a pod may have at most 64 attachments (bounds.attachmentsPerPod)",
      });
      expect(main.calls()).toEqual([]);
      expect((await call("ADD", { bounds: { attachmentsPerPod: 65 } })).status).toBe(0);
    });

    test("is refused a list of more than 32 plugins", async () => {
      select(0);
      const { json } = await call("ADD", {}, 33);
      expect(json).toMatchObject({
        code: 7,
        msg: "network default: its list has 33 plugins, but at most 32 are allowed (bounds.pluginsPerNetwork)",
      });
      expect(main.calls()).toEqual([]);
      expect((await call("ADD", {}, 32)).status).toBe(0);
      expect((await call("DEL")).status).toBe(0);
    });

    test("gets the DEL of attachments that a lower bound would refuse now", async () => {
      select(1);
      expect((await call("ADD", {}, 3)).json).toMatchObject({ cniVersion: "1.0.0" });
      main.clear();
      const bounds = { attachmentsPerPod: 1, pluginsPerNetwork: 1 };
      expect(await call("DEL", { bounds })).toMatchObject({ status: 0, stdout: "" });
      expect(main.calls().map(({ env }) => env["CNI_COMMAND"])).toEqual(["DEL", "DEL", "DEL", "DEL"]);
      // Also without a journal entry.
      expect((await call("DEL", { bounds }, 3)).status).toBe(0);
    });

    test("gets the bounds of a configuration file, too", async () => {
      mkdirSync(stage.plexus.state("etc"), { recursive: true });
      const file = join(stage.plexus.state("etc"), "plexus.json");
      writeFileSync(file, JSON.stringify({ bounds: { attachmentsPerPod: 2 } }));
      expect(readFileSync(file, "utf8")).toContain("bounds");
      select(2);
      expect((await call("ADD", { configFile: file })).json).toMatchObject({
        msg: expect.stringMatching(/at most 2 attachments/),
      });
    });
  });
});

const openssl = missing("a scripted API server", command("openssl", "version"));

const definition = (namespace: string, name: string, length: number): object => ({
  metadata: { namespace, name, resourceVersion: "5" },
  spec: { config: `{"cniVersion":"1.0.0","name":"${name}","plugins":[{"type":"x","padding":"${"x".repeat(length)}"}]}` },
});

describe.skipIf(openssl)("an author of many large definitions", () => {
  let api: ScriptedApiServer;
  beforeAll(async () => {
    api = await startScriptedApiServer();
  });
  afterAll(() => api?.dispose());

  test("does not displace the definitions of other namespaces from the daemon's memory", async () => {
    // 24 MB in one namespace, listed before the others as an API server lists them: by namespace and name.
    const items = [
      ...Array.from({ length: 400 }, (_, number) => definition("attack", `large-${number}`, 60_000)),
      ...Array.from({ length: 400 }, (_, number) => definition("attack", `small-${number}`, 300)),
      ...["bank", "shop"].map((namespace) => definition(namespace, "pods", 500)),
    ];
    const pageSize = 50;
    api.script = ({ path, query }, response) => {
      if (!path.startsWith("/apis/k8s.cni.cncf.io/v1/network-attachment-definitions")) return void response.writeHead(404).end();
      if (query.get("watch") === "1") {
        response.writeHead(200, { "content-type": "application/json" });
        response.write(`${JSON.stringify({ type: "ADDED", object: definition("later", "pods", 500) })}\n`);
        return;
      }
      const first = Number(query.get("continue") ?? 0);
      const next = first + pageSize < items.length ? String(first + pageSize) : "";
      const metadata = { resourceVersion: "5", ...(next === "" ? {} : { continue: next }) };
      response.end(JSON.stringify({ kind: "List", metadata, items: items.slice(first, first + pageSize) }));
    };
    const connection = new Connection(systemClock);
    const informers = new Informers({
      connection,
      credentials: api.credentials,
      nodeName: undefined,
      keep: true,
      warn: () => undefined,
    });
    try {
      await informers.begin();
      await expect.poll(() => informers.states.definitions[0]?.live).toBe(true);
      const unreachable = failed(fault("API_UNREACHABLE", "asked the server"));
      const cluster = informers.over({
        pod: async () => unreachable,
        networkAttachmentDefinition: async () => unreachable,
        publishStatus: async () => unreachable,
        tell: () => undefined,
        end: async () => undefined,
      });
      for (const namespace of ["bank", "shop", "later"]) {
        expect(await cluster.networkAttachmentDefinition(namespace, "pods")).toMatchObject({ ok: true });
      }
      expect(informers.states.definitions[0]?.objects).toBeGreaterThan(200);
    } finally {
      informers.stop();
      connection.close();
    }
  });
});
