// plexusctl network set.

import { readFileSync } from "node:fs";
import { type CommandLineMistake, valueOf } from "../../../src/command-line/read-command-line.ts";
import { networkKey, networkMessage } from "../rules/network-config.ts";
import { listedNetworks, networkInFile, nextVersion } from "../rules/network-file.ts";
import { readRegularFile } from "../../../host/store/files/regular-file.ts";
import { type CommandResult, failure, type Invocation } from "../../../host/node/command-line/command.ts";
import { notAbsolute } from "../../../host/node/command-line/common-options.ts";
import { networkSocketOf } from "./network-socket.ts";
import { failureText, withNetworkApi } from "./ask-network-api.ts";

/** A network has at most 32 KiB; YAML with comments may be longer. */
const maxBytes = 1024 * 1024;

/** Runs `plexusctl network set`. */
export async function setNetworkCommand(line: Invocation): Promise<CommandResult | CommandLineMistake> {
  const wrong = notAbsolute(line, "network-socket");
  if (wrong !== undefined) return wrong;
  const [file = ""] = line.args;
  const read = await jsonTextIn(file);
  if ("why" in read) return failure(`${file}: ${read.why}`);
  const settings = {
    name: valueOf(line, "name"),
    namespace: valueOf(line, "namespace") ?? "",
    ranges: line.values.get("range") ?? [],
  };
  const wanted = networkInFile(read.text, file === "-" ? "stdin" : file, settings);
  if (!wanted.ok) return failure(wanted.fault.msg);
  const key = networkKey(wanted.value.metadata);
  return withNetworkApi(networkSocketOf(line), async (client) => {
    const list = await client.call("ListPodNetwork", { without_status: true });
    if (!list.ok) return failure(failureText(list.failure));
    const listed = listedNetworks(list.value).find(({ metadata }) => networkKey(metadata) === key);
    const next = nextVersion(wanted.value, listed);
    if (next === undefined) return { stdout: `network ${key} is unchanged\n`, status: 0 };
    const answer = await client.call("SetPodNetwork", { config: networkMessage(next) });
    if (!answer.ok) return failure(failureText(answer.failure));
    const warnings = "warnings" in answer.value && Array.isArray(answer.value.warnings) ? answer.value.warnings.map(String) : [];
    const done = `network ${key} is set, generation ${next.metadata.generation}\n`;
    return { stdout: done, status: 0, ...(warnings.length === 0 ? {} : { stderr: `warning: ${warnings.join("; ")}` }) };
  });
}

/** The file's content as JSON. */
async function jsonTextIn(file: string): Promise<{ readonly text: string } | { readonly why: string }> {
  try {
    const text = file === "-" ? readFileSync(0, "utf8") : readRegularFile(file, { maxBytes, foreign: true });
    if (text.length > maxBytes) return { why: `has more than ${maxBytes} bytes` };
    if (text.trimStart().startsWith("{")) return { text };
    const { parse } = await import("yaml");
    return { text: JSON.stringify(parse(text, { maxAliasCount: 0 })) ?? "" };
  } catch (error) {
    return { why: error instanceof Error ? error.message : String(error) };
  }
}
