import { defineConfig } from "vitest/config";
import { FileSequence } from "./scripts/test-run/file-sequence.ts";
import { ReportWriter } from "./scripts/test-run/report-writer.ts";
import { suiteSocket } from "./test/lab/suite-daemon.ts";

const shared = {
  exclude: ["node_modules/**", "dist/**"],
  // No test asserts a time. These limits only end a test that hangs, on a busy machine too.
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 120_000 } },
  pool: "forks" as const,
  // A worker keeps its modules, and a cluster if it has one, for all of its files. A file alone would evaluate the same modules again in most of a second.
  isolate: false,
  setupFiles: ["test/lab/signal-guard.ts", "test/lab/worker-memory.ts", "scripts/test-run/file-cpu.ts"],
  // As the shim starts the engine: locks use node:ffi.
  execArgv: ["--disable-warning=ExperimentalWarning"],
};

export default defineConfig({
  test: {
    // More than two cores need: a worker waits for half of its time.
    maxWorkers: Number(process.env["PLEXUS_TEST_WORKERS"] ?? 5),
    sequence: { sequencer: FileSequence },
    reporters: ["default", new ReportWriter()],
    // A line for each file is enough; the end of a run names the slowest files.
    slowTestThreshold: 60_000,
    projects: [
      // Tests beside their sources start no process and need no privilege.
      { test: { ...shared, name: "unit", include: ["{wit,src,host,features,scripts,bench}/**/*.test.ts"] } },
      {
        test: {
          ...shared,
          name: "places",
          include: ["test/{node,api,kit,ship,hostile,docs}/**/*.test.ts", "delegates/**/*.test.ts"],
          exclude: [...shared.exclude, "test/kit/languages/**", "**/*.long.test.ts"],
          globalSetup: ["test/lab/suite-daemon.ts", "test/lab/kube/ended-servers.ts"],
          env: { PLEXUS_TEST_SOCKET: suiteSocket("places") },
        },
      },
      // `npm run test:long`, `npm run test:languages` and `npm run test:peers`: tests and toolchains that take minutes. Each command names its files.
      {
        test: {
          ...shared,
          name: "long",
          // A controller that is killed at each of its writes takes minutes on a machine with a load of 20 for each processor.
          testTimeout: 600_000,
          include: ["{test,delegates}/**/*.long.test.ts", "test/{kit/languages,peers}/**/*.test.ts"],
          exclude: [...shared.exclude, "test/cluster/**"],
          globalSetup: ["test/lab/suite-daemon.ts", "test/lab/kube/ended-servers.ts"],
          env: { PLEXUS_TEST_SOCKET: suiteSocket("long") },
        },
      },
      {
        test: {
          ...shared,
          name: "cluster",
          // A poll starts kubectl, which takes a tenth of a second of CPU time.
          expect: { poll: { timeout: 120_000, interval: 500 } },
          include: ["test/cluster/**/*.test.ts"],
          // They take 15 minutes; scripts/private.sh says how they are chosen.
          exclude: [
            ...shared.exclude,
            ...(process.env["PLEXUS_TEST_SURROUNDINGS"] === "1" ? [] : ["test/cluster/surroundings/**"]),
            ...(process.env["PLEXUS_TEST_KUBERNETES"] === "1" ? [] : ["test/cluster/kubernetes/**"]),
          ],
          globalSetup: ["test/lab/cluster/ended-clusters.ts"],
        },
      },
    ],
  },
});
