// `plexus-delegate build`: makes the component of one delegate.

import { relative } from "node:path";
import { type Command, exitCode } from "./command.ts";
import { buildDirectory, buildOptions } from "./delegate-directory.ts";

/** Builds one delegate. */
export const buildCommand: Command = {
  name: "build",
  summary: "Builds the component of the delegate in DIR (default: the current directory)",
  usage: "[DIR]",
  options: buildOptions,
  positionals: [0, 1],
  run: async (line, output) => {
    const { bytes, outFile, cached, ms } = await buildDirectory(line, output);
    const took = cached ? "unchanged" : `${(ms / 1000).toFixed(1)} s`;
    output.say(`${relative(process.cwd(), outFile)}: ${(bytes.length / 1024).toFixed(1)} KiB, ${took}`);
    return exitCode.success;
  },
};
