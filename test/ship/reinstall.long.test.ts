// Updates of an installation while pods are attached and detached, with one-shot engines and with a daemon of the earlier release.

import { spawn } from "node:child_process";
import { appendFileSync, cpSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startDaemon } from "../lab/daemon.ts";
import { dist } from "../lab/plexus.ts";
import { bridgeStep, missingForMixed, mixedInstallation, shaperStep } from "../lab/mixed-network.ts";
import { manifestsIn } from "../lab/manifests.ts";
import { sandboxProcesses } from "../lab/sandbox-processes.ts";
import { nothing, openStage, type Stage } from "../lab/stage.ts";

/** Installations go on until there were so many, and until each of two loops attached so many pods. */
const min = { installs: 8, pods: 4 } as const;

describe.skipIf(missingForMixed("updates while pods are attached"))("an update", () => {
  let stage: Stage;
  beforeEach(() => {
    stage = openStage({ native: mixedInstallation.native });
  });
  afterEach(() => stage.dispose());

  const home = (): string => join(stage.plexus.directory, "opt");

  /** Two releases: copies of the build that differ in one line of the one-shot engine. */
  function builds(): readonly string[] {
    return ["one", "two"].map((name) => {
      const build = join(stage.plexus.directory, "builds", name);
      cpSync(dist, build, { recursive: true, filter: (path) => !path.startsWith(join(dist, "test")) });
      appendFileSync(join(build, "engine", "once.cjs"), `// ${name}\n`);
      return build;
    });
  }

  function install(build: string): Promise<number | null> {
    const args = ["install", "--from", build, "--home", home(), "--cni-bin", stage.plexus.cniPath];
    const child = spawn(process.execPath, [join(dist, "plexusctl.cjs"), ...args], { stdio: "ignore" });
    return new Promise((resolve) => child.once("close", resolve));
  }

  /** Attaches and detaches pods while `goesOn` of the number of earlier pods is true. Answers the number of pods and the failures. */
  async function attachAndDetach(
    name: string,
    env: Readonly<Record<string, string>>,
    goesOn: (pods: number) => boolean,
  ): Promise<{ pods: number; failures: string[] }> {
    const failures: string[] = [];
    const config = stage.network([bridgeStep(), shaperStep]);
    const pod = stage.pod();
    let pods = 0;
    for (; goesOn(pods); pods++) {
      for (const verb of ["ADD", "DEL"]) {
        const call = { verb, containerId: `${name}-${pods}`, netns: pod.path, ifname: "eth0", config, env };
        const { status, stdout } = await stage.request(call);
        if (status !== 0) failures.push(`${verb}: ${stdout}`);
      }
    }
    return { pods, failures };
  }

  test.each(["one-shot engines", "a daemon"])(
    "MO-25 disturbs no pod: %s",
    async (engineKind) => {
      const releases = builds();
      expect(await install(releases[0] ?? "")).toBe(0);
      const socket = join(stage.plexus.directory, "daemon", "plexus.sock");
      const daemon = engineKind === "a daemon" ? await startDaemon({ socket, program: join(home(), "plexusd.cjs") }) : undefined;
      let installing = true;
      const env: Record<string, string> = daemon === undefined ? {} : { PLEXUS_SOCKET: socket };
      const progress = [0, 0];
      const pods = progress.map((_, loop) =>
        attachAndDetach(`pod-${loop}`, env, (done) => {
          progress[loop] = done;
          return installing;
        }),
      );
      try {
        const engineDirectories = new Set<string>();
        for (let number = 1; number <= min.installs || Math.min(...progress) < min.pods; number++) {
          expect(await install(releases[number % 2] ?? "")).toBe(0);
          engineDirectories.add(readlinkSync(join(home(), "engine")));
        }
        // The installation used both engine directories and keeps only these two.
        expect([...engineDirectories].toSorted()).toEqual(
          readdirSync(home())
            .filter((name) => name.startsWith("engine-"))
            .toSorted(),
        );
        expect(engineDirectories.size).toBe(2);
      } finally {
        installing = false;
        const results = await Promise.all(pods);
        await daemon?.stop();
        expect(results.flatMap((each) => each.failures)).toEqual([]);
        expect(Math.min(...results.map((each) => each.pods))).toBeGreaterThanOrEqual(min.pods);
      }
      expect(stage.left()).toEqual(nothing);
    },
    180_000,
  );

  test("MO-25 keeps the code of a running daemon, also for modules that the daemon loads later", async () => {
    const [one = "", two = ""] = builds();
    for (const name of readdirSync(join(two, "engine"))) {
      if (name.endsWith(".cjs")) writeFileSync(join(two, "engine", name), 'throw new Error("code of another release");');
    }
    expect(await install(one)).toBe(0);
    const socket = join(stage.plexus.directory, "daemon", "plexus.sock");
    const daemon = await startDaemon({ socket, program: join(home(), "plexusd.cjs"), args: ["--sandboxes", "1"] });
    try {
      const steps = [bridgeStep(), shaperStep];
      const attaching = { containerId: "pod", pod: stage.pod() };
      const call = async (verb: string, more: object): Promise<void> => {
        const config = stage.network(steps, more);
        const { status, stdout } = await stage.request({
          ...attaching,
          verb,
          netns: attaching.pod.path,
          ifname: "eth0",
          config,
          args: "IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=pod",
          env: { PLEXUS_SOCKET: socket },
        });
        expect([status, stdout.includes("another release")]).toEqual([0, false]);
      };
      await call("ADD", {});
      await call("DEL", {});
      for (const _ of ["an update", "the same update"]) expect(await install(two)).toBe(0);
      // The first call with manifests loads another module, and the daemon replaces a killed sandbox process.
      const manifests = manifestsIn(join(stage.plexus.directory, "manifests"));
      manifests.network("storage", [
        { type: "bridge", bridge: "br-storage", ipam: { type: "ipam-host-local", subnet: "10.20.0.0/24" } },
      ]);
      manifests.pod("pod", "storage");
      for (const pid of sandboxProcesses("guest-process.cjs", daemon.pid)) process.kill(pid, "SIGKILL");
      await call("ADD", { manifests: manifests.directory });
      await call("DEL", { manifests: manifests.directory });
    } finally {
      await daemon.stop();
    }
    expect(stage.left()).toEqual(nothing);
  });
});
