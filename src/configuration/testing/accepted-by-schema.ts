// Validates configurations by the published JSON Schema, with zod as a validator that knows nothing of the tables.

import * as z from "zod";
import { hostSchema } from "../keys/host-keys.ts";

const { anyOf, ...schema } = JSON.parse(JSON.stringify(hostSchema())) as z.core.JSONSchema.BaseSchema;
// zod ignores an unknown key in an intersection, so each part is validated by itself.
const whole = z.fromJSONSchema(schema);
const variants = (anyOf ?? []).map((each) => z.fromJSONSchema(each));

/** Whether the JSON Schema accepts the configuration. */
export function isAcceptedBySchema(configuration: unknown): boolean {
  return whole.safeParse(configuration).success && variants.some((each) => each.safeParse(configuration).success);
}
