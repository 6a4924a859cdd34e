// The networks of a claim behind kills: SIGKILL of the engine or the shim after the pod's own network and after the claim's, in ADD and in DEL. The
// following DEL succeeds at the first attempt and leaves nothing; the kubelet's next sandbox of the pod gets the claim's network.

import { copyFileSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ClaimStore } from "../../../features/claims/node/claim-store.ts";
import { killStep } from "../../lab/kill-step.ts";
import { type Manifests, manifestsIn, uidOf } from "../../lab/manifests.ts";
import { bridgeStep, missingForMixed, mixedInstallation } from "../../lab/mixed-network.ts";
import { missing } from "../../lab/requires.ts";
import { type Attaching, nothing, openStage, type Stage } from "../../lab/stage.ts";
import { missingChildLists } from "./crash-site.ts";

const cases = ["ADD", "DEL"].flatMap((verb) =>
  ["engine", "shim"].flatMap((victim) =>
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
      const written = await store.write({
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
    const attaching = (): Attaching => ({
      config: stage.network([bridgeStep(), { type: "kill-0" }], { manifests: manifests.directory, claims: true }),
      containerId: `ctr-${serial++}`,
      pod: stage.pod(),
      args: manifests.argsOf("web"),
    });

    test.each(cases)("DR-11: %s, the %s killed after %s", async (verb, victim, _, boundary) => {
      await prepare();
      const web = attaching();
      if (verb === "DEL") await stage.succeed("ADD", web);
      const order = join(stage.plexus.cniPath, `kill-${boundary}.${verb}.${web.containerId}`);
      writeFileSync(order, victim);
      expect(await stage.call(verb, web)).not.toMatchObject({ status: 0 });
      expect(existsSync(order)).toBe(false);
      await stage.succeed("DEL", web);
      const next = attaching();
      await stage.succeed("ADD", next);
      expect(manifests.statusOf("web")).toMatchObject([{ name: "pods" }, { name: "shop/net.net", interface: "net1" }]);
      await stage.succeed("DEL", next);
      store.remove("claim-net");
      expect(stage.left()).toEqual({ ...nothing, links });
    });
  },
);
