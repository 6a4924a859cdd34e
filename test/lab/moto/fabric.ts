// A running moto with one VPC, and requests of EC2's query API to it. moto does not check signatures.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endChild, freePorts, hasEnded, lastLines, startChild } from "../kube/child.ts";
import { motoServer } from "./toolchain.ts";

/** The region of all objects. */
export const motoRegion = "eu-west-1";

/** The emulator. */
export interface Moto {
  readonly url: string;
  /** A request; answers the values of the XML elements with this name, in order. Throws for an error. */
  readonly request: (parameters: Readonly<Record<string, string>>, element?: string) => Promise<readonly string[]>;
  readonly dispose: () => Promise<void>;
}

const readyWithinMs = 60_000;

/** Starts moto. */
export async function startMoto(): Promise<Moto> {
  const directory = mkdtempSync(join(tmpdir(), "plexus-moto-"));
  const log = join(directory, "log");
  const [port = 0] = await freePorts(1);
  const child = startChild(motoServer, ["-H", "127.0.0.1", "-p", String(port)], log);
  const url = `http://127.0.0.1:${port}`;
  const dispose = async (): Promise<void> => {
    await endChild(child);
    rmSync(directory, { recursive: true, force: true });
  };
  const request: Moto["request"] = async (parameters, element = "") => {
    const scope = `test/20260101/${motoRegion}/ec2/aws4_request`;
    const answer = await fetch(url, {
      method: "POST",
      headers: { authorization: `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=0` },
      body: new URLSearchParams({ Version: "2016-11-15", ...parameters }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${parameters["Action"]}: ${text}`);
    return [...text.matchAll(new RegExp(`<${element}>([^<]*)</${element}>`, "g"))].map(([, value = ""]) => value);
  };
  const deadline = performance.now() + readyWithinMs;
  while (
    !(await fetch(`${url}/moto-api/`).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (hasEnded(child) || performance.now() > deadline) {
      const text = lastLines(log);
      await dispose();
      throw new Error(`moto does not answer: ${text}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return { url, request, dispose };
}
