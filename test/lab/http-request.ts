// One HTTP request over a unix socket or TCP.

import { request } from "node:http";

export interface HttpAnswer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** Sends one request and reads the whole answer. `where` is the path of a unix socket, or a port of 127.0.0.1. */
export function httpRequest(where: string | number, path: string, method = "GET"): Promise<HttpAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>();
  const target = typeof where === "string" ? { socketPath: where } : { host: "127.0.0.1", port: where };
  const sent = request({ ...target, path, method, agent: false }, (response) => {
    const chunks: Buffer[] = [];
    response.on("data", (chunk: Buffer) => chunks.push(chunk));
    response.on("error", reject);
    response.on("end", () =>
      resolve({
        status: response.statusCode ?? 0,
        type: response.headers["content-type"] ?? "",
        body: Buffer.concat(chunks).toString("utf8"),
      }),
    );
  });
  sent.on("error", reject);
  sent.end();
  return promise;
}
