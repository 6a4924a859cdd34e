import { defineConfig } from "vitest/config";
import { ClosingLine } from "./test/harness/closing-line.ts";

export default defineConfig({
  test: {
    include: ["{src,host,delegates,test,scripts}/**/*.test.ts"],
    exclude: ["node_modules/**", "dist/**"],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    pool: "forks",
    // As the hands start the brain: locks use node:ffi.
    execArgv: ["--disable-warning=ExperimentalWarning"],
    maxWorkers: 2,
    reporters: ["default", new ClosingLine()],
  },
});
