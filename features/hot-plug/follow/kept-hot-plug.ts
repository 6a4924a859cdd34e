// The kept configurations that switch hot-plug on, for a daemon that starts before the first call of the runtime.

import { readdirSync } from "node:fs";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { parseDocument } from "../../../src/json/document.ts";
import { readCallConfiguration } from "../../../host/engine/call/read-configuration.ts";
import { KeptConfigurations } from "../../../host/node/reconcile/kept-configurations.ts";

/** Maximum configurations that are looked at: a node has one or two. */
const maxConfigurations = 64;

/** The configurations of a state directory with the key `hotPlug`. A file that cannot be read counts as none: the next call of the runtime replaces it. */
export function keptHotPlugConfigurations(stateDirectory: string): readonly HostConfiguration[] {
  const kept = new KeptConfigurations(stateDirectory);
  return namesIn(kept.directory).flatMap((name): HostConfiguration[] => {
    const text = kept.load(name);
    if (!text.ok || text.value === undefined) return [];
    const document = parseDocument(text.value, { what: `configuration ${name}` });
    const read = document.ok ? readCallConfiguration({ verb: "DEL", path: "" }, document.value) : document;
    return read.ok && read.value.configuration.hotPlug ? [read.value.configuration] : [];
  });
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
      .filter((name) => !name.startsWith("."))
      .slice(0, maxConfigurations);
  } catch {
    return [];
  }
}
