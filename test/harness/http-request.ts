// One GET, over a unix socket or TCP.

import { request } from "node:http";

export interface Asked {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** `where` is a socket's path or a port of 127.0.0.1. */
export function ask(where: string | number, path: string, method = "GET"): Promise<Asked> {
  const { promise, resolve, reject } = Promise.withResolvers<Asked>();
  const target = typeof where === "string" ? { socketPath: where } : { host: "127.0.0.1", port: where };
  const asked = request({ ...target, path, method, agent: false }, (response) => {
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
  asked.on("error", reject);
  asked.end();
  return promise;
}
