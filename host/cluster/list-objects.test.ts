import { expect, test } from "vitest";
import { ok } from "../../src/fault/result.ts";
import type { ApiCaller, ClusterApi } from "./object-source.ts";
import { listObjects } from "./list-objects.ts";

type Call = Parameters<ClusterApi["call"]>[0];

/** An API whose answers come in order. */
function apiOf(...answers: readonly (readonly [status: number, body: object])[]) {
  const paths: string[] = [];
  const call = ({ path }: Call) => {
    paths.push(path);
    const [status = 500, body = {}] = answers[paths.length - 1] ?? [];
    return Promise.resolve(ok({ status, body: JSON.stringify(body) }));
  };
  return { paths, api: { call } as unknown as ApiCaller };
}
const page = (items: readonly unknown[], next?: string) =>
  [200, { items, metadata: { resourceVersion: "1", ...(next === undefined ? {} : { continue: next }) } }] as const;
const numbers = (object: unknown): number | undefined => (typeof object === "number" ? object : undefined);
const of = { path: "/x", query: { labelSelector: "a=b" }, absentIsEmpty: false };

test("SV-14 PO-24: a list comes in pages, with selector and token in each request", async () => {
  const { api, paths } = apiOf(page([1, "no"], "t 1"), page([2], "t2"), page([3]));
  expect(await listObjects(api, of, numbers)).toEqual(ok([1, 2, 3]));
  expect(paths).toEqual([
    "/x?labelSelector=a%3Db&limit=500",
    "/x?labelSelector=a%3Db&limit=500&continue=t+1",
    "/x?labelSelector=a%3Db&limit=500&continue=t2",
  ]);
});

test("SV-14 PO-24: a list whose version has expired begins anew, three times at most; a refusal is no empty list", async () => {
  const gone = [410, {}] as const;
  expect(await listObjects(apiOf(page([1], "a"), gone, page([5], "b"), page([6])).api, of, numbers)).toEqual(ok([5, 6]));
  const again = apiOf(page([1], "a"), gone, page([1], "a"), gone, page([1], "a"), gone);
  expect(await listObjects(again.api, of, numbers)).toMatchObject({ ok: false, fault: { kind: "API_REFUSED" } });
  for (const status of [403, 404, 410, 200])
    expect(await listObjects(apiOf([status, {}]).api, of, numbers)).toMatchObject({ ok: false });
  expect(await listObjects(apiOf([404, {}]).api, { ...of, absentIsEmpty: true }, numbers)).toEqual(ok([]));
});
