// A client of the Kubernetes API for one piece of work, such as a command.

import type { Result } from "../../../src/fault/result.ts";
import { systemClock } from "../../system/clock.ts";
import { ApiObjects, objectSockets } from "./api-objects.ts";
import { Connection } from "./connection.ts";
import type { CredentialSource } from "./credentials.ts";

/** Runs `work` with a client for a cluster. Faults: those of the credentials and of `work`. */
export async function withCredentials<T>(
  credentials: CredentialSource,
  work: (objects: ApiObjects) => Promise<Result<T>>,
): Promise<Result<T>> {
  const readable = await credentials();
  if (!readable.ok) return readable;
  const objects = new ApiObjects({ credentials, connection: new Connection(systemClock, objectSockets) });
  try {
    return await work(objects);
  } finally {
    objects.close();
  }
}
