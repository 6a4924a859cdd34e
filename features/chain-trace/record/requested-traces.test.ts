import { expect, test } from "vitest";
import { RequestedTraces } from "./requested-traces.ts";

const add = { verb: "ADD", pod: "shop/cart-1" };
const request = { pod: undefined, onlyFailed: false, next: 2, seconds: 60 };

/** `ms`: both clocks; `setMs`: by how much the time of day was set. */
function traces(): { readonly traces: RequestedTraces; readonly clock: { ms: number; setMs: number } } {
  const clock = { ms: 1_000_000, setMs: 0 };
  const readings = { now: () => clock.ms, date: () => new Date(clock.ms + clock.setMs) };
  return { clock, traces: new RequestedTraces("/t", readings) };
}

test("without a request no call is recorded", () => {
  expect(traces().traces.terms(add)).toBeUndefined();
});

test("a recording ends after its number of calls", () => {
  const { traces: requested } = traces();
  requested.begin(request);
  requested.terms(add)?.written?.("/t/a.json");
  expect(requested.terms(add)).toMatchObject({ directory: "/t", onlyFailed: false });
  expect(requested.terms(add)).toBeUndefined();
  expect(requested.report()).toEqual({ directory: "/t", written: ["/t/a.json"] });
});

test("a recording ends after its time, and when an administrator ends it", () => {
  const { traces: requested, clock } = traces();
  expect(requested.begin(request)).toMatchObject({ request, until: new Date(1_060_000).toISOString() });
  clock.ms += 60_000;
  expect(requested.terms(add)).toBeUndefined();
  requested.begin(request);
  requested.end();
  expect(requested.terms(add)).toBeUndefined();
});

test.each([-86_400_000, 86_400_000])("a time of day that is set by %i ms neither prolongs nor ends a recording", (setMs) => {
  const { traces: requested, clock } = traces();
  requested.begin(request);
  clock.setMs = setMs;
  clock.ms += 59_000;
  expect(requested.terms(add)).toBeDefined();
  expect(requested.report()).toMatchObject({ request, until: new Date(1_060_000 + setMs).toISOString() });
  clock.ms += 1_000;
  expect(requested.terms(add)).toBeUndefined();
});

test("a call whose trace was not written counts for nothing", () => {
  const { traces: requested } = traces();
  requested.begin({ ...request, next: 1 });
  const terms = requested.terms(add);
  expect(requested.terms(add)).toBeUndefined();
  terms?.unwritten?.();
  expect(requested.terms(add)).toBeDefined();
});

test("failed calls that run at once keep the bound", () => {
  const { traces: requested } = traces();
  requested.begin({ ...request, onlyFailed: true, next: 1 });
  const [one, other] = [requested.terms(add), requested.terms(add)];
  expect([one?.claim?.(), other?.claim?.()]).toEqual([true, false]);
  one?.unwritten?.();
  expect(other?.claim?.()).toBe(true);
});

test("of failed calls only written traces count, and a STATUS is recorded only if it fails", () => {
  const { traces: requested } = traces();
  requested.begin({ ...request, onlyFailed: true, next: 1 });
  expect(requested.terms(add)?.onlyFailed).toBe(true);
  const failing = requested.terms(add);
  expect(failing?.claim?.()).toBe(true);
  failing?.written?.("/t/a.json");
  expect(requested.terms(add)).toBeUndefined();
  requested.begin({ ...request, next: 1 });
  expect(requested.terms({ verb: "STATUS", pod: undefined })?.onlyFailed).toBe(true);
  expect(requested.terms(add)?.onlyFailed).toBe(false);
});

test("only calls of the named pods are recorded", () => {
  const { traces: requested } = traces();
  requested.begin({ ...request, pod: "shop/*" });
  expect(requested.terms({ verb: "ADD", pod: "other/cart-1" })).toBeUndefined();
  expect(requested.terms({ verb: "ADD", pod: undefined })).toBeUndefined();
  expect(requested.terms(add)).toBeDefined();
});
