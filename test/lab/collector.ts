// A minimal OpenTelemetry collector for tests: it accepts OTLP/HTTP requests and keeps the spans.

import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
  readonly status?: { readonly code: number; readonly message: string };
}

export interface Collector {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  readonly requests: readonly { readonly url: string | undefined; readonly headers: IncomingHttpHeaders }[];
  /** Answers these statuses to the next requests, one each, before it answers 200 again. */
  fail(...statuses: readonly number[]): void;
  close(): void;
}

interface TraceRequest {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly ReceivedSpan[] }[] }[];
}

export async function startCollector(): Promise<Collector> {
  const spans: ReceivedSpan[] = [];
  const requests: Collector["requests"][number][] = [];
  const failures: number[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      requests.push({ url: request.url, headers: request.headers });
      const status = failures.shift() ?? 200;
      if (status === 200) {
        const body: TraceRequest = JSON.parse(Buffer.concat(chunks).toString("utf8"));
        for (const resource of body.resourceSpans) for (const scope of resource.scopeSpans) spans.push(...scope.spans);
      }
      response.writeHead(status, { "content-type": "application/json" });
      response.end("{}");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port }: Pick<AddressInfo, "port"> = Object(server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    requests,
    fail: (...statuses) => void failures.push(...statuses),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
