// Plexus' configuration for the check of definitions: the template that the chart writes, which the kubelet renews in the controller's container.

import { readHostConfiguration } from "../../../src/configuration/read-host-configuration.ts";
import { readTemplate } from "../../../src/configuration/written-configuration.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { HostSettings } from "../../node/explain/host-settings.ts";
import { configurationFile } from "../../store/files/configuration-directory.ts";
import { storeFault } from "../../store/files/durable-file.ts";
import { readRegularFile } from "../../store/files/regular-file.ts";

/** A configuration and its text. */
export interface ReadSettings {
  readonly text: string;
  readonly settings: HostSettings;
}

/** Reads the file, unless its text is `known`. Faults: STORE_FAILED, TEMPLATE_INVALID, CONFIG_INVALID. */
export function readSettings(path: string, known: string | undefined): Result<ReadSettings | undefined> {
  let text: string;
  try {
    text = readRegularFile(path, configurationFile);
  } catch (error) {
    return failed(storeFault("reading", path, error));
  }
  if (text === known) return ok(undefined);
  const template = readTemplate(text, path);
  if (!template.ok) return template;
  const { name, cniVersion, plugin } = template.value;
  // Each node's daemon completes the template with the node's default network.
  const read = readHostConfiguration({ ...plugin.parsed, name, cniVersion, clusterNetwork: "/default" });
  if (!read.ok) return read;
  return ok({ text, settings: { path, document: plugin, configuration: read.value, cniPath: "" } });
}
