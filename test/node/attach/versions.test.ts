// Plexus as a CNI plugin of every CNI version, through the installed binary.

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { SUPPORTED_VERSIONS } from "../../../src/cni/versions.ts";
import { installRecorder, type RecorderPlugin } from "../../lab/recorder.ts";
import { missingForMixed, mixedInstallation } from "../../lab/mixed-network.ts";
import { nothing, openStage, type Stage } from "../../lab/stage.ts";

/** The recorder's result of a network's version, converted to the call's version. Results before 0.3.0 have no interfaces. */
function expectedResult(callVersion: string, network: string): object {
  if (isOld(callVersion)) return { ip4: { ip: "10.99.0.2/24", gateway: "10.99.0.1" } };
  const ip = { address: "10.99.0.2/24", ...(callVersion.startsWith("0.") ? { version: "4" } : {}) };
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

  test("N1-01, L-58: VERSION lists all versions and executes no plugin", async () => {
    const answer = await stage.request({ verb: "VERSION", stdin: '{"cniVersion":"1.1.0"}' });
    expect([answer.status, answer.json]).toEqual([0, { cniVersion: "1.1.0", supportedVersions: [...SUPPORTED_VERSIONS] }]);
    expect([main.calls(), stage.left()]).toEqual([[], nothing]);
  });

  const pairs = SUPPORTED_VERSIONS.flatMap((callVersion) =>
    ["0.2.0", "0.4.0", "1.1.0"].map((network) => [callVersion, network] as const),
  );
  test.each(pairs)(
    "N1-01, N1-63, MC-01: a call of version %s attaches a network of version %s, gets a result of the former, and deletes it",
    async (callVersion, network) => {
      const delegate = { cniVersion: network, name: "pods", plugins: [{ type: "main", name: "odd", cniVersion: "0.1.0" }] };
      const config = stage.host({ cniVersion: callVersion, delegates: [delegate] });
      const each = { config, containerId: "versions", pod: stage.pod() };
      const added = await stage.succeed("ADD", each);
      expect(added.json).toMatchObject({ cniVersion: callVersion, ...expectedResult(callVersion, network) });
      await stage.succeed("DEL", each);
      const calls = main.calls().map(({ env, stdin }) => [env["CNI_COMMAND"], JSON.parse(stdin)]);
      // Plugins may not support versions before 0.3.0, so that VERSION precedes the first step.
      expect(calls.splice(0, isOld(network) ? 1 : 0)).toEqual(isOld(network) ? [["VERSION", { cniVersion: "1.1.0" }]] : []);
      expect(calls).toMatchObject([
        ["ADD", { cniVersion: network, name: "pods", type: "main" }],
        ["DEL", { cniVersion: network, name: "pods", type: "main" }],
      ]);
      expect(stage.left()).toEqual(nothing);
    },
  );
});
