// The WIT world of one delegate, for toolchains that import every interface of a world.

import type { Abi } from "./abi.ts";

/** The world's name, which no released version of the contract uses. */
export const delegateWorld = "this-delegate";

/** The contract's text with a world that imports exactly these capabilities. */
export function witOfDelegate({ wit }: Abi, capabilities: readonly string[]): string {
  const imports = capabilities.map((name) => `  import ${name};\n`).join("");
  return `${wit}\nworld ${delegateWorld} {\n${imports}  export plugin;\n}\n`;
}
