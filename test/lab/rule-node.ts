// A node's network namespace for tests of nftables rules. All test files of a run share one namespace, so a file that clears the ruleset needs
// another one.

import { spawnSync } from "node:child_process";
import { createPodNamespace } from "./namespaces.ts";

/** The namespace. */
export interface RuleNode {
  /** Path of the namespace. */
  readonly path: string;
  /** Runs nft(8), which must succeed; answers its output. `input`: stdin, for `-f -`. */
  readonly nft: (args: readonly string[], input?: string) => string;
  /** Runs nft(8), which may fail: for a chain that does not exist the answer is empty. */
  readonly tryNft: (args: readonly string[]) => string;
  readonly dispose: () => void;
}

/** Makes a namespace without rules. */
export function createRuleNode(): RuleNode {
  const namespace = createPodNamespace("rules");
  const { path } = namespace;
  const run = (args: readonly string[], input = "") =>
    spawnSync("nsenter", [`--net=${path}`, "--", "nft", ...args], { encoding: "utf8", input });
  return {
    path,
    nft(args, input) {
      const { status, stdout, stderr } = run(args, input);
      if (status !== 0) throw new Error(`nft ${args.join(" ")}: ${stderr}`);
      return stdout;
    },
    tryNft: (args) => run(args).stdout,
    dispose: () => namespace.dispose(),
  };
}
