// Proofs that a pod has what a network promises: by packets, or by the state of its namespace.

import { expect } from "vitest";

import type { NamespaceCommands } from "./namespaces.ts";

/** A pod that has the network under this interface name. */
export interface Attached {
  readonly node: NamespaceCommands;
  readonly pod: NamespaceCommands;
  readonly ifname: string;
}

/** Runs a program, and answers its output. Throws with its errors. */
export const run = (where: NamespaceCommands, ...words: readonly [string, ...string[]]): string => {
  const { status, stdout, stderr } = where.exec(words);
  if (status !== 0) throw new Error(`${words.join(" ")}: ${stderr}`);
  return stdout;
};
/** Runs ip(8). */
export const ip = (where: NamespaceCommands, text: string): string => run(where, "ip", ...text.split(" "));

/** The pod's address is on the interface, and the other end of the network answers. */
export const reaches =
  (third: number) =>
  ({ pod, ifname }: Attached): void => {
    expect(pod.addresses()).toContainEqual(expect.objectContaining({ link: ifname, address: `10.${third}.0.2/24` }));
    expect(pod.ping(`10.${third}.0.1`)).toBe(true);
  };
/** The pod's address is on the interface, which is of this kind. */
export const hasKind =
  (third: number, kind: string) =>
  ({ pod, ifname }: Attached): void => {
    expect(pod.addresses()).toContainEqual(expect.objectContaining({ link: ifname, address: `10.${third}.0.2/24` }));
    expect(JSON.parse(ip(pod, `-d -j link show ${ifname}`))).toMatchObject([{ linkinfo: { info_kind: kind } }]);
  };

/** Programs of Node: a server of one connection, its client on the node, and a client whose packets have the address that sbr routes. */
export const [served, asked, refused] = [
  `const server = require("net").createServer((socket) => { socket.end("mapped"); server.close(); }); server.listen(80)`,
  `const tried = () => { const socket = require("net").connect(8081, "10.54.0.1"); socket.on("data", (data) => { process.stdout.write(data); process.exit(); }); socket.on("error", () => setTimeout(tried, 100)); }; tried()`,
  `require("net").connect({ port: 9, host: "10.50.0.1", localAddress: "10.50.0.2" }).on("error", ({ code }) => process.stdout.write(code))`,
];
/** The rules of the chain that the reference plugin firewall makes. */
export const forwardRules = (node: NamespaceCommands): string => run(node, "iptables-nft", "-S", "CNI-FORWARD");
