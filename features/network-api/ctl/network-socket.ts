// The option that names the socket of the CRI Network API.

import type { OptionSpec } from "../../../src/command-line/command-spec.ts";
import { type CommandLine, valueOf } from "../../../src/command-line/read-command-line.ts";

const defaultNetworkSocket = "/run/plexus/network.sock";

/** `--network-socket`. */
export const networkSocketOption: OptionSpec = {
  name: "network-socket",
  value: "PATH",
  about: "the socket of plexusd --network-socket, or of another server of the API",
  usual: defaultNetworkSocket,
  completes: "file",
};

/** The path of the socket of the CRI Network API. */
export function networkSocketOf(line: CommandLine): string {
  return valueOf(line, "network-socket") ?? defaultNetworkSocket;
}
