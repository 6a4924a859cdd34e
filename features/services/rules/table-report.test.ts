import { expect, test } from "vitest";
import { formatAddress, type IpAddress, readAddress } from "../../../src/net/ip.ts";
import type { BalancedPort } from "./balance.ts";
import { endpointsAt } from "./table-report.ts";

function address(text: string): IpAddress {
  const read = readAddress(text);
  if (read === undefined) throw new TypeError(text);
  return read;
}

const port = (service: string, ip: string, number: number, ...backends: readonly string[]): BalancedPort => ({
  name: `${service}:${number}/tcp/4`,
  uid: "u",
  address: address(ip),
  protocol: 6,
  port: number,
  backends: backends.map((each) => ({ address: address(each), port: 8080 })),
});

test("PR-05: the address of a Service stands for the endpoints of all its ports, each once; another address for none", () => {
  const ports = [
    port("shop/web", "10.96.0.7", 80, "10.20.0.2", "10.20.0.3"),
    port("shop/web", "10.96.0.7", 81, "10.20.0.3"),
    port("shop/empty", "fd00::7", 80),
  ];
  const found = (text: string): object | undefined => {
    const behind = endpointsAt(ports, address(text));
    return behind && { service: behind.service, endpoints: behind.endpoints.map(formatAddress) };
  };
  expect(found("10.96.0.7")).toEqual({ service: "shop/web", endpoints: ["10.20.0.2", "10.20.0.3"] });
  expect(found("fd00::7")).toEqual({ service: "shop/empty", endpoints: [] });
  expect(found("10.20.0.2")).toBeUndefined();
});
