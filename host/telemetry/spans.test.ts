import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Collector, startCollector } from "../../test/lab/collector.ts";
import { collectorHeaders } from "./collector-headers.ts";
import { type FinishedSpan, SpanExporter } from "./spans.ts";

const span: FinishedSpan = {
  context: { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331", sampled: true },
  parentId: undefined,
  name: "ADD bridge",
  kind: "client",
  startMs: 1_795_300_000_000.25,
  endMs: 1_795_300_000_012.5,
  attributes: { "cni.network": "pods", nested: true, "cni.error.code": 7, ms: 12.25, absent: undefined, empty: "" },
  failure: "no such device",
};

describe("spans for a collector", () => {
  let collector: Collector;
  const counts = { sent: 0, dropped: 0 };
  beforeEach(async () => {
    collector = await startCollector();
    Object.assign(counts, { sent: 0, dropped: 0 });
  });
  afterEach(() => collector.close());

  const exporter = (base = collector.url, headers: Readonly<Record<string, string>> = {}) =>
    new SpanExporter(
      {
        url: new URL("/v1/traces", base),
        headers,
        resource: { "service.name": "plexusd" },
      },
      (outcome, count) => void (counts[outcome] += count),
    );

  test("are encoded as OTLP's JSON: ids in hexadecimal, 64-bit numbers as text", async () => {
    const spans = exporter(collector.url, { authorization: "Bearer x" });
    spans.record(span);
    await spans.flush();
    expect(collector.spans).toEqual([
      {
        traceId: span.context.traceId,
        spanId: span.context.spanId,
        name: "ADD bridge",
        kind: 3,
        startTimeUnixNano: "1795300000000250000",
        endTimeUnixNano: "1795300000012500000",
        attributes: [
          { key: "cni.network", value: { stringValue: "pods" } },
          { key: "nested", value: { boolValue: true } },
          { key: "cni.error.code", value: { intValue: "7" } },
          { key: "ms", value: { doubleValue: 12.25 } },
        ],
        status: { code: 2, message: "no such device" },
      },
    ]);
    expect(collector.requests[0]?.headers["authorization"]).toBe("Bearer x");
    expect(counts).toEqual({ sent: 1, dropped: 0 });
  });

  test("are sent in batches, and dropped if too many wait", async () => {
    const spans = exporter();
    for (let number = 0; number < 5000; number++) spans.record(span);
    expect(counts.dropped).toBe(5000 - 4096);
    await spans.flush();
    expect([collector.spans.length, collector.requests.length, counts.sent]).toEqual([4096, 8, 4096]);
  });

  test("are dropped if the collector refuses them, or is still overloaded at the second try", async () => {
    const spans = exporter();
    collector.fail(400);
    spans.record(span);
    await spans.flush();
    expect([counts.dropped, collector.requests.length]).toEqual([1, 1]);
    collector.fail(503, 503);
    spans.record(span);
    await spans.flush();
    expect([counts.dropped, collector.requests.length]).toEqual([2, 3]);
  });

  test("are dropped if no process listens, or the listener does not speak HTTP", async () => {
    const rude: Server = createServer((socket: Socket) => {
      socket.on("error", () => undefined).resume();
      socket.end("220 smtp.example\r\n");
    });
    rude.listen(0, "127.0.0.1");
    await once(rude, "listening");
    const { port }: { readonly port: number } = Object(rude.address());
    for (const base of [`http://127.0.0.1:${port}`, `https://127.0.0.1:${port}`]) {
      const spans = exporter(base);
      spans.record(span);
      await spans.flush();
    }
    rude.close();
    await once(rude, "close");
    const spans = exporter(`http://127.0.0.1:${port}`);
    spans.record(span);
    await spans.flush();
    expect(counts).toEqual({ sent: 0, dropped: 3 });
  });
});

test.each([
  ["authorization=Bearer%20abc%3D", { authorization: "Bearer abc=" }],
  [" X-Tenant = seven , api-key=k=v,", { "x-tenant": "seven", "api-key": "k=v" }],
  ["bad name=x,ok=1%0d%0aInjected: y,=z,%zz=1", { "%zz": "1" }],
  ["percent=100%", { percent: "100%" }],
  ["", {}],
])("reads the collector's headers of %j", (text, headers) => {
  expect(collectorHeaders(text)).toEqual(headers);
});
