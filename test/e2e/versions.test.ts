// Plexus as a CNI plugin of every version that there is, through the installed binary.

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { SUPPORTED_VERSIONS } from "../../src/cni/versions.ts";
import { installRecorder, type RecorderPlugin } from "../harness/recorder.ts";
import { missingForMixed, mixedInstallation } from "./mixed-network.ts";
import { nothing, openStage, type Stage } from "./stage.ts";

/** The recorder's answer of one version as another has it; before 0.3.0 no interface is named. */
function shapeOf(asked: string, network: string): object {
  if (isOld(asked)) return { ip4: { ip: "10.99.0.2/24", gateway: "10.99.0.1" } };
  const ip = { address: "10.99.0.2/24", ...(asked.startsWith("0.") ? { version: "4" } : {}) };
  return isOld(network) ? { ips: [ip] } : { interfaces: [{ name: "eth0" }], ips: [{ ...ip, interface: 0 }] };
}

const isOld = (version: string): boolean => /^0\.[12]\./.test(version);

describe.skipIf(missingForMixed("versions"))("the versions of CNI", () => {
  let stage: Stage;
  let main: RecorderPlugin;
  beforeEach(() => {
    stage = openStage(mixedInstallation);
    main = installRecorder(stage.plexus.cniPath, "main");
  });
  afterEach(() => stage.dispose());

  test("N1-01, L-58: VERSION lists all of them, and calls nobody", async () => {
    const answer = await stage.request({ verb: "VERSION", stdin: '{"cniVersion":"1.1.0"}' });
    expect([answer.status, answer.json]).toEqual([0, { cniVersion: "1.1.0", supportedVersions: [...SUPPORTED_VERSIONS] }]);
    expect([main.calls(), stage.left()]).toEqual([[], nothing]);
  });

  const pairs = SUPPORTED_VERSIONS.flatMap((own) => ["0.2.0", "0.4.0", "1.1.0"].map((network) => [own, network] as const));
  test.each(pairs)(
    "N1-01, N1-63, MC-01: asked in %s, a network of %s is added, answered for in the former, and deleted",
    async (own, network) => {
      const delegate = { cniVersion: network, name: "pods", plugins: [{ type: "main", name: "odd", cniVersion: "0.1.0" }] };
      const config = stage.host({ cniVersion: own, delegates: [delegate] });
      const each = { config, containerId: "versions", pod: stage.pod() };
      const added = await stage.succeed("ADD", each);
      expect(added.json).toMatchObject({ cniVersion: own, ...shapeOf(own, network) });
      await stage.succeed("DEL", each);
      expect(main.calls().map(({ env, stdin }) => [env["CNI_COMMAND"], JSON.parse(stdin)])).toMatchObject([
        ["ADD", { cniVersion: network, name: "pods", type: "main" }],
        ["DEL", { cniVersion: network, name: "pods", type: "main" }],
      ]);
      expect(stage.left()).toEqual(nothing);
    },
  );
});
