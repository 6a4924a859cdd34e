// `node test/lab/registry/get.ts [cosign] [wkg]` gets the programs of the tests of components as artifacts, before the tests enter namespaces
// without a route. cosign and wkg are built only if named: their builds take longer than all of these tests. The program never fails: for each program that is
// missing it prints one line.

import { buildGoProgram, buildWkg, unpackRegistry } from "./programs.ts";

const failure = unpackRegistry();
if (failure !== undefined) process.stderr.write(`plexus: docker-registry was not unpacked: ${failure}\n`);
const named = process.argv.includes("cosign") ? (["cosign"] as const) : [];
for (const name of ["oras", "crane", ...named] as const) {
  const notBuilt = buildGoProgram(name);
  if (notBuilt !== undefined)
    process.stderr.write(`plexus: ${name} was not built, so tests with it will be skipped: ${notBuilt}\n`);
}
const withoutWkg = process.argv.includes("wkg") ? buildWkg() : undefined;
if (withoutWkg !== undefined)
  process.stderr.write(`plexus: wkg was not built, so tests with it will be skipped: ${withoutWkg}\n`);
