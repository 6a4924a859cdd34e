// Puts a declaration into any component, in any language, as its custom section `plexus:delegate`.

import { preambleBytes, sections } from "../../../wit/binary/sections.ts";
import { customSection } from "../build/core-module.ts";
import { declarationSection } from "../build/declaration.ts";

/** A component begins with `\0asm`, any version, and layer 1. */
const magic = [0x00, 0x61, 0x73, 0x6d] as const;

/** Whether a file's bytes begin as a component. A core module, which has layer 0, is none. */
export function isComponent(bytes: Uint8Array): boolean {
  return bytes.length >= preambleBytes && magic.every((byte, at) => bytes[at] === byte) && bytes[6] === 1 && bytes[7] === 0;
}

/**
 * The component with the declaration at its end. `text` is the text of a `delegate.json`, which the caller has checked. Throws an Error for
 * a file that is not a component, and for a component that has a declaration, unless `replace` is set.
 */
export function annotated(component: Uint8Array, text: string, replace: boolean): Uint8Array {
  if (!isComponent(component))
    throw new Error("it is not a component; a core module becomes one with jco new or wasm-tools component new");
  const { kept, found } = withoutDeclaration(component);
  if (found > 0 && !replace) throw new Error(`it has a section ${declarationSection} already: --replace replaces it`);
  const added = customSection(declarationSection, new TextEncoder().encode(text));
  return Buffer.concat([...kept, Uint8Array.from(added)]);
}

/** The component's bytes without its declarations, in pieces. All other bytes stay as they are. */
function withoutDeclaration(component: Uint8Array): { readonly kept: readonly Uint8Array[]; readonly found: number } {
  const all = sections(component);
  const kept = all.filter(({ name }) => name !== declarationSection);
  return {
    kept: [component.subarray(0, preambleBytes), ...kept.map(({ whole }) => whole)],
    found: all.length - kept.length,
  };
}
