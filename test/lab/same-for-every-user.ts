// Test files whose outcome cannot depend on the user who runs them, beside those of computing-tests.ts, which imports show. scripts/second-user.sh
// leaves them out: they ran as root before.

/**
 * Globs. A file belongs here only if neither the file nor what it tests starts a program, changes a namespace, or depends on the rights to a
 * file. same-for-every-user.test.ts refuses a file that names an interface to do so.
 */
export const sameForEveryUser: readonly string[] = [
  // Pure functions: a lint rule forbids imports of node: in src/.
  "src/**/*.test.ts",
  // Computation on the bytes of components.
  "host/sandbox/{abi,binary}/**/*.test.ts",
  // Guests against the node that the kit for authors simulates.
  "delegates/*/vectors.test.ts",
  "delegates/sdk/{generator,testing}/**/*.test.ts",
  // Generated files compared with those of the tree.
  "scripts/*-page.test.ts",
  "scripts/wit-model.test.ts",
  // Arithmetic of the benchmark.
  "bench/**/*.test.ts",
];

/**
 * Test files of a real API server, and of a controller as its client. scripts/second-user.sh leaves them out, too: controller-election.test.ts and
 * pods.test.ts start the same programs as an ordinary user, and the user's rights reach no further than the start.
 */
export const onlyOfApiServer: readonly string[] = [
  "test/api/controller-policy.test.ts",
  "test/api/definition-checks.test.ts",
  "test/api/kuryr-ports.test.ts",
  "test/api/pod-network-admission.test.ts",
  "test/api/pod-network-controller.test.ts",
  "test/api/pod-network-faults.test.ts",
  "test/api/pools-controller.test.ts",
  "test/api/provider-authority.test.ts",
];

/** Names of interfaces to processes, users and namespaces. */
export const dependsOnUser =
  /\b(execFile|execa|getuid|privateNamespaces|openStage|startDaemon|installPlexus|sandboxProcess|openLinkTests|chmod|spawn|spawnSync)/u;
