import { defineConfig } from "vitest/config";

// The tests that run against each mutant need neither privileges nor a build.
export default defineConfig({
  test: {
    // scripts/mutation.ts names the folder whose code it changes.
    include: [process.env["PLEXUS_MUTATION_TESTS"] ?? "src/cni/**/*.test.ts"],
    testTimeout: 20_000,
    setupFiles: ["scripts/mutation/seed.ts"],
    execArgv: ["--disable-warning=ExperimentalWarning"],
  },
});
