// The provider `noop`: no fabric. A definition gives the port's values itself, for tests and for fabrics that need no call.

import { readProvidedPort } from "../rules/provided-port.ts";
import { failure, type PortProvider } from "./provider.ts";

/** Makes the provider. A definition's parameters are the port: mac, addresses, routes, mtu and binding. A requested MAC address comes first. */
export function noopProvider(): PortProvider {
  return {
    ensure: async ({ key, parameters, requested }) => {
      const port = readProvidedPort({
        ...parameters,
        ...(requested.mac === undefined ? {} : { mac: requested.mac }),
        providerId: key,
      });
      return port.ok ? { ok: true, value: port.value } : failure("invalid", `the definition's parameters: ${port.problem}`);
    },
    release: async () => ({ ok: true, value: undefined }),
    list: async () => ({ ok: true, value: [] }),
    active: async () => ({ ok: true, value: true }),
  };
}
