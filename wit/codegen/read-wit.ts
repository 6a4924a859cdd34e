// WIT text to the typed model. jco resolves the text. For a dummy module it writes the whole typed world into a custom section,
// which is the only machine-readable form of WIT in its API.

import { componentEmbed } from "@bytecodealliance/jco";
import type { WitInterface, WitModel, WitWorld } from "../model.ts";
import { worldModelOf } from "./world-model.ts";

/** The names of the worlds in a WIT text, in order. */
export function worldNames(witSource: string): string[] {
  const bare = witSource.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, "");
  return [...bare.matchAll(/\bworld\s+%?([a-z][a-z0-9-]*)\s*\{/g)].flatMap((found) => found[1] ?? []);
}

/** The model of all worlds in a WIT text. Throws on invalid WIT and on features that the model does not support. */
export async function readWit(witSource: string): Promise<WitModel> {
  const interfaces: Record<string, WitInterface> = {};
  const worlds: Record<string, WitWorld> = {};
  let identity: { package: string; version: string } | undefined;
  for (const world of worldNames(witSource)) {
    // witSource instead of a path: jco 1.35 panics on paths with the preview2-shim that a fresh install gives it.
    const model = worldModelOf(await componentEmbed({ dummy: true, witSource, world, stringEncoding: "utf8" }));
    identity ??= { package: model.package, version: model.version };
    Object.assign(interfaces, model.interfaces);
    Object.assign(worlds, model.worlds);
  }
  if (identity === undefined) throw new Error("the WIT has no world");
  return { ...identity, interfaces, worlds };
}
