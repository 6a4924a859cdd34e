// Writes the missing `.out.json` files (with --update: all that differ) of a delegate's vectors: `node scripts/delegate-vectors.ts delegates/<name> [--update]` is
// `plexus-delegate fmt-vectors` with the component in dist/delegates/.

import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { fmtVectorsCommand } from "../delegates/sdk/program/fmt-vectors.ts";
import { runProgram } from "../delegates/sdk/program/run-program.ts";
import { version } from "../host/system/version.ts";

const [dir = ".", ...flags] = process.argv.slice(2);
const outFile = join(fileURLToPath(new URL("../dist/delegates/", import.meta.url)), `${basename(resolve(dir))}.wasm`);
process.exitCode = await runProgram(
  { commands: [fmtVectorsCommand], version },
  [fmtVectorsCommand.name, dir, `--out=${outFile}`, ...flags],
  { say: console.log, warn: (line) => void process.stderr.write(`${line}\n`), colour: false },
);
