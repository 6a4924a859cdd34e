// A call of the CRI Network API by a command.

import type { NetworkApiClient } from "../server/rpc-client.ts";
import type { RpcFailure } from "../server/rpc-status.ts";

/** Runs work with a client, whose connection ends afterwards. */
export async function withNetworkApi<T>(socket: string, work: (client: NetworkApiClient) => Promise<T>): Promise<T> {
  const { NetworkApiClient: Client } = await import("../server/rpc-client.ts");
  const client = new Client(socket);
  try {
    return await work(client);
  } finally {
    client.close();
  }
}

/** A failed call as one line: the message, and the first sentence of its remedy. */
export function failureText({ message, remedy }: RpcFailure): string {
  return remedy === undefined ? message : `${message}. To do: ${remedy}`;
}
