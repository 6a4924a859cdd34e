// Reads Multus' configurations from files, directories and stdin: JSON, or a ConfigMap that holds such files.

import { readFileSync } from "node:fs";
import { filesWith } from "../../../src/cni/config-directory.ts";
import { type MultusConfiguration, readMultusConfiguration } from "../../../src/configuration/multus-configuration.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { isJsonObject, parseDocument } from "../../../src/json/document.ts";
import { configurationFile, readConfigurationDirectory } from "../../store/files/configuration-directory.ts";
import { storeFault } from "../../store/files/durable-file.ts";
import { readRegularFile } from "../../store/files/regular-file.ts";
import { statsOf } from "../../store/files/stats-of.ts";

/** The argument that means stdin. */
export const stdinArgument = "-";

/** Names of Multus' files in a ConfigMap. */
const jsonName = /\.(?:json|conf|conflist)$/;

/**
 * Reads all configurations of the arguments: a file, `-` for stdin, or a directory of network configurations, of which the first one
 * with Multus counts. Faults: STORE_FAILED, CONFIG_NOT_JSON, CONFIG_INVALID.
 */
export async function readMultusSources(args: readonly string[]): Promise<Result<readonly MultusConfiguration[]>> {
  const all: MultusConfiguration[] = [];
  for (const arg of args) {
    const isDirectory = arg !== stdinArgument && statsOf(arg)?.isDirectory() === true;
    const read = isDirectory ? firstInDirectory(arg) : await inFile(arg);
    if (!read.ok) return read;
    all.push(...read.value);
  }
  return ok(all);
}

function firstInDirectory(directory: string): Result<readonly MultusConfiguration[]> {
  const read = readConfigurationDirectory(directory);
  if (!read.ok) return read;
  for (const file of filesWith([".conf", ".conflist", ".json"], read.value.files)) {
    const configuration = "text" in file ? readMultusConfiguration(file.text, file.path) : undefined;
    if (configuration?.ok === true && configuration.value.role === "cni") return ok([configuration.value]);
  }
  return failed(fault("CONFIG_INVALID", `${directory} has no network configuration with Multus; name Multus' file`));
}

async function inFile(path: string): Promise<Result<readonly MultusConfiguration[]>> {
  let text: string;
  try {
    text = path === stdinArgument ? readFileSync(0, "utf8") : readRegularFile(path, configurationFile);
  } catch (error) {
    return failed(storeFault("reading", path, error));
  }
  const source = path === stdinArgument ? "stdin" : path;
  const texts = await configMapTexts(text, source);
  const all: MultusConfiguration[] = [];
  for (const each of texts ?? [{ text, source }]) {
    const configuration = readMultusConfiguration(each.text, each.source);
    if (!configuration.ok) return configuration;
    all.push(configuration.value);
  }
  return ok(all);
}

/** The files in a ConfigMap; undefined if the text is none. */
async function configMapTexts(
  text: string,
  source: string,
): Promise<readonly { readonly text: string; readonly source: string }[] | undefined> {
  const json = parseDocument(text, { what: source });
  const object = json.ok ? json.value.parsed : await yamlObject(text);
  if (!isJsonObject(object) || object["kind"] !== "ConfigMap") return undefined;
  const { data } = object;
  return Object.entries(isJsonObject(data) ? data : {})
    .filter(([name]) => jsonName.test(name))
    .map(([name, value]) => ({ text: String(value), source: name }));
}

async function yamlObject(text: string): Promise<unknown> {
  const { parse } = await import("yaml");
  try {
    const object: unknown = parse(text);
    return object;
  } catch {
    return undefined;
  }
}
