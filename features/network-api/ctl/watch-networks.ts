// plexusctl network watch.

import { type CommandLineMistake, valueOf } from "../../../src/command-line/read-command-line.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import { networkKey } from "../rules/network-config.ts";
import { inertLine } from "../../../src/text/inert-text.ts";
import { countOf } from "../../../host/node/command-line/option-values.ts";
import { type CommandResult, failure, type Invocation } from "../../../host/node/command-line/command.ts";
import { notAbsolute } from "../../../host/node/command-line/common-options.ts";
import { networkSocketOf } from "./network-socket.ts";
import { jsonLine } from "../../../host/node/command-line/printed.ts";
import { failureText, withNetworkApi } from "./ask-network-api.ts";

const maxSeconds = 86_400;
/** Maximum length of a line, in UTF-16 units. */
const maxLine = 1024;

/** Runs `plexusctl network watch`. Prints while it runs. */
export async function watchNetworksCommand(line: Invocation): Promise<CommandResult | CommandLineMistake> {
  const wrong = notAbsolute(line, "network-socket");
  if (wrong !== undefined) return wrong;
  let seconds: number | undefined;
  try {
    const given = valueOf(line, "for");
    seconds = given === undefined ? undefined : countOf("for", given, 1, maxSeconds);
  } catch (error) {
    return { wrong: error instanceof Error ? error.message : String(error) };
  }
  const ended = new AbortController();
  const signal = seconds === undefined ? ended.signal : AbortSignal.timeout(seconds * 1000);
  const print = (event: object): void => {
    process.stdout.write(`${line.flags.has("json") ? jsonLine(event) : eventText(event)}\n`);
  };
  const problem = await withNetworkApi(networkSocketOf(line), (client) => client.stream("WatchPodNetwork", {}, print, signal));
  return problem === undefined ? { stdout: "", status: 0 } : failure(failureText(problem));
}

function eventText(event: object): string {
  const { type, config } = { type: "", config: undefined, ...event };
  const { metadata, cniv1_config: cni } = { metadata: undefined, cniv1_config: undefined, ...toObject(config) };
  const { name, namespace, generation } = { name: "", namespace: "", generation: 0, ...toObject(metadata) };
  if (config === undefined || config === null) return inertLine(type, maxLine);
  const { network_name: networkName } = { network_name: "", ...toObject(cni) };
  const key = networkKey({ name, namespace });
  return inertLine(`${type} ${key} (network ${networkName}, generation ${generation})`, maxLine);
}

function toObject(value: unknown): object {
  return isJsonObject(value) ? value : {};
}
