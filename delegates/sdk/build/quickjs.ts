// QuickJS, the default interpreter of delegates in JavaScript: small components, quick builds.

import { componentize } from "componentize-qjs";
import { delegateWorld } from "./delegate-world.ts";
import type { InterpretedSources } from "./interpreted-sources.ts";

/** The component with QuickJS, which imports stubs of WASI. Rejects with the tool's message. */
export async function componentizeWithQuickJs({ root, witFile, entryText, entryFile }: InterpretedSources): Promise<Uint8Array> {
  const { component } = await componentize({
    witPath: witFile,
    jsSource: entryText,
    jsPath: entryFile,
    moduleRoot: root,
    world: delegateWorld,
    stubWasi: true,
    sync: true,
  });
  return component;
}
