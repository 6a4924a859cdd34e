import { defineConfig } from "vitest/config";
import { ClosingLine } from "./test/harness/closing-line.ts";
import { suiteSocket } from "./test/harness/suite-daemon.ts";

// What runs calls from the runtime's side: once with one-shot brains, and once more against a daemon. Both at the same time, so none
// of them may use what a node has one of.
const attaching = [
  "lifecycle",
  "mistakes",
  "mixing",
  "secondary",
  "verbs",
  "resolution",
  "concurrency",
  "convergence",
  "hostile-state",
  "cluster-network",
  "delegation",
];

const shared = {
  exclude: ["node_modules/**", "dist/**"],
  testTimeout: 60_000,
  hookTimeout: 120_000,
  pool: "forks" as const,
  setupFiles: ["test/harness/signal-guard.ts"],
  // As the hands start the brain: locks use node:ffi.
  execArgv: ["--disable-warning=ExperimentalWarning"],
};

export default defineConfig({
  test: {
    maxWorkers: 2,
    reporters: ["default", new ClosingLine()],
    projects: [
      { test: { ...shared, name: "all", include: ["{src,host,delegates,test,scripts}/**/*.test.ts"] } },
      {
        test: {
          ...shared,
          name: "daemon",
          include: attaching.map((name) => `test/e2e/${name}.test.ts`),
          globalSetup: ["test/harness/suite-daemon.ts"],
          env: { PLEXUS_TEST_SOCKET: suiteSocket },
        },
      },
    ],
  },
});
