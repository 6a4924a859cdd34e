// The networks of a claim behind kills: SIGKILL of the engine, the shim or the daemon after the pod's own network and after the claim's, in ADD and in DEL. The
// following DEL succeeds at the first attempt and leaves nothing; the kubelet's next sandbox of the pod gets the claim's network.

import { copyFileSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ClaimStore } from "../../../features/claims/node/claim-store.ts";
import { startDaemon, type TestDaemon } from "../../lab/daemon.ts";
import { killStep } from "../../lab/kill-step.ts";
import { type Manifests, manifestsIn, uidOf } from "../../lab/manifests.ts";
import { bridgeStep, missingForMixed, mixedInstallation } from "../../lab/mixed-network.ts";
import type { Answer } from "../../lab/plexus.ts";
import { missing } from "../../lab/requires.ts";
import { type Attaching, nothing, openStage, type Stage } from "../../lab/stage.ts";
import { missingChildLists } from "./crash-site.ts";

const cases = ["ADD", "DEL"].flatMap((verb) =>
  ["engine", "shim", "daemon"].flatMap((victim) =>
    ["the pod's own network", "the claim's network"].map((after, boundary) => [verb, victim, after, boundary] as const),
  ),
);

describe.skipIf(missingForMixed("claims behind kills") || missing("claims behind kills", missingChildLists))(
  "claims behind kills",
  () => {
    let stage: Stage;
    let manifests: Manifests;
    let store: ClaimStore;
    let links: readonly string[];
    let serial = 0;
    let daemon: TestDaemon | undefined;
    const start = async (): Promise<void> => {
      daemon = await startDaemon({ socket: join(stage.plexus.directory, "daemon", "plexus.sock") });
    };

    beforeAll(() => {
      stage = openStage({ ...mixedInstallation, serving: "one-shot" });
      manifests = manifestsIn(join(stage.plexus.directory, "manifests"));
      manifests.pod("web");
      store = new ClaimStore(stage.plexus.state("cni"));
      for (const index of [0, 1]) copyFileSync(killStep(), join(stage.plexus.cniPath, `kill-${index}`));
      links = stage.left().links;
    });
    afterAll(() => stage?.dispose());

    const prepare = async (): Promise<void> => {
      const ipam = { type: "host-local", dataDir: stage.leases, ranges: [[{ subnet: "10.88.1.0/24" }]] };
      const plugins = [{ type: "bridge", ipam }, { type: "kill-1" }];
      const written = store.write({
        namespace: "shop",
        name: "net",
        uid: "claim-net",
        pods: [uidOf("web")],
        isShareable: false,
        networks: [
          {
            request: "net",
            pool: "node",
            device: "shared-br",
            shareId: "",
            isOfClass: true,
            source: { kind: "list", text: JSON.stringify({ cniVersion: "1.0.0", name: "claimed", plugins }) },
            link: { name: "br-claims", kind: "bridge", isExclusive: false },
          },
        ],
      });
      expect(written).toMatchObject({ ok: true });
    };
    /** Sends a call: to the daemon if one runs, else to an engine of its own. */
    const send = (verb: string, { pod, ...web }: Attaching): Promise<Answer> => {
      const env = daemon === undefined ? {} : { PLEXUS_SOCKET: daemon.socket };
      return stage.request({ verb, ...web, ifname: "eth0", netns: typeof pod === "string" ? pod : pod.path, env });
    };
    const succeed = async (verb: string, web: Attaching): Promise<void> => {
      const { status, stdout } = await send(verb, web);
      expect({ status, error: status === 0 ? "" : stdout }).toEqual({ status: 0, error: "" });
    };
    const attaching = (): Attaching => ({
      config: stage.network([bridgeStep(), { type: "kill-0" }], { manifests: manifests.directory, claims: true }),
      containerId: `ctr-${serial++}`,
      pod: stage.pod(),
      args: manifests.argsOf("web"),
    });

    test.each(cases)("DR-11: %s, the %s killed after %s", async (verb, victim, _, boundary) => {
      if (victim === "daemon") await start();
      await prepare();
      const web = attaching();
      if (verb === "DEL") await succeed("ADD", web);
      const order = join(stage.plexus.cniPath, `kill-${boundary}.${verb}.${web.containerId}`);
      writeFileSync(order, daemon === undefined ? victim : `pid:${daemon.pid}`);
      expect(await send(verb, web)).not.toMatchObject({ status: 0 });
      expect(existsSync(order)).toBe(false);
      if (daemon !== undefined) {
        await daemon.ended;
        await start();
      }
      await succeed("DEL", web);
      const next = attaching();
      await succeed("ADD", next);
      expect(manifests.statusOf("web")).toMatchObject([{ name: "pods" }, { name: "shop/net.net", interface: "net1" }]);
      await succeed("DEL", next);
      store.remove("claim-net");
      await daemon?.stop();
      daemon = undefined;
      expect(stage.left()).toEqual({ ...nothing, links });
    });
  },
);
