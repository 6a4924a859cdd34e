// Lists a collection of the API page by page, with a call's time for the API: the answer of one request has a bound, and a collection has none.

import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { readListPage } from "../../src/kube/object-list.ts";
import type { ApiCaller } from "./object-source.ts";

/** Objects in a page. */
const pageSize = 500;
/** Pages of one list: 500,000 objects. */
const maxPages = 1000;
/** Lists from the start, after the API server has compacted a list's version (HTTP 410). */
const maxLists = 3;

/**
 * Reads the objects of a collection; `read` answers undefined for an object that is none. `absentIsEmpty`: a collection that the server does not have is empty.
 * Faults: API_REFUSED, and those of the API.
 */
export async function listObjects<T>(
  api: ApiCaller,
  {
    path,
    query = {},
    absentIsEmpty,
  }: {
    readonly path: string;
    readonly query?: Readonly<Record<string, string>>;
    readonly absentIsEmpty: boolean;
  },
  read: (object: unknown) => T | undefined,
): Promise<Result<readonly T[]>> {
  let found: T[] = [];
  let [next, lists] = ["", 1];
  for (let pages = 0; pages < maxPages; pages++) {
    const parameters = new URLSearchParams({ ...query, limit: String(pageSize), ...(next === "" ? {} : { continue: next }) });
    const answer = await api.call({ method: "GET", path: `${path}?${parameters.toString()}` });
    if (!answer.ok) return answer;
    const { status, body } = answer.value;
    if (status === 404 && absentIsEmpty) return ok([]);
    if (status === 410 && next !== "" && lists < maxLists) {
      [found, next, lists] = [[], "", lists + 1];
      continue;
    }
    const page = status < 300 ? readListPage(body) : undefined;
    if (page === undefined)
      return failed(fault("API_REFUSED", `the Kubernetes API's answer for ${path} (HTTP ${status}) is no list`));
    for (const item of page.items) {
      const value = read(item);
      if (value !== undefined) found.push(value);
    }
    if (page.next === "") return ok(found);
    ({ next } = page);
  }
  return failed(fault("API_REFUSED", `the Kubernetes API's list for ${path} has more than ${maxPages} pages`));
}
