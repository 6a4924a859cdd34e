import { expect, test } from "vitest";
import { RequestedTraces } from "./requested-traces.ts";

const add = { verb: "ADD", pod: "shop/cart-1" };
const request = { pod: undefined, onlyFailed: false, next: 2, seconds: 60 };

function traces(): { readonly traces: RequestedTraces; readonly clock: { ms: number } } {
  const clock = { ms: 1_000_000 };
  return { clock, traces: new RequestedTraces({ directory: "/t", date: () => new Date(clock.ms) }) };
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

test("of failed calls only written traces count, and a STATUS is recorded only if it fails", () => {
  const { traces: requested } = traces();
  requested.begin({ ...request, onlyFailed: true, next: 1 });
  expect(requested.terms(add)?.onlyFailed).toBe(true);
  requested.terms(add)?.written?.("/t/a.json");
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
