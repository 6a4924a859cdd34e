// plexusctl network ls.

import type { CommandLineMistake } from "../../../src/command-line/read-command-line.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import { networkKey } from "../rules/network-config.ts";
import { inertLine } from "../../../src/text/inert-text.ts";
import { type CommandResult, failure, type Invocation } from "../../../host/node/command-line/command.ts";
import { notAbsolute } from "../../../host/node/command-line/common-options.ts";
import { networkSocketOf } from "./network-socket.ts";
import { printed } from "../../../host/node/command-line/printed.ts";
import { table } from "../../../host/node/command-line/table.ts";
import { failureText, withNetworkApi } from "./ask-network-api.ts";

/** Maximum length of a reason's line, in UTF-16 units. */
const maxReason = 2048;

/** A network in the table. */
interface Row {
  readonly name: string;
  readonly networkName: string;
  readonly generation: string;
  readonly plugins: string;
  /** Undefined: the status was not asked for, or the server knows none. */
  readonly status: { readonly sandboxes: boolean; readonly connectivity: boolean; readonly reason: string } | undefined;
}

/** Runs `plexusctl network ls`. */
export async function listNetworksCommand(line: Invocation): Promise<CommandResult | CommandLineMistake> {
  const wrong = notAbsolute(line, "network-socket");
  if (wrong !== undefined) return wrong;
  const answer = await withNetworkApi(networkSocketOf(line), (client) =>
    client.call("ListPodNetwork", { without_status: line.flags.has("no-status") }),
  );
  if (!answer.ok) return failure(failureText(answer.failure));
  const networks: readonly unknown[] =
    "networks" in answer.value && Array.isArray(answer.value.networks) ? answer.value.networks : [];
  const rows = networks.map(rowOf);
  const shown = (width: number): string => (rows.length === 0 ? "no networks\n" : tableText(rows, width));
  const notReady = rows.some(({ status }) => status !== undefined && !(status.sandboxes && status.connectivity));
  return {
    stdout: await printed({ value: networks, text: shown, names: () => rows.map(({ name }) => name) }, line),
    status: notReady ? 1 : 0,
  };
}

function tableText(rows: readonly Row[], width: number): string {
  const columns = ["NAME", "CNI NAME", "GENERATION", "PLUGINS", "SANDBOXES", "CONNECTIVITY"].map((title) => ({ title }));
  const cells = rows.map(({ name, networkName, generation, plugins, status }) => [
    name,
    networkName,
    generation,
    plugins,
    yes(status?.sandboxes),
    yes(status?.connectivity),
  ]);
  const reasons = rows.flatMap(({ name, status }) =>
    status === undefined || status.reason === "" ? [] : [inertLine(`${name}: ${status.reason}`, maxReason)],
  );
  return [...table(columns, cells, width), ...(reasons.length === 0 ? [] : ["", ...reasons]), ""].join("\n");
}

function yes(value: boolean | undefined): string {
  return value === undefined ? "-" : value ? "yes" : "no";
}

/** Another server may leave fields out. */
function rowOf(network: unknown): Row {
  const config = member(network, "config");
  const metadata = member(config, "metadata");
  const cni = member(config, "cniv1_config");
  const plugins = member(cni, "plugins");
  const status = member(network, "status");
  return {
    name: networkKey({ namespace: text(member(metadata, "namespace")), name: text(member(metadata, "name")) }),
    networkName: text(member(cni, "network_name")),
    generation: text(member(metadata, "generation")),
    plugins: Array.isArray(plugins) ? plugins.map((plugin) => text(member(plugin, "type"))).join(",") : "",
    status: isJsonObject(status)
      ? {
          sandboxes: status["sandbox_management"] === true,
          connectivity: status["connectivity"] === true,
          reason: text(status["reason"]),
        }
      : undefined,
  };
}

function member(value: unknown, key: string): unknown {
  return isJsonObject(value) ? value[key] : undefined;
}

function text(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}
