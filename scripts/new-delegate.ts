// `node scripts/new-delegate.ts <name> [capability …]`: makes delegates/<name>/, a delegate of Plexus itself that builds and whose vectors
// pass. Authors elsewhere use `npm create plexus-delegate`.

import { fileURLToPath } from "node:url";
import { writeScaffold } from "../delegates/sdk/build/scaffold.ts";

const [name = "", ...capabilities] = process.argv.slice(2);
try {
  const dir = fileURLToPath(new URL(`../delegates/${encodeURIComponent(name)}/`, import.meta.url));
  await writeScaffold(dir, { name, capabilities, home: { kind: "plexus" } });
  console.log(`Created delegates/${name}/.
  build:         node scripts/build-delegates.ts ${name}
  test:          node delegates/sdk/program/main.ts test delegates/${name} --out=dist/delegates/${name}.wasm
  new vectors:   write vectors/<name>.in.json, then node scripts/delegate-vectors.ts delegates/${name}
See also delegates/sdk/README.md.`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
