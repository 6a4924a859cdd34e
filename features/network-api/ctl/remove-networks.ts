// plexusctl network rm.

import type { CommandLineMistake } from "../../../src/command-line/read-command-line.ts";
import type { CommandResult, Invocation } from "../../../host/node/command-line/command.ts";
import { notAbsolute } from "../../../host/node/command-line/common-options.ts";
import { networkSocketOf } from "./network-socket.ts";
import { failureText, withNetworkApi } from "./ask-network-api.ts";

/** Runs `plexusctl network rm`. */
export async function removeNetworksCommand(line: Invocation): Promise<CommandResult | CommandLineMistake> {
  const wrong = notAbsolute(line, "network-socket");
  if (wrong !== undefined) return wrong;
  return withNetworkApi(networkSocketOf(line), async (client) => {
    const problems: string[] = [];
    for (const key of line.args) {
      const slash = key.indexOf("/");
      const metadata = { namespace: key.slice(0, Math.max(0, slash)), name: key.slice(slash + 1) };
      const answer = await client.call("RemovePodNetwork", { metadata });
      if (!answer.ok) problems.push(failureText(answer.failure));
    }
    const removed = line.args.length - problems.length;
    const stdout = `${removed} of ${line.args.length} networks removed\n`;
    return problems.length === 0 ? { stdout, status: 0 } : { stdout, stderr: problems.join("; "), status: 1 };
  });
}
