// Packets that the program `sniff` captures on a link of a test's network namespace.

import { spawn } from "node:child_process";

import { compiledPlugin } from "./compiled.ts";
import { requirePrivateNamespaces } from "./namespaces.ts";

export interface SniffedPacket {
  /** Hardware addresses and payload in hexadecimal. */
  readonly source: string;
  readonly destination: string;
  readonly payload: string;
}

/**
 * Resolves when the capture listens. `packets` resolves after `count` packets whose payload contains `part` (hexadecimal; empty: any).
 * `packets` rejects after a minute without a packet.
 */
export function sniff(
  namespace: string,
  link: string,
  ethertype: number,
  count: number,
  part = "",
): Promise<{ readonly packets: Promise<readonly SniffedPacket[]> }> {
  requirePrivateNamespaces();
  const args = [`--net=${namespace}`, "--", compiledPlugin("sniff"), link, String(ethertype), String(count), "60000", part];
  const child = spawn("nsenter", args, { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  return new Promise((listens, fails) => {
    const packets = new Promise<readonly SniffedPacket[]>((resolve, reject) => {
      child.on("close", (status) => {
        if (status === 0) resolve(packetsIn(text));
        else reject(new Error(`sniff on ${link} in ${namespace} ended with ${status} after: ${text}`));
      });
    });
    packets.catch(fails); // The program ended before it listened.
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      if (text.startsWith("ready\n")) listens({ packets });
    });
  });
}

function packetsIn(text: string): readonly SniffedPacket[] {
  const lines = text.trim().split("\n").slice(1);
  return lines.map((line) => {
    const [source = "", destination = "", payload = ""] = line.split(" ");
    return { source, destination, payload };
  });
}
