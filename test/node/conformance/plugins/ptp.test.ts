// Compares the delegates ptp and static with the reference plugins: the same configurations, the same state, results and codes. One plugin runs ADD,
// the other CHECK and DEL.

import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startDaemon, type TestDaemon } from "../../../lab/daemon.ts";
import { newestRelease } from "../../../lab/reference-releases.ts";
import { type Answer, installPlexus, type Installation, missingBuild } from "../../../lab/plexus.ts";
import { iproute2, linkType, missing, privateNamespaces } from "../../../lab/requires.ts";
import { differences } from "../bridge/differences.ts";
import {
  type Configuration,
  masquerading,
  ptpConfigurations,
  refusedConfigurations,
  staticConfigurations,
} from "./ptp-configurations.ts";
import { type Backend, installBoth, PtpLane } from "./ptp-lane.ts";

const backends: readonly Backend[] = ["native", "wasm"];
const other = (backend: Backend): Backend => (backend === "native" ? "wasm" : "native");
const build = (): string | undefined => missingBuild({ components: ["ptp", "static", "ipam-host-local"] });

describe.each(newestRelease)("reference plugins $release", (reference) => {
  describe.skipIf(
    missing(
      "the delegates ptp and static compared with the reference plugins",
      privateNamespaces,
      iproute2,
      linkType("veth"),
      build,
      reference.requires("ptp", "static", "host-local"),
    ),
  )("ptp and static", () => {
    let plexus: Installation;
    let daemon: TestDaemon;
    let lane: PtpLane;
    beforeAll(async () => {
      plexus = installPlexus();
      installBoth(plexus, reference.plugin);
      daemon = await startDaemon({ socket: join(plexus.directory, "daemon", "plexus.sock") });
      lane = new PtpLane(plexus, daemon.socket);
      await lane.connect();
    }, 120_000);
    afterAll(async () => {
      lane?.close();
      await daemon?.stop();
      plexus?.dispose();
    }, 120_000);

    test.each(ptpConfigurations)(
      "$title",
      async (configuration) => {
        const [native, wasm] = await outcomes(async (backend) => {
          const id = lane.newId();
          const added = await lane.call("ADD", id, configuration, backend);
          expect(added).toMatchObject({ status: 0 });
          const state = await lane.snapshots();
          const checked = hasCheck(configuration) ? await lane.call("CHECK", id, configuration, other(backend)) : undefined;
          const deleted = await lane.call("DEL", id, configuration, other(backend));
          const after = await lane.leftovers();
          expect({ checked: outputOf(checked), deleted: outputOf(deleted), after }).toEqual({
            checked: "",
            deleted: "",
            after: [],
          });
          return { result: resultOf(added), state };
        });
        expect(differences(native, wasm)).toEqual([]);
      },
      120_000,
    );

    test.each(masquerading)(
      "$title",
      async (configuration) => {
        await outcomes(async (backend) => {
          const id = lane.newId();
          expect(await lane.call("ADD", id, configuration, backend)).toMatchObject({ status: 0 });
          expect({ backend, reaches: lane.reachesBeyond() }).toEqual({ backend, reaches: configuration.reaches });
          for (const verb of ["CHECK", "DEL"]) expect(outputOf(await lane.call(verb, id, configuration, backend))).toBe("");
          expect(await lane.leftovers()).toEqual([]);
        });
      },
      120_000,
    );

    test.each(staticConfigurations)("$title", async (configuration) => {
      const [native, wasm] = await outcomes(async (backend) => {
        const added = await lane.call("ADD", lane.newId(), configuration, backend);
        return { status: added.status, result: resultOf(added) };
      });
      expect(native).toMatchObject({ status: 0 });
      expect(differences(native, wasm)).toEqual([]);
    });

    test.each(refusedConfigurations)("both refuse $title, and the component leaves nothing", async (configuration) => {
      const answers = await outcomes(async (backend) => {
        const id = lane.newId();
        const { status } = await lane.call("ADD", id, configuration, backend);
        const left = await lane.leftovers();
        await lane.call("DEL", id, configuration, backend);
        return { status, left: backend === "wasm" ? left : [] };
      });
      expect(answers).toEqual([
        { status: 1, left: [] },
        { status: 1, left: [] },
      ]);
    });
  });
});

/** Acts with each backend in turn: both use the same node and the same pod. */
async function outcomes<T>(act: (backend: Backend) => Promise<T>): Promise<readonly T[]> {
  const found: T[] = [];
  for (const backend of backends) found.push(await act(backend));
  return found;
}

/** CNI has CHECK since 0.4.0. */
function hasCheck({ cniVersion = "1.0.0" }: Configuration): boolean {
  return !cniVersion.startsWith("0.3");
}

/** The output of a successful call, or the status and output of a failed one; empty if there was no call. */
function outputOf(answer: Answer | undefined): string {
  return answer === undefined ? "" : answer.status === 0 ? answer.stdout : `${answer.status}: ${answer.stdout}`;
}

/** A result without the names and MACs that a plugin chooses, and without an empty `dns`. */
function resultOf({ json }: Answer): unknown {
  const interfaces = Array.isArray(json?.["interfaces"]) ? json["interfaces"] : [];
  const dns = JSON.stringify(json?.["dns"]) === "{}" ? undefined : json?.["dns"];
  const named = interfaces.map((each: object, at) => ({ ...each, mac: "chosen", ...(at === 0 ? { name: "chosen" } : {}) }));
  return { ...json, dns, interfaces: named };
}
