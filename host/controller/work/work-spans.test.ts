import { expect, test } from "vitest";
import type { FinishedSpan } from "../../telemetry/spans.ts";
import { WorkSpans } from "./work-spans.ts";
import { systemClock } from "../../system/clock.ts";

const request = { method: "PATCH", path: "/apis/x/y", ms: 5, failure: undefined };

function recorder(): { readonly spans: FinishedSpan[]; readonly record: (span: FinishedSpan) => void } {
  const spans: FinishedSpan[] = [];
  return { spans, record: (span) => void spans.push(span) };
}

test("requests of two works at the same time belong to their own work", async () => {
  const exporter = recorder();
  const works = new WorkSpans(exporter, systemClock);
  const send = async (path: string): Promise<{ readonly kind: "done" }> => {
    await new Promise((resolve) => setImmediate(resolve));
    works.request({ ...request, path });
    return { kind: "done" };
  };
  await Promise.all([works.work("p", "one", () => send("/one")), works.work("p", "two", () => send("/two"))]);
  for (const name of ["one", "two"]) {
    const parent = exporter.spans.find(({ attributes }) => attributes["plexus.object"] === name);
    const child = exporter.spans.find(({ attributes }) => attributes["url.path"] === `/${name}`);
    expect(child).toMatchObject({ parentId: parent?.context.spanId, context: { traceId: parent?.context.traceId } });
    expect(child?.context.spanId).not.toBe(parent?.context.spanId);
  }
  expect(exporter.spans).toHaveLength(4);
});

test("a work without a request has no span, unless it fails", async () => {
  const exporter = recorder();
  const works = new WorkSpans(exporter, systemClock);
  await works.work("p", "quiet", async () => ({ kind: "done" }));
  works.request(request);
  expect(exporter.spans).toEqual([]);
  await works.work("p", "bad", async () => ({ kind: "failed", why: "the API is away" }));
  await expect(works.work("p", "broken", async () => Promise.reject(new Error("a mistake")))).rejects.toThrow("a mistake");
  expect(exporter.spans.map(({ failure }) => failure)).toEqual(["the API is away", "a mistake"]);
});

test("without a collector the work runs as it is", async () => {
  const works = new WorkSpans(undefined, systemClock);
  expect(await works.work("p", "k", async () => ({ kind: "again", afterMs: 1 }))).toEqual({ kind: "again", afterMs: 1 });
});
