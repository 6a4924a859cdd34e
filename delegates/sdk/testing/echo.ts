// An echo guest for any WIT: every imported and exported function answers the result of the host's function of the same name, so
// that a value crosses the boundary four times.

import { fileURLToPath } from "node:url";
import { compileApart } from "../build/compile-apart.ts";
import { defaultCacheDir, digestOf, fromCache } from "../build/content-cache.ts";
import { interfaceId } from "../../../wit/codegen/shapes.ts";
import { bindingsAt, echoBindings } from "../../../wit/codegen/testing/echo-bindings.ts";
import type { WitModel } from "../../../wit/model.ts";

/** A built echo guest. */
export interface Echo {
  readonly model: WitModel;
  readonly component: Uint8Array;
}

/**
 * Builds the echo guest of a world with equal imports and exports. The functions of an imported interface are the implementation
 * of the exported one.
 */
export async function buildEcho(wit: string, world: string): Promise<Echo> {
  const model = await modelOf(wit);
  const { files, entry } = echoBindings(model, world, wit);
  const virtual = new Map([...files].map(([name, text]) => [`${bindingsAt}/${name}`, text]));
  virtual.set("entry.ts", `${entry.text}import "plexus/abort-silent";\n`);
  // 4 MiB: a guest that does not release a call's memory soon traps.
  const options = ["--runtime", "minimal", "-O1", "--maximumMemory", "64", "--use", "abort=~lib/plexus/abort-silent/abort"];
  const make = async (): Promise<{ bytes: Uint8Array }> => {
    const module = await compileApart({
      dir: fileURLToPath(new URL(".", import.meta.url)),
      entry: "entry.ts",
      virtual,
      options,
    });
    const { componentize } = await import("../build/componentize.ts");
    return componentize({
      module,
      exportNames: entry.exportNames,
      witSource: wit,
      world,
      importable: (model.worlds[world]?.imports ?? []).map((iface) => interfaceId(model, iface)),
    });
  };
  const built = await fromCache(defaultCacheDir, await digestOf(["echo", world, wit, ...options, ...[...virtual].flat()]), make);
  return { model, component: "cachedBytes" in built ? built.cachedBytes : built.made.bytes };
}

/** The model of a WIT text. The cache saves jco's start. */
async function modelOf(wit: string): Promise<WitModel> {
  const make = async (): Promise<{ bytes: Uint8Array }> => {
    const { readWit } = await import("../../../wit/codegen/read-wit.ts");
    return { bytes: Buffer.from(JSON.stringify(await readWit(wit))) };
  };
  const found = await fromCache(defaultCacheDir, await digestOf(["model", wit]), make);
  return JSON.parse(Buffer.from("cachedBytes" in found ? found.cachedBytes : found.made.bytes).toString());
}
