// The checks of requests that a delegate makes to a DHCP client, which the node and the kit share. No I/O.

import { maxOptionBytes, OPTION } from "../../../src/dhcp/message.ts";
import type { DhcpRequest } from "../../sandbox/abi/generated/delegate-1.1.0.ts";

/** Options that the client sets itself. */
const own: ReadonlySet<number> = new Set<number>([
  OPTION.requestedAddress,
  OPTION.overload,
  OPTION.messageType,
  OPTION.serverId,
  OPTION.parameterList,
  OPTION.maxMessageSize,
]);

const maxOptions = 64;
/** With the headers the packet fits 1500 bytes. */
const maxBytes = 1000;
const maxMilliseconds = 30_000;

/** Why a request is refused; undefined: it is allowed. */
export function requestMistake({ requested, provided, milliseconds }: DhcpRequest): string | undefined {
  if (milliseconds < 1 || milliseconds > maxMilliseconds)
    return `${milliseconds} ms for an offer; 1 to ${maxMilliseconds} are possible`;
  if (requested.length > maxOptions || provided.length > maxOptions) return `more than ${maxOptions} options in one list`;
  const end = [...requested, ...provided.map(({ number }) => number)].find((number) => number < 1 || number > 254);
  if (end !== undefined) return `${end} is no option's number; these are 1 to 254`;
  const forbidden = provided.find(({ number }) => own.has(number));
  if (forbidden !== undefined) return `option ${forbidden.number} is the client's own`;
  const long = provided.find(({ value }) => value.length > maxOptionBytes);
  if (long !== undefined) return `option ${long.number} has ${long.value.length} bytes; the maximum is ${maxOptionBytes}`;
  const bytes = provided.reduce((sum, { value }) => sum + 2 + value.length, 0);
  return bytes > maxBytes ? `the options have ${bytes} bytes together; the maximum is ${maxBytes}` : undefined;
}
