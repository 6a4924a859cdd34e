// one-shot-start: the start of the one-shot engine, against the start of Node alone.

import { join } from "node:path";

import { installPlexus, missingBuild, runtimeEnvironment } from "../test/lab/plexus.ts";
import { inTurns, type Benchmark } from "./measure.ts";
import { startStopwatch } from "./stopwatch.ts";

export const oneShotStart: Benchmark = {
  id: "one-shot-start",
  title: "plexus VERSION through a one-shot engine / node -e 0",
  target: "ratio ≤ 1.5",
  async sample() {
    const lacking = missingBuild();
    if (lacking !== undefined) return lacking;
    const installation = installPlexus();
    const stopwatch = startStopwatch();
    try {
      const env = {
        ...runtimeEnvironment({ verb: "VERSION" }, installation.cniPath),
        PLEXUS_SOCKET: join(installation.directory, "no-daemon"),
      };
      const version = { argv: [join(installation.cniPath, "plexus")] as const, env, stdin: '{"cniVersion":"1.1.0"}' };
      const { stdout } = await stopwatch.run(version);
      if (!stdout.includes("supportedVersions")) throw new Error(`plexus VERSION answered ${stdout}`);
      return await inTurns({
        subject: stopwatch.program(version),
        baseline: stopwatch.program({ argv: [join(installation.home, "bin", "node"), "-e", "0"] }),
        warmUp: 4,
        samples: 40,
      });
    } finally {
      await stopwatch.dispose();
      installation.dispose();
    }
  },
};
