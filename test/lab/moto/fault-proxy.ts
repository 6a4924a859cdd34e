// A proxy before moto that answers chosen requests with an error of EC2 that moto has no reason to give.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** The running proxy. */
export interface Ec2FaultProxy {
  readonly url: string;
  /** The code of EC2's error for a request with this action, or 503 for an answer that gets lost; undefined: moto answers. */
  fault: (action: string) => string | 503 | undefined;
  readonly dispose: () => void;
}

/** Starts the proxy. */
export async function startEc2FaultProxy(target: string): Promise<Ec2FaultProxy> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString("utf8");
    const code = proxy.fault(new URLSearchParams(body).get("Action") ?? "");
    if (typeof code === "string") {
      const error = `<Response><Errors><Error><Code>${code}</Code><Message>a fault of the test</Message></Error></Errors></Response>`;
      response.writeHead(400, { "content-type": "text/xml" }).end(error);
      return;
    }
    const { authorization = "", "content-type": type = "" } = request.headers;
    const answer = await fetch(target, { method: "POST", headers: { authorization, "content-type": type }, body });
    const text = await answer.text();
    if (code === 503) {
      response.writeHead(503).end();
      return;
    }
    response.writeHead(answer.status, { "content-type": "text/xml" }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const proxy: Ec2FaultProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fault: () => undefined,
    dispose: () => {
      server.close();
      server.closeAllConnections();
    },
  };
  return proxy;
}
