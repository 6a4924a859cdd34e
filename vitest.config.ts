import { defineConfig } from "vitest/config";
import { ClosingLine } from "./scripts/test-run/closing-line.ts";
import { computingTests } from "./test/lab/computing-tests.ts";
import { fastTests } from "./test/lab/fast-tests.ts";
import { FileSequence } from "./scripts/test-run/file-sequence.ts";
import { onlyOfApiServer, sameForEveryUser } from "./test/lab/same-for-every-user.ts";
import { suiteSocket } from "./test/lab/suite-daemon.ts";

// Suites that call Plexus as a runtime does: once with one-shot engines, and once more against a daemon. Both run at the same
// time, so no suite may use anything that a node has only one of.
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
  // Bounds of promises stand in the tests themselves. These limits only end a test that hangs, on a busy machine too.
  testTimeout: 180_000,
  hookTimeout: 180_000,
  // Vitest's own limit is a second, which a busy machine can miss.
  expect: { poll: { timeout: 20_000 } },
  pool: "forks" as const,
  setupFiles: ["test/lab/signal-guard.ts"],
  // As the shim starts the engine: locks use node:ffi.
  execArgv: ["--disable-warning=ExperimentalWarning"],
};

// A whole run has these files in a project of their own, where a worker keeps its modules: a new process for each file takes longer
// than most of these files. A run of chosen files has them in "all".
const isWhole = process.env["PLEXUS_TEST_WHOLE"] !== undefined;
const isSecondUser = process.env["PLEXUS_TEST_SECOND_USER"] !== undefined;
// A whole run begins these files when all others have ended, one after the other: their bounds are times that a victim may wait.
const aloneTests = [
  "test/hostile/attacker/definition-author-load.test.ts",
  "test/hostile/attacker/neighbour-process.test.ts",
  "test/hostile/attacker/component.test.ts",
  "test/node/daemon/netlink-agent.test.ts",
];
const alone = isWhole || isSecondUser ? aloneTests : [];
const computing = isWhole || isSecondUser ? computingTests(import.meta.dirname) : [];

export default defineConfig({
  test: {
    // More than two cores need: a worker waits for half of its time.
    maxWorkers: 5,
    sequence: { sequencer: FileSequence },
    reporters: ["default", new ClosingLine()],
    projects: [
      {
        test: {
          ...shared,
          name: "all",
          include: ["{src,host,delegates,test,scripts,bench}/**/*.test.ts"],
          exclude: [...shared.exclude, "test/cluster/**", ...computing, ...alone],
        },
      },
      ...(isWhole || isSecondUser
        ? [{ test: { ...shared, name: "alone", include: [...alone], maxWorkers: 1, sequence: { groupOrder: 1 } } }]
        : []),
      ...(isWhole ? [{ test: { ...shared, name: "computing", include: [...computing], isolate: false } }] : []),
      // `npm run test:cluster`: needs a kubelet, which takes minutes to build. A worker keeps its modules, and so its cluster, for all of
      // its files.
      {
        test: {
          ...shared,
          name: "cluster",
          include: ["test/cluster/**/*.test.ts"],
          isolate: false,
          globalSetup: ["test/lab/cluster/ended-clusters.ts"],
        },
      },
      {
        test: {
          ...shared,
          name: "daemon",
          include: attaching.map((name) => `test/node/attach/${name}.test.ts`),
          globalSetup: ["test/lab/suite-daemon.ts"],
          env: { PLEXUS_TEST_SOCKET: suiteSocket },
        },
      },
      // scripts/second-user.sh only: "all" without the files whose outcome cannot depend on the user.
      ...(isSecondUser
        ? [
            {
              test: {
                ...shared,
                name: "second-user",
                include: ["{src,host,delegates,test,scripts,bench}/**/*.test.ts"],
                exclude: [...shared.exclude, "test/cluster/**", ...sameForEveryUser, ...onlyOfApiServer, ...computing, ...alone],
              },
            },
          ]
        : []),
      // `npm run test:fast` only: `npm test` has these files in the project "all".
      ...(process.env["PLEXUS_TEST_FAST"] === undefined
        ? []
        : [{ test: { ...shared, name: "fast", include: [...fastTests(import.meta.dirname)] } }]),
    ],
  },
});
