// One object of the Kubernetes API for one call of a runtime.

import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { parseDocument } from "../../../src/json/document.ts";
import type { Reading } from "../../../src/kube/object-parts.ts";
import type { ApiCaller } from "../object-source.ts";

/** The name of an object; `namespace` is empty for a cluster-scoped one. */
export interface ObjectName {
  readonly namespace: string;
  readonly name: string;
}

/** Reads the object at `path`; undefined if the API does not have it. `label`: the object in messages. Faults: API_REFUSED, and those of the API. */
export async function namedObject<T extends ObjectName>(
  api: ApiCaller,
  path: string,
  { namespace, name }: ObjectName,
  read: (object: unknown) => Reading<T>,
  label = path,
): Promise<Result<T | undefined>> {
  const answer = await api.call({ method: "GET", path });
  if (!answer.ok) return answer;
  if (answer.value.status >= 300) return ok(undefined);
  const what = `the Kubernetes API's answer for ${label}`;
  const document = parseDocument(answer.value.body, { what, kind: "API_REFUSED" });
  if (!document.ok) return document;
  const object = read(document.value.parsed);
  if (!object.ok) return failed(fault("API_REFUSED", `${what}: ${object.problem}`));
  // A cache in between could confuse objects.
  if (object.value.namespace === namespace && object.value.name === name) return ok(object.value);
  return failed(fault("API_REFUSED", `${what} is ${object.value.namespace}/${object.value.name}`));
}
