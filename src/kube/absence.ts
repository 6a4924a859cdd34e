// Whether an answer 404 is the API server's own word that an object or a collection does not exist. A proxy or load balancer before the API server answers 404, too,
// such as while it has no server behind it; whoever took that for an absence would release what running pods need.

import { isJsonObject } from "../json/document.ts";

/** The body for a path that the API server does not serve, such as that of a removed CustomResourceDefinition (k8s.io/apiserver, `http.NotFound`). */
const unservedPath = "404 page not found";

/** Whether the body of an answer 404 is the API server's: a Status, or the text for a path that it does not serve. */
export function isAbsence(body: string): boolean {
  if (body.trim() === unservedPath) return true;
  try {
    const value: unknown = JSON.parse(body);
    return isJsonObject(value) && value["kind"] === "Status";
  } catch {
    return false;
  }
}
