// `node scripts/new-delegate.ts <name> [capability …]`: makes delegates/<name>/, a delegate that builds and whose vectors pass.

import { fileURLToPath } from "node:url";
import { capabilitiesOf } from "../delegates/sdk/build/abi.ts";
import { parseDeclaration } from "../delegates/sdk/build/declaration.ts";
import { scaffold, writeScaffold } from "../delegates/sdk/build/scaffold.ts";

const [name = "", ...capabilities] = process.argv.slice(2);
try {
  parseDeclaration(scaffold(name, capabilities).get("delegate.json") ?? "", capabilitiesOf);
  await writeScaffold(fileURLToPath(new URL(`../delegates/${name}/`, import.meta.url)), name, capabilities);
  console.log(`Created delegates/${name}/.
  build:         node scripts/build-delegates.ts
  test:          npx vitest run delegates/${name}
  new vectors:   write vectors/<name>.in.json, then node scripts/delegate-vectors.ts delegates/${name}
See also delegates/sdk/README.md.`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
