// plexusctl explain: the plugin of each step of a network, and whether an ADD would load it.

import { ok, type Result } from "../../../src/fault/result.ts";
import { explain } from "../../node/explain/explain-networks.ts";
import type { ExplainedStep, Explanation } from "../../node/explain/explanation.ts";
import { type HostSettings, readHostSettings } from "../../node/explain/host-settings.ts";
import { type NamedList, networkInCluster, networksInFile, hostNetworks } from "../../node/explain/networks.ts";
import { type CommandResult, failure, type Invocation } from "../../node/command-line/command.ts";
import { cniPathOf, configOf } from "../../node/command-line/common-options.ts";
import { printed } from "../../node/command-line/printed.ts";
import { explanationText } from "./explain-text.ts";

/** Runs `plexusctl explain`. */
export async function explainCommand(line: Invocation): Promise<CommandResult> {
  const explanation = await explainTarget(line.args[0], configOf(line), cniPathOf(line));
  if (!explanation.ok) return failure(explanation.fault.msg);
  const { value } = explanation;
  const text = (width: number): string => explanationText(value, width);
  const names = (): readonly string[] =>
    value.networks.flatMap(({ name, steps }) => steps.flatMap((step) => stepNames(step, name)));
  return { stdout: await printed({ value, text, names }, line), status: value.loads ? 0 : 1 };
}

function stepNames({ type, steps }: ExplainedStep, above: string): readonly string[] {
  const name = `${above}/${type}`;
  return [name, ...steps.flatMap((step) => stepNames(step, name))];
}

const definitionName = /^[a-z0-9][-a-z0-9]*\/[a-z0-9][-a-z0-9.]*$/;

/**
 * Explains the target. Its faults are those of a call that reads the same configuration. `target`: A file, or `namespace/name` of a
 * NetworkAttachmentDefinition; undefined: the networks of the host configuration. `config`: Plexus' own configuration: its file, or the
 * directory with that file.
 */
export async function explainTarget(target: string | undefined, config: string, cniPath: string): Promise<Result<Explanation>> {
  const settings = readHostSettings(config, cniPath);
  if (!settings.ok) return settings;
  const warnings: string[] = [];
  const networks = await networksOf(target, settings.value, cniPath, (text) => void warnings.push(text));
  if (!networks.ok) return networks;
  return ok(await explain(networks.value, { settings: settings.value, cniPath, warnings }));
}

async function networksOf(
  target: string | undefined,
  settings: HostSettings | undefined,
  cniPath: string,
  warn: (text: string) => void,
): Promise<Result<readonly NamedList[]>> {
  if (target === undefined) return defaultTarget(settings, warn);
  // An existing file has precedence. To mean the definition, run plexusctl in another directory.
  const [namespace = "", name = ""] = target.split("/");
  const { existsSync } = await import("node:fs");
  return definitionName.test(target) && !existsSync(target)
    ? networkInCluster(namespace, name, settings, warn)
    : networksInFile(target, settings, cniPath, warn);
}

function defaultTarget(settings: HostSettings | undefined, warn: (text: string) => void): Result<readonly NamedList[]> {
  return settings === undefined ? ok([]) : hostNetworks(settings, warn);
}
