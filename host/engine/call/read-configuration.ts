// The host configuration of one call: what stdin says, below it the file that it names, read anew by each call.

import type { CniCall, Verb } from "../../src/cni/environment.ts";
import { type HostConfiguration, readHostConfiguration } from "../../src/configuration/host-configuration.ts";
import { readLayer, withFile } from "../../src/configuration/layers.ts";
import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { type JsonObjectDocument, memberValue } from "../../src/json/document.ts";
import { configurationFile } from "../files/configuration-directory.ts";
import { readRegularFile } from "../files/regular-file.ts";

export interface CallConfiguration {
  readonly document: JsonObjectDocument;
  readonly configuration: HostConfiguration;
}

/** Where something begins, is promised or is taken for garbage, every mistake stops; what ends one pod goes on with a warning. */
const lenientVerbs: readonly Verb[] = ["DEL", "CHECK"];

/** Faults: CONFIG_INVALID, CONFIG_NOT_JSON, STORE_FAILED for the file. */
export function readCallConfiguration(
  { verb, path: cniPath }: Pick<CniCall, "verb" | "path">,
  stdin: JsonObjectDocument,
): Result<CallConfiguration> {
  const lenient = lenientVerbs.includes(verb);
  const own = readLayer(stdin);
  if (!own.ok) return own;
  let { document } = own.value;
  const notices = [...own.value.notices];
  const warnings: string[] = [];
  const path = memberValue(document, "configFile");
  if (typeof path === "string" && path.startsWith("/")) {
    const text = readText(path);
    const layered = text.ok ? withFile(document, { path, text: text.value }) : text;
    if (layered.ok) {
      document = layered.value.document;
      notices.push(...layered.value.notices);
    } else if (lenient) {
      warnings.push(`this call goes on without the configuration file: ${layered.fault.msg}`);
    } else {
      return layered;
    }
  }
  const read = readHostConfiguration(document.parsed, { lenient, notices, warnings });
  if (!read.ok) return read;
  const configuration = read.value;
  // The hands look for plugins where the CNI configuration says it in so many letters, and nowhere else.
  if (configuration.binDir === undefined || cniPath.split(":")[0] === configuration.binDir)
    return ok({ document, configuration });
  const why = "configuration: binDir: must be spelled so and without escapes, because the hands read it by themselves";
  if (!lenient) return failed(fault("CONFIG_INVALID", why));
  return ok({ document, configuration: { ...configuration, warnings: [...configuration.warnings, why] } });
}

function readText(path: string): Result<string> {
  try {
    return ok(readRegularFile(path, configurationFile));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return failed(fault("STORE_FAILED", `configuration file ${path}: ${why}`));
  }
}
